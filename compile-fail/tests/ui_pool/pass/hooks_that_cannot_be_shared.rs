use pool_core::Pool;
use std::sync::atomic::{AtomicUsize, Ordering};

fn send<T: Send>(_: T) {}

fn main() {
    let made = AtomicUsize::new(0);
    let pool = Pool::builder_with(move || made.fetch_add(1, Ordering::Relaxed), |_| ())
        .build()
        .unwrap();
    // Each end calls the hooks, both at the same time perhaps.
    send(pool.acquire());
}

use pool_core::Pool;
use std::cell::Cell;

fn send<T: Send>(_: T) {}

fn main() {
    let made = Cell::new(0);
    let pool = Pool::builder_with(move || made.replace(made.get() + 1), |_| ())
        .build()
        .unwrap();
    // Each end calls the hooks, both at the same time perhaps.
    send(pool.acquire());
}

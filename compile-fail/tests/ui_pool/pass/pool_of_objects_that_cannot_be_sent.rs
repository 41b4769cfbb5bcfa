use pool_core::Pool;
use std::cell::Cell;

fn share<T: Sync>(_: &T) {}

fn main() {
    // Sent from thread to thread, and never shared.
    let pool = Pool::builder_with(|| Cell::new(0), |_| ()).build().unwrap();
    share(&pool);
}

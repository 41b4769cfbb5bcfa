use pool_core::Pool;
use std::cell::Cell;

fn share<T: Sync>(_: &T) {}

fn main() {
    let pool = Pool::<Cell<u32>>::new();
    share(&pool.acquire());
}

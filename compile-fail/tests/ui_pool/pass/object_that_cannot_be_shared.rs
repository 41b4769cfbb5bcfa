use pool_core::Pool;
use std::sync::atomic::AtomicU32;

fn share<T: Sync>(_: &T) {}

fn main() {
    let pool = Pool::<AtomicU32>::new();
    share(&pool.acquire());
}

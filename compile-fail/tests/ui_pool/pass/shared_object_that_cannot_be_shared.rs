use pool_core::Pool;
use std::cell::Cell;

fn send<T: Send>(_: T) {}

fn main() {
    let pool = Pool::<Cell<u32>>::new();
    send(pool.acquire());
}

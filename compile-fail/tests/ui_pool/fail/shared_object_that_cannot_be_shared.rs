use pool_core::{Pool, Pooled};
use std::cell::Cell;

fn send<T: Send>(_: T) {}

fn main() {
    let pool = Pool::<Cell<u32>>::new();
    send(Pooled::into_shared(pool.acquire()));
}

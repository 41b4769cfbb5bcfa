use pool_core::Pool;
use std::sync::Arc;

fn send<T: Send>(_: T) {}

fn main() {
    let pool = Pool::builder_with(|| Arc::new(0), |_| ()).build().unwrap();
    send(pool.acquire());
}

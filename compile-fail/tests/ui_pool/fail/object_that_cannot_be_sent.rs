use pool_core::Pool;
use std::rc::Rc;

fn send<T: Send>(_: T) {}

fn main() {
    let pool = Pool::builder_with(|| Rc::new(0), |_| ()).build().unwrap();
    send(pool.acquire());
}

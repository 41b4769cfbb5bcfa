use pool_core::Pool;
use std::rc::Rc;

fn share<T: Sync>(_: &T) {}

fn main() {
    let pool = Pool::builder_with(|| Rc::new(0), |_| ()).build().unwrap();
    share(&pool);
}

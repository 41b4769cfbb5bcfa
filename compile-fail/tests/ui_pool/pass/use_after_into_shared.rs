use pool_core::{Pool, Pooled};

fn main() {
    let pool = Pool::<String>::new();
    let mut object = pool.acquire();
    object.push('x');
    let shared = Pooled::into_shared(object);
    drop(shared);
}

use pool_core::{Pool, Pooled};

fn main() {
    let pool = Pool::<String>::new();
    let mut object = pool.acquire();
    let shared = Pooled::into_shared(object);
    object.push('x');
    drop(shared);
}

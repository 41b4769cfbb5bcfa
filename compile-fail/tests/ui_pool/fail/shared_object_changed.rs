use pool_core::{Pool, Pooled};

fn main() {
    let pool = Pool::<String>::new();
    let shared = Pooled::into_shared(pool.acquire());
    shared.push('x');
}

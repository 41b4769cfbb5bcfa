use pool_core::{Pool, Pooled, SharedPooled};

fn main() {
    let pool = Pool::<String>::new();
    let mut shared = Pooled::into_shared(pool.acquire());
    SharedPooled::get_mut(&mut shared).unwrap().push('x');
}

use pool_core::{Pool, Pooled};

fn main() {
    let pool = Pool::<String>::new();
    let _ = Pooled::detach(pool.acquire());
}

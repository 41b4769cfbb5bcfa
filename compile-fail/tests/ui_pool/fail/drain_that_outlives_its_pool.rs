use pool_core::Pool;

fn main() {
    let pool = Pool::<String>::new();
    let drain = pool.drain();
    drop(pool);
    assert_eq!(drain.len(), 0);
}

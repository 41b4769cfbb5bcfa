use pool_core::Pool;

fn main() {
    let pool = Pool::<String>::new();
    let drain = pool.drain();
    assert_eq!(drain.len(), 0);
    drop(drain);
    drop(pool);
}

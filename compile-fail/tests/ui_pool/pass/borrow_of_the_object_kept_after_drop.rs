use pool_core::Pool;

fn main() {
    let pool = Pool::<String>::new();
    let object = pool.acquire();
    let text: &str = &object;
    assert_eq!(text, "");
    drop(object);
}

use pool_core::Pool;

fn main() {
    let pool = Pool::<String>::new();
    let object = pool.acquire();
    drop(object);
    let object = pool.acquire();
    drop(object);
}

use pool_core::Pool;

fn main() {
    let text = String::from("long");
    let pool = Pool::builder_with(Vec::<&str>::new, Vec::clear)
        .build()
        .unwrap();
    {
        pool.acquire().push(&text);
    }
    drop(pool.acquire());
}

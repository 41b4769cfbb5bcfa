use pool_core::Pool;

fn main() {
    let pool = Pool::builder_with(Vec::<&str>::new, Vec::clear)
        .build()
        .unwrap();
    {
        let text = String::from("short");
        // It would lie in the pool until it is wiped by who acquires it next.
        pool.acquire().push(&text);
    }
    drop(pool.acquire());
}

use pool_core::Pool;

fn main() {
    let pool = Pool::<String>::new();
    // What a handle does itself is no method, as with `Box`.
    let _ = pool.acquire().detach();
}

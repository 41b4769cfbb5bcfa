use pool_core::Pool;

fn send<T: Send>(_: T) {}

fn main() {
    let pool = Pool::<String>::new();
    send(pool.acquire());
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object<T> {
    #[poolable(skip)]
    field: T,
}

fn main() {
    let _ = Object::<u8>::init();
}

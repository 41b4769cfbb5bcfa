use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(bound = "T: Default")]
struct Object<T> {
    #[poolable(default)]
    field: T,
}

fn main() {
    let _ = Object::<u8>::init();
}

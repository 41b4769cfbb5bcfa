use pool_core::Poolable;

struct Foreign;

#[derive(Poolable)]
struct Object<T> {
    field: Option<T>,
}

fn main() {
    let _ = Object::<Foreign>::init();
}

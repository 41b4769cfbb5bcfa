use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(skip, default)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

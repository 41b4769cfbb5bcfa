use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable]
    field: u32,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    field: u32,
}

fn main() {
    Object::init().reset();
}

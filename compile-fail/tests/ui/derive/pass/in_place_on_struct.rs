use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    field: Vec<u8>,
}

fn main() {
    Object::init().reset();
}

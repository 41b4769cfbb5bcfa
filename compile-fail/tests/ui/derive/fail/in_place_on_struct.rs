use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(in_place)]
struct Object {
    field: Vec<u8>,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(skip)]
struct Object {
    field: u32,
}

fn main() {
    Object::init().reset();
}

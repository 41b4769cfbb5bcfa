use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(max_capacity = 8)]
    field: Vec<u8>,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(max_capacity)]
    field: Vec<u8>,
}

fn main() {
    Object::init().reset();
}

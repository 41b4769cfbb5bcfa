use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(max_capacity = 8)]
    field: std::collections::BTreeMap<u8, u8>,
}

fn main() {
    Object::init().reset();
}

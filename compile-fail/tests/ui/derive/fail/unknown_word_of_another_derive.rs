use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(ignore)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

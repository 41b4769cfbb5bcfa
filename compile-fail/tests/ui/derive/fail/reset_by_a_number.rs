use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = 3)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

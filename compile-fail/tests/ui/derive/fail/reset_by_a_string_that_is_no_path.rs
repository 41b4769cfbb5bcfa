use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = "set to zero")]
    field: u32,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = |field| *field = 3)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(default = 7)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

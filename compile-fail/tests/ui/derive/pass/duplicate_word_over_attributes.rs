use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(default = 1)]
    #[poolable(skip)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

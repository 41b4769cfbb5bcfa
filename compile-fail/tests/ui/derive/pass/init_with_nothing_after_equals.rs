use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(init = 7, skip)]
    field: u32,
}

fn main() {
    Object::init().reset();
}

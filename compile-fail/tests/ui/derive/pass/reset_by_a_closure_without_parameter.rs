use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = |_| ())]
    field: u32,
}

fn main() {
    Object::init().reset();
}

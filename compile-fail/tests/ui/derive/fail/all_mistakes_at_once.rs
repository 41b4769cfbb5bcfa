use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(bond = "T: Clone", crate = 7)]
struct Object {
    #[poolable(skip, reset = 3)]
    first: u32,
    #[poolable(initial, default default)]
    second: u32,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(reusable = judge)]
struct Object {
    field: u32,
}

fn judge(_: &Object) {}

fn main() {
    Object::init().reset();
}

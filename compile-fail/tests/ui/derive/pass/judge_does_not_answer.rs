use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(reusable = judge)]
struct Object {
    field: u32,
}

fn judge(_: &Object) -> bool {
    true
}

fn main() {
    Object::init().reset();
}

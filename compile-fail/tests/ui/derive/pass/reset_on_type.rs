use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(reset_with = wipe)]
struct Object {
    field: u32,
}

fn wipe(object: &mut Object) {
    object.field = 0;
}

fn main() {
    Object::init().reset();
}

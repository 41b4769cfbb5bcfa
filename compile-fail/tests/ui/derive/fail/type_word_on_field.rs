use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset_with = wipe)]
    field: u32,
}

fn wipe(field: &mut u32) {
    *field = 0;
}

fn main() {
    Object::init().reset();
}

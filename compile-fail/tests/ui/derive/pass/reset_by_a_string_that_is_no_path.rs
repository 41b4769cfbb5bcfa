use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = "zero")]
    field: u32,
}

fn zero(field: &mut u32) {
    *field = 0;
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
#[repr(C, packed(2))]
struct Object {
    #[poolable(reset = |field| field.clear())]
    text: String,
}

fn main() {
    Object::init().reset();
}

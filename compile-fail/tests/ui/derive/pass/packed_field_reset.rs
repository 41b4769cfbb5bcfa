use pool_core::Poolable;

#[derive(Poolable)]
#[repr(C, packed(2))]
struct Object {
    #[poolable(skip)]
    text: String,
}

fn main() {
    Object::init().reset();
}

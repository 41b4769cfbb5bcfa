use pool_core::Poolable;

#[derive(Poolable)]
#[repr(C, packed)]
struct Object {
    tag: u8,
    wide: u64,
}

fn main() {
    Object::init().reset();
}

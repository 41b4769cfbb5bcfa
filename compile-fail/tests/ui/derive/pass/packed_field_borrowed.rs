use pool_core::Poolable;

#[derive(Poolable)]
#[repr(C, packed)]
struct Object {
    tag: u8,
    #[poolable(default)]
    wide: u64,
}

fn main() {
    Object::init().reset();
}

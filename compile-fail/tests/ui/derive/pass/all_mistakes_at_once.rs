use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(bound = "", crate = ::pool_core)]
struct Object {
    #[poolable(skip)]
    first: u32,
    #[poolable(default)]
    second: u32,
}

fn main() {
    Object::init().reset();
}

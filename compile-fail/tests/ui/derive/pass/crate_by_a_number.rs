use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(crate = ::pool_core)]
struct Object;

fn main() {
    Object::init().reset();
}

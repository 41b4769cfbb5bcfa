use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(crate = 7)]
struct Object;

fn main() {
    Object::init().reset();
}

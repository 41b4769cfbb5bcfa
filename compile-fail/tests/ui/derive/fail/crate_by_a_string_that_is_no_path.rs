use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(crate = "pool-core")]
struct Object;

fn main() {
    Object::init().reset();
}

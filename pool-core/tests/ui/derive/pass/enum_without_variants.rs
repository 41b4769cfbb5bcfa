use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle,
}

fn main() {
    Object::init().reset();
}

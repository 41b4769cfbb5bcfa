use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle,
    #[poolable(initial)]
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

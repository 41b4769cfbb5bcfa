use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle,
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

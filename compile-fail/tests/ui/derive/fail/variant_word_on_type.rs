use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(initial)]
enum Object {
    Idle,
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(default)]
    Idle,
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

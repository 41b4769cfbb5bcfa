use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial, reusable = judge)]
    Idle,
    Busy,
}

fn judge(_: &Object) -> bool {
    true
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

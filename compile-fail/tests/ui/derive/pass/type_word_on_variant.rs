use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(reusable = judge)]
enum Object {
    #[poolable(initial)]
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

use pool_core::Poolable;

#[derive(Poolable)]
#[derive(Default)]
enum Object {
    #[default]
    Idle,
    Busy,
}

fn main() {
    let _ = Object::Busy;
    let _ = Object::default();
    Object::init().reset();
}

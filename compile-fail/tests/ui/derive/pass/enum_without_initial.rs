use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle(u32),
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

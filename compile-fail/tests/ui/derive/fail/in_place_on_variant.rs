use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial, in_place)]
    Idle(Vec<u8>),
    Busy(Vec<u8>),
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

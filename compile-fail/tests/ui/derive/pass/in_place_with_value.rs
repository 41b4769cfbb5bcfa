use pool_core::Poolable;

#[derive(Poolable)]
#[poolable(in_place)]
enum Object {
    #[poolable(initial)]
    Idle(Vec<u8>),
    Busy(Vec<u8>),
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

use pool_core::Poolable;

struct Foreign;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle(u8, Foreign),
    Busy,
}

fn main() {
    let _ = Object::Busy;
    Object::init().reset();
}

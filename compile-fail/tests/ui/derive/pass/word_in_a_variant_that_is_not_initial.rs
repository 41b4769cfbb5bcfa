use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle,
    Busy { since: u64 },
}

fn main() {
    if let Object::Busy { since: 1.. } = (Object::Busy { since: 0 }) {}
    Object::init().reset();
}

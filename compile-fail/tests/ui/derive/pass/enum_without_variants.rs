use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Idle,
}

fn main() {
    let _: fn() -> Object = Object::init;
}

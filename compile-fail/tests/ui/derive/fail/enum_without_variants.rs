use pool_core::Poolable;

#[derive(Poolable)]
enum Object {}

fn main() {
    let _: fn() -> Object = Object::init;
}

use pool_core::Poolable;

#[derive(Poolable)]
enum Object {}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Default)]
struct Foreign;

#[derive(Poolable)]
struct Object {
    field: Foreign,
}

fn main() {
    Object::init().reset();
}

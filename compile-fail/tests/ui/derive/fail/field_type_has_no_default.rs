use pool_core::Poolable;

struct Foreign;

#[derive(Poolable)]
struct Object {
    #[poolable(default)]
    field: Foreign,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = |field| field.truncate(1))]
    field: String,
}

fn main() {
    Object::init().reset();
}

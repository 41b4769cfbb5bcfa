use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = clear)]
    field: String,
}

fn clear(field: &mut String) {
    field.clear();
}

fn main() {
    Object::init().reset();
}

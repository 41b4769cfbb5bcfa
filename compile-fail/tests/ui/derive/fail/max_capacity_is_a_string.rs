use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(max_capacity = "8")]
    field: String,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = |field| { field.clear(); field.push('x') })]
    field: String,
}

fn main() {
    Object::init().reset();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Object {
    #[poolable(reset = |field| { field.clear(); field.push('x') })]
    field: u32,
}

fn main() {
    Object::init().reset();
}

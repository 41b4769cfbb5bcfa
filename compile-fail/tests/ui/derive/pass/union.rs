use pool_core::Poolable;

#[derive(Poolable)]
enum Object {
    #[poolable(initial)]
    Field(u32),
    Other(f32),
}

fn main() {
    let _ = Object::Other(0.0);
    Object::init().reset();
}

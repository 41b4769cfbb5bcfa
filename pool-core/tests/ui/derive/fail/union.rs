use pool_core::Poolable;

#[derive(Poolable)]
union Object {
    field: u32,
    other: f32,
}

fn main() {
    let _ = Object::Other(0.0);
    Object::init().reset();
}

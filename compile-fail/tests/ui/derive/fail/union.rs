use pool_core::Poolable;

#[derive(Poolable)]
union Object {
    field: u32,
    other: f32,
}

fn main() {
    Object::init().reset();
}

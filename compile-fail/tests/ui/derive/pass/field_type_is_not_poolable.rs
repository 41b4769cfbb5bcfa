use pool_core::Poolable;

#[derive(Default)]
struct Foreign;

impl Foreign {
    fn clear(&mut self) {}
}

#[derive(Poolable)]
struct Object {
    #[poolable(default, reset = Foreign::clear)]
    field: Foreign,
}

fn main() {
    Object::init().reset();
}

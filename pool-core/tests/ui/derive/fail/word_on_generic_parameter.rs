use pool_core::Poolable;

#[derive(Poolable)]
struct Object<#[poolable(skip)] T> {
    field: T,
}

fn main() {
    let _ = Object::<u8>::init();
}

use pool_core::Poolable;

#[derive(Poolable)]
struct Frame {
    length: usize,
    bytes: [u8],
}

fn main() {}

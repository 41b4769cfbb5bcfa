use pool_core::Poolable;

#[derive(Poolable)]
struct Frame {
    length: usize,
    bytes: Box<[u8]>,
}

fn main() {
    let frame = Frame::init();
    assert_eq!((frame.length, frame.bytes.len()), (0, 0));
}

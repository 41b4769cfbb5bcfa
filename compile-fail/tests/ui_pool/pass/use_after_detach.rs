use pool_core::{Pool, Pooled};

fn main() {
    let pool = Pool::<String>::new();
    let object = pool.acquire();
    let copy = object.clone();
    let text: String = Pooled::detach(object);
    assert_eq!(text, copy);
}

use std::marker::PhantomPinned;

use pool_core::{FnPool, Pooled};

fn main() {
    let pool = FnPool::<PhantomPinned>::builder_fn(|| PhantomPinned, |_| {})
        .build()
        .unwrap();
    drop(Pooled::into_pin(pool.acquire()));
}

use std::marker::PhantomPinned;

use pool_core::{FnPool, Pooled};

// The box is what the pool moves and resets; what is in it stays pinned.
fn main() {
    let pool =
        FnPool::<std::pin::Pin<Box<PhantomPinned>>>::builder_fn(|| Box::pin(PhantomPinned), |_| {})
            .build()
            .unwrap();
    drop(Pooled::into_pin(pool.acquire()));
}

//! One thread takes a burst of objects, zeroes each, compares it with a string, and gives all back.
//! The workload that OpenSM measured its locked pool with, found it to lose against malloc, and
//! removed it. It ran its burst once, so that it saw the pool grow and never saw it reuse anything;
//! here are both: cold, the first burst of a process, and warm.
//!
//! This process has the system's allocator. The rows of mimalloc and jemalloc, in the same tables,
//! are those of the benches `locked_pool_vs_mimalloc` and `locked_pool_vs_jemalloc`.

#[path = "../support/cold.rs"]
mod cold_rows;
#[path = "../support/mod.rs"]
mod support;
mod workload;

use pool_bench::by_hand::Boxed;
use pool_bench::cold::Entrant;
use pool_bench::contender::{BareVec, Pooled, Unsync};
use pool_core::Backend;

use workload::{run, zeroed};

/// As the pool was published: memory for 32 objects at a time.
const PUBLISHED_GROWTH: usize = 32;

fn main() {
    run(&[
        Entrant::new("heap", |burst| zeroed(Pooled::on(Backend::Heap), burst)),
        Entrant::new("mutex", |burst| zeroed(Pooled::on(Backend::Mutex), burst)),
        Entrant::new("queue", |burst| zeroed(Pooled::on(Backend::Queue), burst)),
        Entrant::new("batched", |burst| {
            zeroed(Pooled::on(Backend::Batched), burst)
        }),
        Entrant::new("batched, grow_by 32", |burst| {
            zeroed(Pooled::with(|pool| pool.grow_by(PUBLISHED_GROWTH)), burst)
        }),
        Entrant::new("unsync", |burst| zeroed(Unsync::default(), burst)),
        Entrant::new("no pool: a Vec", |burst| zeroed(BareVec::default(), burst)),
        Entrant::new("system malloc", |burst| zeroed(Boxed, burst)),
    ]);
}

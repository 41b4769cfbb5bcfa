//! What a process with another global allocator measures: the allocator itself, and pools on it.

use pool_bench::by_hand::Boxed;
use pool_bench::cold::Entrant;
use pool_bench::contender::Pooled;
use pool_core::Backend;

use crate::workload::{run, zeroed};

/// Measures `Box`, a pool of the backend `heap` and a batched one, by these names.
pub(crate) fn run_as([alone, heap, batched]: [&'static str; 3]) {
    run(&[
        Entrant {
            name: alone,
            work: |burst| zeroed(Boxed, burst),
        },
        Entrant {
            name: heap,
            work: |burst| zeroed(Pooled::on(Backend::Heap), burst),
        },
        Entrant {
            name: batched,
            work: |burst| zeroed(Pooled::on(Backend::Batched), burst),
        },
    ]);
}

//! Threads that share a pool and have one object in hand: take it, store a word in it, give it back.
//! The workload that BlazingMQ's batched pool was published with, where the gain was 80-fold and the
//! visits to the shared part did not scale.
//!
//! The time is that of the slowest thread, so nanoseconds an object are also milliseconds for each
//! thread's million.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use pool_bench::by_hand::{ByHand, LockedVec, Ring, Segments};
use pool_bench::contender::{BareVec, Contender, Pooled, ThreadLocalVec};
use pool_bench::pattern::Pattern;
use pool_core::Backend;

use support::{Group, crowd, group, row, sharing, threads_column, time_for};

const THREADS: [usize; 7] = [1, 2, 4, 10, 64, 128, 256];
const BATCH_SIZES: [usize; 3] = [1, 32, 128];

fn shared_pool_batching(criterion: &mut Criterion) {
    let mut group = group(criterion, "shared_pool_batching", 1);
    for threads in THREADS {
        time_for(&mut group, threads);
        for backend in Backend::ALL {
            shared(&mut group, backend.name(), threads, || Pooled::on(backend));
        }
        for size in BATCH_SIZES {
            let name = format!("batched, size {size}");
            shared(&mut group, &name, threads, || {
                Pooled::with(|pool| pool.batch_size(size))
            });
        }
        shared(
            &mut group,
            "Mutex<Vec>",
            threads,
            ByHand::<LockedVec>::default,
        );
        shared(&mut group, "SegQueue", threads, ByHand::<Segments>::default);
        shared(&mut group, "ArrayQueue", threads, ByHand::<Ring>::default);
        shared(
            &mut group,
            "thread_local Vec",
            threads,
            ThreadLocalVec::default,
        );
        row(
            &mut group,
            "no pool: a Vec each",
            &threads_column(threads),
            || crowd(threads, Pattern::Single, BareVec::default),
        );
    }
}

fn shared<C: Contender + Clone + Send + Sync + 'static>(
    group: &mut Group<'_>,
    name: &str,
    threads: usize,
    make: impl Fn() -> C,
) {
    row(group, name, &threads_column(threads), || {
        sharing(threads, Pattern::Single, make())
    });
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = shared_pool_batching
}
criterion_main!(benches);

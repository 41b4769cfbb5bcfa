//! The pools of other crates, pools by hand and `Box`, each with the same object, reset and loop as
//! ours: one object in hand and bursts of ten, on one thread and on several that share a pool; and
//! from thread to thread.

mod crates;
#[path = "../support/mod.rs"]
mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use pool_bench::by_hand::{Boxed, ByHand, LockedVec, Ring, Segments};
use pool_bench::contender::{BareVec, Contender, Pooled, ThreadLocalVec, Unsync};
use pool_bench::pattern::Pattern;
use pool_bench::pipeline::{of_objects, of_shared};
use pool_core::Backend;

use crates::{
    AsyncbandBounded, AsyncbandUnbounded, Deadpool, EsoxObjectpool, FastallocLocal, Heapless,
    InfinityPool, Lifeguard, LockfreeLinear, LockfreeMutex, LockfreeSpin, NexusLocal, NexusSlab,
    NexusSync, ObjectPool, ObjectPoolOwned, Opool, OpoolLocal, Plurality, PluralityBorrowed,
    PluralityLocked, RegexAutomata, ShardedSlab, ShardedSlabOwned, Slab, fastalloc,
};
use support::{Group, crowd, group, row, sharing, threads_column};

/// Those that may share a pool.
const THREADS: [usize; 3] = [1, 2, 8];

fn rivals(criterion: &mut Criterion) {
    for (name, pattern) in [
        ("rivals, one at a time", Pattern::Single),
        ("rivals, bursts of 10", Pattern::Burst(10)),
    ] {
        let mut group = group(criterion, name, pattern.objects());
        shared_pools(&mut group, pattern);
        pools_for_one_thread(&mut group, pattern);
    }
    let mut group = group(criterion, "rivals, thread to thread", 1);
    from_thread_to_thread(&mut group);
}

fn shared_pools(group: &mut Group<'_>, pattern: Pattern) {
    for backend in Backend::ALL {
        shared(group, backend.name(), pattern, || Pooled::on(backend));
    }
    shared(group, "object-pool", pattern, ObjectPool::default);
    shared(
        group,
        "object-pool, owned",
        pattern,
        ObjectPoolOwned::default,
    );
    shared(
        group,
        "lockfree-object-pool, linear",
        pattern,
        LockfreeLinear::default,
    );
    shared(
        group,
        "lockfree-object-pool, spin lock",
        pattern,
        LockfreeSpin::default,
    );
    shared(
        group,
        "lockfree-object-pool, mutex",
        pattern,
        LockfreeMutex::default,
    );
    shared(group, "opool", pattern, Opool::default);
    shared(group, "sharded-slab", pattern, ShardedSlab::default);
    shared(group, "regex-automata", pattern, RegexAutomata::default);
    shared(
        group,
        "plurality in a Mutex",
        pattern,
        PluralityLocked::default,
    );
    shared(group, "infinity_pool", pattern, InfinityPool::default);
    shared(
        group,
        "asyncband, unbounded",
        pattern,
        AsyncbandUnbounded::default,
    );
    shared(
        group,
        "asyncband, bounded",
        pattern,
        AsyncbandBounded::default,
    );
    shared(group, "deadpool, unmanaged", pattern, Deadpool::default);
    shared(group, "esox_objectpool", pattern, EsoxObjectpool::default);
    shared(group, "fastalloc", pattern, fastalloc);
    shared(group, "heapless", pattern, Heapless::default);
    shared(group, "ArrayQueue", pattern, ByHand::<Ring>::default);
    shared(group, "SegQueue", pattern, ByHand::<Segments>::default);
    shared(group, "Mutex<Vec>", pattern, ByHand::<LockedVec>::default);
    shared(group, "thread_local Vec", pattern, ThreadLocalVec::default);
    shared(group, "no pool: Box", pattern, || Boxed);
}

fn pools_for_one_thread(group: &mut Group<'_>, pattern: Pattern) {
    alone(group, "unsync", pattern, Unsync::default);
    alone(group, "opool, local", pattern, OpoolLocal::default);
    alone(group, "nexus-pool, local", pattern, NexusLocal::default);
    alone(group, "nexus-pool, sync", pattern, NexusSync::default);
    alone(group, "plurality", pattern, Plurality::default);
    alone(
        group,
        "plurality, borrowed",
        pattern,
        PluralityBorrowed::default,
    );
    alone(group, "slab", pattern, Slab::default);
    alone(group, "nexus-slab", pattern, NexusSlab::default);
    alone(group, "fastalloc, local", pattern, FastallocLocal::default);
    alone(group, "lifeguard", pattern, Lifeguard::default);
    alone(group, "no pool: a Vec", pattern, BareVec::default);
}

/// One acquires, another releases, with a queue between: as in the bench `pipeline`.
fn from_thread_to_thread(group: &mut Group<'_>) {
    for backend in Backend::ALL {
        through(group, backend.name(), || Pooled::on(backend));
    }
    through(group, "object-pool", ObjectPool::default);
    through(group, "object-pool, owned", ObjectPoolOwned::default);
    through(
        group,
        "lockfree-object-pool, linear",
        LockfreeLinear::default,
    );
    through(
        group,
        "lockfree-object-pool, spin lock",
        LockfreeSpin::default,
    );
    through(group, "lockfree-object-pool, mutex", LockfreeMutex::default);
    through(group, "opool", Opool::default);
    through(group, "sharded-slab, owned", ShardedSlabOwned::default);
    through(group, "regex-automata", RegexAutomata::default);
    through(group, "infinity_pool", InfinityPool::default);
    through(group, "asyncband, unbounded", AsyncbandUnbounded::default);
    through(group, "asyncband, bounded", AsyncbandBounded::default);
    through(group, "deadpool, unmanaged", Deadpool::default);
    through(group, "esox_objectpool", EsoxObjectpool::default);
    through(group, "fastalloc", fastalloc);
    through(group, "heapless", Heapless::default);
    // These cannot be shared; what they hand out finds its way back by itself.
    row(group, "nexus-pool, sync", "through a queue", || {
        of_objects(NexusSync::default(), drop)
    });
    row(group, "plurality", "through a queue", || {
        of_objects(Plurality::default(), drop)
    });
    through(group, "ArrayQueue", ByHand::<Ring>::default);
    through(group, "SegQueue", ByHand::<Segments>::default);
    through(group, "Mutex<Vec>", ByHand::<LockedVec>::default);
    through(group, "no pool: Box", || Boxed);
}

fn shared<C: Contender + Clone + Send + Sync + 'static>(
    group: &mut Group<'_>,
    name: &str,
    pattern: Pattern,
    make: impl Fn() -> C,
) {
    for threads in THREADS {
        row(group, name, &threads_column(threads), || {
            sharing(threads, pattern, make())
        });
    }
}

fn alone<C: Contender + 'static>(
    group: &mut Group<'_>,
    name: &str,
    pattern: Pattern,
    make: impl Fn() -> C + Copy + Send + Sync + 'static,
) {
    row(group, name, &threads_column(1), || crowd(1, pattern, make));
}

fn through<C>(group: &mut Group<'_>, name: &str, make: impl Fn() -> C)
where
    C: Contender<Handle: Send> + Clone + Send + 'static,
{
    row(group, name, "through a queue", || of_shared(make()));
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = rivals
}
criterion_main!(benches);

//! One thread acquires, touches and sends, another receives, reads and releases, through a bounded
//! queue: what it costs when objects are given back where they were not taken. Rivals are in `rivals`.

mod support;

use std::alloc::System;

use criterion::{Criterion, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use pool_bench::by_hand::{ByHand, LockedVec, Ring, Segments};
use pool_bench::contender::{Allocator, Contender, Pooled};
use pool_bench::pipeline::{QUEUE, of_objects_in_a_ring, of_shared, of_words};
use pool_core::Backend;
use tikv_jemallocator::Jemalloc;

use support::{Group, group, grouped, row};

fn pipeline(criterion: &mut Criterion) {
    let mut group = group(criterion, "pipeline", 1);
    for backend in Backend::ALL {
        through(&mut group, backend.name(), || Pooled::on(backend));
    }
    through(&mut group, "Mutex<Vec>", ByHand::<LockedVec>::default);
    through(&mut group, "SegQueue", ByHand::<Segments>::default);
    through(&mut group, "ArrayQueue", ByHand::<Ring>::default);
    through(&mut group, "system malloc", || Allocator(&System));
    through(&mut group, "jemalloc", || Allocator(&Jemalloc));
    through(&mut group, "mimalloc", || Allocator(&MiMalloc));
    row(
        &mut group,
        "no pool: a ring",
        &column(),
        of_objects_in_a_ring,
    );
    row(&mut group, "no objects: plain words", &column(), of_words);
}

fn through<C>(group: &mut Group<'_>, name: &str, make: impl Fn() -> C)
where
    C: Contender<Handle: Send> + Clone + Send + 'static,
{
    row(group, name, &column(), || of_shared(make()));
}

fn column() -> String {
    format!("{} places", grouped(QUEUE))
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = pipeline
}
criterion_main!(benches);

//! What an object costs each contender on one thread, one in hand at a time and in bursts.
//!
//! For profiles and for changes from commit to commit; claims are ratios within one run, and those
//! are the business of the program `ratios`.

mod support;

use std::alloc::System;

use criterion::{Criterion, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use pool_bench::contender::{Allocator, BareVec, Contender, Pooled, ThreadLocalVec, Unsync};
use pool_bench::pattern::Pattern;
use pool_core::Backend;
use tikv_jemallocator::Jemalloc;

use support::{Group, crowd, group, objects_each, row};

const PATTERNS: [(&str, Pattern); 3] = [
    ("one at a time", Pattern::Single),
    ("burst 10", Pattern::Burst(10)),
    ("burst 1,000", Pattern::Burst(1_000)),
];

fn hot_path(criterion: &mut Criterion) {
    let mut group = group(criterion, "hot_path", 1);
    for backend in Backend::ALL {
        alone(&mut group, backend.name(), move || Pooled::on(backend));
    }
    alone(&mut group, "unsync", Unsync::default);
    alone(&mut group, "no pool: a Vec", BareVec::default);
    alone(&mut group, "thread_local Vec", ThreadLocalVec::default);
    alone(&mut group, "system malloc", || Allocator(&System));
    alone(&mut group, "jemalloc", || Allocator(&Jemalloc));
    alone(&mut group, "mimalloc", || Allocator(&MiMalloc));
}

fn alone<C: Contender + 'static>(
    group: &mut Group<'_>,
    name: &str,
    make: impl Fn() -> C + Copy + Send + Sync + 'static,
) {
    for (column, pattern) in PATTERNS {
        objects_each(group, pattern.objects());
        row(group, name, column, || crowd(1, pattern, make));
    }
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = hot_path
}
criterion_main!(benches);

//! What an object costs each contender, one in hand at a time and in bursts of 10.
//!
//! For profiles and for changes from commit to commit; claims are ratios within one run, and those
//! are the business of the program `ratios`.

use std::alloc::System;
use std::time::Instant;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use mimalloc::MiMalloc;
use pool_bench::contender::{Allocator, BareVec, Contender, Pooled, ThreadLocalVec, Unsync};
use pool_bench::pattern::{Pattern, looping};
use pool_core::Backend;
use tikv_jemallocator::Jemalloc;

fn hot_path(criterion: &mut Criterion) {
    for (name, pattern) in [
        ("one at a time", Pattern::Single),
        ("bursts of 10", Pattern::Burst(10)),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(pattern.objects() as u64));
        for backend in Backend::ALL {
            bench(&mut group, backend.name(), pattern, Pooled::on(backend));
        }
        bench(&mut group, "unsync", pattern, Unsync::default());
        bench(&mut group, "bare vec", pattern, BareVec::default());
        bench(
            &mut group,
            "thread_local vec",
            pattern,
            ThreadLocalVec::default(),
        );
        bench(&mut group, "system", pattern, Allocator(System));
        bench(&mut group, "jemalloc", pattern, Allocator(Jemalloc));
        bench(&mut group, "mimalloc", pattern, Allocator(MiMalloc));
        group.finish();
    }
}

fn bench<C: Contender + 'static>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    pattern: Pattern,
    contender: C,
) {
    let mut run = looping(contender, pattern);
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|turns| {
            let start = Instant::now();
            run(turns as usize);
            start.elapsed()
        });
    });
}

criterion_group!(benches, hot_path);
criterion_main!(benches);

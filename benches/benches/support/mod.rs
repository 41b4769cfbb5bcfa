//! What every bench shares: how long a row is measured, what a row of so many threads is called, and
//! how the turns of a team become the iterations of criterion.
//!
//! Each row is one contender in one column of its group; the program `tables` prints them so.
#![allow(dead_code)] // Each bench uses a part of it.

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use pool_bench::contender::Contender;
use pool_bench::duel::cores;
use pool_bench::pattern::{Pattern, looping};
use pool_bench::team::Team;

/// The rows of one table.
pub(crate) type Group<'a> = BenchmarkGroup<'a, WallTime>;

const SAMPLES: usize = 12;

/// Milliseconds that a row is measured.
const MEASURED: u64 = 360;

/// Many rows, each short. What the command line says comes after it, and overrides.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(SAMPLES)
        .warm_up_time(Duration::from_millis(120))
        .measurement_time(Duration::from_millis(MEASURED))
        .nresamples(2_000)
}

/// A group whose rows take `objects` objects an iteration, and are shown per object.
pub(crate) fn group<'a>(criterion: &'a mut Criterion, name: &str, objects: usize) -> Group<'a> {
    let mut group = criterion.benchmark_group(name);
    // A linear series would have the slowest rows measured for a minute.
    group.sampling_mode(SamplingMode::Flat);
    objects_each(&mut group, objects);
    group
}

/// Says that the rows that follow take so many objects an iteration.
pub(crate) fn objects_each(group: &mut Group<'_>, objects: usize) {
    group.throughput(Throughput::Elements(objects as u64));
}

/// Has the rows that follow measured so long that each of so many threads gets a slice or two of the
/// scheduler's in a sample. In less they would run one after the other, and never meet.
pub(crate) fn time_for(group: &mut Group<'_>, threads: usize) {
    let slices = SAMPLES * threads.div_ceil(cores());
    let millis = MEASURED.max(SLICE * slices as u64);
    group.measurement_time(Duration::from_millis(millis));
}

/// Milliseconds, about, that the scheduler leaves a thread on its core when others want it.
const SLICE: u64 = 3;

/// A row: from the first start of a thread to the last end. The team is made when the row is
/// measured, and lives as long.
pub(crate) fn row(group: &mut Group<'_>, name: &str, column: &str, team: impl Fn() -> Team) {
    let mut made = None;
    group.bench_function(BenchmarkId::new(name, column), |bencher| {
        let team = made.get_or_insert_with(&team);
        bencher.iter_custom(|turns| team.run(turns as usize).wall);
    });
}

/// Threads that each have a contender, all in the same loop.
pub(crate) fn crowd<C: Contender + 'static>(
    threads: usize,
    pattern: Pattern,
    make: impl Fn() -> C + Send + Sync + 'static,
) -> Team {
    Team::new(threads, move |_| looping(make(), pattern))
}

/// Threads that share a contender by its clones.
pub(crate) fn sharing<C: Contender + Clone + Send + Sync + 'static>(
    threads: usize,
    pattern: Pattern,
    contender: C,
) -> Team {
    crowd(threads, pattern, move || contender.clone())
}

/// The column of so many threads; those beyond the cores are marked.
pub(crate) fn threads_column(threads: usize) -> String {
    match (threads, cores()) {
        (1, _) => "1 thread".into(),
        (threads, cores) if threads <= cores => format!("{threads} threads"),
        (threads, 1) => format!("{threads} threads on 1 core"),
        (threads, cores) => format!("{threads} threads on {cores} cores"),
    }
}

/// A number as people write it: 1,000,000.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The column of bursts of so many.
pub(crate) fn burst_column(burst: usize) -> String {
    format!("burst {}", grouped(burst))
}

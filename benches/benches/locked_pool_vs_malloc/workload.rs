//! The workload, for each process that runs it with another global allocator.
#![allow(dead_code)] // Each process runs one of the lists of entrants.

use pool_bench::by_hand::Boxed;
use pool_bench::cold::{self, Entrant};
use pool_bench::contender::{Contender, Pooled};
use pool_bench::pattern::{in_bursts_zeroed, room_for};
use pool_bench::team::Work;
use pool_core::Backend;

use crate::cold_rows::{Row, cold_row, warm_row};
use crate::support::{burst_column, criterion, group, objects_each};

const BURSTS: [usize; 4] = [1, 10, 1_000, 1_000_000];

/// Measures the entrants, the first burst of a process and bursts without end.
pub(crate) fn run(entrants: &[Entrant]) {
    cold::serve(entrants);
    let mut criterion = criterion().configure_from_args();
    for (name, row) in [
        ("locked_pool_vs_malloc, cold", cold_row as Row),
        ("locked_pool_vs_malloc, warm", warm_row),
    ] {
        let mut group = group(&mut criterion, name, 1);
        for burst in BURSTS {
            objects_each(&mut group, burst);
            for entrant in entrants {
                row(&mut group, entrant, &burst_column(burst), burst);
            }
        }
        group.finish();
    }
    criterion.final_summary();
}

/// Measures `Box`, a pool of the backend `heap` and a batched one, by these names.
pub(crate) fn run_as([alone, heap, batched]: [&'static str; 3]) {
    run(&[
        Entrant::new(alone, |burst| zeroed(Boxed, burst)),
        Entrant::new(heap, |burst| zeroed(Pooled::on(Backend::Heap), burst)),
        Entrant::new(batched, |burst| zeroed(Pooled::on(Backend::Batched), burst)),
    ]);
}

/// The loop: takes a burst, zeroes each object and compares it with a string, gives all back.
pub(crate) fn zeroed<C: Contender + 'static>(mut contender: C, burst: usize) -> Work {
    let mut held = room_for(burst);
    Box::new(move |turns| in_bursts_zeroed(&mut contender, &mut held, burst, turns))
}

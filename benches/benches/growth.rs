//! A million objects from a pool that has none: cold, the first burst of a process, in which the pool
//! grows all the way; and warm, the same burst again. Objects are touched as everywhere, so what is
//! seen is the pool, not the wiping of 64 MB.

#[path = "support/cold.rs"]
mod cold_rows;
mod support;

use std::alloc::System;

use pool_bench::by_hand::{ByHand, LockedVec, Segments};
use pool_bench::cold::{self, Entrant};
use pool_bench::contender::{Allocator, BareVec, Contender, Pooled, Unsync};
use pool_bench::pattern::{Pattern, at_once, looping};
use pool_bench::team::Work;
use pool_core::Backend;

use cold_rows::{Row, cold_row, warm_row};
use support::group;

const MILLION: usize = 1_000_000;

const ENTRANTS: &[Entrant] = &[
    Entrant::new("heap", |burst| bursts(Pooled::on(Backend::Heap), burst)),
    Entrant::new("mutex", |burst| bursts(Pooled::on(Backend::Mutex), burst)),
    Entrant::new("queue", |burst| bursts(Pooled::on(Backend::Queue), burst)),
    Entrant::new("batched", |burst| {
        bursts(Pooled::on(Backend::Batched), burst)
    }),
    Entrant::new("batched, acquire_many", all_at_once),
    Entrant::new("batched, grow_by 32", |burst| bursts(growing_by(32), burst)),
    Entrant::new("batched, grow_by 65,536", |burst| {
        bursts(growing_by(65_536), burst)
    }),
    Entrant::new("batched, prefilled", |burst| 
        // Growth in advance: even a process's first burst finds its objects.
        bursts(Pooled::with(|pool| pool.prefill(burst)), burst)),
    Entrant::new("unsync", |burst| bursts(Unsync::default(), burst)),
    Entrant::new("Mutex<Vec>", |burst| {
        bursts(ByHand::<LockedVec>::default(), burst)
    }),
    Entrant::new("SegQueue", |burst| {
        bursts(ByHand::<Segments>::default(), burst)
    }),
    Entrant::new("no pool: a Vec", |burst| bursts(BareVec::default(), burst)),
    Entrant::new("system malloc", |burst| bursts(Allocator(&System), burst)),
];

fn bursts<C: Contender + 'static>(contender: C, burst: usize) -> Work {
    looping(contender, Pattern::Burst(burst))
}

fn all_at_once(burst: usize) -> Work {
    let mut pool = Pooled::on(Backend::Batched);
    Box::new(move |turns| at_once(&mut pool, burst, turns))
}

fn growing_by(objects: usize) -> Pooled {
    Pooled::with(|pool| pool.grow_by(objects))
}

fn main() {
    cold::serve(ENTRANTS);
    let mut criterion = support::criterion().configure_from_args();
    let mut group = group(&mut criterion, "growth", MILLION);
    for entrant in ENTRANTS {
        for (column, row) in [("cold", cold_row as Row), ("warm", warm_row)] {
            row(&mut group, entrant, column, MILLION);
        }
    }
    group.finish();
    criterion.final_summary();
}

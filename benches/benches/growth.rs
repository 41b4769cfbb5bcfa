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
use pool_core::{Backend, Pool};

use cold_rows::{Row, cold_row, warm_row};
use support::group;

const MILLION: usize = 1_000_000;

const ENTRANTS: &[Entrant] = &[
    Entrant {
        name: "heap",
        work: |burst| bursts(Pooled::on(Backend::Heap), burst),
    },
    Entrant {
        name: "mutex",
        work: |burst| bursts(Pooled::on(Backend::Mutex), burst),
    },
    Entrant {
        name: "queue",
        work: |burst| bursts(Pooled::on(Backend::Queue), burst),
    },
    Entrant {
        name: "batched",
        work: |burst| bursts(Pooled::on(Backend::Batched), burst),
    },
    Entrant {
        name: "batched, acquire_many",
        work: all_at_once,
    },
    Entrant {
        name: "batched, grow_by 32",
        work: |burst| bursts(Pooled::growing_by(32), burst),
    },
    Entrant {
        name: "batched, grow_by 65,536",
        work: |burst| bursts(Pooled::growing_by(65_536), burst),
    },
    Entrant {
        name: "batched, prefilled",
        work: |burst| bursts(prefilled(burst), burst),
    },
    Entrant {
        name: "unsync",
        work: |burst| bursts(Unsync::default(), burst),
    },
    Entrant {
        name: "Mutex<Vec>",
        work: |burst| bursts(ByHand::<LockedVec>::default(), burst),
    },
    Entrant {
        name: "SegQueue",
        work: |burst| bursts(ByHand::<Segments>::default(), burst),
    },
    Entrant {
        name: "no pool: a Vec",
        work: |burst| bursts(BareVec::default(), burst),
    },
    Entrant {
        name: "system malloc",
        work: |burst| bursts(Allocator(System), burst),
    },
];

fn bursts<C: Contender + 'static>(contender: C, burst: usize) -> Work {
    looping(contender, Pattern::Burst(burst))
}

fn all_at_once(burst: usize) -> Work {
    let mut pool = Pooled::on(Backend::Batched);
    Box::new(move |turns| at_once(&mut pool, burst, turns))
}

/// Growth in advance: even a process's first burst finds its objects.
fn prefilled(objects: usize) -> Pooled {
    let pool = Pool::builder().prefill(objects).build();
    Pooled(pool.expect("nothing stands in the way of a prefill"))
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

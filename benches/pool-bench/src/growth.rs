//! Cold against warm: the first burst, from a pool without an object, and the same burst once the
//! objects are there. Called by `main`, and by `latency` for the times of single acquires.
#![allow(unsafe_code)] // Objects are touched where they lie; freed memory goes back to the system.

use std::time::Instant;

use pool_bench::by_hand::Boxed;
use pool_bench::contender::{BareVec, Contender, Pooled, Unsync};
use pool_bench::duel::Spread;
use pool_bench::payload::{Payload, touch};

use crate::case::{Case, Entrant, Kind, Plan};
use crate::lane::{for_objects, pool};
use crate::results::Growth;
use crate::watch::{Budget, Unwatched, Watch};

/// Objects of the burst, and the memory they may take.
const OBJECTS: usize = 100_000;
const MEMORY: usize = 32 << 20;

/// Fewest rounds, however long they take.
const ROUNDS: usize = 3;

/// Objects of the burst: no more than the capacity allows.
fn objects(case: Case) -> usize {
    let objects = OBJECTS.min(MEMORY / case.bytes()).max(1);
    objects.min(case.capacity.unwrap_or(objects))
}

/// Every kind of contender, by turns.
pub(crate) fn growth(plan: &Plan, budget: &Budget, share: f64) -> Vec<Growth> {
    let mut entrants = plan.one_of_each();
    entrants.retain(|entrant| entrant.kind != Kind::Words);
    let mut taken = vec![(Vec::new(), Vec::new()); entrants.len()];
    for _ in budget.rounds(share, ROUNDS) {
        for (&entrant, (cold, warm)) in entrants.iter().zip(&mut taken) {
            let [first, second] = bursts(plan.case, entrant, &mut Unwatched);
            cold.push(first);
            warm.push(second);
        }
    }
    let growth = |(&entrant, (cold, warm)): (&Entrant, &mut (Vec<f64>, Vec<f64>))| Growth {
        entrant,
        objects: objects(plan.case),
        cold_ns: Spread::of(cold),
        warm_ns: Spread::of(warm),
    };
    entrants.iter().zip(&mut taken).map(growth).collect()
}

/// A burst from a fresh contender, and the same again: nanoseconds an object. The acquires of the
/// first are watched.
pub(crate) fn bursts(case: Case, entrant: Entrant, watch: &mut impl Watch) -> [f64; 2] {
    give_back_memory();
    for_objects!(case, sized_bursts(case, entrant, watch))
}

fn sized_bursts<T: Payload>(case: Case, entrant: Entrant, watch: &mut impl Watch) -> [f64; 2] {
    match entrant.kind {
        Kind::Unsync => both::<T, _>(Unsync::default(), case, watch),
        Kind::Vec => both::<T, _>(BareVec::default(), case, watch),
        Kind::Box => both::<T, _>(Boxed, case, watch),
        _ => both::<T, _>(Pooled(pool(entrant, 0, case.capacity)), case, watch),
    }
}

fn both<T: Payload, C: Contender<T>>(
    mut contender: C,
    case: Case,
    watch: &mut impl Watch,
) -> [f64; 2] {
    let mut held = Vec::new();
    // The room for handles is not part of the time.
    held.resize_with(objects(case), || None);
    let cold = burst::<T, C>(&mut contender, &mut held, watch);
    [
        cold,
        burst::<T, C>(&mut contender, &mut held, &mut Unwatched),
    ]
}

fn burst<T: Payload, C: Contender<T>>(
    contender: &mut C,
    held: &mut [Option<C::Handle>],
    watch: &mut impl Watch,
) -> f64 {
    let start = Instant::now();
    for place in &mut *held {
        let mut handle = watch.acquire(|| contender.acquire());
        // SAFETY: the object of a handle is valid for writes, and exists if it owns something.
        unsafe { touch(C::object(&mut handle), 1) };
        *place = Some(handle);
    }
    for handle in held.iter_mut().rev().filter_map(Option::take) {
        contender.release(handle);
    }
    start.elapsed().as_nanos() as f64 / held.len() as f64
}

/// Has the allocator give freed memory back to the system, so that the next burst is cold again.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches nothing but memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

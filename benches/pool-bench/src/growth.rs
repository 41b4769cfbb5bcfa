//! Cold against warm: what the first burst costs, from a pool without an object, and what the same
//! burst costs once the objects are there. Called by `main`, and by `latency` for single times.
#![allow(unsafe_code)] // Objects are touched where they lie; freed memory goes back to the system.

use std::time::{Duration, Instant};

use pool_bench::by_hand::Boxed;
use pool_bench::contender::{BareVec, Contender, Pooled, Unsync};
use pool_bench::duel::Spread;
use pool_bench::payload::{Payload, touch};
use quanta::Clock;

use crate::case::{Case, Entrant, Kind, Plan};
use crate::lane::for_objects;
use crate::results::Growth;
use crate::watch::{Times, no_times, timed};

/// Objects of the burst, and the memory they may take.
const OBJECTS: usize = 100_000;
const MEMORY: usize = 32 << 20;

/// Fewest rounds, however long they take.
const ROUNDS: usize = 3;

/// Objects of the burst: no more than the bound allows.
fn objects(case: Case) -> usize {
    let objects = OBJECTS.min(MEMORY / case.bytes()).max(1);
    objects.min(case.capacity.unwrap_or(objects))
}

/// Every kind of contender, by turns.
pub(crate) fn growth(plan: &Plan, time: Duration, progress: &dyn Fn(f64)) -> Vec<Growth> {
    let entrants = plan.one_of_each();
    let entrants = entrants
        .into_iter()
        .filter(|entrant| entrant.kind != Kind::Words);
    let mut taken: Vec<_> = entrants
        .map(|entrant| (entrant, Vec::new(), Vec::new()))
        .collect();
    let start = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS || start.elapsed() < time {
        for (entrant, cold, warm) in &mut taken {
            let (first, second) = cold_and_warm(plan.case, *entrant);
            cold.push(first);
            warm.push(second);
        }
        rounds += 1;
        progress((start.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0));
    }
    let growths = taken
        .into_iter()
        .map(|(entrant, mut cold, mut warm)| Growth {
            entrant,
            objects: objects(plan.case),
            cold_ns: Spread::of(&mut cold),
            warm_ns: Spread::of(&mut warm),
        });
    growths.collect()
}

/// Times of single acquires while nothing is idle.
pub(crate) fn acquire_times(case: Case, entrant: Entrant, clock: &Clock, time: Duration) -> Times {
    let mut times = no_times();
    let start = Instant::now();
    while start.elapsed() < time || times.is_empty() {
        for_objects!(case, sized_times(case, entrant, clock, &mut times));
    }
    times
}

fn cold_and_warm(case: Case, entrant: Entrant) -> (f64, f64) {
    for_objects!(case, sized_cold_and_warm(case, entrant))
}

/// Calls `$run` with a fresh contender of the entrant's kind.
macro_rules! with_contender {
    ($case:expr, $entrant:expr, $run:ident($($argument:expr),*)) => {
        match $entrant.kind {
            Kind::Unsync => $run::<T, _>(Unsync::default(), $($argument),*),
            Kind::Vec => $run::<T, _>(BareVec::default(), $($argument),*),
            Kind::Box => $run::<T, _>(Boxed, $($argument),*),
            _ => $run::<T, _>(Pooled($entrant.builder($case.capacity).build().expect("checked with the arguments")), $($argument),*),
        }
    };
}

fn sized_cold_and_warm<T: Payload>(case: Case, entrant: Entrant) -> (f64, f64) {
    give_back_memory();
    with_contender!(case, entrant, bursts(objects(case)))
}

fn sized_times<T: Payload>(case: Case, entrant: Entrant, clock: &Clock, times: &mut Times) {
    give_back_memory();
    with_contender!(case, entrant, record_acquires(objects(case), clock, times));
}

/// The same burst twice; nanoseconds an object.
fn bursts<T: Payload, C: Contender<T>>(mut contender: C, objects: usize) -> (f64, f64) {
    let mut held = Vec::with_capacity(objects);
    // So that the room for handles is not part of it.
    held.resize_with(objects, || None);
    let mut burst = || {
        let start = Instant::now();
        for place in &mut held {
            let mut handle = contender.acquire();
            // SAFETY: the object of a handle is valid for writes.
            unsafe { touch(C::object(&mut handle), 1) };
            *place = Some(handle);
        }
        for handle in held.iter_mut().rev().filter_map(Option::take) {
            contender.release(handle);
        }
        start.elapsed().as_nanos() as f64 / objects as f64
    };
    (burst(), burst())
}

fn record_acquires<T: Payload, C: Contender<T>>(
    mut contender: C,
    objects: usize,
    clock: &Clock,
    times: &mut Times,
) {
    let mut held = Vec::with_capacity(objects);
    for _ in 0..objects {
        let (mut handle, nanos) = timed(clock, || contender.acquire());
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(C::object(&mut handle), 1) };
        times.saturating_record(nanos);
        held.push(handle);
    }
    for handle in held {
        contender.release(handle);
    }
}

/// Has the allocator give freed memory back to the system, so that the next burst is cold again.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: touches nothing but memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

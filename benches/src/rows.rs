//! The comparisons by name: first those with a target, then those that are good to know.

use std::alloc::{GlobalAlloc, System};
use std::hint::black_box;

use mimalloc::MiMalloc;
use pool_core::{Backend, Pool, Poolable};
use tikv_jemallocator::Jemalloc;

use crate::by_hand::{ByHand, FreshBox, LockedVec, Ring, Shelf};
use crate::cold::Entrant;
use crate::contender::{Allocator, BareVec, Contender, InTurn, Pooled, ThreadLocalVec, Unsync};
use crate::duel::{Duel, Side, cores};
use crate::pattern::{Pattern, at_once, looping, resetting, singly_inlined};
use crate::payload::Wide;
use crate::pipeline;
use crate::team::Team;

/// One comparison.
#[derive(Debug)]
pub struct Row {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What is measured, per object.
    pub ours: &'static str,
    /// What it is compared with.
    pub other: &'static str,
    /// The most that the ratio may be, if that is claimed.
    pub target: Option<f64>,
    /// Makes both sides.
    pub duel: fn() -> Duel,
}

const TEN: Pattern = Pattern::Burst(10);
const THOUSAND: Pattern = Pattern::Burst(1000);
const MANY: usize = 32;

/// Objects in a pool that threads share, each with one in hand.
const SHARED: usize = 64;

/// A bound with plenty of room for one object in hand.
const ROOM: usize = 10_000;

/// A burst that fills no cache of any processor.
const MILLION: usize = 1_000_000;

/// Whose first bursts are compared.
pub const COLD: [Entrant; 2] = [
    Entrant::new("batched", |burst| looping(batched(), Pattern::Burst(burst))),
    Entrant::new("system malloc", |burst| {
        looping(Allocator(&System), Pattern::Burst(burst))
    }),
];

/// Writes each as a line of a table.
macro_rules! rows {
    ($($name:literal $(at most $target:literal)?: $ours:literal over $other:literal => $duel:expr;)*) => {
        &[$(Row {
            name: $name,
            ours: $ours,
            other: $other,
            target: rows!(@ $($target)?),
            duel: || $duel,
        }),*]
    };
    (@ $target:literal) => { Some($target) };
    (@) => { None };
}

/// Every comparison, in the order of the table.
pub const ROWS: &[Row] = rows! {
    "one-vec" at most 1.5: "batched, one at a time" over "bare Vec<Box<T>>"
        => over_vec(Pattern::Single, batched);
    "ten-vec" at most 1.5: "batched, bursts of 10" over "bare Vec<Box<T>>"
        => over_vec(TEN, batched);
    "one-jemalloc" at most 0.75: "batched, one at a time" over "jemalloc, memory as it is"
        => over_allocator(Pattern::Single, &Jemalloc);
    "ten-mimalloc" at most 0.75: "batched, bursts of 10" over "mimalloc, memory as it is"
        => over_allocator(TEN, &MiMalloc);
    "thousand-mimalloc" at most 0.9: "batched, bursts of 1,000" over "mimalloc, memory as it is"
        => over_allocator(THOUSAND, &MiMalloc);
    "many" at most 0.4: "acquire_many(32), dropped at once" over "the same objects one by one"
        => as_one(MANY);
    "threads-2" at most 1.15: "2 threads, one at a time" over "1 thread"
        => crowd(2);
    "threads-8" at most 1.3: "8 threads, one at a time" over "1 thread x threads / cores"
        => crowd(8);
    "threads-64" at most 1.5: "64 threads, one at a time" over "1 thread x threads / cores"
        => crowd(64);
    "unsync-one" at most 1.2: "unsync, one at a time" over "bare Vec<Box<T>>"
        => over_vec(Pattern::Single, Unsync::default);
    "unsync-ten" at most 1.2: "unsync, bursts of 10" over "bare Vec<Box<T>>"
        => over_vec(TEN, Unsync::default);
    "mutex-by-hand" at most 1.25: "mutex, one at a time" over "Mutex<Vec<Box<T>>> by hand"
        => shared_by_hand::<LockedVec>(1, Backend::Mutex);
    "mutex-by-hand-2" at most 1.25: "mutex, one at a time, 2 threads" over "Mutex<Vec<Box<T>>> by hand"
        => shared_by_hand::<LockedVec>(2, Backend::Mutex);
    "mutex-by-hand-8" at most 1.25: "mutex, one at a time, 8 threads" over "Mutex<Vec<Box<T>>> by hand"
        => shared_by_hand::<LockedVec>(8, Backend::Mutex);
    "queue-by-hand" at most 1.25: "queue, one at a time" over "ArrayQueue<Box<T>> by hand"
        => shared_by_hand::<Ring>(1, Backend::Queue);
    "queue-by-hand-2" at most 1.25: "queue, one at a time, 2 threads" over "ArrayQueue<Box<T>> by hand"
        => shared_by_hand::<Ring>(2, Backend::Queue);
    "queue-by-hand-8" at most 1.25: "queue, one at a time, 8 threads" over "ArrayQueue<Box<T>> by hand"
        => shared_by_hand::<Ring>(8, Backend::Queue);
    "heap-box" at most 1.15: "heap, one at a time" over "Box of a fresh object, and its drop"
        => heap_over_box(1);
    "heap-box-2" at most 1.15: "heap, one at a time, 2 threads" over "Box of a fresh object, and its drop"
        => heap_over_box(2);
    "heap-box-8" at most 1.15: "heap, one at a time, 8 threads" over "Box of a fresh object, and its drop"
        => heap_over_box(8);
    "bounded" at most 1.05: "capacity 10,000, with room" over "no capacity"
        => Duel::new(Side::solo(Pattern::Single, || Pooled::with(|pool| pool.capacity(ROOM))), Side::solo(Pattern::Single, batched));
    "run-time-backend" at most 1.05: "backend read at run time" over "backend a constant in the same function"
        => Duel::new(
            Side::working(1, 1, |_| Box::new(backend_read)),
            Side::working(1, 1, |_| Box::new(backend_known)),
        );
    "pipeline" at most 1.15: "handles through a queue, thread to thread" over "plain words through that queue"
        => over_pipeline(pipeline::of_shared, pipeline::of_words);
    "pipeline-untouched": "the same, with objects that neither thread looks at" over "plain words through that queue"
        => over_pipeline(pipeline::of_untouched, pipeline::of_words);
    "growth-cold" at most 1.0: "first burst of 1,000,000 of a process, batched" over "the same from system malloc, memory as it is"
        => {
            let side = |entrant: &Entrant| Side::cold(entrant.name, MILLION);
            Duel::new(side(&COLD[0]), side(&COLD[1]))
        };
    "growth-warm" at most 0.5: "bursts of 1,000,000 after the first, batched" over "the same from system malloc, memory as it is"
        => {
            let side = |entrant: &Entrant| {
                let work = entrant.work;
                Side::working(1, MILLION, move |_| work(MILLION))
            };
            Duel::new(side(&COLD[0]), side(&COLD[1]))
        };
    "pipeline-objects": "handles through a queue, thread to thread" over "objects in a ring, by address, same touch"
        => over_pipeline(pipeline::of_shared, pipeline::of_objects_in_a_ring);
    "ring-words": "objects in a ring, by address, same touch, no pool" over "plain words through that queue"
        => in_lockstep(pipeline::of_objects_in_a_ring(), pipeline::of_words());
    "many-8": "acquire_many(8), dropped at once" over "the same objects one by one"
        => as_one(8);
    "one-mimalloc": "batched, one at a time" over "mimalloc, memory as it is"
        => over_allocator(Pattern::Single, &MiMalloc);
    "ten-jemalloc": "batched, bursts of 10" over "jemalloc, memory as it is"
        => over_allocator(TEN, &Jemalloc);
    "thousand-jemalloc": "batched, bursts of 1,000" over "jemalloc, memory as it is"
        => over_allocator(THOUSAND, &Jemalloc);
    "thousand-vec": "batched, bursts of 1,000" over "bare Vec<Box<T>>"
        => over_vec(THOUSAND, batched);
    "system-vec": "system malloc, memory as it is" over "bare Vec<Box<T>>"
        => over_vec(Pattern::Single, || Allocator(&System));
    "heap-system": "heap, one at a time" over "system malloc, memory as it is"
        => Duel::new(
            Side::solo(Pattern::Single, || Pooled::on(Backend::Heap)),
            Side::solo(Pattern::Single, || Allocator(&System)),
        );
    "mutex-vec": "mutex, one at a time" over "bare Vec<Box<T>>"
        => over_vec(Pattern::Single, || Pooled::on(Backend::Mutex));
    "queue-vec": "queue, one at a time" over "bare Vec<Box<T>>"
        => over_vec(Pattern::Single, || Pooled::on(Backend::Queue));
    "batch-1": "batch size 1, bursts of 10" over "bare Vec<Box<T>>"
        => over_vec(TEN, || in_batches(1));
    "batch-32": "batch size 32, bursts of 10" over "bare Vec<Box<T>>"
        => over_vec(TEN, || in_batches(32));
    "batch-128": "batch size 128, bursts of 10" over "bare Vec<Box<T>>"
        => over_vec(TEN, || in_batches(128));
    "adapted-1": "1 thread, bursts of 1,000, batch size 32" over "batch size 1,024"
        => adapted(1);
    "adapted-2": "2 threads, bursts of 1,000, batch size 32" over "batch size 1,024"
        => adapted(2);
    "two-pools": "2 pools in turn" over "1 pool by the same loop"
        => in_turn(2);
    "twenty-pools": "20 pools in turn" over "1 pool by the same loop"
        => in_turn(20);
    "many-pools-64": "64 batched pools in turn" over "64 mutex pools in turn"
        => in_turn_over_mutex(64);
    "many-pools-1024": "1,024 batched pools in turn" over "1,024 mutex pools in turn"
        => in_turn_over_mutex(1024);
    "many-pools-4096": "4,096 batched pools in turn" over "4,096 mutex pools in turn"
        => in_turn_over_mutex(4096);
    "thread-local": "batched, one at a time" over "a Vec per thread in a ThreadLocal"
        => Duel::new(Side::solo(Pattern::Single, batched), Side::solo(Pattern::Single, ThreadLocalVec::default));
    "reset": "derived reset of 1 KiB" over "the same by hand"
        => Duel::new(
            Side::working(1, 1, |_| resetting(Wide::reset)),
            Side::working(1, 1, |_| resetting(Wide::reset_by_hand)),
        );
};

fn batched() -> Pooled {
    Pooled::on(Backend::Batched)
}

fn in_batches(batch_size: usize) -> Pooled {
    Pooled::with(|pool| pool.batch_size(batch_size))
}

fn over_vec<C: Contender + 'static>(
    pattern: Pattern,
    make: impl Fn() -> C + Send + Sync + 'static,
) -> Duel {
    Duel::new(
        Side::solo(pattern, make),
        Side::solo(pattern, BareVec::default),
    )
}

fn over_allocator<A: GlobalAlloc + Sync>(pattern: Pattern, allocator: &'static A) -> Duel {
    Duel::new(
        Side::solo(pattern, batched),
        Side::solo(pattern, move || Allocator(allocator)),
    )
}

/// `threads` on one pool over one on another, per thread and as if each had a core.
fn crowd(threads: usize) -> Duel {
    let pool = batched();
    Duel {
        ours: Side::crowd(threads, Pattern::Single, move || pool.clone()),
        other: Side::solo(Pattern::Single, batched),
        scale: (threads as f64 / cores() as f64).max(1.0),
    }
}

/// Threads on one pool of a backend, over the same on what one writes by hand.
fn shared_by_hand<S: Shelf + Send + Sync + 'static>(threads: usize, backend: Backend) -> Duel {
    let pool = Pooled::with(|pool| pool.backend(backend).capacity(Ring::ROOM).prefill(SHARED));
    let by_hand = ByHand::<S>::filled(SHARED);
    Duel::new(
        Side::crowd(threads, Pattern::Single, move || pool.clone()),
        Side::crowd(threads, Pattern::Single, move || by_hand.clone()),
    )
}

/// Threads that create and drop objects, by the pool and without.
fn heap_over_box(threads: usize) -> Duel {
    let pool = Pooled::on(Backend::Heap);
    Duel::new(
        Side::crowd(threads, Pattern::Single, move || pool.clone()),
        Side::crowd(threads, Pattern::Single, || FreshBox),
    )
}

/// Bursts far above the batch over bursts that a cache holds: what is left of the exchanges once a
/// thread has earned larger ones.
fn adapted(threads: usize) -> Duel {
    let side = |batch_size| {
        let pool = in_batches(batch_size);
        Side::crowd(threads, THOUSAND, move || pool.clone())
    };
    Duel::new(side(32), side(1024))
}

/// Bursts acquired and dropped as one, over the same by single calls.
fn as_one(burst: usize) -> Duel {
    let work = move || -> Box<dyn FnMut(usize)> {
        let mut pool = batched();
        Box::new(move |turns| at_once(&mut pool, burst, turns))
    };
    Duel::new(
        Side::working(1, burst, move |_| work()),
        Side::solo(Pattern::Burst(burst), batched),
    )
}

fn over_pipeline(ours: fn(Pooled) -> Team, other: fn() -> Team) -> Duel {
    in_lockstep(ours(batched()), other())
}

/// Two teams whose threads wait for each other.
fn in_lockstep(ours: Team, other: Team) -> Duel {
    let side = |team| Side::of(team, 1).in_lockstep();
    Duel::new(side(ours), side(other))
}

fn in_turn(pools: usize) -> Duel {
    Duel::new(
        Side::solo(Pattern::Single, move || InTurn::new(pools, batched)),
        Side::solo(Pattern::Single, || InTurn::new(1, batched)),
    )
}

/// More pools than the table of a thread that uses few has entries.
fn in_turn_over_mutex(pools: usize) -> Duel {
    let side = move |backend| {
        Side::solo(Pattern::Single, move || {
            InTurn::new(pools, || Pooled::on(backend))
        })
    };
    Duel::new(side(Backend::Batched), side(Backend::Mutex))
}

/// Builds a pool and uses it, in the caller's code.
#[inline(always)]
fn build_and_use(backend: Backend, turns: usize) {
    let pool = Pool::builder().backend(backend).build();
    let mut pool: Pooled = Pooled(pool.expect("every backend goes with the defaults"));
    singly_inlined(&mut pool, turns);
}

#[inline(never)]
fn backend_known(turns: usize) {
    build_and_use(Backend::Batched, turns);
}

#[inline(never)]
fn backend_read(turns: usize) {
    let name = black_box("batched");
    build_and_use(name.parse().expect("the name of a backend"), turns);
}

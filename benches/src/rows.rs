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
    Entrant {
        name: "batched",
        work: |burst| looping(batched(), Pattern::Burst(burst)),
    },
    Entrant {
        name: "system malloc",
        work: |burst| looping(Allocator(System), Pattern::Burst(burst)),
    },
];

/// Every comparison, in the order of the table.
pub const ROWS: &[Row] = &[
    Row {
        name: "one-vec",
        ours: "batched, one at a time",
        other: "bare Vec<Box<T>>",
        target: Some(1.5),
        duel: || over_vec(Pattern::Single, batched),
    },
    Row {
        name: "ten-vec",
        ours: "batched, bursts of 10",
        other: "bare Vec<Box<T>>",
        target: Some(1.5),
        duel: || over_vec(TEN, batched),
    },
    Row {
        name: "one-jemalloc",
        ours: "batched, one at a time",
        other: "jemalloc, memory as it is",
        target: Some(0.75),
        duel: || over_allocator(Pattern::Single, || Jemalloc),
    },
    Row {
        name: "ten-mimalloc",
        ours: "batched, bursts of 10",
        other: "mimalloc, memory as it is",
        target: Some(0.75),
        duel: || over_allocator(TEN, || MiMalloc),
    },
    Row {
        name: "thousand-mimalloc",
        ours: "batched, bursts of 1,000",
        other: "mimalloc, memory as it is",
        target: Some(0.9),
        duel: || over_allocator(THOUSAND, || MiMalloc),
    },
    Row {
        name: "many",
        ours: "acquire_many(32), dropped at once",
        other: "the same objects one by one",
        target: Some(0.4),
        duel: || as_one(MANY),
    },
    Row {
        name: "threads-2",
        ours: "2 threads, one at a time",
        other: "1 thread",
        target: Some(1.15),
        duel: || crowd(2),
    },
    Row {
        name: "threads-8",
        ours: "8 threads, one at a time",
        other: "1 thread x threads / cores",
        target: Some(1.3),
        duel: || crowd(8),
    },
    Row {
        name: "threads-64",
        ours: "64 threads, one at a time",
        other: "1 thread x threads / cores",
        target: Some(1.5),
        duel: || crowd(64),
    },
    Row {
        name: "unsync-one",
        ours: "unsync, one at a time",
        other: "bare Vec<Box<T>>",
        target: Some(1.2),
        duel: || over_vec(Pattern::Single, Unsync::default),
    },
    Row {
        name: "unsync-ten",
        ours: "unsync, bursts of 10",
        other: "bare Vec<Box<T>>",
        target: Some(1.2),
        duel: || over_vec(TEN, Unsync::default),
    },
    Row {
        name: "mutex-by-hand",
        ours: "mutex, one at a time",
        other: "Mutex<Vec<Box<T>>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<LockedVec>(1, Backend::Mutex),
    },
    Row {
        name: "mutex-by-hand-2",
        ours: "mutex, one at a time, 2 threads",
        other: "Mutex<Vec<Box<T>>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<LockedVec>(2, Backend::Mutex),
    },
    Row {
        name: "mutex-by-hand-8",
        ours: "mutex, one at a time, 8 threads",
        other: "Mutex<Vec<Box<T>>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<LockedVec>(8, Backend::Mutex),
    },
    Row {
        name: "queue-by-hand",
        ours: "queue, one at a time",
        other: "ArrayQueue<Box<T>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<Ring>(1, Backend::Queue),
    },
    Row {
        name: "queue-by-hand-2",
        ours: "queue, one at a time, 2 threads",
        other: "ArrayQueue<Box<T>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<Ring>(2, Backend::Queue),
    },
    Row {
        name: "queue-by-hand-8",
        ours: "queue, one at a time, 8 threads",
        other: "ArrayQueue<Box<T>> by hand",
        target: Some(1.25),
        duel: || shared_by_hand::<Ring>(8, Backend::Queue),
    },
    Row {
        name: "heap-box",
        ours: "heap, one at a time",
        other: "Box of a fresh object, and its drop",
        target: Some(1.15),
        duel: || heap_over_box(1),
    },
    Row {
        name: "heap-box-2",
        ours: "heap, one at a time, 2 threads",
        other: "Box of a fresh object, and its drop",
        target: Some(1.15),
        duel: || heap_over_box(2),
    },
    Row {
        name: "heap-box-8",
        ours: "heap, one at a time, 8 threads",
        other: "Box of a fresh object, and its drop",
        target: Some(1.15),
        duel: || heap_over_box(8),
    },
    Row {
        name: "bounded",
        ours: "capacity 10,000, with room",
        other: "no capacity",
        target: Some(1.05),
        duel: || {
            Duel::new(
                Side::solo(Pattern::Single, || Pooled::bounded(ROOM)),
                Side::solo(Pattern::Single, batched),
            )
        },
    },
    // The library has no pool whose backend is part of its type. What can be compared is one
    // function compiled twice: with the pool built and used in it from a constant, which the
    // compiler may follow as far as it can, and from a value it knows nothing of.
    Row {
        name: "run-time-backend",
        ours: "backend read at run time",
        other: "backend a constant in the same function",
        target: Some(1.05),
        duel: || {
            Duel::new(
                Side::working(1, 1, |_| Box::new(backend_read)),
                Side::working(1, 1, |_| Box::new(backend_known)),
            )
        },
    },
    Row {
        name: "pipeline",
        ours: "handles through a queue, thread to thread",
        other: "plain words through that queue",
        target: Some(1.15),
        duel: || over_pipeline(pipeline::of_shared, pipeline::of_words),
    },
    Row {
        name: "pipeline-untouched",
        ours: "the same, with objects that neither thread looks at",
        other: "plain words through that queue",
        target: None,
        duel: || over_pipeline(pipeline::of_untouched, pipeline::of_words),
    },
    Row {
        name: "growth-cold",
        ours: "first burst of 1,000,000 of a process, batched",
        other: "the same from system malloc, memory as it is",
        target: Some(1.0),
        duel: || {
            let side = |entrant: &Entrant| Side::cold(entrant.name, MILLION);
            Duel::new(side(&COLD[0]), side(&COLD[1]))
        },
    },
    Row {
        name: "growth-warm",
        ours: "bursts of 1,000,000 after the first, batched",
        other: "the same from system malloc, memory as it is",
        target: Some(0.5),
        duel: || {
            let side = |entrant: &Entrant| {
                let work = entrant.work;
                Side::working(1, MILLION, move |_| work(MILLION))
            };
            Duel::new(side(&COLD[0]), side(&COLD[1]))
        },
    },
    Row {
        name: "pipeline-objects",
        ours: "handles through a queue, thread to thread",
        other: "objects in a ring, by address, same touch",
        target: None,
        duel: || over_pipeline(pipeline::of_shared, pipeline::of_objects_in_a_ring),
    },
    // What no pool can take less than: the objects' own way, without one.
    Row {
        name: "ring-words",
        ours: "objects in a ring, by address, same touch, no pool",
        other: "plain words through that queue",
        target: None,
        duel: || in_lockstep(pipeline::of_objects_in_a_ring(), pipeline::of_words()),
    },
    Row {
        name: "many-8",
        ours: "acquire_many(8), dropped at once",
        other: "the same objects one by one",
        target: None,
        duel: || as_one(8),
    },
    Row {
        name: "one-mimalloc",
        ours: "batched, one at a time",
        other: "mimalloc, memory as it is",
        target: None,
        duel: || over_allocator(Pattern::Single, || MiMalloc),
    },
    Row {
        name: "ten-jemalloc",
        ours: "batched, bursts of 10",
        other: "jemalloc, memory as it is",
        target: None,
        duel: || over_allocator(TEN, || Jemalloc),
    },
    Row {
        name: "thousand-jemalloc",
        ours: "batched, bursts of 1,000",
        other: "jemalloc, memory as it is",
        target: None,
        duel: || over_allocator(THOUSAND, || Jemalloc),
    },
    Row {
        name: "thousand-vec",
        ours: "batched, bursts of 1,000",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(THOUSAND, batched),
    },
    Row {
        name: "system-vec",
        ours: "system malloc, memory as it is",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(Pattern::Single, || Allocator(System)),
    },
    Row {
        name: "heap-system",
        ours: "heap, one at a time",
        other: "system malloc, memory as it is",
        target: None,
        duel: || {
            Duel::new(
                Side::solo(Pattern::Single, || Pooled::on(Backend::Heap)),
                Side::solo(Pattern::Single, || Allocator(System)),
            )
        },
    },
    Row {
        name: "mutex-vec",
        ours: "mutex, one at a time",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(Pattern::Single, || Pooled::on(Backend::Mutex)),
    },
    Row {
        name: "queue-vec",
        ours: "queue, one at a time",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(Pattern::Single, || Pooled::on(Backend::Queue)),
    },
    Row {
        name: "batch-1",
        ours: "batch size 1, bursts of 10",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(TEN, || Pooled::batched(1)),
    },
    Row {
        name: "batch-32",
        ours: "batch size 32, bursts of 10",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(TEN, || Pooled::batched(32)),
    },
    Row {
        name: "batch-128",
        ours: "batch size 128, bursts of 10",
        other: "bare Vec<Box<T>>",
        target: None,
        duel: || over_vec(TEN, || Pooled::batched(128)),
    },
    Row {
        name: "adapted-1",
        ours: "1 thread, bursts of 1,000, batch size 32",
        other: "batch size 1,024",
        target: None,
        duel: || adapted(1),
    },
    Row {
        name: "adapted-2",
        ours: "2 threads, bursts of 1,000, batch size 32",
        other: "batch size 1,024",
        target: None,
        duel: || adapted(2),
    },
    Row {
        name: "two-pools",
        ours: "2 pools in turn",
        other: "1 pool by the same loop",
        target: None,
        duel: || in_turn(2),
    },
    Row {
        name: "twenty-pools",
        ours: "20 pools in turn",
        other: "1 pool by the same loop",
        target: None,
        duel: || in_turn(20),
    },
    Row {
        name: "many-pools-64",
        ours: "64 batched pools in turn",
        other: "64 mutex pools in turn",
        target: None,
        duel: || in_turn_over_mutex(64),
    },
    Row {
        name: "many-pools-1024",
        ours: "1,024 batched pools in turn",
        other: "1,024 mutex pools in turn",
        target: None,
        duel: || in_turn_over_mutex(1024),
    },
    Row {
        name: "many-pools-4096",
        ours: "4,096 batched pools in turn",
        other: "4,096 mutex pools in turn",
        target: None,
        duel: || in_turn_over_mutex(4096),
    },
    Row {
        name: "thread-local",
        ours: "batched, one at a time",
        other: "a Vec per thread in a ThreadLocal",
        target: None,
        duel: || {
            Duel::new(
                Side::solo(Pattern::Single, batched),
                Side::solo(Pattern::Single, ThreadLocalVec::default),
            )
        },
    },
    Row {
        name: "reset",
        ours: "derived reset of 1 KiB",
        other: "the same by hand",
        target: None,
        duel: || {
            Duel::new(
                Side::working(1, 1, |_| resetting(Wide::reset)),
                Side::working(1, 1, |_| resetting(Wide::reset_by_hand)),
            )
        },
    },
];

fn batched() -> Pooled {
    Pooled::on(Backend::Batched)
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

fn over_allocator<A: GlobalAlloc + 'static>(pattern: Pattern, allocator: fn() -> A) -> Duel {
    Duel::new(
        Side::solo(pattern, batched),
        Side::solo(pattern, move || Allocator(allocator())),
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
    let pool = Pooled::filled_in(backend, Ring::ROOM, SHARED);
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
        let pool = Pooled::batched(batch_size);
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

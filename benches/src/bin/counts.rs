//! The loops whose instructions `ci/counts.sh` counts: `counts LOOP TURNS` runs one of them.
//!
//! What a turn costs is the difference that more turns make; `control` is what is left of a turn
//! without a pool. [`hit_loop`], [`acquire_once`] and [`release_once`] are found by their names.

use std::alloc::System;
use std::env;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use pool_bench::by_hand::{ByHand, LockedVec, Ring};
use pool_bench::contender::{Allocator, Contender, Pooled, Unsync};
use pool_bench::pattern::{Pattern, at_once, looping, singly};
use pool_bench::payload::{Message, touch};
use pool_core::{Backend, Pool, Poolable};

/// A loop by name; it is told how many turns.
struct Counted {
    name: &'static str,
    run: fn(usize),
}

const LOOPS: &[Counted] = &[
    Counted {
        name: "control",
        run: |turns| control_loop(black_box(&mut Message::init()), turns),
    },
    Counted {
        name: "hit",
        run: |turns| {
            let pool = Pooled::on(Backend::Batched).0;
            hit_loop(black_box(&pool), turns);
            assert_one_was_made(&pool);
        },
    },
    Counted {
        name: "unsync",
        run: |turns| singly(&mut Unsync::<Message>::default(), turns),
    },
    Counted {
        name: "mutex",
        run: |turns| one_at_a_time(Pooled::on(Backend::Mutex), turns),
    },
    Counted {
        name: "queue",
        run: |turns| one_at_a_time(Pooled::on(Backend::Queue), turns),
    },
    Counted {
        name: "queue-bounded",
        run: |turns| {
            one_at_a_time(
                Pooled::with(|pool| pool.backend(Backend::Queue).capacity(1).prefill(1)),
                turns,
            );
        },
    },
    Counted {
        name: "heap",
        run: |turns| singly::<Message, _>(&mut Pooled::on(Backend::Heap), turns),
    },
    Counted {
        name: "heap-bounded",
        run: |turns| {
            singly::<Message, _>(
                &mut Pooled::with(|pool| pool.backend(Backend::Heap).capacity(10_000)),
                turns,
            );
        },
    },
    Counted {
        name: "malloc",
        run: |turns| singly::<Message, _>(&mut Allocator(&System), turns),
    },
    Counted {
        name: "locked-vec",
        run: |turns| singly(&mut ByHand::<LockedVec>::filled(1), turns),
    },
    Counted {
        name: "array-queue",
        run: |turns| singly(&mut ByHand::<Ring>::filled(1), turns),
    },
    Counted {
        name: "create",
        run: creating,
    },
    Counted {
        name: "many",
        run: |turns| at_once(&mut Pooled::on(Backend::Batched), MANY, turns),
    },
    Counted {
        name: "thousand",
        run: |turns| {
            let mut run = looping(Pooled::on(Backend::Batched), Pattern::Burst(THOUSAND));
            // Until the thread has earned the exchange that suits such bursts.
            run(200);
            run(turns);
        },
    },
    Counted {
        name: "aged",
        run: aged_loop,
    },
    Counted {
        name: "edge",
        run: at_the_edge,
    },
];

/// Objects of a burst that the cache has at hand.
const MANY: usize = 32;

/// Objects of a burst that visits the depot.
const THOUSAND: usize = 1_000;

const BATCH_SIZE: usize = 64;

#[inline(never)]
fn hit_loop(pool: &Pool<Message>, turns: usize) {
    for turn in 0..turns {
        let mut handle = pool.acquire();
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(Pooled::object(&mut handle), turn as u64) };
    }
}

/// The same without a pool: touch and reset.
#[inline(never)]
fn control_loop(message: &mut Message, turns: usize) {
    for turn in 0..turns {
        // SAFETY: valid for writes.
        unsafe { touch(&raw mut *message, turn as u64) };
        message.reset();
    }
}

fn one_at_a_time(mut pool: Pooled, turns: usize) {
    singly(&mut pool, turns);
    assert_one_was_made(&pool.0);
}

/// A hit leaves no trace but the object: the pool that was counted was used.
fn assert_one_was_made(pool: &Pool<Message>) {
    assert_eq!(pool.stats().created, 1);
}

/// Acquires objects that have to be created, in memory that is there.
fn creating(turns: usize) {
    let pool = Pool::builder().grow_by(2 * turns).build();
    let pool: Pool<Message> = pool.expect("memory for the objects");
    let mut held = Vec::with_capacity(turns);
    held.push(pool.acquire());
    for _ in 1..turns {
        held.push(create_once(&pool));
    }
    assert_eq!(pool.stats().created, turns);
}

/// An acquire that creates.
#[inline(never)]
fn create_once(pool: &Pool<Message>) -> pool_core::Pooled<Message> {
    pool.acquire()
}

/// Goes back and forth between an empty cache and a full one, by two visits to the depot a turn: one
/// that takes a batch and one that gives one. They alternate, so no larger exchange is earned.
fn at_the_edge(turns: usize) {
    let pool = Pool::builder().batch_size(BATCH_SIZE).build();
    let pool: Pool<Message> = pool.expect("a batch size within the limits");
    let mut held: Vec<_> = (0..4 * BATCH_SIZE).map(|_| pool.acquire()).collect();
    held.truncate(2 * BATCH_SIZE + 1);
    pool.flush();
    let before = pool.stats();
    for _ in 0..turns {
        held.push(acquire_once(&pool));
        // Of the batch that came, all but one are left; this fills the cache.
        held.truncate(held.len() - (BATCH_SIZE + 1));
        if let Some(last) = held.pop() {
            release_once(last);
        }
        // A batch was given; one and the last released are left.
        held.extend((0..=BATCH_SIZE).map(|_| pool.acquire()));
    }
    let after = pool.stats();
    assert_eq!(after.created, before.created);
    assert_eq!(after.exchanges - before.exchanges, 2 * turns);
}

/// Acquires, each after 100,000 idle objects have aged.
fn aged_loop(turns: usize) {
    let pool = Pooled::with(|pool| pool.prefill(100_000)).0;
    for _ in 0..turns {
        assert_eq!(pool.trim_idle_for(Duration::from_secs(3_600)), 0);
        drop(acquire_once(&pool));
        pool.flush();
    }
}

/// An acquire that finds the cache empty.
#[inline(never)]
fn acquire_once(pool: &Pool<Message>) -> pool_core::Pooled<Message> {
    pool.acquire()
}

/// A release that finds the cache full.
#[inline(never)]
fn release_once(handle: pool_core::Pooled<Message>) {
    drop(handle);
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [name, turns] = arguments.as_slice() else {
        return usage();
    };
    let counted = LOOPS.iter().find(|counted| counted.name == name);
    let (Some(counted), Ok(turns)) = (counted, turns.parse()) else {
        return usage();
    };
    (counted.run)(turns);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    let names: Vec<_> = LOOPS.iter().map(|counted| counted.name).collect();
    eprintln!("usage: counts {} TURNS", names.join("|"));
    ExitCode::FAILURE
}

//! Bursts: all or nothing, and nothing lost whatever is done to them.

use crate::support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use pool_core::{AcquireError, Backend, Pool, Poolable, Pooled, ResetOn};

fn pool(backend: Backend) -> Pool<String> {
    Pool::<String>::builder().backend(backend).build().unwrap()
}

#[test]
fn a_handle_of_another_pool_in_a_burst_goes_back_to_its_own() {
    for backend in Backend::ALL {
        for reset_on in [ResetOn::Release, ResetOn::Acquire] {
            let build = || {
                Pool::<String>::builder()
                    .backend(backend)
                    .reset_on(reset_on)
                    .build()
                    .unwrap()
            };
            let (a, b) = (build(), build());
            let mut burst = a.acquire_many(3);
            burst[0] = b.acquire();
            burst[2] = b.acquire();
            assert_eq!((a.in_use(), b.in_use()), (1, 2), "{backend}");
            let kept = b.acquire();
            drop(burst);
            assert_eq!((a.in_use(), b.in_use()), (0, 1), "{backend}");
            let (of_a, of_b) = (a.stats(), b.stats());
            assert_eq!(of_a.created - of_a.destroyed, of_a.idle, "{backend}");
            assert_eq!(of_b.created - of_b.destroyed, of_b.idle + 1, "{backend}");
            drop(b);
            assert_eq!(kept.len(), 0);
        }
    }
}

#[test]
fn bursts_of_two_pools_may_exchange_handles() {
    for backend in Backend::ALL {
        let (a, b) = (pool(backend), pool(backend));
        let (mut of_a, mut of_b) = (a.acquire_many(4), b.acquire_many(4));
        of_a.swap_with_slice(&mut of_b);
        drop(a);
        drop(of_a);
        assert_eq!(b.in_use(), 0, "{backend}");
        drop(of_b);
    }
}

#[test]
fn a_burst_is_walked_by_reference() {
    for backend in Backend::ALL {
        let mut burst = pool(backend).acquire_many(3);
        for (text, letter) in (&mut burst).into_iter().zip(["a", "b", "c"]) {
            text.push_str(letter);
        }
        let seen: String = (&burst).into_iter().map(|text| text.as_str()).collect();
        assert_eq!(seen, "abc", "{backend}");
    }
}

#[test]
fn handles_given_away_one_by_one_go_back_one_by_one() {
    for backend in Backend::ALL {
        let pool = pool(backend);
        let kept: Vec<Pooled<String>> = pool.acquire_many(5).into_iter().skip(2).collect();
        assert_eq!(pool.in_use(), 3, "{backend}");
        drop(kept);
        assert_eq!(pool.in_use(), 0, "{backend}");
    }
}

#[test]
fn more_than_the_bound_is_refused_whatever_the_number() {
    for backend in Backend::ALL {
        let pool = Pool::<String>::builder()
            .backend(backend)
            .capacity(10)
            .build()
            .unwrap();
        for n in [11, usize::MAX >> 14, usize::MAX] {
            assert_eq!(
                pool.try_acquire_many(n).unwrap_err(),
                AcquireError::Exhausted,
                "{backend}"
            );
        }
        let panic = catch_unwind(|| pool.acquire_many(11)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.contains("capacity 10"), "{message}");
        assert_eq!(pool.acquire_many(10).len(), 10);
        pool.close();
        assert_eq!(pool.try_acquire_many(11).unwrap_err(), AcquireError::Closed);
        assert_eq!(pool.try_acquire_many(0).unwrap_err(), AcquireError::Closed);
    }
}

#[test]
fn more_than_the_address_space_costs_nothing_but_the_panic() {
    for backend in Backend::ALL {
        let pool = pool(backend);
        for _ in 0..2 {
            let refused = catch_unwind(|| pool.try_acquire_many(usize::MAX));
            assert!(refused.is_err());
        }
        let stats = pool.stats();
        assert_eq!((stats.created, stats.in_use), (0, 0), "{backend}");
    }
}

/// Never reusable.
#[derive(Debug)]
struct Unfit;

static BOTH_HOLD: Barrier = Barrier::new(2);
static MEETING: AtomicBool = AtomicBool::new(false);

impl Poolable for Unfit {
    fn init() -> Self {
        // Only the objects made in place of the first ones, once in each thread.
        thread_local!(static MET: AtomicBool = const { AtomicBool::new(false) });
        if MEETING.load(Ordering::SeqCst) && !MET.with(|met| met.swap(true, Ordering::SeqCst)) {
            BOTH_HOLD.wait();
        }
        Unfit
    }

    fn reset(&mut self) {}

    fn is_reusable(&self) -> bool {
        false
    }
}

// All or nothing: what is made in place of the unfit must not be waited for by one who holds others.
#[test]
fn two_bursts_of_unfit_objects_do_not_wait_for_each_other() {
    let pool = Pool::<Unfit>::builder()
        .backend(Backend::Mutex)
        .capacity(4)
        .prefill(4)
        .reset_on(ResetOn::Acquire)
        .build()
        .unwrap();
    MEETING.store(true, Ordering::SeqCst);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(pool.acquire_many(2).len(), 2));
        }
    });
    let stats = pool.stats();
    assert_eq!((stats.in_use, stats.created - stats.destroyed), (0, 4));
    assert_eq!(stats.discarded, 4);
}

/// What a panic may leave behind: panics itself when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload that panics");
    }
}

struct Thrower;

static THROWS: AtomicUsize = AtomicUsize::new(0);

impl Poolable for Thrower {
    fn init() -> Self {
        Thrower
    }

    fn reset(&mut self) {
        THROWS.fetch_add(1, Ordering::SeqCst);
        std::panic::panic_any(Bomb);
    }
}

#[test]
fn payloads_that_panic_cost_only_their_objects() {
    let pool = Pool::<Thrower>::builder().capacity(4).build().unwrap();
    let burst = pool.acquire_many(4);
    let panic = catch_unwind(AssertUnwindSafe(|| drop(burst))).unwrap_err();
    std::mem::forget(panic.downcast::<Bomb>().unwrap());
    assert_eq!(THROWS.load(Ordering::SeqCst), 4);
    assert_eq!(pool.in_use(), 0);
    let again = pool.try_acquire_many(4).unwrap();
    assert_eq!(again.len(), 4);
    again.into_iter().for_each(Pooled::discard); // Without a reset, which throws.
}

#[test]
fn a_heap_pool_never_counts_more_destroyed_than_made() {
    let pool = pool(Backend::Heap);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (give, take) = std::sync::mpsc::sync_channel(64);
        let (pool, done) = (&pool, &done);
        scope.spawn(move || {
            for _ in 0..support::scaled(20_000) {
                give.send(pool.acquire()).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        scope.spawn(move || take.into_iter().for_each(drop));
        while !done.load(Ordering::SeqCst) {
            let stats = pool.stats();
            assert!(stats.destroyed <= stats.created && stats.in_use <= stats.created);
        }
    });
    assert_eq!(pool.in_use(), 0);
}

//! loom models of the real slots, depot and end of life, run by `ci/loom.sh`.
//!
//! Each explores the interleavings of two or three threads at the places that a stress test would
//! have to be lucky to hit. Batches are of one or two objects, so that every edge is near. A pass is no
//! proof (loom bounds preemptions, and has no interrupts: both halves of the barrier are fences), so
//! the same scenarios are stressed in `tests/suite/threads.rs`.

#![allow(unsafe_code)] // What the owner of a slot does.

use std::sync::atomic::{AtomicUsize as Counter, Ordering};

use loom::thread;

use crate::local::{Opened, SlotAddress, SlotKey, SlotState, Slots, Top, Unregister};
use crate::sync::{Mutex, MutexGuard};
use crate::{AcquireError, Backend, Pool, Pooled, ResetOn, SharedPooled};

/// At how many places a model may switch threads unasked. Each more multiplies the time by
/// about eight; `LOOM_MAX_PREEMPTIONS` overrides it.
const PREEMPTIONS: usize = 4;

/// The same, for models of so few steps that they take no longer with more.
const PREEMPTIONS_OF_A_SHORT_MODEL: usize = 6;

fn model(f: impl Fn() + Send + Sync + 'static) {
    model_with(PREEMPTIONS, f);
}

fn short_model(f: impl Fn() + Send + Sync + 'static) {
    model_with(PREEMPTIONS_OF_A_SHORT_MODEL, f);
}

fn model_with(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(f);
}

/// What a slot holds: a number, which the top of the slot says too.
#[derive(Default)]
struct Number(usize);

impl SlotState for Number {
    fn bounds(&self) -> (Top, usize) {
        (std::ptr::null_mut(), usize::MAX - 1)
    }
}

/// A pool of nothing but slots; what threads put there is added up.
struct Sum {
    key: SlotKey<Number>,
    shared: Mutex<Shared>,
}

struct Shared {
    slots: Slots<Number>,
    sum: usize,
    closed: bool,
}

fn reclaim(sum: &mut usize) -> impl FnMut(&mut Opened<'_, Number>) {
    |slot| {
        assert_eq!(
            slot.top.addr(),
            slot.state.0,
            "what was left in a slot was not seen whole"
        );
        *sum += std::mem::take(&mut slot.state.0);
    }
}

impl Unregister for Sum {
    fn unregister(&self, address: SlotAddress) {
        let Shared { slots, sum, .. } = &mut *self.shared.lock();
        slots.unregister(address, reclaim(sum));
    }
}

fn revoke_all(shared: &mut MutexGuard<'_, Shared>) {
    let Shared { slots, sum, .. } = &mut **shared;
    slots.stop_all();
    slots.reclaim(reclaim(sum));
}

fn add_one_inside(inside: crate::local::Inside<'_, Number>) {
    inside.work(|slot| {
        slot.state.0 += 1;
        slot.top = slot.top.wrapping_byte_add(1);
    });
}

/// What an owner does under the lock before all else: hands over what it was asked for.
fn hand_over(pool: &Sum, shared: &mut MutexGuard<'_, Shared>) {
    let Shared { slots, sum, .. } = &mut **shared;
    if let Some(own) = pool.key.find() {
        slots.hand_over(own, reclaim(sum));
    }
}

/// Adds one, in the calling thread's slot if it may.
fn add_one(pool: &std::sync::Arc<Sum>) {
    let own = pool.key.find_or_register(|| {
        let address = pool.shared.lock().slots.register(Number::default);
        (address, pool.clone())
    });
    if let Some(inside) = own.and_then(|own| own.enter()) {
        add_one_inside(inside);
        return;
    }
    let mut shared = pool.shared.lock();
    hand_over(pool, &mut shared);
    if let Some(own) = own.filter(|_| !shared.closed) {
        if !shared.slots.is_active(own) {
            shared.slots.activate(own);
        }
        // Inside, and without the lock.
        let inside = shared.slots.enter(own);
        drop(shared);
        add_one_inside(inside);
        return;
    }
    shared.sum += 1;
}

fn total(pool: &Sum) -> usize {
    let mut shared = pool.shared.lock();
    revoke_all(&mut shared);
    shared.sum
}

fn sum() -> std::sync::Arc<Sum> {
    std::sync::Arc::new(Sum {
        key: SlotKey::new(),
        shared: Mutex::new(Shared {
            slots: Slots::new(),
            sum: 0,
            closed: false,
        }),
    })
}

/// Adds one for each of `n`, in a thread.
fn adder(slots: &std::sync::Arc<Sum>, n: usize) -> thread::JoinHandle<()> {
    let slots = slots.clone();
    thread::spawn(move || (0..n).for_each(|_| add_one(&slots)))
}

/// Revokes once, in a thread.
fn revoker(slots: &std::sync::Arc<Sum>) -> thread::JoinHandle<usize> {
    let slots = slots.clone();
    thread::spawn(move || total(&slots))
}

#[test]
fn owner_against_revoker() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        assert_eq!(
            slots.shared.lock().slots.occupied(),
            1,
            "nothing is modelled without slots"
        );
        let revoker = revoker(&slots);
        add_one(&slots);
        add_one(&slots);
        assert!(revoker.join().unwrap() <= 3);
        assert_eq!(total(&slots), 3);
    });
}

#[test]
fn two_revokers_and_an_owner() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        let (first, second) = (revoker(&slots), revoker(&slots));
        add_one(&slots);
        add_one(&slots);
        assert!(first.join().unwrap() <= 3 && second.join().unwrap() <= 3);
        assert_eq!(total(&slots), 3);
    });
}

#[test]
fn a_slot_that_is_given_up_and_taken_again() {
    model(|| {
        let slots = sum();
        let first = adder(&slots, 2);
        assert!(total(&slots) <= 2);
        first.join().unwrap();
        // Takes the first one's slot, if that is at its end already.
        let second = adder(&slots, 2);
        assert!(total(&slots) <= 4);
        second.join().unwrap();
        assert_eq!(total(&slots), 4);
    });
}

#[test]
fn closing_against_an_owner() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        let closer = {
            let slots = slots.clone();
            thread::spawn(move || {
                let mut shared = slots.shared.lock();
                shared.closed = true;
                revoke_all(&mut shared);
            })
        };
        add_one(&slots);
        add_one(&slots);
        closer.join().unwrap();
        let shared = slots.shared.lock();
        assert_eq!(
            shared.slots.occupied(),
            0,
            "a slot is active after the close"
        );
        assert_eq!(shared.sum, 3);
    });
}

/// An object that counts its drops.
struct Counted(std::sync::Arc<Counter>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type CountedPool = Pool<Counted, CountedHooks>;
type CountedBuilder = crate::Builder<Counted, CountedHooks>;
type CountedHooks = crate::Hooks<Make, fn(&mut Counted)>;
type Make = Box<dyn Fn() -> Counted + Send + Sync>;

fn pool(backend: Backend, capacity: usize) -> (CountedPool, std::sync::Arc<Counter>) {
    pool_with(|builder| {
        let builder = builder.backend(backend).capacity(capacity);
        match backend {
            Backend::Batched => builder.batch_size(1),
            _ => builder,
        }
    })
}

/// A pool with the choices that `choose` makes, and how many of its objects were dropped.
fn pool_with(
    choose: impl FnOnce(CountedBuilder) -> CountedBuilder,
) -> (CountedPool, std::sync::Arc<Counter>) {
    let drops = std::sync::Arc::new(Counter::new(0));
    let make: Make = {
        let drops = drops.clone();
        Box::new(move || Counted(drops.clone()))
    };
    let builder = Pool::builder_with(make, (|_| ()) as fn(&mut Counted)).grow_by(1);
    (choose(builder).build().unwrap(), drops)
}

#[test]
fn the_last_pool_against_a_late_release() {
    for backend in [Backend::Batched, Backend::Mutex, Backend::Heap] {
        model(move || {
            let (pool, drops) = pool(backend, 2);
            let object = pool.acquire();
            let releaser = thread::spawn(move || drop(object));
            drop(pool);
            releaser.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        });
    }
}

#[test]
fn the_last_pool_against_a_release_into_an_active_cache() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 2);
        let releaser = {
            let pool = pool.clone();
            thread::spawn(move || {
                let first = pool.acquire();
                let second = pool.acquire();
                drop(first); // Activates the cache.
                drop(pool);
                drop(second);
            })
        };
        drop(pool);
        releaser.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn two_late_releases_free_the_pool_once() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 2);
        let (first, second) = (pool.acquire(), pool.acquire());
        drop(pool);
        let releaser = thread::spawn(move || drop(first));
        drop(second);
        releaser.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn an_idle_object_in_a_cache_is_found_at_the_bound() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 1);
        drop(pool.acquire());
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                // This thread holds nothing meanwhile, so the object is idle all the time, or
                // destroyed by nobody.
                let object = pool.try_acquire();
                assert!(object.is_ok());
                drop(object);
            })
        };
        other.join().unwrap();
        assert!(pool.try_acquire().is_ok());
        assert_eq!(pool.stats().created, 1);
    });
}

#[test]
fn two_that_want_the_only_object_never_both_fail() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 1);
        drop(pool.acquire());
        let taken = |pool: &CountedPool| match pool.try_acquire() {
            Ok(object) => {
                std::mem::forget(object);
                1
            }
            Err(error) => {
                assert_eq!(error, AcquireError::Exhausted);
                0
            }
        };
        let other = {
            let pool = pool.clone();
            thread::spawn(move || taken(&pool))
        };
        let here = taken(&pool);
        assert_eq!(here + other.join().unwrap(), 1);
        std::mem::forget(pool);
    });
}

#[test]
fn a_waiter_against_a_release() {
    for backend in [Backend::Batched, Backend::Mutex, Backend::Heap] {
        model(move || {
            let (pool, drops) = pool(backend, 1);
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            };
            drop(object);
            waiter.join().unwrap();
            drop(pool);
            assert!(drops.load(Ordering::Relaxed) >= 1);
        });
    }
}

#[test]
fn a_waiter_against_a_release_into_an_active_cache() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 1);
        drop(pool.acquire()); // Activates the cache of this thread.
        let object = pool.acquire();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || drop(pool.acquire()))
        };
        drop(object);
        waiter.join().unwrap();
    });
}

#[test]
fn a_waiter_against_room_under_the_bound() {
    for backend in [Backend::Batched, Backend::Mutex, Backend::Heap] {
        model(move || {
            let (pool, _) = pool(backend, 1);
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            };
            drop(Pooled::detach(object));
            waiter.join().unwrap();
        });
    }
}

#[test]
fn a_waiter_against_one_that_only_tries() {
    for backend in Backend::ALL {
        model(move || {
            let (pool, _) = pool(backend, 1);
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            };
            // Must not have the next release go to the cache of this thread.
            drop(pool.try_acquire());
            drop(object);
            waiter.join().unwrap();
        });
    }
}

#[test]
fn two_waiters_against_two_releases() {
    for backend in Backend::ALL {
        // Three threads that sleep and wake: four switches take minutes.
        model_with(2, move || {
            let (pool, _) = pool(backend, 1);
            let object = pool.acquire();
            let waiters = [(); 2].map(|()| {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            });
            drop(object);
            for waiter in waiters {
                waiter.join().unwrap();
            }
        });
    }
}

#[test]
fn a_waiter_against_close() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 1);
        let object = pool.acquire();
        let waiter = {
            let pool = pool.clone();
            thread::spawn(move || {
                let waited = pool.acquire_timeout(std::time::Duration::MAX);
                assert!(matches!(waited, Ok(_) | Err(AcquireError::Closed)));
            })
        };
        pool.close();
        drop(object);
        waiter.join().unwrap();
    });
}

/// The last release, on a slot that may be active, against a thread that waits for it.
#[test]
fn the_last_release_against_a_wait_until_none_is_in_use() {
    for backend in Backend::ALL {
        model(move || {
            let (pool, _) = pool(backend, 1);
            drop(pool.acquire()); // Activates the slot of this thread.
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || pool.wait_idle(None).unwrap())
            };
            drop(object);
            waiter.join().unwrap();
        });
    }
}

/// Two objects leave, one for good, while one thread waits; and the pool may end with it.
#[test]
fn two_releases_against_a_wait_until_none_is_in_use() {
    for backend in [Backend::Batched, Backend::Heap] {
        model_with(3, move || {
            let (pool, _) = pool(backend, 2);
            let (kept, detached) = (pool.acquire(), pool.acquire());
            let release = thread::spawn(move || drop(Pooled::detach(detached)));
            let waiter = thread::spawn(move || pool.wait_idle(None).unwrap());
            drop(kept); // After it the pool may be gone (LIFE-TAIL).
            waiter.join().unwrap();
            release.join().unwrap();
        });
    }
}

/// The object is dropped by the one or by the other, since it is idle when the bound is lowered or comes back later.
#[test]
fn a_lower_capacity_against_a_release() {
    for backend in Backend::ALL {
        model(move || {
            let (pool, drops) = pool(backend, 2);
            drop(pool.acquire()); // Activates the slot of this thread.
            let (held, object) = (pool.acquire(), pool.acquire());
            let before = drops.load(Ordering::Relaxed);
            let lowers = {
                let pool = pool.clone();
                thread::spawn(move || pool.set_capacity(Some(1)))
            };
            drop(object);
            lowers.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), before + 1);
            assert!(pool.try_acquire().is_err());
            drop(held);
            assert!(pool.try_acquire().is_ok());
        });
    }
}

/// Only one of two waits can end by the release, unless the bound is raised.
#[test]
fn a_larger_capacity_against_a_waiter_and_a_release() {
    for backend in [Backend::Batched, Backend::Heap] {
        model_with(3, move || {
            let (pool, _) = pool(backend, 1);
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || std::mem::forget(pool.acquire()))
            };
            let release = thread::spawn(move || drop(object));
            pool.set_capacity(Some(2));
            std::mem::forget(pool.acquire());
            waiter.join().unwrap();
            release.join().unwrap();
            std::mem::forget(pool);
        });
    }
}

#[test]
fn growth_against_growth() {
    model(|| {
        let (pool, drops) = pool(Backend::Mutex, 2);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.acquire())
        };
        let here = pool.acquire();
        let other = other.join().unwrap();
        assert!(!std::ptr::eq(&raw const *here, &raw const *other));
        drop((here, other, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_trim_against_a_release() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 2);
        drop(pool.acquire());
        let object = pool.acquire();
        let trimmer = {
            let pool = pool.clone();
            thread::spawn(move || pool.trim(0))
        };
        drop(object);
        trimmer.join().unwrap();
        let (idle, dropped) = (pool.idle(), drops.load(Ordering::Relaxed));
        assert_eq!(idle + dropped, 1);
    });
}

#[test]
fn an_acquire_against_a_trim() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 2);
        drop((pool.acquire(), pool.acquire()));
        pool.trim(1);
        drop(pool.acquire()); // In the cache of this thread, alone.
        let trimmer = {
            let pool = pool.clone();
            thread::spawn(move || pool.trim(0))
        };
        let object = pool.try_acquire_idle();
        trimmer.join().unwrap();
        // Had or dropped, not both and not neither.
        let dropped = drops.load(Ordering::Relaxed) - 1;
        assert_eq!(usize::from(object.is_ok()) + dropped, 1);
        assert_eq!(pool.idle(), 0);
        drop((object, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn an_acquire_against_close() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 1);
        drop(pool.acquire());
        let closer = {
            let pool = pool.clone();
            thread::spawn(move || pool.close())
        };
        match pool.try_acquire() {
            Ok(object) => {
                assert_eq!(drops.load(Ordering::Relaxed), 0);
                closer.join().unwrap();
                drop(object);
            }
            Err(error) => {
                assert_eq!(error, AcquireError::Closed);
                closer.join().unwrap();
            }
        }
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert_eq!(pool.stats().in_use, 0);
    });
}

#[test]
fn an_acquire_that_misses_against_a_trim() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 3);
        let held = pool.acquire();
        drop(pool.acquire());
        let object = pool.acquire(); // Leaves the cache of this thread active, and empty.
        let trimmer = {
            let pool = pool.clone();
            thread::spawn(move || pool.trim(0))
        };
        let another = pool.acquire();
        trimmer.join().unwrap();
        assert_eq!(pool.stats().in_use, 3);
        drop((held, object, another, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn giving_a_batch_against_a_search() {
    model(|| {
        let (pool, drops) = pool(Backend::Batched, 3);
        let objects = (pool.acquire(), pool.acquire(), pool.acquire());
        let searcher = {
            let pool = pool.clone();
            thread::spawn(move || pool.try_acquire().ok())
        };
        // The third does not fit into the cache.
        drop(objects);
        let found = searcher.join().unwrap();
        assert_eq!(pool.idle() + usize::from(found.is_some()), 3);
        drop((found, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn giving_a_batch_against_a_trim() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 4);
        let objects = (pool.acquire(), pool.acquire(), pool.acquire());
        let extra = pool.acquire();
        let trimmer = {
            let pool = pool.clone();
            thread::spawn(move || pool.trim(4))
        };
        // The third and the fourth do not fit into the cache.
        drop((objects, extra));
        trimmer.join().unwrap();
        let mut all: Vec<_> = (0..4).map(|_| pool.try_acquire_idle().unwrap()).collect();
        all.sort_by_key(|object| std::ptr::from_ref(&**object).addr());
        all.dedup_by_key(|object| std::ptr::from_ref(&**object).addr());
        assert_eq!(all.len(), 4, "an object was acquired twice");
    });
}

#[test]
fn taking_a_batch_against_a_search() {
    model(|| {
        let (pool, _) = pool(Backend::Batched, 2);
        drop((pool.acquire(), pool.acquire()));
        pool.flush();
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.try_acquire().is_ok())
        };
        // There is one for each, wherever they are.
        let here = pool.try_acquire();
        assert!(here.is_ok() && other.join().unwrap());
    });
}

// ---- Bursts ------------------------------------------------------------------------------------------

/// A pool of batches of two.
fn pool_of_pairs(capacity: usize) -> (CountedPool, std::sync::Arc<Counter>) {
    pool_with(|builder| builder.batch_size(2).capacity(capacity))
}

#[test]
fn a_trim_against_the_release_of_a_burst() {
    short_model(|| {
        let (pool, drops) = pool_of_pairs(4);
        drop(pool.acquire_many(2)); // Activates the cache.
        let burst = pool.acquire_many(2);
        let trimmer = trimmer(&pool, 0);
        drop(burst);
        trimmer.join().unwrap();
        assert_eq!(pool.idle() + drops.load(Ordering::Relaxed), 2);
        assert_eq!(pool.in_use(), 0);
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_trim_against_the_acquire_of_a_burst() {
    short_model(|| {
        let (pool, drops) = pool_of_pairs(2);
        drop(pool.acquire_many(2));
        drop(pool.acquire_many(2)); // With its buffer, in the cache of this thread.
        let trimmer = trimmer(&pool, 0);
        // Both, or none; made anew, if the trim was first.
        let burst = pool.try_acquire_many(2);
        trimmer.join().unwrap();
        let acquired = match &burst {
            Ok(burst) => burst.len(),
            Err(_) => 0,
        };
        assert!(acquired == 2 || acquired == 0);
        assert_eq!(pool.in_use(), acquired);
        drop((burst, pool));
        let dropped = drops.load(Ordering::Relaxed);
        assert!(dropped == 2 || dropped == 4);
    });
}

#[test]
fn the_last_pool_against_the_release_of_a_burst() {
    short_model(|| {
        let (pool, drops) = pool_of_pairs(2);
        let releaser = {
            let pool = pool.clone();
            thread::spawn(move || {
                drop(pool.acquire_many(2)); // Activates the cache.
                let burst = pool.acquire_many(2);
                drop(pool);
                drop(burst);
            })
        };
        drop(pool);
        releaser.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_burst_that_waits_against_two_releases() {
    for backend in Backend::ALL {
        model(move || {
            let (pool, _) = pool(backend, 2);
            let (first, second) = (pool.acquire(), pool.acquire());
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || pool.acquire_many(2).len())
            };
            let releaser = thread::spawn(move || drop(first));
            drop(second);
            releaser.join().unwrap();
            assert_eq!(waiter.join().unwrap(), 2);
            assert_eq!(pool.in_use(), 0);
        });
    }
}

/// Trims, in a thread.
fn trimmer(pool: &CountedPool, keep: usize) -> thread::JoinHandle<()> {
    let pool = pool.clone();
    thread::spawn(move || pool.trim(keep))
}

// A whole batch goes from the depot to a cache, and on from the cache, while the caches are recalled.
#[test]
fn a_batch_of_two_that_is_taken_against_a_recall() {
    short_model(|| {
        let (pool, drops) = pool_of_pairs(4);
        drop(pool.acquire_many(4));
        pool.trim(4); // Recalled: there are two batches in the depot.
        let trimmer = trimmer(&pool, 2);
        let held = [pool.acquire(), pool.acquire(), pool.acquire()];
        assert_distinct(held.iter().map(|object| &**object));
        trimmer.join().unwrap();
        assert_eq!(pool.in_use(), 3);
        drop((held, pool));
        assert!((4..=6).contains(&drops.load(Ordering::Relaxed)));
    });
}

// A cache that is full gives a batch of two to the depot while the caches are recalled.
#[test]
fn a_batch_of_two_that_is_given_against_a_recall() {
    model(|| {
        let (pool, drops) = pool_of_pairs(6);
        let held = [(); 5].map(|()| pool.acquire());
        let trimmer = trimmer(&pool, 6);
        // The fifth does not fit into the cache.
        drop(held);
        trimmer.join().unwrap();
        let held = [(); 5].map(|()| pool.try_acquire_idle().unwrap());
        assert_distinct(held.iter().map(|object| &**object));
        assert_eq!(pool.stats().in_use, 5);
        drop((held, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 5);
    });
}

/// No object is another's.
fn assert_distinct<'a>(objects: impl Iterator<Item = &'a Counted>) {
    let mut all: Vec<_> = objects
        .map(|object| std::ptr::from_ref(object).addr())
        .collect();
    let acquired = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), acquired, "an object was acquired twice");
}

// ---- The end of a pool -------------------------------------------------------------------------------

#[test]
fn the_last_pool_against_the_pool_of_a_handle() {
    for backend in Backend::ALL {
        short_model(move || {
            let (pool, drops) = pool(backend, 1);
            let object = pool.acquire();
            let holder = thread::spawn(move || {
                let pool = Pooled::pool(&object);
                drop(object);
                // If it is there it is whole, though nobody else has it any more.
                if let Some(pool) = pool {
                    assert_eq!(pool.in_use(), 0);
                }
            });
            drop(pool);
            holder.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        });
    }
}

#[test]
fn the_last_pool_against_two_shared_handles() {
    for backend in Backend::ALL {
        short_model(move || {
            let (pool, drops) = pool(backend, 1);
            let here = Pooled::into_shared(pool.acquire());
            let there = here.clone();
            drop(pool);
            let other = thread::spawn(move || {
                let again = there.clone();
                drop(there);
                drop(again);
            });
            match SharedPooled::try_unwrap(here) {
                // The only one, so it may be written to.
                Ok(mut object) => {
                    object.0 = object.0.clone();
                    drop(object);
                }
                Err(here) => drop(here),
            }
            other.join().unwrap();
            assert_eq!(drops.load(Ordering::Relaxed), 1);
        });
    }
}

// Without a bound it counts in slots, and the close adds them up.
#[test]
fn the_end_of_a_heap_without_a_bound() {
    short_model(|| {
        let (pool, drops) = pool_with(|builder| builder.backend(Backend::Heap));
        let first = pool.acquire();
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                let second = pool.try_acquire().ok();
                drop(pool);
                drop(first);
                usize::from(second.is_some())
            })
        };
        pool.close();
        drop(pool);
        let second = other.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1 + second);
    });
}

#[test]
fn the_last_pool_against_a_release_into_a_queue() {
    short_model(|| {
        let (pool, drops) = pool(Backend::Queue, 2);
        let releaser = {
            let pool = pool.clone();
            thread::spawn(move || {
                let first = pool.acquire();
                let second = pool.acquire();
                drop(first); // Activates the slot.
                drop(pool);
                drop(second);
            })
        };
        drop(pool);
        releaser.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn two_late_releases_into_a_queue_free_the_pool_once() {
    short_model(|| {
        let (pool, drops) = pool(Backend::Queue, 2);
        let (first, second) = (pool.acquire(), pool.acquire());
        drop(pool);
        let releaser = thread::spawn(move || drop(first));
        drop(second);
        releaser.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_push_into_a_queue_against_close() {
    // An array, and a list.
    for capacity in [Some(2), None] {
        short_model(move || {
            let (pool, drops) = pool_with(|builder| {
                let builder = builder.backend(Backend::Queue);
                match capacity {
                    Some(capacity) => builder.capacity(capacity),
                    None => builder,
                }
            });
            let (first, second) = (pool.acquire(), pool.acquire());
            drop(first); // Activates the slot.
            let closer = {
                let pool = pool.clone();
                thread::spawn(move || pool.close())
            };
            drop(second);
            closer.join().unwrap();
            // Dropped by the one or by the other, and nothing is left in the queue.
            assert_eq!(drops.load(Ordering::Relaxed), 2);
            let stats = pool.stats();
            assert_eq!((stats.idle, stats.in_use), (0, 0));
        });
    }
}

// ---- Limits, memory, and what is asked for in advance ------------------------------------------------

#[test]
fn max_idle_against_three_releases() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        model_with(5, move || {
            let (pool, drops) = pool_with(|builder| {
                let builder = builder.backend(backend).capacity(4).max_idle(2);
                match backend {
                    Backend::Batched => builder.batch_size(1),
                    _ => builder,
                }
            });
            let [first, second, third] = [(); 3].map(|()| pool.acquire());
            let releaser = thread::spawn(move || drop(first));
            drop((second, third));
            assert!(pool.idle() <= 2);
            releaser.join().unwrap();
            assert_eq!((pool.idle(), drops.load(Ordering::Relaxed)), (2, 1));
        });
    }
}

#[test]
fn a_chunk_that_is_freed_against_growth() {
    short_model(|| {
        let (pool, drops) = pool(Backend::Mutex, 2);
        drop(pool.acquire());
        // Its chunk has no object any more.
        let trimmer = trimmer(&pool, 0);
        let value = Pooled::detach(pool.acquire());
        let object = pool.attach(value).ok().unwrap();
        trimmer.join().unwrap();
        assert_eq!(pool.in_use(), 1);
        drop((object, pool));
        let dropped = drops.load(Ordering::Relaxed);
        assert!(dropped == 1 || dropped == 2);
    });
}

#[test]
fn a_cache_that_is_freed_against_the_end_of_its_thread() {
    short_model(|| {
        let (pool, drops) = pool(Backend::Batched, 2);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || drop(pool.acquire()))
        };
        pool.trim(0); // Frees the caches of threads that have ended.
        other.join().unwrap();
        pool.trim(1);
        assert_eq!(pool.idle() + drops.load(Ordering::Relaxed), 1);
        drop(pool.acquire());
        assert_eq!(pool.in_use(), 0);
    });
}

#[test]
fn a_reserve_against_an_acquire_and_a_flush() {
    model_with(5, || {
        let (pool, drops) = pool(Backend::Batched, 2);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || {
                drop(pool.acquire());
                pool.flush();
            })
        };
        assert!(pool.reserve(2) <= 2);
        let here = pool.acquire();
        other.join().unwrap();
        let second = pool.try_acquire();
        assert!(second.is_ok(), "there is an object for each");
        assert!(pool.try_acquire().is_err());
        drop((here, second, pool));
        assert_eq!(drops.load(Ordering::Relaxed), 2);
    });
}

// ---- Tasks -------------------------------------------------------------------------------------------

#[cfg(feature = "async")]
mod tasks {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn a_task_that_is_polled_and_cancelled_against_a_release() {
        for backend in Backend::ALL {
            short_model(move || {
                let (pool, drops) = pool(backend, 1);
                let object = pool.acquire();
                let releaser = thread::spawn(move || drop(object));
                let mut future = Box::pin(pool.acquire_async());
                let mut context = Context::from_waker(Waker::noop());
                let mut polled = future.as_mut().poll(&mut context);
                if polled.is_pending() {
                    polled = future.as_mut().poll(&mut context);
                }
                drop(future);
                releaser.join().unwrap();
                let acquired = matches!(polled, Poll::Ready(Ok(_)));
                assert_eq!(pool.in_use(), usize::from(acquired));
                drop(polled);
                assert!(pool.try_acquire().is_ok());
                drop(pool);
                assert!(drops.load(Ordering::Relaxed) >= 1);
            });
        }
    }

    #[test]
    fn a_task_that_is_cancelled_against_a_release_with_a_thread_behind_it() {
        for backend in [Backend::Batched, Backend::Mutex] {
            model_with(5, move || {
                let (pool, _) = pool(backend, 1);
                let object = pool.acquire();
                let mut future = Box::pin(pool.acquire_async());
                let mut context = Context::from_waker(Waker::noop());
                assert!(future.as_mut().poll(&mut context).is_pending());
                let waiter = {
                    let pool = pool.clone();
                    thread::spawn(move || drop(pool.acquire()))
                };
                let releaser = thread::spawn(move || drop(object));
                // Served or not: the thread gets the object.
                drop(future);
                releaser.join().unwrap();
                waiter.join().unwrap();
                assert_eq!(pool.in_use(), 0);
            });
        }
    }
}

// ---- The object itself -------------------------------------------------------------------------------
//
// loom orders the fences that stand for the two halves of the barrier, so what was done to an object
// before its owner entered the slot is seen after a recall even if the stores of the word say nothing; for
// those there are the models of the slots, above.

/// An object that loom sees being used: two threads at a time, or one that does not see what the one
/// before it has done, fail the model.
struct Watched(loom::cell::UnsafeCell<usize>);

// SAFETY: what it holds is a number.
unsafe impl Sync for Watched {}

impl Watched {
    fn write(&mut self, value: usize) {
        // SAFETY: borrowed alone, if the pool is right; else loom says so.
        self.0.with_mut(|at| unsafe { *at = value });
    }

    fn read(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|at| unsafe { *at })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.write(0);
    }
}

/// Resets objects that hold anything, and finds those fit that hold nothing.
struct Watching {
    /// Whether every object that was used is found unfit.
    rejects: bool,
}

impl crate::Lifecycle<Watched> for Watching {
    fn create(&self) -> Watched {
        Watched(loom::cell::UnsafeCell::new(0))
    }

    fn reset(&self, object: &mut Watched) {
        object.write(0);
    }

    fn is_reusable(&self, object: &Watched) -> bool {
        assert_eq!(object.read(), 0, "an object was validated before its reset");
        !self.rejects
    }
}

fn watched(
    backend: Backend,
    capacity: usize,
    reset_on: ResetOn,
    rejects: bool,
) -> Pool<Watched, Watching> {
    let builder = Pool::builder_for(Watching { rejects })
        .backend(backend)
        .capacity(capacity)
        .reset_on(reset_on)
        .grow_by(1);
    let builder = match backend {
        Backend::Batched => builder.batch_size(1),
        _ => builder,
    };
    builder.build().unwrap()
}

/// Backends through which an object goes from one thread to the next, seen by loom: within a
/// [`Queue`](Backend::Queue) the order is crossbeam's, which loom does not see, and a
/// [`Heap`](Backend::Heap) keeps nothing.
const HANDING_ON: [Backend; 2] = [Backend::Mutex, Backend::Batched];

/// Acquires a fresh object, uses it, and gives it back.
fn use_one(pool: &Pool<Watched, Watching>) {
    let mut object = pool.acquire();
    assert_eq!(object.read(), 0, "an object was not reset");
    object.write(1);
}

#[test]
fn an_object_that_is_used_by_one_thread_after_another() {
    for backend in HANDING_ON {
        for reset_on in ResetOn::ALL {
            model_with(5, move || {
                let pool = watched(backend, 1, reset_on, false);
                let other = {
                    let pool = pool.clone();
                    thread::spawn(move || use_one(&pool))
                };
                use_one(&pool);
                use_one(&pool);
                other.join().unwrap();
                use_one(&pool);
                assert_eq!(pool.stats().created, 1);
            });
        }
    }
}

// Out of an active cache, by one that finds nothing elsewhere.
#[test]
fn an_object_that_is_found_in_the_cache_of_another_thread() {
    for reset_on in ResetOn::ALL {
        short_model(move || {
            let pool = watched(Backend::Batched, 2, reset_on, false);
            drop((pool.acquire(), pool.acquire()));
            let held = pool.acquire();
            let mut object = pool.acquire();
            object.write(1);
            let other = {
                let pool = pool.clone();
                thread::spawn(move || {
                    if let Ok(mut object) = pool.try_acquire() {
                        assert_eq!(object.read(), 0);
                        object.write(2);
                    }
                })
            };
            drop(object);
            other.join().unwrap();
            drop(held);
        });
    }
}

// By another thread than the one that used it last.
#[test]
fn an_object_that_is_dropped_by_another_thread() {
    for backend in Backend::ALL {
        for close in [false, true] {
            short_model(move || {
                let pool = watched(backend, 2, ResetOn::Acquire, false);
                drop((pool.acquire(), pool.acquire())); // Activates the slot.
                let mut object = pool.acquire();
                object.write(1);
                let other = {
                    let pool = pool.clone();
                    thread::spawn(move || match close {
                        true => pool.close(),
                        false => pool.trim(0),
                    })
                };
                drop(object);
                other.join().unwrap();
            });
        }
    }
}

#[test]
fn an_object_that_is_dropped_with_the_last_of_its_shared_handles() {
    for backend in Backend::ALL {
        short_model(move || {
            let pool = watched(backend, 1, ResetOn::Release, false);
            let mut object = pool.acquire();
            object.write(1);
            let here = Pooled::into_shared(object);
            let there = here.clone();
            let other = thread::spawn(move || assert_eq!(there.read(), 1));
            assert_eq!(here.read(), 1);
            // The last of them resets it, which nobody may read at the same time.
            drop(here);
            other.join().unwrap();
            assert_eq!(pool.in_use(), 0);
        });
    }
}

// ---- Objects that are found unfit when they are acquired ---------------------------------------------

/// The object that comes back is found unfit by the thread that waits for it.
#[test]
fn a_waiter_against_the_release_of_a_watched_object_that_is_unfit() {
    for backend in HANDING_ON {
        short_model(move || {
            let pool = watched(backend, 1, ResetOn::Acquire, true);
            let mut object = pool.acquire();
            object.write(1);
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || use_one(&pool))
            };
            drop(object);
            waiter.join().unwrap();
            assert_eq!(pool.in_use(), 0);
        });
    }
}

/// Finds every object unfit; has the count of those dropped.
struct Rejecting(std::sync::Arc<Counter>);

impl crate::Lifecycle<Counted> for Rejecting {
    fn create(&self) -> Counted {
        Counted(self.0.clone())
    }

    fn reset(&self, _object: &mut Counted) {}

    fn is_reusable(&self, _object: &Counted) -> bool {
        false
    }
}

/// A pool of one object that is unfit when it is acquired again, and how many were dropped.
fn rejecting(backend: Backend) -> (Pool<Counted, Rejecting>, std::sync::Arc<Counter>) {
    let drops = std::sync::Arc::new(Counter::new(0));
    let builder = Pool::builder_for(Rejecting(drops.clone()))
        .backend(backend)
        .capacity(1)
        .reset_on(ResetOn::Acquire)
        .grow_by(1);
    let builder = match backend {
        Backend::Batched => builder.batch_size(1),
        _ => builder,
    };
    (builder.build().unwrap(), drops)
}

/// Acquires one and drops it, in a thread.
fn taker(pool: &Pool<Counted, Rejecting>) -> thread::JoinHandle<()> {
    let pool = pool.clone();
    thread::spawn(move || drop(pool.acquire()))
}

#[test]
fn a_waiter_against_the_release_of_an_unfit_object() {
    for backend in Backend::ALL {
        short_model(move || {
            let (pool, drops) = rejecting(backend);
            let object = pool.acquire();
            let waiter = taker(&pool);
            drop(object);
            waiter.join().unwrap();
            assert_eq!(pool.in_use(), 0);
            drop(pool);
            assert_eq!(drops.load(Ordering::Relaxed), 2);
        });
    }
}

#[test]
fn two_waiters_against_the_release_of_an_unfit_object() {
    for backend in Backend::ALL {
        model_with(3, move || {
            let (pool, drops) = rejecting(backend);
            let object = pool.acquire();
            let waiters = [taker(&pool), taker(&pool)];
            drop(object);
            for waiter in waiters {
                waiter.join().unwrap();
            }
            assert_eq!(pool.in_use(), 0);
            drop(pool);
            assert_eq!(drops.load(Ordering::Relaxed), 3);
        });
    }
}

/// Each finds the object that the other has left unfit, or waits for it.
#[test]
fn two_that_take_turns_at_an_unfit_object() {
    for backend in Backend::ALL {
        model_with(5, move || {
            let (pool, drops) = rejecting(backend);
            drop(pool.acquire());
            let other = taker(&pool);
            drop(pool.acquire());
            other.join().unwrap();
            assert_eq!(pool.in_use(), 0);
            drop(pool);
            assert_eq!(drops.load(Ordering::Relaxed), 3);
        });
    }
}

/// A vacant entry of a pool for one object.
fn vacant(pool: &CountedPool) -> crate::VacantEntry<Counted, CountedHooks> {
    match pool.try_entry() {
        Ok(crate::Entry::Vacant(vacant)) => vacant,
        _ => panic!("there is room, and nothing idle"),
    }
}

#[test]
fn a_vacancy_that_is_dropped_against_a_waiter() {
    for backend in Backend::ALL {
        model_with(3, move || {
            let (pool, drops) = pool(backend, 1);
            let entry = vacant(&pool);
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.entry().unwrap()))
            };
            drop(entry);
            waiter.join().unwrap();
            assert_eq!(pool.in_use(), 0);
            drop(pool);
            assert_eq!(drops.load(Ordering::Relaxed), 0);
        });
    }
}

#[test]
fn a_vacancy_that_is_dropped_against_a_task_that_leaves() {
    use std::task::{Context, Waker};

    for backend in Backend::ALL {
        model_with(3, move || {
            let (pool, _) = pool(backend, 1);
            let entry = vacant(&pool);
            let mut waiting = Box::pin({
                let pool = pool.clone();
                async move { pool.entry_async().await.map(drop) }
            });
            let polled = waiting
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(polled.is_pending());
            let leaver = thread::spawn(move || drop(waiting));
            drop(entry);
            leaver.join().unwrap();
            assert_eq!(pool.in_use(), 0);
            drop(vacant(&pool));
        });
    }
}

#[test]
fn a_weak_pool_against_the_last_pool() {
    model(|| {
        let (pool, drops) = pool(Backend::Mutex, 1);
        drop(pool.acquire());
        let weak = pool.downgrade();
        let other = thread::spawn(move || drop(weak.upgrade()));
        drop(pool);
        other.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// A pool for one object that tracks who holds it.
fn tracking(backend: Backend) -> Pool<u8> {
    let builder = Pool::<u8>::builder().backend(backend).capacity(1);
    builder.track_holders(true).build().unwrap()
}

/// Whoever acquires the object next finds the record of its last holder ended, and its own stays.
#[test]
fn a_release_that_is_tracked_against_an_acquire() {
    for backend in Backend::ALL {
        model_with(3, move || {
            let pool = tracking(backend);
            let held = pool.acquire();
            let before = pool.holders()[0].location;
            let other = thread::spawn(move || drop(held));
            if let Ok(held) = pool.try_acquire() {
                let holders = pool.holders();
                assert_eq!(holders.len(), 1);
                assert_ne!(holders[0].location, before);
                drop(held);
            }
            other.join().unwrap();
            assert!(pool.holders().is_empty());
        });
    }
}

#[test]
fn a_vacancy_that_is_tracked_and_dropped_against_an_acquire() {
    for backend in Backend::ALL {
        model_with(3, move || {
            let pool = tracking(backend);
            let entry = pool.try_entry().unwrap();
            let before = pool.holders()[0].location;
            let other = thread::spawn(move || drop(entry));
            if let Ok(held) = pool.try_acquire() {
                let holders = pool.holders();
                assert_eq!(holders.len(), 1);
                assert_ne!(holders[0].location, before);
                drop(held);
            }
            other.join().unwrap();
            assert!(pool.holders().is_empty());
        });
    }
}

/// Asks for what the slots hold, in a thread.
fn asker(slots: &std::sync::Arc<Sum>) -> thread::JoinHandle<()> {
    let slots = slots.clone();
    thread::spawn(move || slots.shared.lock().slots.ask_all())
}

fn come_by(pool: &Sum) {
    hand_over(pool, &mut pool.shared.lock());
}

/// The sum, of slots that nobody is to look into.
fn handed_over(pool: &Sum) -> usize {
    let shared = pool.shared.lock();
    assert_eq!(shared.slots.occupied(), 0, "a slot was not handed over");
    shared.sum
}

#[test]
fn an_owner_hands_over_what_it_is_asked_for() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        assert_eq!(slots.shared.lock().slots.occupied(), 1);
        let asker = asker(&slots);
        add_one(&slots);
        add_one(&slots);
        asker.join().unwrap();
        come_by(&slots);
        assert_eq!(total(&slots), 3);
    });
}

#[test]
fn an_owner_that_is_asked_twice() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        let askers = [asker(&slots), asker(&slots)];
        add_one(&slots);
        add_one(&slots);
        for asker in askers {
            asker.join().unwrap();
        }
        slots.shared.lock().slots.ask_all();
        come_by(&slots);
        assert_eq!(handed_over(&slots), 3);
    });
}

#[test]
fn an_owner_that_ends_while_it_is_asked() {
    model(|| {
        let slots = sum();
        let owner = adder(&slots, 2);
        slots.shared.lock().slots.ask_all();
        owner.join().unwrap();
        // Its end may be under way still; what it has not handed over is in its slot.
        assert_eq!(total(&slots), 2);
    });
}

/// It does not come by, so the end of the pool looks into its slot, though it was asked for.
#[test]
fn an_owner_that_is_asked_and_then_revoked() {
    model(|| {
        let slots = sum();
        add_one(&slots);
        let revoker = {
            let slots = slots.clone();
            thread::spawn(move || {
                slots.shared.lock().slots.ask_all();
                total(&slots)
            })
        };
        add_one(&slots);
        add_one(&slots);
        assert!(revoker.join().unwrap() <= 3);
        assert_eq!(total(&slots), 3);
    });
}

fn cooperating(backend: Backend, capacity: usize) -> (CountedPool, std::sync::Arc<Counter>) {
    pool_with(|builder| {
        let builder =
            (builder.backend(backend).capacity(capacity)).recall(crate::Recall::Cooperate);
        match backend {
            Backend::Batched => builder.batch_size(1),
            _ => builder,
        }
    })
}

/// The release may go unnoticed; then the next visit of its thread serves the waiter.
#[test]
fn a_waiter_is_served_by_a_thread_that_comes_by() {
    for backend in [Backend::Batched, Backend::Heap] {
        model(move || {
            let (pool, _) = cooperating(backend, 1);
            drop(pool.acquire()); // Activates the cache of this thread.
            let object = pool.acquire();
            let waiter = {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            };
            drop(object);
            pool.flush();
            waiter.join().unwrap();
            assert_eq!(pool.stats().revocations, 0);
        });
    }
}

#[test]
fn a_waiter_is_served_by_a_thread_that_ends() {
    for backend in [Backend::Batched, Backend::Heap] {
        model_with(2, move || {
            let (pool, _) = cooperating(backend, 1);
            let ends = {
                let pool = pool.clone();
                thread::spawn(move || {
                    drop(pool.acquire());
                    drop(pool.acquire());
                })
            };
            drop(pool.acquire());
            pool.flush(); // The other may wait for it.
            ends.join().unwrap();
            assert_eq!(pool.stats().revocations, 0);
        });
    }
}

#[test]
fn a_close_against_an_owner_that_comes_by() {
    model(|| {
        let (pool, drops) = cooperating(Backend::Batched, 2);
        drop(pool.acquire());
        drop(pool.acquire());
        let closer = {
            let pool = pool.clone();
            thread::spawn(move || pool.close())
        };
        drop(pool.try_acquire());
        closer.join().unwrap();
        assert!(pool.try_acquire().is_err());
        assert_eq!(drops.load(Ordering::Relaxed), pool.stats().created);
        assert_eq!(pool.stats().revocations, 0);
    });
}

/// It has not come by, and nothing is left all the same.
#[test]
fn the_last_pool_against_an_owner_that_was_asked() {
    model(|| {
        let (pool, drops) = cooperating(Backend::Batched, 2);
        let releaser = {
            let pool = pool.clone();
            thread::spawn(move || {
                let first = pool.acquire();
                let second = pool.acquire();
                drop(first); // Activates the cache.
                drop(pool);
                drop(second);
            })
        };
        pool.trim(0);
        drop(pool);
        releaser.join().unwrap();
        assert!(drops.load(Ordering::Relaxed) >= 2);
    });
}

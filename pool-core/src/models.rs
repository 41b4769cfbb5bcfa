//! loom models of the real slots, depot and end of life, run by `ci/loom.sh`.
//!
//! Each explores the interleavings of two or three threads at the places that a stress test would
//! have to be lucky to hit. Batches are of one object, so that every edge is near. A pass is no
//! proof (loom bounds preemptions, and models both halves of the asymmetric barrier as fences), so
//! the same scenarios are stressed in `tests/threads.rs`.

#![allow(unsafe_code)] // What the owner of a slot does.

use std::sync::atomic::{AtomicUsize as Counter, Ordering};

use loom::thread;

use crate::local::{SlotAddress, SlotKey, SlotState, Slots, Top, Unregister};
use crate::sync::{Mutex, MutexGuard};
use crate::{AcquireError, Backend, Pool, Pooled};

/// At how many places a model may switch threads unasked. Each more multiplies the time by
/// about eight; `LOOM_MAX_PREEMPTIONS` overrides it.
const PREEMPTIONS: usize = 4;

fn model(f: impl Fn() + Send + Sync + 'static) {
    model_with(PREEMPTIONS, f);
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

fn reclaim(sum: &mut usize) -> impl FnMut(Top, &mut Number, &crate::local::OwnedCount) {
    |top, number, _| {
        assert_eq!(
            top.addr(),
            number.0,
            "what was left in a slot was not seen whole"
        );
        *sum += std::mem::take(&mut number.0);
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
    inside.work(|number, top| {
        number.0 += 1;
        ((), top.wrapping_byte_add(1))
    });
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
    if let Some(own) = own
        && !shared.closed
    {
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
            slots.shared.lock().slots.active(),
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
        assert_eq!(shared.slots.active(), 0, "a slot is active after the close");
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

type CountedPool = Pool<Counted, crate::Hooks<Make, fn(&mut Counted)>>;
type Make = Box<dyn Fn() -> Counted + Send + Sync>;

fn pool(backend: Backend, capacity: usize) -> (CountedPool, std::sync::Arc<Counter>) {
    let drops = std::sync::Arc::new(Counter::new(0));
    let make: Make = {
        let drops = drops.clone();
        Box::new(move || Counted(drops.clone()))
    };
    let builder = Pool::builder_with(make, (|_| ()) as fn(&mut Counted))
        .backend(backend)
        .capacity(capacity)
        .grow_by(1);
    let builder = match backend {
        Backend::Batched => builder.batch_size(1),
        _ => builder,
    };
    (builder.build().unwrap(), drops)
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

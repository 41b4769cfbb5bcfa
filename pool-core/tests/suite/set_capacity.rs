//! A bound that changes while the pool is used, on every backend.

use crate::support;

use std::sync::{Arc, Barrier, OnceLock};
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Hooks, Pool, WeakPool};

use support::{CountedPool, at_rest, counted, keeps, panic_of, scaled, until, within_reason};

fn on_each(scenario: impl Fn(Backend) + Send + 'static) {
    within_reason(move || {
        for backend in Backend::ALL {
            println!("{backend}");
            scenario(backend);
        }
    });
}

fn exhausted(pool: &CountedPool) -> bool {
    matches!(pool.try_acquire(), Err(AcquireError::Exhausted))
}

#[test]
fn a_larger_one_serves_those_who_wait() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(1).build().unwrap();
        let held = pool.acquire();
        thread::scope(|scope| {
            let waiters = [(); 3].map(|()| scope.spawn(|| pool.acquire()));
            until(|| pool.stats().waits == 3);
            pool.set_capacity(Some(4));
            let objects = waiters.map(|waiter| waiter.join().unwrap());
            assert!(exhausted(&pool));
            assert_eq!((pool.capacity(), pool.in_use()), (Some(4), 4));
            drop(objects);
        });
        drop(held);
        pool.set_capacity(None);
        assert_eq!(pool.capacity(), None);
        assert_eq!(pool.acquire_many(1_000).len(), 1_000);
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.idle, if keeps(backend) { 1_000 } else { 0 });
    });
}

#[test]
fn a_smaller_one_drops_what_is_idle_and_then_what_comes_back() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(1_000).build().unwrap();
        let mut held: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
        held.truncate(600);
        pool.set_capacity(Some(700));
        assert_eq!(pool.idle(), if keeps(backend) { 100 } else { 0 });
        pool.set_capacity(Some(500));
        assert_eq!(pool.capacity(), Some(500));
        assert_eq!((pool.idle(), tally.alive()), (0, 600));
        assert!(exhausted(&pool));
        assert!(pool.attach(tally.object()).is_err());
        held.truncate(501);
        assert_eq!((pool.idle(), tally.alive()), (0, 501));
        assert!(exhausted(&pool));
        held.truncate(500);
        assert!(exhausted(&pool));
        held.truncate(499);
        assert_eq!(tally.alive(), if keeps(backend) { 500 } else { 499 });
        assert!(pool.try_acquire().is_ok());
        drop(held);
        assert_eq!(pool.stats().in_use, 0);
        assert!(tally.alive() <= 500);
    });
}

#[test]
fn a_burst_that_comes_back_is_dropped_in_part() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let held = pool.acquire_many(10);
        pool.set_capacity(Some(4));
        drop(held);
        assert_eq!(pool.idle(), if keeps(backend) { 4 } else { 0 });
        at_rest_below(&pool, &tally, 4);
    });
}

/// As [`at_rest`], after a time in which more were alive.
fn at_rest_below(pool: &CountedPool, tally: &support::Tally, capacity: usize) {
    assert!(tally.alive() <= capacity);
    pool.set_capacity(None);
    at_rest(pool, tally);
}

#[test]
fn those_who_wait_wait_on_below_the_number_alive() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(3).build().unwrap();
        let mut held = vec![pool.acquire(), pool.acquire(), pool.acquire()];
        thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(pool.acquire()));
            until(|| pool.stats().waits == 1);
            pool.set_capacity(Some(1));
            held.pop();
            held.pop();
            assert_eq!(tally.alive(), 1);
            thread::sleep(Duration::from_millis(2));
            assert!(!waiter.is_finished());
            held.pop();
            waiter.join().unwrap();
        });
        at_rest_below(&pool, &tally, 1);
    });
}

#[test]
fn a_wait_for_more_than_will_ever_be_there_ends() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(3).build().unwrap();
        let mut held = vec![pool.acquire(), pool.acquire()];
        thread::scope(|scope| {
            let many = scope.spawn(|| panic_of(|| pool.acquire_many(3)));
            until(|| pool.stats().waits == 1);
            let two = scope.spawn(|| pool.acquire_many(2).len());
            until(|| pool.stats().waits == 2);
            // It is collected by the first, and passed on to the second.
            held.pop();
            pool.set_capacity(Some(2));
            assert_eq!(
                many.join().unwrap(),
                "acquire_many(3) exceeds capacity 2: ask for fewer or raise the capacity"
            );
            held.pop();
            assert_eq!(two.join().unwrap(), 2);
        });
        assert_eq!(pool.in_use(), 0);
        assert!(tally.alive() <= 2);
    });
}

#[test]
fn a_pool_with_capacity_0_is_paused() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(2).build().unwrap();
        drop(pool.acquire());
        pool.set_capacity(Some(0));
        assert_eq!(tally.alive(), 0);
        assert!(exhausted(&pool));
        thread::scope(|scope| {
            let waiter = scope.spawn(|| drop(pool.acquire()));
            until(|| pool.stats().waits == 1);
            pool.set_capacity(Some(1));
            waiter.join().unwrap();
        });
        at_rest(&pool, &tally);
    });
}

#[test]
fn a_pool_that_was_resized_caches_again() {
    on_each(|backend| {
        let (builder, _) = counted(backend);
        let pool = builder.capacity(8).build().unwrap();
        let held = pool.acquire_many(8);
        pool.set_capacity(Some(4));
        drop(held);
        pool.set_capacity(Some(1_000));
        // Slots come back after dry visits.
        for _ in 0..200 {
            drop(pool.acquire());
        }
        let revocations = pool.stats().revocations;
        for _ in 0..200 {
            drop(pool.acquire());
        }
        assert_eq!(pool.stats().revocations, revocations);
        if support::caches(backend) {
            assert!(pool.stats().cached > 0);
        }
        // A queue has room for all of them.
        drop(pool.acquire_many(1_000));
        assert_eq!(pool.idle(), if keeps(backend) { 1_000 } else { 0 });
    });
}

#[test]
fn a_panic_of_a_drop_comes_after_all_were_dropped() {
    struct Bad(usize);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert_ne!(self.0, 3, "bad");
        }
    }
    on_each(|backend| {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let create = || Bad(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let builder = Pool::builder_with(create, |_| ());
        let pool = builder.backend(backend).build().unwrap();
        if keeps(backend) {
            drop(pool.acquire_many(10));
            assert!(panic_of(|| pool.set_capacity(Some(1))).contains("bad"));
            assert_eq!((pool.idle(), pool.in_use()), (1, 0));
        }
    });
}

/// The bound goes up and down while threads acquire and give back.
#[test]
fn the_bound_holds_in_the_end_whatever_goes_on() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(6).build().unwrap();
        thread::scope(|scope| {
            let workers = [1, 2, 3].map(|owner| {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..scaled(2_000) {
                        let object = pool.acquire();
                        object.claim(owner);
                        object.yield_up(owner);
                        if round % 16 == 0 {
                            drop(object);
                            drop(pool.try_acquire_many(3));
                        }
                    }
                })
            });
            for capacity in [2, 6, 1, 3].into_iter().cycle().take(scaled(400)) {
                pool.set_capacity(Some(capacity));
                let alive = tally.alive();
                pool.wait_idle(Some(Duration::from_micros(20))).ok();
                assert!(alive <= 6);
            }
            pool.set_capacity(Some(3));
            for worker in workers {
                worker.join().unwrap();
            }
        });
        assert!(pool.in_use() == 0 && pool.idle() <= 3);
        at_rest_below(&pool, &tally, 3);
    });
}

/// Found once: an object that was made for later was kept, although the bound had been lowered since.
#[test]
fn one_that_is_lowered_while_a_reserve_makes_objects_holds() {
    type Make = Box<dyn Fn() -> u64 + Send + Sync>;
    type Lower = OnceLock<WeakPool<u64, Hooks<Make, fn(&mut u64)>>>;
    on_each(|backend| {
        let lower = Arc::new(Lower::new());
        let make: Make = Box::new({
            let lower = lower.clone();
            move || {
                if let Some(pool) = lower.get().and_then(WeakPool::upgrade) {
                    pool.set_capacity(Some(1));
                }
                7
            }
        });
        let reset: fn(&mut u64) = |_| ();
        let builder = Pool::builder_with(make, reset).backend(backend);
        let pool = builder.capacity(4).build().unwrap();
        let held = pool.try_acquire().unwrap();
        assert!(lower.set(pool.downgrade()).is_ok());
        pool.reserve(3);
        assert_eq!((pool.in_use(), pool.idle()), (1, 0));
        drop(held);
        assert_eq!(pool.idle(), usize::from(keeps(backend)));
    });
}

/// A thread's cache may hold more than the bound allows; what is idle there is found all the same.
#[test]
fn one_below_the_batch_size_leaves_nothing_out_of_reach() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        drop(pool.acquire_many(100));
        pool.set_capacity(Some(3));
        let turn = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    drop(pool.acquire_many(3)); // into its cache
                    turn.wait();
                    turn.wait();
                }
            });
            for _ in 0..200 {
                turn.wait();
                let all: Vec<_> = (0..3).map(|_| pool.try_acquire().unwrap()).collect();
                assert!(exhausted(&pool));
                drop(all);
                turn.wait();
            }
        });
        at_rest_below(&pool, &tally, 3);
    });
}

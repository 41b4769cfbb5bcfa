//! Dropping those of the idle objects that a closure does not want, on every backend that keeps any.

use crate::support;

use std::collections::HashMap;
use std::thread;

use pool_core::{Backend, Pool, ResetOn};

use support::{BatchSizeIfAny, Counted, at_rest, counted, keeps, panic_of, scaled, within_reason};

fn on_those_that_keep(scenario: impl Fn(Backend) + Send + 'static) {
    within_reason(move || {
        for backend in Backend::ALL.into_iter().filter(|&backend| keeps(backend)) {
            println!("{backend}");
            scenario(backend);
        }
    });
}

#[test]
fn each_idle_object_is_looked_at_once() {
    on_those_that_keep(|backend| {
        for n in [0, 1, 2, 7, 300, 5_000] {
            let (builder, tally) = counted(backend);
            let pool = builder.build().unwrap();
            let held = pool.acquire_many(3);
            drop(pool.acquire_many(n));
            let mut looks = HashMap::<usize, usize>::new();
            let dropped = pool.retain(|object| {
                *looks.entry(object.id).or_default() += 1;
                object.id % 3 != 0
            });
            assert_eq!(looks.len(), n);
            assert!(looks.values().all(|looks| *looks == 1));
            assert_eq!(dropped, looks.keys().filter(|id| *id % 3 == 0).count());
            let stats = at_rest(&pool, &tally);
            assert_eq!((stats.idle, stats.in_use), (n - dropped, 3));
            drop(held);
        }
    });
}

#[test]
fn objects_in_the_caches_of_other_threads_are_looked_at() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let (done, wait) = std::sync::mpsc::channel::<()>();
        thread::scope(|scope| {
            let (ready, is_ready) = std::sync::mpsc::channel();
            let other = pool.clone();
            scope.spawn(move || {
                drop((other.acquire(), other.acquire()));
                ready.send(()).unwrap();
                let _ = wait.recv();
                assert_eq!(other.idle(), 1);
            });
            is_ready.recv().unwrap();
            let mut first = true;
            assert_eq!(pool.retain(|_| std::mem::take(&mut first)), 1);
            drop(done);
        });
        assert_eq!(at_rest(&pool, &tally).idle, 1);
    });
}

#[test]
fn the_order_stays() {
    on_those_that_keep(|backend| {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let create = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let pool = Pool::builder_with(create, |_| ())
            .backend(backend)
            .batch_size_if_any(backend, 4)
            .prefill(100)
            .build()
            .unwrap();
        let order = || {
            let order: Vec<_> = pool
                .acquire_many(100)
                .iter()
                .map(|object| **object)
                .collect();
            order
        };
        // Once, so that what follows does not depend on the prefill.
        order();
        let ids = std::cell::RefCell::new(Vec::new());
        pool.retain(|id| {
            ids.borrow_mut().push(*id);
            true
        });
        let first = ids.take();
        pool.retain(|id| {
            ids.borrow_mut().push(*id);
            *id % 2 == 0
        });
        assert_eq!(first, ids.take());
        assert_eq!(pool.idle(), 50);
    });
}

#[test]
fn the_closure_may_use_the_pool() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(20).build().unwrap();
        drop(pool.acquire_many(20));
        let dropped = pool.retain(|_| {
            drop((pool.acquire(), pool.try_acquire_idle()));
            assert_eq!(pool.retain(|_| true), 0);
            pool.stats().in_use == 0
        });
        assert_eq!(dropped, 20);
        at_rest(&pool, &tally);
    });
}

#[test]
fn a_panic_loses_its_object_only() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(100).build().unwrap();
        drop(pool.acquire_many(100));
        let mut looks = 0;
        let message = panic_of(|| {
            pool.retain(|object| {
                looks += 1;
                assert!(object.id % 10 != 0, "no good");
                true
            })
        });
        assert_eq!((looks, &*message), (100, "no good"));
        let stats = at_rest(&pool, &tally);
        assert_eq!((stats.idle, stats.in_use), (90, 0));
        assert_eq!(pool.acquire_many(100).len(), 100);
    });
}

#[test]
fn a_waiter_gets_what_is_dropped_and_what_is_put_back() {
    on_those_that_keep(|backend| {
        for keep in [true, false] {
            let (builder, tally) = counted(backend);
            let pool = builder.capacity(1).build().unwrap();
            drop(pool.acquire());
            thread::scope(|scope| {
                let mut waiter = None;
                pool.retain(|_| {
                    waiter = Some(scope.spawn(|| drop(pool.acquire())));
                    support::until(|| pool.stats().waits == 1);
                    keep
                });
                waiter.unwrap().join().unwrap();
            });
            assert_eq!(tally.created(), 2 - usize::from(keep));
            at_rest(&pool, &tally);
        }
    });
}

#[test]
fn what_is_kept_is_dropped_if_the_pool_was_closed_meanwhile() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        drop(pool.acquire_many(2));
        let mut looks = 0;
        let dropped = pool.retain(|_| {
            looks += 1;
            pool.close();
            true
        });
        assert_eq!((looks, dropped), (1, 1));
        assert_eq!(at_rest(&pool, &tally).idle, 0);
    });
}

#[test]
fn an_object_that_was_never_acquired_stays_one() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder
            .reset_on(ResetOn::Acquire)
            .prefill(2)
            .build()
            .unwrap();
        assert_eq!(pool.retain(|object| object.resets == 0), 0);
        drop(pool.acquire_many(2));
        assert_eq!(tally.resets(), 0);
    });
}

/// Others acquire, release and look at objects at the same time.
#[test]
fn in_the_middle_of_everything() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder
            .batch_size_if_any(backend, 2)
            .capacity(40)
            .build()
            .unwrap();
        drop(pool.acquire_many(40));
        thread::scope(|scope| {
            for owner in 1..4 {
                let pool = &pool;
                scope.spawn(move || {
                    for _ in 0..scaled(2_000) {
                        let object = pool.acquire();
                        object.claim(owner);
                        object.yield_up(owner);
                    }
                });
            }
            for owner in 10..12 {
                let pool = &pool;
                scope.spawn(move || {
                    for round in 0..scaled(50) {
                        let mut seen = Vec::new();
                        pool.retain(|object: &mut Counted| {
                            object.claim(owner);
                            seen.push(object.id);
                            object.yield_up(owner);
                            object.id % 7 != round % 7
                        });
                        let looks = seen.len();
                        seen.sort_unstable();
                        seen.dedup();
                        assert_eq!(seen.len(), looks, "one was looked at twice");
                    }
                });
            }
        });
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    });
}

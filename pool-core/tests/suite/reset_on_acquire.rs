//! `ResetOn::Acquire`: what an acquire does to an idle object before it hands it out.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{Counted, Script, Tally, at_rest, counted, keeps, panic_of, until};
use pool_core::{AcquireError, Backend, Builder, Pool, ResetOn, unsync};

/// The backends that keep an object, and so have one to reset.
fn keeping() -> impl Iterator<Item = Backend> {
    Backend::ALL.into_iter().filter(|&backend| keeps(backend))
}

#[test]
fn what_was_never_acquired_is_not_reset() {
    for backend in keeping() {
        let (builder, tally) = counted(backend);
        let builder = builder.reset_on(ResetOn::Acquire);
        let pool = builder.prefill(4).build().unwrap();
        assert_eq!(pool.reserve(6), 6);
        let handles: Vec<_> = (0..8).map(|_| pool.acquire()).collect();
        assert_eq!((tally.created(), tally.resets()), (8, 0), "{backend}");
        drop(handles);
        assert_eq!(tally.resets(), 0, "{backend}");

        // From then on each has a user to be reset after.
        let handles: Vec<_> = (0..8).map(|_| pool.acquire()).collect();
        assert_eq!((tally.created(), tally.resets()), (8, 8), "{backend}");
        drop(handles);
        at_rest(&pool, &tally);
    }
}

#[test]
fn what_was_never_acquired_is_not_reset_in_a_burst() {
    for backend in keeping() {
        let (builder, tally) = counted(backend);
        let builder = builder.reset_on(ResetOn::Acquire);
        let pool = builder.prefill(4).build().unwrap();
        drop(pool.acquire_many(6));
        assert_eq!((tally.created(), tally.resets()), (6, 0), "{backend}");
        drop(pool.acquire_many(6));
        assert_eq!((tally.created(), tally.resets()), (6, 6), "{backend}");
    }
}

#[test]
fn what_was_never_acquired_is_not_reset_by_try_acquire_idle() {
    for backend in keeping() {
        let (builder, tally) = counted(backend);
        let builder = builder.reset_on(ResetOn::Acquire);
        let pool = builder.prefill(1).build().unwrap();
        drop(pool.try_acquire_idle().unwrap());
        assert_eq!(tally.resets(), 0, "{backend}");
        drop(pool.try_acquire_idle().unwrap());
        assert_eq!(tally.resets(), 1, "{backend}");
    }
}

#[test]
fn what_was_never_acquired_is_not_reset_for_one_thread() {
    let tally = Tally::new();
    let pool = unsync::Pool::builder_for(crate::support::Counting(tally.clone()))
        .reset_on(ResetOn::Acquire)
        .prefill(4)
        .build()
        .unwrap();
    assert_eq!(pool.reserve(6), 6);
    for resets in [0, 8] {
        let handles: Vec<_> = (0..8).map(|_| pool.acquire()).collect();
        assert_eq!((tally.created(), tally.resets()), (8, resets));
        drop(handles);
    }
}

/// The mark of what was never acquired must not be taken for a count of handles, nor stay with the memory.
#[test]
fn what_was_never_acquired_can_be_shared_and_its_memory_used_again() {
    for backend in keeping() {
        let (builder, tally) = counted(backend);
        let builder = builder.reset_on(ResetOn::Acquire);
        let pool = builder.prefill(1).build().unwrap();
        let shared = pool.acquire().into_shared_pair();
        assert_eq!(pool_core::SharedPooled::handles(&shared.0), 2, "{backend}");
        drop(shared);

        // Destroyed before anyone acquired it.
        pool.trim(0);
        assert_eq!(pool.reserve(1), 1);
        pool.drain().for_each(drop);
        let handle = pool.acquire();
        drop(handle);
        let resets = tally.resets();
        drop(pool.acquire());
        assert_eq!(tally.resets(), resets + 1, "{backend}");
    }
}

trait IntoSharedPair {
    type Shared;
    fn into_shared_pair(self) -> (Self::Shared, Self::Shared);
}

impl<T, L: pool_core::Lifecycle<T>> IntoSharedPair for pool_core::Pooled<T, L> {
    type Shared = pool_core::SharedPooled<T, L>;

    fn into_shared_pair(self) -> (Self::Shared, Self::Shared) {
        let shared = pool_core::Pooled::into_shared(self);
        (shared.clone(), shared)
    }
}

/// A pool of objects that are not reusable, once they have been used.
fn stale(backend: Backend) -> (Builder<Counted, Script<Counted>>, Arc<Tally>) {
    let tally = Tally::new();
    let create = tally.clone();
    let script = Script::new(move || create.object())
        .reset(|object| object.resets += 1)
        .judge(|object| object.resets == 0);
    let builder = Pool::builder_for(script)
        .backend(backend)
        .reset_on(ResetOn::Acquire);
    (builder, tally)
}

#[test]
fn what_is_not_reusable_is_made_anew_in_its_place() {
    for backend in keeping() {
        let (builder, tally) = stale(backend);
        let pool = builder.capacity(3).build().unwrap();
        drop(pool.acquire_many(3));
        let first = pool.acquire();
        let second = pool.try_acquire().unwrap();
        let third = pool.acquire_timeout(Duration::ZERO).unwrap();
        assert!(
            [&first, &second, &third]
                .iter()
                .all(|object| object.resets == 0)
        );
        let stats = at_rest(&pool, &tally);
        // One made for each that was looked at, and none looked at in vain.
        assert_eq!((stats.created, stats.discarded), (6, 3), "{backend}");
        drop((first, second, third));
        at_rest(&pool, &tally);
    }
}

#[test]
fn what_is_not_reusable_makes_way_for_another_where_none_is_to_be_made() {
    for backend in keeping() {
        let (builder, tally) = stale(backend);
        let pool = builder.capacity(3).build().unwrap();
        drop(pool.acquire_many(3));
        let error = pool.try_acquire_idle().err();
        assert_eq!(error, Some(AcquireError::Exhausted), "{backend}");
        let stats = at_rest(&pool, &tally);
        assert_eq!((stats.created, stats.destroyed, stats.discarded), (3, 3, 3));
    }
}

/// A waiter that was given a stale object had to go to the end of the queue, and its time began anew.
#[test]
fn a_waiter_that_is_given_a_stale_object_keeps_its_place() {
    for backend in Backend::ALL {
        let (builder, tally) = stale(backend);
        let pool = builder.capacity(1).build().unwrap();
        let order = AtomicUsize::new(0);
        let held = pool.acquire();
        thread::scope(|scope| {
            for place in 0..3 {
                let (pool, order) = (&pool, &order);
                scope.spawn(move || {
                    let object = pool.acquire_timeout(Duration::from_secs(60)).unwrap();
                    assert_eq!(order.fetch_add(1, Ordering::SeqCst), place);
                    assert_eq!(object.resets, 0);
                });
                until(|| pool.stats().waits == place + 1);
            }
            drop(held);
        });
        assert_eq!(pool.stats().waits, 3, "{backend}");
        at_rest(&pool, &tally);
    }
}

#[cfg(feature = "async")]
#[test]
fn a_task_that_is_given_a_stale_object_is_ready() {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    for backend in Backend::ALL {
        let (builder, tally) = stale(backend);
        let pool = builder.capacity(1).build().unwrap();
        let held = pool.acquire();
        let mut acquire = pin!(pool.acquire_async());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(acquire.as_mut().poll(&mut cx).is_pending());
        drop(held);
        let Poll::Ready(Ok(object)) = acquire.as_mut().poll(&mut cx) else {
            panic!("not ready from {backend}");
        };
        assert_eq!((object.resets, pool.stats().waits), (0, 1), "{backend}");
        drop(object);
        at_rest(&pool, &tally);
    }
}

#[test]
fn a_create_that_panics_in_the_place_of_another_gives_its_permit_back() {
    for backend in keeping() {
        let tally = Tally::new();
        let create = tally.clone();
        let script = Script::new(move || {
            assert!(create.created() != 1, "create went wrong");
            create.object()
        })
        .judge(|_| false);
        let builder = Pool::builder_for(script).backend(backend);
        let builder = builder.reset_on(ResetOn::Acquire);
        let pool = builder.capacity(1).build().unwrap();
        drop(pool.acquire());
        assert_eq!(
            panic_of(|| pool.acquire()),
            "create went wrong",
            "{backend}"
        );
        assert_eq!((tally.alive(), pool.in_use(), pool.idle()), (0, 0, 0));
        drop(tally.object()); // The next create goes well.
        assert!(pool.try_acquire().is_ok(), "{backend}");
    }
}

#[test]
fn what_is_not_reusable_is_made_anew_for_one_thread() {
    let tally = Tally::new();
    let create = tally.clone();
    let script = Script::new(move || create.object())
        .reset(|object| object.resets += 1)
        .judge(|object| object.resets == 0);
    let builder = unsync::Pool::builder_for(script).reset_on(ResetOn::Acquire);
    let pool = builder.capacity(2).build().unwrap();
    drop((pool.acquire(), pool.acquire()));
    let handles = (pool.acquire(), pool.try_acquire().unwrap());
    let stats = pool.stats();
    assert_eq!((stats.created, stats.destroyed, stats.discarded), (4, 2, 2));
    assert_eq!((tally.created(), tally.alive()), (4, 2));
    drop(handles);
    assert!(pool.try_acquire_idle().is_err());
    assert_eq!((pool.stats().destroyed, tally.alive()), (4, 0));
}

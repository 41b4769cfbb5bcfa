//! What services ask of a pool: many at once with a limit of time, a bound on waiters, how long they wait.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Pool, unsync};

use crate::support::{panic_of, until, within_reason};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(2);

fn pool(backend: Backend, capacity: usize) -> Pool<String> {
    let builder = Pool::<String>::builder();
    builder.backend(backend).capacity(capacity).build().unwrap()
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn many_in_time_or_none() {
    for backend in Backend::ALL {
        let pool = pool(backend, 3);
        let held = pool.acquire();
        let refused = |n, time| pool.acquire_many_timeout(n, time).unwrap_err();
        assert_eq!(refused(3, SHORT), AcquireError::Timeout);
        assert_eq!(pool.in_use(), 1, "{backend}: something was kept");
        // It could never be had, so there is nothing to wait for.
        assert_eq!(refused(4, LONG), AcquireError::Exhausted);
        assert_eq!(pool.acquire_many_timeout(2, LONG).unwrap().len(), 2);
        drop(held);
        assert_eq!(pool.acquire_many_timeout(3, LONG).unwrap().len(), 3);
        assert_eq!(pool.acquire_many_timeout(0, SHORT).unwrap().len(), 0);
        pool.close();
        assert_eq!(refused(1, LONG), AcquireError::Closed);
        assert_eq!(refused(4, LONG), AcquireError::Closed);
    }
}

#[test]
fn a_task_that_wants_many_is_served_in_its_turn() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let (first, second) = (pool.acquire(), pool.acquire());
        let mut many = pin!(pool.acquire_many_async(2));
        assert!(poll(many.as_mut()).is_pending());
        let mut one = pin!(pool.acquire_async());
        assert!(poll(one.as_mut()).is_pending());
        drop(first);
        assert!(poll(many.as_mut()).is_pending() && poll(one.as_mut()).is_pending());
        drop(second);
        let Poll::Ready(Ok(burst)) = poll(many.as_mut()) else {
            panic!("{backend}: the first waiter was not served");
        };
        assert_eq!(burst.len(), 2);
        drop(burst);
        assert!(poll(one.as_mut()).is_ready());
        let mut too_many = pin!(pool.acquire_many_async(3));
        assert!(matches!(
            poll(too_many.as_mut()),
            Poll::Ready(Err(AcquireError::Exhausted))
        ));
    }
}

#[test]
fn a_task_that_wants_many_and_leaves_passes_on_what_it_had() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let (first, second) = (pool.acquire(), pool.acquire());
        let mut many = Box::pin(pool.acquire_many_async(2));
        assert!(poll(many.as_mut()).is_pending());
        let mut one = pin!(pool.acquire_async());
        assert!(poll(one.as_mut()).is_pending());
        drop(first);
        drop(many);
        assert!(matches!(poll(one.as_mut()), Poll::Ready(Ok(_))));
        drop(second);
        assert_eq!((pool.in_use(), pool.stats().waiting), (0, 0));
    }
}

/// One after the other they could wait for each other for ever.
#[test]
fn tasks_that_want_two_together_do_not_starve_each_other() {
    for backend in Backend::ALL {
        within_reason(move || {
            let pool = pool(backend, 3);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            let pair = pollster::block_on(pool.acquire_many_async(2)).unwrap();
                            thread::yield_now();
                            drop(pair);
                        }
                    });
                }
            });
            assert_eq!(pool.in_use(), 0);
        });
    }
}

#[test]
fn one_more_than_may_wait_is_refused() {
    for backend in Backend::ALL {
        within_reason(move || {
            let builder = Pool::<String>::builder().backend(backend).capacity(2);
            let pool = builder.max_waiting(1).build().unwrap();
            let held = pool.acquire_many(2);
            let mut first = pin!(pool.acquire_async());
            assert!(poll(first.as_mut()).is_pending());
            assert_eq!(pool.stats().waiting, 1);

            let saturated = AcquireError::Saturated;
            assert_eq!(pool.acquire_timeout(LONG).unwrap_err(), saturated);
            assert_eq!(pool.entry().unwrap_err(), saturated);
            assert_eq!(pool.acquire_many_timeout(2, LONG).unwrap_err(), saturated);
            let mut second = pin!(pool.acquire_async());
            assert!(matches!(poll(second.as_mut()), Poll::Ready(Err(error)) if error == saturated));
            assert!(panic_of(|| drop(pool.acquire())).contains("whose queue of waiters is full"));
            assert_eq!(pool.try_acquire().unwrap_err(), AcquireError::Exhausted);
            let stats = pool.stats();
            assert_eq!((stats.saturated, stats.waits, stats.waiting), (5, 1, 1));

            drop(held);
            assert!(matches!(poll(first.as_mut()), Poll::Ready(Ok(_))));
            assert!(pool.acquire_timeout(LONG).is_ok());
        });
    }
}

#[test]
fn where_none_may_wait_what_is_there_is_had() {
    for backend in Backend::ALL {
        let builder = Pool::<String>::builder().backend(backend).capacity(1);
        let pool = builder.max_waiting(0).build().unwrap();
        let held = pool.acquire();
        assert_eq!(
            pool.acquire_timeout(LONG).unwrap_err(),
            AcquireError::Saturated
        );
        drop(held);
        assert!(pool.acquire_timeout(LONG).is_ok());
        assert_eq!(pool.stats().saturated, 1);
    }
}

#[test]
fn where_none_may_wait_and_too_many_are_out_none_waits() {
    for backend in Backend::ALL {
        let builder = Pool::<String>::builder().backend(backend).capacity(2);
        let pool = builder.max_waiting(0).build().unwrap();
        let held = pool.acquire_many(2);
        pool.set_capacity(Some(1));
        let saturated = Err(AcquireError::Saturated);
        assert_eq!(pool.acquire_timeout(SHORT).map(drop), saturated);
        assert_eq!(pool.acquire_many_timeout(1, SHORT).map(drop), saturated);
        drop(held);
        assert!(pool.acquire_timeout(LONG).is_ok());
    }
}

#[test]
fn waits_are_counted_and_timed() {
    for backend in Backend::ALL {
        within_reason(move || {
            let pool = pool(backend, 1);
            let held = pool.acquire();
            assert_eq!(
                pool.acquire_timeout(SHORT).unwrap_err(),
                AcquireError::Timeout
            );
            let stats = pool.stats();
            // (Not as long as the timeout, which begins before the wait does.)
            assert!(!stats.wait_time.is_zero(), "{backend}");
            let waiter = thread::spawn({
                let pool = pool.clone();
                move || drop(pool.acquire())
            });
            until(|| pool.stats().waiting == 1);
            thread::sleep(SHORT);
            drop(held);
            waiter.join().unwrap();
            let after = pool.stats();
            assert_eq!((after.waits, after.waiting), (2, 0));
            assert!(after.wait_time >= stats.wait_time + SHORT);
        });
    }
}

#[test]
fn the_peak_stays() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let pool = pool(backend, 8);
        drop(pool.acquire_many(5));
        pool.trim(0);
        drop(pool.acquire());
        assert_eq!(pool.stats().peak_live, 5, "{backend}");
    }
    let pool = unsync::Pool::<String>::new();
    drop((pool.acquire(), pool.acquire()));
    pool.trim(0);
    assert_eq!(pool.stats().peak_live, 2);
}

#[test]
fn an_acquire_error_is_an_error_of_io() {
    let kind = |error: AcquireError| io::Error::from(error).kind();
    assert_eq!(kind(AcquireError::Timeout), ErrorKind::TimedOut);
    assert_eq!(kind(AcquireError::Closed), ErrorKind::BrokenPipe);
    assert_eq!(kind(AcquireError::Exhausted), ErrorKind::WouldBlock);
    assert_eq!(kind(AcquireError::Saturated), ErrorKind::WouldBlock);
    let error = io::Error::from(AcquireError::Closed);
    assert_eq!(error.to_string(), AcquireError::Closed.to_string());
}

#[test]
fn a_builder_is_copied_with_its_choices() {
    let builder = Pool::<String>::builder().capacity(3).max_waiting(2);
    let (first, second) = (builder.clone().build().unwrap(), builder.build().unwrap());
    assert_eq!((first.capacity(), second.capacity()), (Some(3), Some(3)));
    let _held = first.acquire_many(3);
    assert!(second.try_acquire().is_ok());
}

#[test]
fn a_weak_pool_keeps_no_pool_open() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let (weak, other) = (pool.downgrade(), pool.downgrade().clone());
        assert!(weak.ptr_eq(&other) && !weak.ptr_eq(&Pool::<String>::new().downgrade()));
        let again = weak.upgrade().unwrap();
        assert!(again.ptr_eq(&pool) && !again.ptr_eq(&Pool::new()));
        let held = pool.acquire();
        drop((pool, again));
        assert!(weak.upgrade().is_none());
        drop(held);
        assert!(weak.upgrade().is_none());
        let late = self::pool(backend, 1);
        let (last, held) = (late.downgrade(), late.acquire());
        drop((late, weak, other));
        drop(last);
        drop(held);
    }
}

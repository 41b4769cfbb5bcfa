//! Waiting until nothing is in use, on every backend.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pool_core::{Backend, Pool, Pooled};

use support::{Script, at_rest, counted, message, panic_of, scaled, until, within_reason};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn on_each(scenario: impl Fn(Backend) + Send + 'static) {
    within_reason(move || {
        for backend in Backend::ALL {
            println!("{backend}");
            scenario(backend);
        }
    });
}

#[test]
fn a_pool_with_nothing_out_is_idle_at_once() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        pool.wait_idle(None).unwrap();
        drop(pool.acquire());
        pool.wait_idle(None).unwrap();
        at_rest(&pool, &tally);
    });
}

#[test]
fn the_error_says_how_many_are_out() {
    on_each(|backend| {
        let pool = Pool::<String>::builder().backend(backend).build().unwrap();
        let mut held = vec![pool.acquire(), pool.acquire()];
        drop(pool.acquire());
        let error = pool.wait_idle(AT_ONCE).unwrap_err();
        assert_eq!(error.in_use(), 2);
        assert!(
            error
                .to_string()
                .starts_with("2 objects are still in use: ")
        );
        held.pop();
        let error = pool.wait_idle(Some(Duration::from_millis(2))).unwrap_err();
        assert!(error.to_string().starts_with("1 object is still in use: "));
        held.pop();
        pool.wait_idle(AT_ONCE).unwrap();
    });
}

#[test]
fn the_pool_is_as_before_after_a_wait() {
    on_each(|backend| {
        let pool = Pool::<String>::builder().backend(backend).build().unwrap();
        let held = pool.acquire();
        pool.wait_idle(AT_ONCE).unwrap_err();
        drop(held);
        let revocations = pool.stats().revocations;
        for _ in 0..100 {
            drop(pool.acquire());
        }
        let stats = pool.stats();
        assert_eq!(stats.revocations, revocations);
        assert_eq!(stats.cached, usize::from(support::caches(backend)));
    });
}

/// Ends the wait of another thread by what `finish` does with the last object.
fn ends_by(close: bool, finish: fn(Pooled<String>)) {
    on_each(move |backend| {
        let pool = Pool::<String>::builder().backend(backend).build().unwrap();
        let (first, last) = (pool.acquire(), pool.acquire());
        if close {
            pool.close();
        }
        thread::scope(|scope| {
            let waiters = [(); 3].map(|()| scope.spawn(|| pool.wait_idle(None)));
            drop(first);
            thread::sleep(Duration::from_millis(2));
            assert!(waiters.iter().all(|waiter| !waiter.is_finished()));
            scope.spawn(move || finish(last));
            for waiter in waiters {
                waiter.join().unwrap().unwrap();
            }
        });
        assert_eq!(pool.in_use(), 0);
    });
}

#[test]
fn a_drop_on_another_thread_ends_it() {
    ends_by(false, drop);
    ends_by(true, drop);
}

#[test]
fn an_object_that_leaves_the_pool_ends_it() {
    ends_by(false, |object| drop(Pooled::detach(object)));
    ends_by(true, |object| drop(Pooled::detach(object)));
    ends_by(false, Pooled::discard);
    ends_by(false, |object| {
        let shared = Pooled::into_shared(object);
        let other = shared.clone();
        drop(shared);
        drop(other);
    });
}

#[test]
fn an_object_lost_to_a_panic_ends_it() {
    on_each(|backend| {
        let script = Script::new(|| 0).reset(|object: &mut i32| assert_eq!(*object, 0, "reset"));
        let pool = Pool::builder_for(script).backend(backend).build().unwrap();
        let mut object = pool.acquire();
        *object = 1;
        thread::scope(|scope| {
            let waiter = scope.spawn(|| pool.wait_idle(None));
            let panic = scope.spawn(move || drop(object)).join().unwrap_err();
            assert!(message(&*panic).contains("reset"));
            waiter.join().unwrap().unwrap();
        });
    });
}

#[test]
fn a_permit_of_a_create_that_panics_ends_it() {
    on_each(|backend| {
        let creating = Arc::new(AtomicUsize::new(0));
        let state = creating.clone();
        let script = Script::new(move || -> i32 {
            state.store(1, Ordering::SeqCst);
            while state.load(Ordering::SeqCst) == 1 {
                thread::yield_now();
            }
            panic!("create")
        });
        let pool = Pool::builder_for(script).backend(backend).build().unwrap();
        thread::scope(|scope| {
            let acquirer = scope.spawn(|| panic_of(|| pool.acquire()));
            until(|| creating.load(Ordering::SeqCst) == 1);
            let waiter = scope.spawn(|| pool.wait_idle(None));
            thread::sleep(Duration::from_millis(2));
            assert!(!waiter.is_finished());
            creating.store(2, Ordering::SeqCst);
            assert_eq!(acquirer.join().unwrap(), "create");
            waiter.join().unwrap().unwrap();
        });
    });
}

/// Threads pass objects on and pause, while others wait for a pause of all.
#[test]
fn each_pause_of_all_is_noticed() {
    on_each(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(3).build().unwrap();
        let rounds = scaled(300);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        pool.wait_idle(None).unwrap();
                        let _ = pool.wait_idle(Some(Duration::from_micros(5)));
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let held = [pool.acquire()];
                        thread::yield_now();
                        drop(held);
                        thread::yield_now();
                    }
                });
            }
        });
        pool.wait_idle(None).unwrap();
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    });
}

#[cfg(feature = "async")]
mod tasks {
    use std::future::Future;
    use std::pin::Pin;
    use std::task::{Context, Poll, Wake, Waker};

    use pool_core::WaitIdle;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn poll(future: &mut WaitIdle<'_, String>, woken: &Arc<Woken>) -> Poll<()> {
        let waker = Waker::from(woken.clone());
        Pin::new(future).poll(&mut Context::from_waker(&waker))
    }

    #[test]
    fn a_task_is_woken_once_by_the_last_object() {
        on_each(|backend| {
            let pool = Pool::<String>::builder().backend(backend).build().unwrap();
            let (first, last) = (pool.acquire(), pool.acquire());
            let mut idle = pool.wait_idle_async();
            let (stale, woken) = (Arc::default(), Arc::default());
            assert!(poll(&mut idle, &stale).is_pending());
            assert!(poll(&mut idle, &woken).is_pending());
            drop(first);
            assert!(poll(&mut idle, &woken).is_pending());
            drop(last);
            // It was idle, whatever comes after.
            let held = pool.acquire();
            assert_eq!(woken.0.load(Ordering::SeqCst), 1);
            assert_eq!(stale.0.load(Ordering::SeqCst), 0, "the last waker counts");
            assert!(poll(&mut idle, &woken).is_ready());
            drop(held);
        });
    }

    #[test]
    fn a_task_that_is_dropped_waits_no_more() {
        on_each(|backend| {
            let pool = Pool::<String>::builder().backend(backend).build().unwrap();
            let held = pool.acquire();
            let woken = Arc::default();
            let mut idle = pool.wait_idle_async();
            assert!(poll(&mut idle, &woken).is_pending());
            drop(idle);
            assert_eq!(Arc::strong_count(&woken), 1, "its waker is gone");
            drop(held);
            assert_eq!(woken.0.load(Ordering::SeqCst), 0);
        });
    }

    /// A waker is user code: it may use the pool that wakes it.
    #[test]
    fn a_waker_may_use_the_pool() {
        struct Uses(Pool<String>, AtomicUsize);
        impl Wake for Uses {
            fn wake(self: Arc<Self>) {
                drop(self.0.acquire());
                self.0.wait_idle(None).unwrap();
                self.1.fetch_add(1, Ordering::SeqCst);
            }
        }
        on_each(|backend| {
            let pool = Pool::<String>::builder().backend(backend).build().unwrap();
            let held = pool.acquire();
            let uses = Arc::new(Uses(pool.clone(), AtomicUsize::new(0)));
            let waker = Waker::from(uses.clone());
            let mut idle = pool.wait_idle_async();
            let pending = Pin::new(&mut idle).poll(&mut Context::from_waker(&waker));
            assert!(pending.is_pending());
            drop(held);
            assert_eq!(uses.1.load(Ordering::SeqCst), 1);
        });
    }
}

//! Waiting at the bound: in the order of arrival, by threads and by tasks, on every backend.
#![cfg(feature = "async")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use pool_core::{Acquire, AcquireError, Backend, Lifecycle, Pool, Pooled};

fn pool(backend: Backend, capacity: usize) -> Pool<Vec<u8>> {
    Pool::<Vec<u8>>::builder()
        .backend(backend)
        .capacity(capacity)
        .build()
        .unwrap()
}

/// Until `pool` has had as many waits.
fn until_waits<L: Lifecycle<Vec<u8>>>(pool: &Pool<Vec<u8>, L>, waits: usize) {
    while pool.stats().waits < waits {
        thread::yield_now();
    }
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A task that is polled by hand.
struct Task<'a> {
    future: Pin<Box<Acquire<'a, Vec<u8>>>>,
    woken: Arc<Woken>,
}

impl<'a> Task<'a> {
    fn new(pool: &'a Pool<Vec<u8>>) -> Self {
        Task {
            future: Box::pin(pool.acquire_async()),
            woken: Arc::default(),
        }
    }

    fn poll(&mut self) -> Poll<Result<Pooled<Vec<u8>>, AcquireError>> {
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn woken(&self) -> usize {
        self.woken.0.load(Ordering::SeqCst)
    }
}

/// Runs a future to its end on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

#[test]
fn threads_are_served_in_the_order_of_arrival() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let served = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for i in 0..8 {
                let (pool, served) = (&pool, &served);
                scope.spawn(move || {
                    let _object = pool.acquire();
                    served.lock().unwrap().push(i);
                });
                until_waits(pool, i + 1);
            }
            drop(object);
        });
        assert_eq!(
            *served.lock().unwrap(),
            (0..8).collect::<Vec<_>>(),
            "{backend}"
        );
    }
}

#[test]
fn threads_and_tasks_stand_in_one_queue() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let mut first = Task::new(&pool);
        assert!(first.poll().is_pending());
        thread::scope(|scope| {
            let (got, gets) = mpsc::channel();
            let (release, released) = mpsc::channel();
            let waiter = &pool;
            scope.spawn(move || {
                let _object = waiter.acquire();
                got.send(()).unwrap();
                released.recv().unwrap();
            });
            until_waits(&pool, 2);
            let mut third = Task::new(&pool);
            assert!(third.poll().is_pending());

            drop(object);
            assert_eq!((first.woken(), third.woken()), (1, 0), "{backend}");
            let Poll::Ready(Ok(object)) = first.poll() else {
                panic!("{backend}: the first was woken for nothing");
            };
            assert!(gets.try_recv().is_err());
            drop(object);
            gets.recv().unwrap();
            assert!(third.poll().is_pending());
            release.send(()).unwrap();
            assert!(block_on(third.future).is_ok());
        });
    }
}

#[test]
fn one_that_does_not_wait_overtakes_nobody() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let mut task = Task::new(&pool);
        assert!(task.poll().is_pending());
        drop(object);
        // The object is the task's already, though the task has not come for it.
        assert_eq!(pool.try_acquire().unwrap_err(), AcquireError::Exhausted);
        assert_eq!(pool.idle(), 0);
        assert!(matches!(task.poll(), Poll::Ready(Ok(_))));
        assert!(pool.try_acquire().is_ok());
    }
}

#[test]
fn a_task_that_is_dropped_leaves_the_queue() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let (mut first, mut second) = (Task::new(&pool), Task::new(&pool));
        assert!(first.poll().is_pending() && second.poll().is_pending());
        drop(first);
        drop(object);
        assert_eq!(second.woken(), 1, "{backend}");
        assert!(matches!(second.poll(), Poll::Ready(Ok(_))));
    }
}

// The lost wake-up of a cancelled waiter that had been chosen.
#[test]
fn a_task_that_is_dropped_when_served_passes_the_object_on() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let (mut first, mut second) = (Task::new(&pool), Task::new(&pool));
        assert!(first.poll().is_pending() && second.poll().is_pending());
        drop(object);
        assert_eq!((first.woken(), second.woken()), (1, 0), "{backend}");
        drop(first);
        assert_eq!(second.woken(), 1, "{backend}");
        assert!(matches!(second.poll(), Poll::Ready(Ok(_))));
        assert_eq!(pool.in_use(), 0);
    }
}

#[test]
fn a_task_that_is_dropped_when_served_and_last_leaves_the_object_idle() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let mut task = Task::new(&pool);
        assert!(task.poll().is_pending());
        drop(object);
        drop(task);
        assert_eq!(pool.in_use(), 0, "{backend}");
        assert!(pool.try_acquire().is_ok());
    }
}

#[test]
fn one_served_in_vain_is_kept_within_max_idle() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        // Whether the place is free is seen when the task leaves.
        for is_free in [true, false] {
            let builder = Pool::<Vec<u8>>::builder().backend(backend);
            let pool = builder.capacity(2).max_idle(1).build().unwrap();
            let (one, other) = (pool.acquire(), pool.acquire());
            let mut task = Task::new(&pool);
            assert!(task.poll().is_pending());
            drop(one);
            assert_eq!((task.woken(), pool.idle()), (1, 0), "{backend}");
            let other = if is_free {
                Some(other)
            } else {
                drop(other);
                None
            };
            drop(task);
            assert_eq!(pool.idle(), 1, "{backend}");
            let destroyed = usize::from(!is_free);
            assert_eq!(pool.stats().destroyed, destroyed, "{backend}");
            drop(other);
        }
    }
}

#[test]
fn a_task_is_woken_through_the_waker_it_was_last_polled_with() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let mut task = Task::new(&pool);
        assert!(task.poll().is_pending());
        let before = std::mem::take(&mut task.woken);
        assert!(task.poll().is_pending());
        drop(object);
        assert_eq!((before.0.load(Ordering::SeqCst), task.woken()), (0, 1));
        assert_eq!(pool.stats().waits, 1, "{backend}");
    }
}

#[test]
fn room_under_the_bound_goes_to_who_waits() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let (detached, discarded) = (pool.acquire(), pool.acquire());
        let (mut first, mut second) = (Task::new(&pool), Task::new(&pool));
        assert!(first.poll().is_pending() && second.poll().is_pending());
        let _ = Pooled::detach(detached);
        assert_eq!((first.woken(), second.woken()), (1, 0), "{backend}");
        Pooled::discard(discarded);
        assert_eq!(second.woken(), 1);
        assert!(pool.attach(Vec::new()).is_err());
        let both = (first.poll(), second.poll());
        assert!(matches!(both, (Poll::Ready(Ok(_)), Poll::Ready(Ok(_)))));
        assert!(pool.in_use() <= 2);
    }
}

#[test]
fn a_task_that_is_dropped_when_given_room_passes_the_room_on() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let (mut first, mut second) = (Task::new(&pool), Task::new(&pool));
        assert!(first.poll().is_pending() && second.poll().is_pending());
        let _ = Pooled::detach(object);
        drop(first);
        assert_eq!(second.woken(), 1, "{backend}");
        drop(second);
        assert!(pool.try_acquire().is_ok());
    }
}

#[test]
fn a_burst_collects_while_it_is_first_and_those_behind_it_wait() {
    for backend in Backend::ALL {
        let pool = pool(backend, 3);
        let mut objects = vec![pool.acquire(), pool.acquire(), pool.acquire()];
        thread::scope(|scope| {
            let waiter = &pool;
            let burst = scope.spawn(move || waiter.acquire_many(3).len());
            until_waits(&pool, 1);
            let mut behind = Task::new(&pool);
            assert!(behind.poll().is_pending());
            drop(objects.pop());
            drop(objects.pop());
            assert!(
                behind.poll().is_pending(),
                "{backend}: the burst was overtaken"
            );
            drop(objects.pop());
            assert_eq!(burst.join().unwrap(), 3);
            assert!(block_on(behind.future).is_ok());
        });
        assert_eq!(pool.in_use(), 0);
    }
}

#[test]
fn a_burst_that_waits_takes_the_room_there_is() {
    for backend in Backend::ALL {
        let pool = pool(backend, 4);
        let [one, other] = [(); 2].map(|()| pool.acquire());
        thread::scope(|scope| {
            let burst = scope.spawn(|| pool.acquire_many(3).len());
            until_waits(&pool, 1);
            drop(one); // And room for two.
            assert_eq!(burst.join().unwrap(), 3, "{backend}");
        });
        drop(other);
    }
}

#[test]
fn a_wait_that_times_out_passes_on_what_it_had() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let timed_out = pool.acquire_timeout(Duration::from_millis(1));
        assert_eq!(timed_out.unwrap_err(), AcquireError::Timeout, "{backend}");
        let mut behind = Task::new(&pool);
        assert!(behind.poll().is_pending());
        drop(object);
        assert!(matches!(behind.poll(), Poll::Ready(Ok(_))));
    }
}

#[test]
fn close_sends_threads_and_tasks_away() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let objects = (pool.acquire(), pool.acquire());
        let mut task = Task::new(&pool);
        assert!(task.poll().is_pending());
        thread::scope(|scope| {
            let waiter = &pool;
            let single = scope.spawn(move || waiter.acquire_timeout(Duration::MAX).err());
            until_waits(&pool, 2);
            pool.close();
            pool.close();
            assert_eq!(
                single.join().unwrap(),
                Some(AcquireError::Closed),
                "{backend}"
            );
        });
        assert_eq!(task.woken(), 1);
        let Poll::Ready(Err(AcquireError::Closed)) = task.poll() else {
            panic!("{backend}: the task was not told");
        };
        assert!(Task::new(&pool).poll().is_ready());
        drop(objects);
        let stats = pool.stats();
        assert_eq!((stats.created, stats.destroyed), (2, 2), "{backend}");
    }
}

#[test]
fn a_burst_sent_away_leaves_nothing_that_keeps_the_pool() {
    for backend in Backend::ALL {
        let alive = Arc::new(());
        let made = alive.clone();
        let make = move || {
            let _held = &made;
            Vec::new()
        };
        let builder = Pool::builder_with(make, Vec::<u8>::clear).backend(backend);
        let pool = builder.capacity(4).build().unwrap();
        let held = [(); 2].map(|()| pool.acquire());
        thread::scope(|scope| {
            let burst = scope.spawn(|| pool.acquire_many(3).len());
            until_waits(&pool, 1); // It has the room for two.
            pool.close();
            assert!(burst.join().is_err(), "{backend}");
        });
        drop((pool, held));
        assert_eq!(Arc::strong_count(&alive), 1, "{backend}");
    }
}

/// In each hook, while a thread and a task wait: both are sent away, and nothing is left.
#[test]
fn a_hook_that_closes_the_pool_sends_everyone_away() {
    type Hooked = Pool<Vec<u8>, Closing>;

    /// Closes the pool in one of its hooks, once it knows it.
    struct Closing {
        hook: usize,
        pool: Arc<Mutex<Option<Hooked>>>,
    }

    impl Closing {
        fn reached(&self, hook: usize) {
            let pool = self.pool.lock().unwrap().clone();
            if let Some(pool) = pool.filter(|_| hook == self.hook) {
                pool.close();
            }
        }
    }

    impl Lifecycle<Vec<u8>> for Closing {
        fn create(&self) -> Vec<u8> {
            self.reached(0);
            Vec::new()
        }

        fn reset(&self, _object: &mut Vec<u8>) {
            self.reached(1);
        }

        fn is_reusable(&self, _object: &Vec<u8>) -> bool {
            self.reached(2);
            // So that there is room, and one who waits has to make an object.
            self.hook != 0
        }
    }

    for backend in Backend::ALL {
        for hook in 0..3 {
            let known = Arc::new(Mutex::new(None));
            let lifecycle = Closing {
                hook,
                pool: known.clone(),
            };
            let builder = Pool::builder_for(lifecycle).backend(backend).capacity(1);
            let pool = builder.build().unwrap();
            let object = pool.acquire();
            *known.lock().unwrap() = Some(pool.clone());
            thread::scope(|scope| {
                let threads: Vec<_> = (1..=3)
                    .map(|n| {
                        let waits = &pool;
                        let thread =
                            scope.spawn(move || waits.acquire_timeout(Duration::MAX).err());
                        until_waits(&pool, n);
                        thread
                    })
                    .collect();
                let mut future = Box::pin(pool.acquire_async());
                let mut context = Context::from_waker(Waker::noop());
                assert!(future.as_mut().poll(&mut context).is_pending());
                drop(object);
                let sent_away = threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .filter(|error| *error == Some(AcquireError::Closed))
                    .count();
                // The one that made the object in whose making the pool was closed has it.
                assert!(sent_away >= 2, "{backend}, hook {hook}");
                let polled = future.as_mut().poll(&mut context);
                assert!(matches!(polled, Poll::Ready(Err(AcquireError::Closed))));
            });
            let stats = pool.stats();
            assert_eq!(stats.created, stats.destroyed, "{backend}, hook {hook}");
            assert!(pool.is_closed());
            *known.lock().unwrap() = None;
        }
    }
}

/// A bound of 2 and 8 threads, for 100,000 turns: a gate that never jams and lets in no third.
#[test]
fn eight_threads_take_turns_at_two_objects() {
    const TURNS: usize = 100_000;
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let inside = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for turn in 0..TURNS / 8 {
                        let object = pool.acquire();
                        if turn % 8 == 0 {
                            thread::yield_now(); // So that the others come to wait.
                        }
                        assert!(inside.fetch_add(1, Ordering::SeqCst) < 2, "{backend}");
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(object);
                    }
                });
            }
        });
        let stats = pool.stats();
        assert_eq!(stats.in_use, 0, "{backend}");
        assert!(stats.waits > 0 && stats.created - stats.destroyed <= 2);
    }
}

#[test]
fn one_that_was_served_before_the_close_gets_its_object_or_leaves_nothing_idle() {
    for (backend, takes) in Backend::ALL
        .into_iter()
        .flat_map(|b| [(b, true), (b, false)])
    {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let mut task = Task::new(&pool);
        assert!(task.poll().is_pending());
        drop(object);
        pool.close();
        if takes {
            assert!(matches!(task.poll(), Poll::Ready(Ok(_))), "{backend}");
        }
        drop(task);
        let stats = pool.stats();
        assert_eq!((stats.idle, stats.in_use), (0, 0), "{backend}");
        assert_eq!(stats.created, stats.destroyed, "{backend}");
    }
}

#[test]
fn a_waker_that_panics_costs_nobody_anything() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("an executor's fault");
        }
    }
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let object = pool.acquire();
        let waker = Waker::from(Arc::new(Panics));
        let mut future = Box::pin(pool.acquire_async());
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        drop(object);
        drop(future);
        assert!(pool.try_acquire().is_ok(), "{backend}");
    }
}

#[test]
fn many_tasks_and_threads_share_two_objects() {
    for backend in Backend::ALL {
        let pool = pool(backend, 2);
        let (in_hand, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let hold = |object: Pooled<Vec<u8>>| {
            let now = in_hand.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            assert!(object.is_empty());
            in_hand.fetch_sub(1, Ordering::SeqCst);
            drop(object);
        };
        thread::scope(|scope| {
            for i in 0..8 {
                let (pool, hold) = (&pool, &hold);
                scope.spawn(move || {
                    for round in 0..500 {
                        match (i + round) % 4 {
                            0 => hold(pool.acquire()),
                            1 => hold(block_on(pool.acquire_async()).unwrap()),
                            2 => {
                                // A task that gives up, whether or not it was served.
                                let mut task = Task::new(pool);
                                if let Poll::Ready(object) = task.poll() {
                                    hold(object.unwrap());
                                }
                            }
                            _ => {
                                if let Ok(object) = pool.acquire_timeout(Duration::from_micros(50))
                                {
                                    hold(object);
                                }
                            }
                        }
                    }
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2, "{backend}");
        assert_eq!(pool.in_use(), 0, "{backend}");
        assert!(pool.try_acquire_many(2).is_ok(), "{backend}");
    }
}

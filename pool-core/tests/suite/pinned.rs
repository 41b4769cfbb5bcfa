//! What pinned threads rely on: which call interrupts them, and what a warm thread does without.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{Backend, Pool, Recall, TrimPolicy};

type Message = [u64; 8];

/// Runs `f` while each of two threads has something in its slot.
fn beside_two_threads(pool: &Pool<Message>, f: impl FnOnce()) {
    thread::scope(|scope| {
        let ends: Vec<_> = (0..2)
            .map(|_| {
                let (ready, is_ready) = mpsc::channel();
                let (end, ended) = mpsc::channel::<()>();
                scope.spawn(move || {
                    pool.warm();
                    for _ in 0..200 {
                        drop(pool.acquire());
                    }
                    ready.send(()).unwrap();
                    let _ = ended.recv();
                });
                is_ready.recv().unwrap();
                end
            })
            .collect();
        f();
        drop(ends);
    });
}

const CAPACITY: usize = 200;

fn pool(backend: Backend) -> Pool<Message> {
    pool_with(backend, Recall::Interrupt)
}

fn pool_with(backend: Backend, recall: Recall) -> Pool<Message> {
    let builder = Pool::<Message>::builder().backend(backend).recall(recall);
    builder.capacity(CAPACITY).build().unwrap()
}

type Call = fn(&Pool<Message>);

/// Each call, and whether it looks into the slots of other threads.
const CALLS: [(&str, bool, Call); 20] = [
    ("acquire", false, |pool| drop(pool.acquire())),
    ("try_acquire of a dry pool", true, |pool| {
        let mut held = Vec::new();
        while let Ok(object) = pool.try_acquire() {
            held.push(object);
        }
    }),
    ("try_acquire_idle that finds nothing", true, |pool| {
        let mut held = Vec::new();
        while let Ok(object) = pool.try_acquire_idle() {
            held.push(object);
        }
    }),
    ("acquire_many", false, |pool| drop(pool.acquire_many(20))),
    ("acquire_many of all", true, |pool| {
        let _ = pool.acquire_many_timeout(CAPACITY, Duration::ZERO);
    }),
    ("reserve", false, |pool| {
        pool.reserve(100);
        pool.reserve(CAPACITY);
    }),
    ("warm", false, |pool| {
        pool.warm();
        pool.warm();
    }),
    ("flush", false, Pool::flush),
    ("trim", true, |pool| pool.trim(10)),
    ("trim_idle_for", true, |pool| {
        pool.trim_idle_for(Duration::ZERO);
    }),
    ("trim_by", true, |pool| {
        let policy = TrimPolicy::idle_for(Duration::from_secs(1));
        let now = Instant::now();
        pool.trim_by(&policy, now);
        // Not over yet.
        pool.trim_by(&policy, now);
    }),
    ("drain", true, |pool| drop(pool.drain())),
    ("retain", true, |pool| {
        pool.retain(|_| false);
    }),
    ("set_capacity", true, |pool| {
        pool.set_capacity(Some(CAPACITY / 2));
    }),
    ("wait_idle", true, |pool| {
        let _ = pool.wait_idle(Some(Duration::ZERO));
    }),
    ("close", true, Pool::close),
    ("stats", false, |pool| {
        let _ = pool.stats();
    }),
    ("idle", false, |pool| {
        let _ = pool.idle();
    }),
    ("in_use", false, |pool| {
        let _ = pool.in_use();
    }),
    ("a thread's start and end", false, |pool| {
        thread::scope(|scope| {
            scope.spawn(|| drop(pool.acquire())).join().unwrap();
        });
    }),
];

/// Whether a call finds something in the slots of a backend to look for.
fn has_slots(backend: Backend) -> bool {
    cfg!(not(pool_no_membarrier)) && backend != Backend::Mutex
}

#[test]
fn who_interrupts_whom() {
    for backend in Backend::ALL {
        for (name, looks, call) in CALLS {
            let pool = pool(backend);
            beside_two_threads(&pool, || {
                let before = pool.stats().revocations;
                call(&pool);
                let revocations = pool.stats().revocations - before;
                let looks = match (backend, name) {
                    // Nothing is ever idle.
                    (Backend::Heap, "try_acquire_idle that finds nothing") => false,
                    // What threads have in their slots is no object and no permit.
                    (Backend::Queue, "acquire_many of all") => false,
                    _ => looks,
                };
                let most = usize::from(looks && has_slots(backend));
                assert_eq!(revocations, most, "{backend}: {name}");
            });
            let pool = pool_with(backend, Recall::Cooperate);
            beside_two_threads(&pool, || call(&pool));
            assert_eq!(pool.stats().revocations, 0, "{backend}: {name}");
        }
    }
}

/// A thread that uses a pool as it is told, and says when it is done.
struct Worker {
    orders: mpsc::Sender<fn(&Pool<Message>)>,
    done: mpsc::Receiver<()>,
}

impl Worker {
    fn spawn<'a>(scope: &'a thread::Scope<'a, '_>, pool: &'a Pool<Message>) -> Self {
        let (orders, received) = mpsc::channel::<fn(&Pool<Message>)>();
        let (say, done) = mpsc::channel();
        scope.spawn(move || {
            for order in received {
                order(pool);
                say.send(()).unwrap();
            }
        });
        Worker { orders, done }
    }

    fn does(&self, order: fn(&Pool<Message>)) {
        self.orders.send(order).unwrap();
        self.done.recv().unwrap();
    }
}

/// A worker has one object cached, all that there may be (of a `Heap`, its permit).
fn with_all_cached(backend: Backend, f: impl FnOnce(&Pool<Message>, &Worker)) {
    let builder = Pool::<Message>::builder().backend(backend).capacity(1);
    let pool = builder.recall(Recall::Cooperate).build().unwrap();
    thread::scope(|scope| {
        let worker = Worker::spawn(scope, &pool);
        worker.does(|pool| {
            pool.warm();
            for _ in 0..200 {
                drop(pool.acquire());
            }
        });
        f(&pool, &worker);
    });
    assert_eq!(pool.stats().revocations, 0);
}

const CACHING: [Backend; 2] = [Backend::Heap, Backend::Batched];

/// Where there are no slots nothing is out of reach.
fn in_reach(backend: Backend) -> bool {
    !has_slots(backend)
}

#[test]
fn what_was_asked_for_is_found_once_its_thread_comes_by() {
    for backend in CACHING {
        with_all_cached(backend, |pool, worker| {
            assert_eq!(pool.try_acquire().is_ok(), in_reach(backend), "{backend}");
            worker.does(|pool| drop(pool.acquire()));
            // It has handed over what it had, and while others want it it keeps nothing.
            let held = pool.try_acquire().expect("handed over");
            worker.does(|pool| assert!(pool.try_acquire().is_err(), "above the bound"));
            drop(held);
            worker.does(|pool| drop(pool.acquire()));
        });
    }
}

#[test]
fn a_waiter_is_served_by_a_thread_that_comes_by_or_ends() {
    for backend in CACHING {
        for ends in [false, true] {
            with_all_cached(backend, |pool, worker| {
                thread::scope(|scope| {
                    let waiter = scope.spawn(|| drop(pool.acquire()));
                    while pool.stats().waiting == 0 && !waiter.is_finished() {
                        thread::yield_now();
                    }
                    match ends {
                        false => worker.does(|pool| drop(pool.acquire())),
                        true => worker.does(Pool::flush),
                    }
                });
            });
        }
    }
    let builder = Pool::<Message>::builder().capacity(1);
    let pool = builder.recall(Recall::Cooperate).build().unwrap();
    thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let pool = &pool;
        scope.spawn(move || {
            (0..200).for_each(|_| drop(pool.acquire()));
            ready.send(()).unwrap();
            let _ = ended.recv();
        });
        is_ready.recv().unwrap();
        scope.spawn(|| drop(pool.acquire()));
        while has_slots(Backend::Batched) && pool.stats().waiting == 0 {
            thread::yield_now();
        }
        drop(end);
    });
    assert_eq!(pool.stats().revocations, 0);
}

#[test]
fn a_closed_pool_drops_what_is_handed_over() {
    with_all_cached(Backend::Batched, |pool, worker| {
        pool.close();
        assert_eq!(pool.idle(), usize::from(!in_reach(Backend::Batched)));
        worker.does(|pool| assert!(pool.try_acquire().is_err()));
        assert_eq!((pool.idle(), pool.stats().destroyed), (0, 1));
        pool.wait_idle(None).unwrap();
    });
}

#[test]
fn wait_idle_waits_for_threads_that_come_by() {
    with_all_cached(Backend::Batched, |pool, worker| {
        let now = Some(Duration::ZERO);
        assert_eq!(pool.wait_idle(now).is_ok(), in_reach(Backend::Batched));
        worker.does(Pool::flush);
        pool.wait_idle(now).unwrap();
    });
}

/// What a lower bound leaves no room for is dropped when it is handed over.
#[test]
fn a_lower_bound_holds_once_threads_have_come_by() {
    let pool = pool_with(Backend::Batched, Recall::Cooperate);
    thread::scope(|scope| {
        let worker = Worker::spawn(scope, &pool);
        worker.does(|pool| drop((0..20).map(|_| pool.acquire()).collect::<Vec<_>>()));
        worker.does(|pool| drop((0..20).map(|_| pool.acquire()).collect::<Vec<_>>()));
        pool.set_capacity(Some(5));
        worker.does(Pool::flush);
        assert_eq!((pool.in_use(), pool.idle()), (0, 5));
    });
}

/// A cooperating pool of such a capacity, and a thread that has `cached` objects in its cache.
fn with_cached(capacity: usize, cached: usize, f: impl FnOnce(&Pool<Message>, &Worker)) {
    let builder = Pool::<Message>::builder().capacity(capacity);
    let pool = builder.recall(Recall::Cooperate).build().unwrap();
    drop((0..cached).map(|_| pool.acquire()).collect::<Vec<_>>());
    pool.flush();
    thread::scope(|scope| {
        let worker = Worker::spawn(scope, &pool);
        // The first visit activates its cache.
        worker.does(|pool| {
            (0..100).for_each(|_| drop(pool.acquire()));
            drop((0..pool.idle()).map(|_| pool.acquire()).collect::<Vec<_>>());
        });
        f(&pool, &worker);
    });
}

#[test]
fn a_bound_that_is_raised_serves_the_waiters() {
    with_cached(1, 1, |pool, worker| {
        pool.set_capacity(Some(0));
        thread::scope(|scope| {
            let waiter = scope.spawn(|| pool.acquire_timeout(Duration::from_secs(60)).is_ok());
            while pool.stats().waiting == 0 {
                thread::yield_now();
            }
            // What it hands over is beyond the bound, and no waiter's.
            worker.does(|pool| {
                let _ = pool.stats();
            });
            pool.set_capacity(Some(1));
            assert!(waiter.join().unwrap());
        });
    });
}

/// What a release is refused counts, when it is seen what is too many.
#[test]
fn a_lower_bound_drops_no_more_than_is_too_many() {
    for recall in Recall::ALL {
        for burst in [true, false] {
            let pool = pool_with(Backend::Batched, recall);
            thread::scope(|scope| {
                let (go, gone) = mpsc::channel::<()>();
                let (say, ready) = mpsc::channel();
                let pool = &pool;
                let thread = scope.spawn(move || {
                    (0..100).for_each(|_| drop(pool.acquire()));
                    drop((0..20).map(|_| pool.acquire()).collect::<Vec<_>>());
                    let held = pool.acquire_many(15);
                    say.send(()).unwrap();
                    gone.recv().unwrap();
                    match burst {
                        true => drop(held),
                        false => held.into_iter().for_each(drop),
                    }
                });
                ready.recv().unwrap();
                pool.set_capacity(Some(5));
                go.send(()).unwrap();
                thread.join().unwrap();
            });
            assert_eq!((pool.idle(), pool.in_use()), (5, 0), "{recall}, {burst}");
        }
    }
}

#[test]
fn a_lower_bound_holds_after_an_acquire() {
    with_cached(20, 20, |pool, worker| {
        pool.set_capacity(Some(5));
        worker.does(|pool| {
            let held = pool.acquire();
            assert_eq!(pool.idle() + pool.in_use(), 5);
            drop(held);
        });
    });
}

#[test]
fn what_a_thread_leaves_to_a_closed_pool_is_dropped_before_an_idle_wait_is_over() {
    let pool = pool_with(Backend::Batched, Recall::Cooperate);
    thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        let (say, ready) = mpsc::channel();
        let pool = &pool;
        scope.spawn(move || {
            (0..100).for_each(|_| drop(pool.acquire()));
            say.send(()).unwrap();
            let _ = ended.recv();
        });
        ready.recv().unwrap();
        pool.close();
        drop(end);
        pool.wait_idle(None).unwrap();
        assert_eq!((pool.idle(), pool.stats().destroyed), (0, 1));
    });
}

#[cfg(feature = "async")]
mod wakers {
    //! A waker is user code, and comes under no lock, nor in the middle of a release.

    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Wake, Waker};

    use pool_core::{Hooks, Pooled};

    use super::*;

    /// Does something when it is woken.
    struct Does<F>(Mutex<Option<F>>);

    impl<F: FnOnce() + Send> Wake for Does<F> {
        fn wake(self: Arc<Self>) {
            let does = self.0.lock().unwrap().take();
            does.into_iter().for_each(|does| does());
        }
    }

    fn waker(does: impl FnOnce() + Send + 'static) -> Waker {
        Waker::from(Arc::new(Does(Mutex::new(Some(does)))))
    }

    #[test]
    fn a_waiter_for_many_that_leaves_serves_the_next() {
        with_cached(5, 2, |pool, worker| {
            let held = pool.attach([7; 8]).unwrap();
            let mut many = Box::pin(pool.acquire_many_async(3));
            let mut context = Context::from_waker(Waker::noop());
            assert!(many.as_mut().poll(&mut context).is_pending());
            thread::scope(|scope| {
                let waiter = scope.spawn(|| pool.acquire_timeout(Duration::from_secs(60)).is_ok());
                while pool.stats().waiting < 2 {
                    thread::yield_now();
                }
                pool.set_capacity(Some(3));
                worker.does(|pool| {
                    let _ = pool.stats();
                });
                drop(many);
                assert!(waiter.join().unwrap());
            });
            drop(held);
        });
    }

    #[test]
    fn nobody_is_woken_under_the_lock() {
        let builder = Pool::<Message>::builder().capacity(1);
        let pool = builder.recall(Recall::Cooperate).build().unwrap();
        (0..100).for_each(|_| drop(pool.acquire()));
        let (say, said) = mpsc::channel();
        let of_waker = pool.clone();
        let waker = waker(move || {
            // By another thread, so that the test fails rather than hangs.
            let asks = thread::spawn(move || of_waker.stats());
            let patience = Instant::now() + Duration::from_secs(60);
            while !asks.is_finished() && Instant::now() < patience {
                thread::yield_now();
            }
            say.send(asks.is_finished()).unwrap();
        });
        let mut future = Box::pin(pool.acquire_async());
        let mut idle = Box::pin(pool.wait_idle_async());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut context = Context::from_waker(&waker);
                assert!(future.as_mut().poll(&mut context).is_pending());
                let mut context = Context::from_waker(Waker::noop());
                assert!(idle.as_mut().poll(&mut context).is_pending());
            });
        });
        // This thread is asked for its object: it is granted, given back, and then nothing is in use.
        drop(future);
        assert!(said.recv().unwrap());
    }

    type Words = Pool<u64, Hooks<fn() -> u64, fn(&mut u64)>>;
    type Word = Pooled<u64, Hooks<fn() -> u64, fn(&mut u64)>>;

    /// A release that needs a batch serves a task meanwhile, which fills the cache of the same thread to the brim.
    #[test]
    fn a_waker_does_not_fill_the_cache_in_the_middle_of_a_release() {
        const FULL: usize = 18; // Batches of 2, when the refill has grown to 8 of them.
        let builder = Pool::builder_with((|| 0) as fn() -> u64, (|_| {}) as fn(&mut u64));
        let builder = builder.capacity(102).batch_size(2);
        let pool: Words = builder.recall(Recall::Cooperate).build().unwrap();
        let mut held: Vec<Word> = (0..100).map(|_| pool.acquire()).collect();
        thread::scope(|scope| {
            let (say, ready) = mpsc::channel();
            let (go, gone) = mpsc::channel::<()>();
            let of_thread = &pool;
            let thread = scope.spawn(move || {
                let last = of_thread.acquire();
                drop(of_thread.acquire());
                say.send(()).unwrap();
                gone.recv().unwrap();
                drop(last);
                of_thread.stats().cached
            });
            ready.recv().unwrap();
            let of_waker = pool.clone();
            let left = Arc::new(Mutex::new(Vec::new()));
            let left_by_waker = left.clone();
            let waker = waker(move || {
                held.pop();
                // Past the visits after a dry pool, then so that the refill grows.
                (0..100).for_each(|_| drop(of_waker.try_acquire().unwrap()));
                held.truncate(39);
                for _ in 0..2_000 {
                    let burst = (0..50).map(|_| of_waker.try_acquire().unwrap());
                    drop(burst.collect::<Vec<_>>());
                }
                while of_waker.stats().cached < FULL && held.pop().is_some() {}
                *left_by_waker.lock().unwrap() = held;
            });
            {
                let mut future = pin!(pool.acquire_async());
                assert!(
                    future
                        .as_mut()
                        .poll(&mut Context::from_waker(&waker))
                        .is_pending()
                );
                drop(waker);
                go.send(()).unwrap();
                assert!(thread.join().unwrap() <= FULL);
            }
            assert!(!left.lock().unwrap().is_empty(), "the cache was not filled");
        });
    }
}

/// The last handle of a pool frees all, though nobody has come by.
#[test]
fn the_last_pool_leaves_nothing_in_a_cache() {
    use std::sync::Arc;
    let alive = Arc::new(());
    let make = {
        let alive = alive.clone();
        move || alive.clone()
    };
    let builder = Pool::builder_with(make, |_: &mut Arc<()>| {});
    let pool = builder.recall(Recall::Cooperate).build().unwrap();
    let (ready, is_ready) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let other = {
        let pool = pool.clone();
        thread::spawn(move || {
            (0..200).for_each(|_| drop(pool.acquire()));
            drop(pool);
            ready.send(()).unwrap();
            let _ = ended.recv();
        })
    };
    is_ready.recv().unwrap();
    pool.trim(0);
    drop(pool);
    assert_eq!(Arc::strong_count(&alive), 1);
    drop(end);
    other.join().unwrap();
}

/// What others cache is theirs, and what the depot lacks is made.
#[test]
fn reserve_makes_up_what_the_depot_lacks() {
    let pool = pool(Backend::Batched);
    beside_two_threads(&pool, || {
        let cached = pool.stats().cached;
        assert_eq!(pool.reserve(50), 50 + cached);
        assert_eq!(pool.stats().cached, cached);
        // No more than the bound.
        assert_eq!(pool.reserve(1_000), CAPACITY);
    });
}

/// The first message of a warm thread is as the next one.
#[cfg(target_os = "linux")]
#[test]
fn a_warm_thread_takes_no_page_fault() {
    #[allow(unsafe_code)] // The system call.
    fn faults() -> libc::c_long {
        // SAFETY: all bytes 0 are a value of it.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: as the call asks for.
        assert_eq!(0, unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage)
        });
        usage.ru_minflt + usage.ru_majflt
    }
    // The memory of `Heap` is the allocator's.
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let batch = 64;
        let round = |pool: &Pool<[u64; 512]>, held: &mut Vec<_>| {
            held.extend((0..batch).map(|_| pool.acquire()));
            held.iter_mut().for_each(|object| object[511] = 1);
            held.clear();
        };
        let first = |warm: bool| {
            // Pages that nothing has touched before.
            let builder = Pool::builder()
                .backend(backend)
                .memory(pool_core::Memory::pages());
            let pool = builder.build().unwrap();
            thread::scope(|scope| {
                let measured = scope.spawn(|| {
                    let mut held = Vec::with_capacity(batch);
                    if warm {
                        pool.warm();
                    }
                    let before = faults();
                    round(&pool, &mut held);
                    faults() - before
                });
                measured.join().unwrap()
            })
        };
        // The first time, the code may not be there yet.
        assert!(first(false) > 0, "{backend}: it is warm that does it");
        assert_eq!(first(true), 0, "{backend}");
    }
}

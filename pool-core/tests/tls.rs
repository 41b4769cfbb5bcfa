//! Threads that end: handles and pools kept in thread-locals, used by destructors while the thread is
//! being torn down. Destructors run in the reverse of the order in which thread-locals were first used,
//! so each scenario runs with the pool's own thread-local gone before, and with it still there.

mod support;

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Lifecycle, Pool, Pooled, unsync};

use support::{
    Counted, CountedPool, Counting, Tally, at_rest, counted, keeps, until, within_reason,
};

/// Runs each scenario on each backend.
macro_rules! ladder {
    ($($scenario:ident)*) => {
        ladder! { @on heap Heap $($scenario)* }
        ladder! { @on mutex Mutex $($scenario)* }
        ladder! { @on queue Queue $($scenario)* }
        ladder! { @on batched Batched $($scenario)* }
    };
    (@on $module:ident $backend:ident $($scenario:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $scenario() {
                    super::support::within_reason(|| super::$scenario(super::Backend::$backend));
                }
            )*
        }
    };
}

ladder! {
    a_handle_in_a_thread_local_comes_back
    a_handle_in_a_thread_local_outlives_the_pool
    a_burst_and_a_shared_handle_in_a_thread_local_come_back
    a_destructor_may_use_the_pool
    a_destructor_may_use_a_pool_that_the_thread_never_used
    a_destructor_may_end_the_pool
    the_last_pool_in_a_thread_local
    a_pool_and_its_handles_in_thread_locals
    hooks_may_use_other_pools_while_the_thread_ends
    a_waiter_is_served_by_a_thread_that_ends
    many_ends_at_once
}

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
    static KEPT_TOO: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps `value` until the thread ends.
fn keep(value: impl Any) {
    KEPT.with(|kept| kept.borrow_mut().push(Box::new(value)));
}

/// Runs a closure when it is dropped.
struct AtTheEnd<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        if let Some(f) = self.0.take() {
            f();
        }
    }
}

fn at_the_end(f: impl FnOnce() + 'static) -> impl Any {
    AtTheEnd(Some(f))
}

/// When what is kept is dropped.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// After the pool's own thread-local, when the thread has no cache any more.
    AfterThePool,
    /// Before it.
    BeforeThePool,
}

const ORDERS: [Order; 2] = [Order::AfterThePool, Order::BeforeThePool];

/// Runs `f` on a thread to its end, destructors and all, what it [`keep`]s being dropped in `order`.
fn on_a_thread<L>(
    order: Order,
    pool: Pool<Counted, L>,
    f: impl FnOnce(Pool<Counted, L>) + Send + 'static,
) where
    L: Lifecycle<Counted> + Send + Sync + 'static,
{
    let thread = thread::spawn(move || {
        match order {
            Order::AfterThePool => {
                KEPT.with(|_| ());
                drop((pool.acquire(), pool.acquire()));
            }
            Order::BeforeThePool => {
                drop((pool.acquire(), pool.acquire()));
                KEPT.with(|_| ());
            }
        }
        f(pool);
    });
    // Waits for the destructors too, other than the end of a scope.
    thread.join().unwrap();
}

/// A handle kept in a `thread_local!`: no panic, nothing lost (thread_local #74).
fn a_handle_in_a_thread_local_comes_back(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(4).build().unwrap();
        for _ in 0..5 {
            on_a_thread(order, pool.clone(), |pool| {
                let mut object = pool.acquire();
                object.text.push_str("kept");
                keep(object);
                keep(pool.acquire());
            });
            let stats = at_rest(&pool, &tally);
            assert_eq!((stats.in_use, stats.cached), (0, 0), "{order:?}");
            // All of them are there for the next.
            let all: Vec<_> = (0..4).map(|_| pool.try_acquire().unwrap()).collect();
            assert!(all.iter().all(|object| object.text.is_empty()));
            drop(all);
            pool.flush(); // This thread's cache is its own affair.
        }
        if keeps(backend) {
            assert_eq!(tally.created(), 4, "{order:?}");
        }
        drop(pool);
        assert_eq!(tally.alive(), 0);
    }
}

fn a_handle_in_a_thread_local_outlives_the_pool(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let witness = tally.clone();
        on_a_thread(order, pool, move |pool| {
            let object = pool.acquire();
            drop(pool);
            assert!(Pooled::pool(&object).is_none());
            assert_eq!(witness.alive(), 1);
            keep(object);
        });
        assert_eq!(tally.alive(), 0, "{order:?}");
    }
}

fn a_burst_and_a_shared_handle_in_a_thread_local_come_back(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        for n in [1, 64, 200] {
            on_a_thread(order, pool.clone(), move |pool| {
                keep(pool.acquire_many(n));
                let shared = Pooled::into_shared(pool.acquire());
                keep(shared.clone());
                KEPT_TOO.with(|kept| kept.borrow_mut().push(Box::new(shared)));
            });
            let stats = at_rest(&pool, &tally);
            assert_eq!((stats.in_use, stats.cached), (0, 0), "{order:?}");
        }
        drop(pool);
        assert_eq!(tally.alive(), 0);
    }
}

/// Everything there is to do with a pool.
fn use_pool<L: Lifecycle<Counted>>(pool: &Pool<Counted, L>) {
    let held = (
        pool.acquire(),
        pool.try_acquire().unwrap(),
        pool.acquire_many(3),
    );
    assert!(held.0.text.is_empty());
    drop(Pooled::into_shared(held.0).clone());
    Pooled::discard(held.1);
    drop(held.2);
    drop(pool.try_acquire_idle());
    drop(pool.acquire_timeout(Duration::ZERO));
    pool.reserve(5);
    pool.flush();
    pool.trim(4);
    drop(pool.drain());
    drop((pool.acquire(), pool.acquire()));
    // Nobody has it to himself now.
    assert!(pool.stats().created > 0);
    assert!(!format!("{pool:?}").is_empty());
}

fn a_destructor_may_use_the_pool(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        on_a_thread(order, pool.clone(), |pool| {
            keep(at_the_end(move || use_pool(&pool)));
        });
        let stats = at_rest(&pool, &tally);
        assert_eq!((stats.in_use, stats.cached), (0, 0), "{order:?}");
        drop(pool);
        assert_eq!(tally.alive(), 0);
    }
}

fn a_destructor_may_use_a_pool_that_the_thread_never_used(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let (used, never_used) = (builder.build().unwrap(), counted(backend));
        let (builder, other_tally) = never_used;
        let other = builder.build().unwrap();
        let sent = other.clone();
        on_a_thread(order, used, move |_| {
            keep(at_the_end(move || {
                use_pool(&sent);
                // One that has not been there before either.
                let (builder, tally) = counted(backend);
                let fresh = builder.build().unwrap();
                use_pool(&fresh);
                at_rest(&fresh, &tally);
                drop(fresh);
                assert_eq!(tally.alive(), 0);
            }));
        });
        let stats = at_rest(&other, &other_tally);
        assert_eq!((stats.in_use, stats.cached), (0, 0), "{order:?}");
        assert_eq!(tally.alive(), 0);
    }
}

fn a_destructor_may_end_the_pool(backend: Backend) {
    for order in ORDERS {
        for held_elsewhere in [false, true] {
            let (builder, tally) = counted(backend);
            let pool = builder.build().unwrap();
            let held = held_elsewhere.then(|| pool.acquire());
            on_a_thread(order, pool, |pool| {
                let object = pool.acquire();
                keep(at_the_end(move || {
                    drop(object);
                    pool.close();
                    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Closed));
                    drop(pool);
                }));
            });
            assert_eq!(tally.alive(), usize::from(held_elsewhere), "{order:?}");
            drop(held);
            assert_eq!(tally.alive(), 0);
        }
    }
}

fn the_last_pool_in_a_thread_local(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let held = pool.acquire();
        on_a_thread(order, pool, |pool| {
            drop((0..200).map(|_| pool.acquire()).collect::<Vec<_>>());
            keep(pool);
        });
        assert_eq!(tally.alive(), 1, "{order:?}");
        drop(held);
        assert_eq!(tally.alive(), 0);
    }
}

/// Each thread with a pool of its own, as is often done, and handles of it in other thread-locals.
fn a_pool_and_its_handles_in_thread_locals(backend: Backend) {
    thread_local! {
        static POOL: RefCell<Option<CountedPool>> = const { RefCell::new(None) };
    }
    for pool_first in [false, true] {
        for kept_first in [false, true] {
            let tally = Tally::new();
            let hooks = Counting(tally.clone());
            let thread = thread::spawn(move || {
                if kept_first {
                    KEPT.with(|_| ());
                }
                if pool_first {
                    POOL.with(|_| ());
                }
                let pool = Pool::builder_for(hooks).backend(backend).build().unwrap();
                drop((pool.acquire(), pool.acquire()));
                POOL.with(|place| place.replace(Some(pool)));
                let acquire = || POOL.with(|pool| pool.borrow().as_ref().unwrap().acquire());
                keep(acquire());
                keep(acquire());
                drop(acquire());
            });
            thread.join().unwrap();
            assert_eq!(tally.alive(), 0, "{pool_first} {kept_first}");
        }
    }
}

/// Hooks that use pools, when neither they nor the thread's caches are there any more.
fn hooks_may_use_other_pools_while_the_thread_ends(backend: Backend) {
    struct Borrowing {
        other: CountedPool,
        tally: Arc<Tally>,
    }
    impl Lifecycle<Counted> for Borrowing {
        fn create(&self) -> Counted {
            drop(self.other.acquire());
            self.tally.object()
        }
        fn reset(&self, object: &mut Counted) {
            use_pool(&self.other);
            object.text.clear();
        }
        fn is_reusable(&self, _object: &Counted) -> bool {
            self.other.acquire_many(2).len() == 2
        }
    }
    for order in ORDERS {
        let (builder, other_tally) = counted(backend);
        let other = builder.build().unwrap();
        let tally = Tally::new();
        let hooks = Borrowing {
            other: other.clone(),
            tally: tally.clone(),
        };
        let pool = Pool::builder_for(hooks).backend(backend).build().unwrap();
        on_a_thread(order, pool.clone(), |pool| {
            keep(pool.acquire());
            keep(at_the_end(move || {
                drop((pool.acquire(), pool.acquire(), pool.acquire()));
            }));
        });
        assert_eq!(at_rest(&pool, &tally).in_use, 0, "{order:?}");
        assert_eq!(at_rest(&other, &other_tally).in_use, 0);
        drop((pool, other));
        assert_eq!((tally.alive(), other_tally.alive()), (0, 0));
    }
}

fn a_waiter_is_served_by_a_thread_that_ends(backend: Backend) {
    for order in ORDERS {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(2).build().unwrap();
        let waiter = pool.clone();
        on_a_thread(order, pool.clone(), move |pool| {
            keep(pool.acquire());
            keep(pool.acquire());
            let waits = pool.stats().waits;
            keep(thread::spawn(move || drop(waiter.acquire_many(2))));
            until(|| pool.stats().waits > waits);
        });
        until(|| pool.in_use() == 0 && Arc::strong_count(&tally) > 0);
        assert_eq!(pool.acquire_many(2).len(), 2);
        drop(pool);
        until(|| tally.alive() == 0);
    }
}

fn many_ends_at_once(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(40).build().unwrap();
    for _ in 0..10 {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let pool = pool.clone();
                thread::spawn(move || {
                    if n % 2 == 0 {
                        KEPT.with(|_| ());
                    }
                    drop(pool.acquire_many(2));
                    keep(pool.acquire());
                    keep(pool.acquire_many(2));
                    let end = pool.clone();
                    keep(at_the_end(move || {
                        drop((end.try_acquire(), end.try_acquire_many(2)));
                    }));
                })
            })
            .collect();
        drop(pool.drain());
        for thread in threads {
            thread.join().unwrap();
        }
        let stats = at_rest(&pool, &tally);
        assert_eq!((stats.in_use, stats.cached), (0, 0));
        assert_eq!(pool.try_acquire_many(40).map(|burst| burst.len()), Ok(40));
        // This thread's cache is its own still.
        pool.flush();
    }
    drop(pool);
    assert_eq!(tally.alive(), 0);
}

/// A slot that was revoked while its thread held an object, activated by the drop of that, and given up:
/// its next owner has nothing to ask about what happened before.
#[test]
fn a_slot_taken_over_says_nothing_of_its_former_owner() {
    let (builder, tally) = counted(Backend::Batched);
    let pool = builder.build().unwrap();
    let (held, holds) = mpsc::channel();
    let (trimmed, trims) = mpsc::channel();
    let former = {
        let pool = pool.clone();
        thread::spawn(move || {
            let object = pool.acquire();
            held.send(()).unwrap();
            trims.recv().unwrap();
            drop(object);
        })
    };
    holds.recv().unwrap();
    pool.trim(usize::MAX);
    trimmed.send(()).unwrap();
    former.join().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (first, second) = (pool.acquire(), pool.acquire());
            assert!(!std::ptr::eq(&raw const *first, &raw const *second));
        });
    });
    assert_eq!(at_rest(&pool, &tally).idle, 2);
}

/// A scoped thread ends after its scope, perhaps, and what its objects borrowed may be gone by then:
/// its end touches no object.
#[test]
fn the_end_of_a_scoped_thread_comes_late() {
    for backend in Backend::ALL {
        within_reason(move || {
            for _ in 0..50 {
                let text = String::from("borrowed");
                let pool = Pool::builder_with(Vec::<&str>::new, Vec::clear)
                    .backend(backend)
                    .build()
                    .unwrap();
                thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            // A destructor that takes its time, after the scope has gone on.
                            keep(at_the_end(|| thread::sleep(Duration::from_micros(300))));
                            pool.acquire().push(&text);
                            let mut burst = pool.acquire_many(3);
                            burst[0].push(&text);
                        });
                    }
                });
                drop(pool);
                drop(text);
            }
        });
    }
}

/// The pool for one thread, in thread-locals of either order.
#[test]
fn a_pool_for_one_thread_in_thread_locals() {
    thread_local! {
        static POOL: RefCell<Option<unsync::Pool<Counted, Counting>>> = const { RefCell::new(None) };
    }
    for pool_first in [false, true] {
        let tally = Tally::new();
        let hooks = Counting(tally.clone());
        let thread = thread::spawn(move || {
            if pool_first {
                POOL.with(|_| ());
            }
            KEPT.with(|_| ());
            let pool = unsync::Pool::builder_for(hooks).build().unwrap();
            drop((pool.acquire(), pool.acquire()));
            keep(pool.acquire());
            let end = pool.clone();
            keep(at_the_end(move || drop((end.acquire(), end.acquire()))));
            POOL.with(|place| place.replace(Some(pool)));
        });
        thread.join().unwrap();
        assert_eq!(tally.alive(), 0, "{pool_first}");
    }
}

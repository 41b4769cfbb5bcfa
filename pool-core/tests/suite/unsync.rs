//! What is particular to the pool for one thread. That it does what the others do is `model.rs`'s.

use crate::support;

use std::cell::RefCell;
use std::rc::Rc;

use std::time::{Duration, Instant};

use pool_core::unsync::{Burst, Pool, Pooled};
use pool_core::{AcquireError, Lifecycle, ResetOn, TrimPolicy};

use support::{Counted, Counting, Tally, panic_of};

/// An object that, when it is dropped, asks a handle kept elsewhere for the pool.
struct Asking {
    shared: Rc<Shared>,
    _counted: Counted,
}

#[derive(Default)]
struct Shared {
    kept: RefCell<Option<Pooled<Asking, Hooks>>>,
    found: RefCell<Vec<bool>>,
    saved: RefCell<Option<Pool<Asking, Hooks>>>,
}

struct Hooks {
    shared: Rc<Shared>,
    tally: std::sync::Arc<Tally>,
}

impl Lifecycle<Asking> for Hooks {
    fn create(&self) -> Asking {
        Asking {
            shared: self.shared.clone(),
            _counted: self.tally.object(),
        }
    }

    fn reset(&self, _object: &mut Asking) {}
}

impl Drop for Asking {
    fn drop(&mut self) {
        let Ok(kept) = self.shared.kept.try_borrow() else {
            return;
        };
        if let Some(handle) = &*kept {
            let pool = Pooled::pool(handle);
            self.shared.found.borrow_mut().push(pool.is_some());
            if let Some(pool) = pool {
                self.shared.saved.replace(Some(pool));
            }
        }
    }
}

/// While its last `Pool` was dropped, a drop of an object could make another, of a pool that was
/// about to be freed.
#[test]
fn a_drop_cannot_bring_the_pool_back() {
    let (shared, tally) = (Rc::new(Shared::default()), Tally::new());
    let hooks = Hooks {
        shared: shared.clone(),
        tally: tally.clone(),
    };
    let pool = Pool::builder_for(hooks).build().unwrap();
    let (kept, idle) = (pool.acquire(), pool.acquire());
    *shared.kept.borrow_mut() = Some(kept);
    drop(idle);
    drop(pool); // Drops the idle object, which asks the handle that is kept.
    assert_eq!(*shared.found.borrow(), [false]);
    assert!(shared.saved.borrow().is_none());
    assert_eq!(tally.alive(), 1);

    let kept = shared.kept.borrow_mut().take();
    assert!(Pooled::pool(kept.as_ref().unwrap()).is_none());
    drop(kept);
    assert_eq!(tally.alive(), 0);
}

/// Before that, it can: the clone is a hold like any other.
#[test]
fn a_drop_may_hold_the_pool_before_its_end() {
    let (shared, tally) = (Rc::new(Shared::default()), Tally::new());
    let hooks = Hooks {
        shared: shared.clone(),
        tally: tally.clone(),
    };
    let pool = Pool::builder_for(hooks).build().unwrap();
    let (kept, idle) = (pool.acquire(), pool.acquire());
    *shared.kept.borrow_mut() = Some(kept);
    drop(idle);
    pool.trim(0);
    assert_eq!(*shared.found.borrow(), [true]);
    drop(pool);
    let saved = shared.saved.borrow_mut().take().unwrap();
    drop(saved.acquire());
    let kept = shared.kept.borrow_mut().take();
    drop(saved);
    assert_eq!(tally.alive(), 1);
    drop(kept);
    assert_eq!(tally.alive(), 0);
}

/// Nobody else could give an object back meanwhile.
#[test]
fn acquiring_at_the_bound_panics() {
    let tally = Tally::new();
    let builder = Pool::builder_for(Counting(tally.clone()));
    let pool = builder.capacity(1).name("few").build().unwrap();
    let held = pool.acquire();
    let message = panic_of(|| pool.acquire());
    assert!(
        message.contains("few") && message.contains("try_acquire"),
        "{message}"
    );
    drop(held);
    drop(pool.acquire());
    pool.close();
    let message = panic_of(|| pool.acquire());
    assert!(message.contains("closed"), "{message}");
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Closed));
    assert_eq!(tally.alive(), 0);
}

/// Objects made of what cannot leave the thread, and hooks too.
#[test]
fn objects_and_hooks_of_this_thread_only() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let (made, wiped) = (log.clone(), log.clone());
    let pool = Pool::builder_with(
        move || {
            made.borrow_mut().push("made");
            Rc::new(String::new())
        },
        move |text: &mut Rc<String>| {
            wiped.borrow_mut().push("wiped");
            Rc::make_mut(text).clear();
        },
    )
    .reset_on(ResetOn::Release)
    .build()
    .unwrap();
    for _ in 0..2 {
        let mut text = pool.acquire();
        assert!(text.is_empty());
        Rc::make_mut(&mut text).push_str("used");
    }
    assert_eq!(*log.borrow(), ["made", "wiped", "wiped"]);
}

#[test]
fn hooks_may_use_the_same_pool() {
    thread_local! {
        static HOME: RefCell<Option<Pool<Nested, Nesting>>> = const { RefCell::new(None) };
        static DEPTH: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    struct Nested(#[allow(dead_code)] Counted);
    struct Nesting(std::sync::Arc<Tally>);

    fn use_pool() {
        let Ok(Some(pool)) = HOME.try_with(|home| home.borrow().clone()) else {
            return;
        };
        if DEPTH.get() == 2 {
            return;
        }
        DEPTH.set(DEPTH.get() + 1);
        drop((pool.acquire(), pool.acquire()));
        pool.trim(1);
        drop(pool.drain());
        DEPTH.set(DEPTH.get() - 1);
    }

    impl Lifecycle<Nested> for Nesting {
        fn create(&self) -> Nested {
            use_pool();
            Nested(self.0.object())
        }
        fn reset(&self, _object: &mut Nested) {
            use_pool();
        }
        fn is_reusable(&self, _object: &Nested) -> bool {
            use_pool();
            true
        }
    }
    impl Drop for Nested {
        fn drop(&mut self) {
            use_pool();
        }
    }

    let tally = Tally::new();
    let pool = Pool::builder_for(Nesting(tally.clone())).build().unwrap();
    HOME.with(|home| *home.borrow_mut() = Some(pool.clone()));
    for _ in 0..3 {
        drop((pool.acquire(), pool.acquire(), pool.acquire()));
        assert_eq!(pool.in_use(), 0);
        assert_eq!(pool.idle(), tally.alive());
    }
    let last = HOME.with(|home| home.borrow_mut().take());
    drop((last, pool));
    assert_eq!(tally.alive(), 0);
}

/// Counted anew after each object, the idle ones were never enough for ever.
#[test]
fn a_create_that_takes_idle_objects_does_not_keep_reserve_for_ever() {
    thread_local! {
        static HOME: RefCell<Option<Pool<u8, Taking>>> = const { RefCell::new(None) };
        static MADE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }
    struct Taking;
    impl Lifecycle<u8> for Taking {
        fn create(&self) -> u8 {
            MADE.set(MADE.get() + 1);
            assert!(MADE.get() < 1_000, "reserve goes on for ever");
            if let Some(pool) = HOME.with(|home| home.borrow().clone()) {
                drop(pool.drain());
            }
            0
        }
        fn reset(&self, _object: &mut u8) {}
    }
    let pool = Pool::builder_for(Taking).build().unwrap();
    HOME.with(|home| *home.borrow_mut() = Some(pool.clone()));
    assert_eq!(pool.reserve(2), 1);
    HOME.with(|home| home.borrow_mut().take());
}

/// Two panics in a row aborted the process.
#[test]
fn the_first_panic_of_a_drain_goes_on_and_the_others_are_dropped() {
    struct Bomb(usize, Rc<RefCell<Vec<usize>>>);

    impl Drop for Bomb {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
            assert!(self.0 == 0, "{} went off", self.0);
        }
    }

    let dropped = Rc::<RefCell<Vec<usize>>>::default();
    let (made, log) = (std::cell::Cell::new(0), dropped.clone());
    let create = move || Bomb(made.replace(made.get() + 1), log.clone());
    let pool = Pool::builder_with(create, |_: &mut Bomb| ())
        .prefill(4)
        .build()
        .unwrap();
    let mut drain = pool.drain();
    drop(drain.next());
    assert_eq!(drain.len(), 3);
    assert_eq!(panic_of(|| drop(drain)), "1 went off");
    assert_eq!(*dropped.borrow(), [0, 1, 2, 3]);
    assert_eq!((pool.idle(), pool.in_use()), (0, 0));
}

fn texts(capacity: usize, reset_on: ResetOn) -> Pool<String> {
    let builder = Pool::<String>::builder();
    builder
        .capacity(capacity)
        .reset_on(reset_on)
        .build()
        .unwrap()
}

const RESETS: [ResetOn; 2] = [ResetOn::Release, ResetOn::Acquire];

#[test]
fn bursts_are_all_or_nothing() {
    for reset_on in RESETS {
        let pool = texts(5, reset_on);
        let one = pool.acquire();
        assert_eq!(
            pool.try_acquire_many(5).err(),
            Some(AcquireError::Exhausted)
        );
        assert_eq!((pool.in_use(), pool.stats().created), (1, 1));
        let mut burst = pool.acquire_many(4);
        burst.iter_mut().for_each(|text| text.push_str("used"));
        assert_eq!(
            pool.try_acquire_many(1).err(),
            Some(AcquireError::Exhausted)
        );
        assert_eq!(pool.acquire_many(0).len(), 0);
        drop((burst, one));
        assert_eq!((pool.idle(), pool.in_use()), (5, 0));
        assert!(pool.acquire_many(5).iter().all(|text| text.is_empty()));
        let message = panic_of(|| drop(pool.acquire_many(6)));
        assert!(
            message.starts_with("acquire_many(6) from a pool with 0 of 5 objects in use: "),
            "{message}"
        );
        pool.close();
        assert!(pool.is_closed());
        assert_eq!(pool.try_acquire_many(0).err(), Some(AcquireError::Closed));
    }
    let refused = panic_of(|| drop(Pool::<u8>::new().try_acquire_many(usize::MAX)));
    assert!(refused.contains("capacity overflow"), "{refused}");
}

#[test]
fn a_burst_of_one_thread_is_taken_apart_and_put_together() {
    let (pool, other) = (Pool::<String>::new(), Pool::<String>::new());
    let mut burst = pool.acquire_many(6);
    let mut rest: Burst<String> = burst.split_off(2);
    assert!(rest.pop().is_some());
    rest.extend(other.acquire_many(2));
    let kept: Vec<Pooled<String>> = rest.into_iter().skip(1).collect();
    assert_eq!((pool.in_use(), other.in_use(), kept.len()), (4, 2, 4));
    burst.extend(kept);
    assert_eq!(burst.len(), 6);
    drop((pool, burst));
    assert_eq!(other.in_use(), 0);
}

#[test]
fn a_panic_in_a_burst_keeps_none_of_the_others() {
    let create = || 0;
    let reset = |number: &mut u8| assert!(std::mem::take(number) == 0, "not as it was");
    let pool = Pool::builder_with(create, reset)
        .capacity(4)
        .build()
        .unwrap();
    let mut burst = pool.acquire_many(4);
    (*burst[0], *burst[2]) = (1, 1);
    assert_eq!(panic_of(|| drop(burst)), "not as it was");
    assert_eq!(
        (pool.in_use(), pool.idle(), pool.stats().discarded),
        (0, 2, 2)
    );
    assert_eq!(pool.acquire_many(4).len(), 4);
}

#[test]
fn retain_asks_of_each_and_keeps_the_order() {
    for reset_on in RESETS {
        let pool = texts(1_000, reset_on);
        let mut burst = pool.acquire_many(600);
        for (i, text) in burst.iter_mut().enumerate() {
            text.reserve(i + 100);
        }
        let in_use = burst.pop();
        drop(burst);
        let mut asked = Vec::new();
        let dropped = pool.retain(|text| {
            asked.push(text.capacity());
            text.capacity() % 2 == 0
        });
        assert_eq!(
            asked,
            Vec::from_iter(100..699),
            "each, the longest idle first"
        );
        assert_eq!((dropped, pool.idle(), pool.in_use()), (299, 300, 1));
        let order: Vec<_> = pool.drain().map(|text| text.capacity()).collect();
        assert_eq!(order, Vec::from_iter((100..699).step_by(2)));
        assert_eq!(pool.retain(|_| false), 0);
        drop(in_use);
    }
}

#[test]
fn the_closure_of_retain_may_use_the_pool_and_panic() {
    let pool = texts(10, ResetOn::Release);
    assert_eq!(pool.reserve(10), 10);
    let mut asked = 0;
    let message = panic_of(|| {
        pool.retain(|_| {
            asked += 1;
            assert!(
                pool.try_acquire().is_ok() || asked == 1,
                "what was put back can be had"
            );
            assert!(asked < 4, "the fourth");
            true
        })
    });
    assert_eq!(message, "the fourth");
    assert_eq!((asked, pool.idle(), pool.in_use()), (4, 9, 0));

    let dropped = pool.retain(|_| {
        pool.close();
        true
    });
    assert_eq!((dropped, pool.idle(), pool.in_use()), (0, 0, 0));
    assert_eq!(pool.stats().destroyed, 10);
}

#[test]
fn what_was_not_needed_in_a_period_is_dropped() {
    for reset_on in RESETS {
        let pool = texts(100, reset_on);
        let policy = TrimPolicy::idle_for(Duration::from_secs(60)).min_idle(3);
        let start = Instant::now();
        let minute = |n: u64| start + Duration::from_secs(61 * n);
        drop(pool.acquire_many(100));
        assert_eq!(
            pool.trim_by(&policy, start),
            0,
            "the first call begins a period"
        );
        drop(pool.acquire_many(40));
        for _ in 0..100 {
            drop(pool.acquire());
        }
        assert_eq!(pool.trim_by(&policy, start), 0, "it is not over");
        assert_eq!(pool.trim_by(&policy, minute(1)), 60);
        assert_eq!(pool.idle(), 40);
        let held = pool.acquire_many(40);
        assert!(pool.try_acquire_idle().is_err());
        drop(held);
        assert_eq!(
            pool.trim_by(&policy, minute(2)),
            0,
            "all were needed at a time"
        );
        let one = pool.try_acquire_idle().unwrap();
        assert_eq!(
            pool.trim_by(&policy, minute(3)),
            36,
            "no less than the policy leaves"
        );
        assert_eq!((pool.idle(), pool.in_use()), (3, 1));
        drop(one);
        pool.trim(1);
        assert_eq!(pool.trim_by(&policy, minute(4)), 0);
        assert_eq!((pool.idle(), pool.stats().created), (1, 100));
    }
}

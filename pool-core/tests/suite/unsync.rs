//! What is particular to the pool for one thread. That it does what the others do is `model.rs`'s.

use crate::support;

use std::cell::RefCell;
use std::rc::Rc;

use pool_core::unsync::{Pool, Pooled};
use pool_core::{AcquireError, Lifecycle, ResetOn};

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

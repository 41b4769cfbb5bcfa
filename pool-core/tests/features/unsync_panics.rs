//! What a panic of the user's code costs in a pool for one thread: its object, and nothing else. With
//! the feature `std` and without, where no panic is caught (`ci/features.sh` runs both).

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use pool_core::{AcquireError, Lifecycle, unsync};

/// Where the user's code panics next, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Create,
    Reset,
    Judge,
    Drop,
}

/// What happens to objects, and where it goes wrong.
#[derive(Default)]
struct World {
    panics: Cell<Option<At>>,
    made: Cell<usize>,
    dropped: RefCell<Vec<usize>>,
}

impl World {
    fn reach(&self, at: At) {
        if self.panics.get() == Some(at) {
            self.panics.set(None);
            panic!("{at:?}");
        }
    }
}

/// An object with a number.
struct Object {
    number: usize,
    world: Rc<World>,
}

impl Drop for Object {
    fn drop(&mut self) {
        self.world.dropped.borrow_mut().push(self.number);
        self.world.reach(At::Drop);
    }
}

struct Hooks(Rc<World>);

impl Lifecycle<Object> for Hooks {
    fn create(&self) -> Object {
        self.0.reach(At::Create);
        let number = self.0.made.get();
        self.0.made.set(number + 1);
        Object {
            number,
            world: Rc::clone(&self.0),
        }
    }

    fn reset(&self, _object: &mut Object) {
        self.0.reach(At::Reset);
    }

    fn is_reusable(&self, _object: &Object) -> bool {
        self.0.reach(At::Judge);
        true
    }
}

fn world(capacity: usize) -> (Rc<World>, unsync::Pool<Object, Hooks>) {
    let world = Rc::<World>::default();
    let builder = unsync::Pool::builder_for(Hooks(Rc::clone(&world)));
    (world, builder.capacity(capacity).build().unwrap())
}

/// Runs `f`, in which a panic passes, and gives its message.
fn panic_of(world: &World, at: At, f: impl FnOnce()) -> String {
    world.panics.set(Some(at));
    let panic = catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    assert_eq!(world.panics.get(), None);
    *panic.downcast().unwrap()
}

#[test]
fn of_a_create_gives_the_place_back() {
    let (world, pool) = world(1);
    assert_eq!(
        panic_of(&world, At::Create, || drop(pool.acquire())),
        "Create"
    );
    let stats = pool.stats();
    assert_eq!((stats.created, stats.destroyed, stats.in_use), (1, 1, 0));
    assert_eq!(pool.acquire().number, 0);
    assert_eq!(pool.idle(), 1);
}

#[test]
fn of_a_reset_or_a_judge_costs_the_object() {
    for at in [At::Reset, At::Judge] {
        let (world, pool) = world(2);
        let (first, second) = (pool.acquire(), pool.acquire());
        assert_eq!(panic_of(&world, at, || drop(first)), format!("{at:?}"));
        assert_eq!(*world.dropped.borrow(), [0]);
        let stats = pool.stats();
        assert_eq!((stats.discarded, stats.destroyed, stats.in_use), (1, 1, 1));
        // Its place is free, and the pool as it was.
        let third = pool.acquire();
        assert_eq!(third.number, 2);
        assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
        drop((second, third));
        assert_eq!(pool.idle(), 2);
    }
}

#[test]
fn of_a_drop_does_not_keep_the_others() {
    for end in [
        |pool: unsync::Pool<_, _>| pool.trim(1),
        |pool: unsync::Pool<_, _>| pool.close(),
        |pool: unsync::Pool<_, _>| drop(pool),
    ] {
        let (world, pool) = world(4);
        let keep = pool.clone();
        pool.reserve(4);
        drop(pool);
        assert_eq!(panic_of(&world, At::Drop, || end(keep)), "Drop");
        let dropped = world.dropped.borrow().len();
        assert!(dropped >= 3, "{dropped}");
        drop(world);
    }
}

#[test]
fn of_a_drop_gives_the_place_back() {
    let (world, pool) = world(1);
    let object = pool.acquire();
    let message = panic_of(&world, At::Drop, || unsync::Pooled::discard(object));
    assert_eq!(message, "Drop");
    assert_eq!((pool.stats().discarded, pool.in_use()), (1, 0));
    assert_eq!(pool.acquire().number, 1);
}

#[test]
fn nothing_is_left_when_handles_outlive_the_pool() {
    for at in [At::Reset, At::Judge, At::Drop] {
        let (world, pool) = world(2);
        let (first, second) = (pool.acquire(), pool.acquire());
        drop(pool);
        assert_eq!(panic_of(&world, at, || drop(first)), format!("{at:?}"));
        drop(second);
        assert_eq!(*world.dropped.borrow(), [0, 1]);
        // The pool is freed, and its hooks with it.
        assert_eq!(Rc::strong_count(&world), 1);
    }
}

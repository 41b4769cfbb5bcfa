//! The primitives as loom models them.

use std::time::Instant;

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// The mutex of loom. A panic fails the model, so poisoning does not matter.
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }

    /// Never called: a model does not fork.
    pub(crate) fn seize(&self, _f: impl FnOnce(&mut T)) {
        unreachable!()
    }

    /// Never called: a model does not fork.
    pub(crate) fn release<R>(&self, _seized: &Seized, _f: impl FnOnce(&mut T) -> R) -> R {
        unreachable!()
    }
}

/// In a model there is none.
pub(crate) enum Seized {}

pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    /// As on the machine, but time stands still: a wait never times out.
    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _deadline: Option<Instant>,
    ) -> (MutexGuard<'a, T>, bool) {
        (self.0.wait(guard).unwrap(), false)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// One turn of a loop that waits for a few instructions of another thread.
pub(crate) fn wait_a_turn(_turns: &mut u32) {
    loom::thread::yield_now();
}

/// One turn of a loop whose thread was overtaken by another.
pub(crate) fn back_off(_turns: &mut u32) {
    loom::thread::yield_now();
}

macro_rules! thread_local_const {
    ($(#[$attr:meta])* static $name:ident: $type:ty = $init:expr;) => {
        ::loom::thread_local! {
            $(#[$attr])*
            static $name: $type = $init;
        }
    };
}
pub(crate) use thread_local_const;

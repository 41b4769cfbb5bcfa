//! The primitives as loom models them.

use std::time::Instant;

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::MutexGuard;
pub(crate) use loom::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// loom's mutex; a model that panics has failed, so poison does not matter.
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Mutex(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap()
    }
}

/// In a model nobody forks.
pub(crate) mod seized {
    #![allow(unsafe_code)] // As on the machine.

    use super::{Mutex, MutexGuard};

    pub(crate) unsafe fn guard<T>(_mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        unreachable!()
    }

    pub(crate) unsafe fn unlock<T>(_mutex: &Mutex<T>) {
        unreachable!()
    }
}

pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    /// As on the machine, but time stands still: a wait never times out.
    pub(crate) fn wait_until<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        _deadline: Option<Instant>,
    ) -> bool {
        // loom's `wait` takes the guard by value.
        replace_with(guard, |guard| self.0.wait(guard).unwrap());
        false
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

#[allow(unsafe_code)]
fn replace_with<T>(place: &mut T, f: impl FnOnce(T) -> T) {
    // SAFETY: the value is read out and written back; a panic in between fails the model, and the
    // process with it.
    unsafe {
        let value = std::ptr::read(place);
        std::ptr::write(place, f(value));
    }
}

/// One turn of a loop that waits for another thread's few instructions.
pub(crate) fn wait_a_turn(_turns: &mut u32) {
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

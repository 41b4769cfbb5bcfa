//! The primitives as this machine has them.

use std::time::Instant;

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// A mutex that a panic does not poison.
pub(crate) use parking_lot::{Mutex, MutexGuard};

/// A condition variable; wakes in the order of arrival.
pub(crate) struct Condvar(parking_lot::Condvar);

impl Condvar {
    pub(crate) const fn new() -> Self {
        Condvar(parking_lot::Condvar::new())
    }

    /// Sleeps until notified or `deadline`; `true` when the deadline passed first.
    pub(crate) fn wait_until<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Option<Instant>,
    ) -> bool {
        match deadline {
            Some(deadline) => self.0.wait_until(guard, deadline).timed_out(),
            None => {
                self.0.wait(guard);
                false
            }
        }
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// Locks that are held without a guard.
pub(crate) mod seized {
    #![allow(unsafe_code)] // Nothing but the caller's word says that a lock is held.

    use super::{Mutex, MutexGuard};
    use parking_lot::RawMutex;
    use parking_lot::lock_api::RawMutex as _;

    /// # Safety
    ///
    /// The calling thread has the lock, and no guard of it.
    pub(crate) unsafe fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        // SAFETY: by contract.
        unsafe { mutex.make_guard_unchecked() }
    }

    /// # Safety
    ///
    /// As for [`guard`].
    pub(crate) unsafe fn unlock<T>(mutex: &Mutex<T>) {
        // SAFETY: by contract.
        unsafe { mutex.force_unlock() };
    }

    /// Makes the lock one that nobody has or waits for.
    ///
    /// # Safety
    ///
    /// As for [`guard`], and the process has no other thread.
    pub(crate) unsafe fn make_anew<T>(mutex: &Mutex<T>) {
        // SAFETY: it is not unlocked through this.
        let raw = std::ptr::from_ref(unsafe { mutex.raw() }).cast_mut();
        // SAFETY: all of it is an atomic, which may be written through a shared reference, and there
        // is nobody else.
        unsafe { raw.write(RawMutex::INIT) };
    }
}

/// `std`'s cell with loom's interface, so that loom sees every access in a model.
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Runs `f` with a pointer it may write through, if the caller has the cell to itself.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// One turn of a loop that waits for another thread's few instructions.
#[inline]
pub(crate) fn wait_a_turn(turns: &mut u32) {
    // A thread in a slot leaves it within nanoseconds unless it was scheduled out there, and then
    // only giving the core away helps.
    if *turns < 64 {
        *turns += 1;
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// A thread-local initialised at compile time, so that an access is a plain address.
macro_rules! thread_local_const {
    ($(#[$attr:meta])* static $name:ident: $type:ty = $init:expr;) => {
        ::std::thread_local! {
            $(#[$attr])*
            static $name: $type = const { $init };
        }
    };
}
pub(crate) use thread_local_const;

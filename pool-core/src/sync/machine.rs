//! The primitives as this machine has them.

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};

/// A mutex that a panic does not poison.
pub(crate) type Mutex<T> = lock_api::Mutex<lock::Raw, T>;
pub(crate) type MutexGuard<'a, T> = lock_api::MutexGuard<'a, lock::Raw, T>;
pub(crate) use lock::Condvar;

/// The lock of std. A word of the system's own, without a table of who waits for it: a child of a fork
/// inherits nothing but the word.
#[cfg(not(pool_real_fences))]
mod lock {
    #![allow(unsafe_code)] // A guard is kept beside its lock.

    use std::cell::UnsafeCell;
    use std::sync::PoisonError;
    use std::time::Instant;

    use super::MutexGuard;

    type Held = std::sync::MutexGuard<'static, ()>;

    pub(crate) struct Raw {
        lock: std::sync::Mutex<()>,
        /// What unlocks `lock`, while it is locked. Touched by who has it.
        held: UnsafeCell<Option<Held>>,
    }

    // SAFETY: `held` is touched by the one thread that has the lock.
    unsafe impl Sync for Raw {}
    // SAFETY: one that is locked is borrowed by a guard, or seized, and does not move.
    unsafe impl Send for Raw {}

    impl Raw {
        /// # Safety
        ///
        /// The calling thread has the lock.
        unsafe fn take_held(&self) -> Option<Held> {
            // SAFETY: by contract nobody else touches it.
            unsafe { (*self.held.get()).take() }
        }

        /// # Safety
        ///
        /// `guard` is of this lock.
        unsafe fn keep(&self, guard: std::sync::MutexGuard<'_, ()>) {
            // SAFETY: the same type but for a lifetime; it goes before the lock does, whose locked state
            // it is.
            let held: Held = unsafe { std::mem::transmute(guard) };
            // SAFETY: the calling thread has the lock.
            unsafe { *self.held.get() = Some(held) };
        }
    }

    // SAFETY: locked while a guard of std's is kept, which only one thread can have.
    unsafe impl lock_api::RawMutex for Raw {
        #[allow(clippy::declare_interior_mutable_const)] // What a new lock is made of.
        const INIT: Self = Raw {
            lock: std::sync::Mutex::new(()),
            held: UnsafeCell::new(None),
        };

        // A guard of std's goes back on its thread.
        type GuardMarker = lock_api::GuardNoSend;

        #[inline]
        fn lock(&self) {
            let guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: of this lock.
            unsafe { self.keep(guard) };
        }

        fn try_lock(&self) -> bool {
            let Ok(guard) = self.lock.try_lock() else {
                return false;
            };
            // SAFETY: of this lock.
            unsafe { self.keep(guard) };
            true
        }

        #[inline]
        unsafe fn unlock(&self) {
            // SAFETY: by contract. Nothing of this is touched after the guard has unlocked (LIFE-TAIL).
            drop(unsafe { self.take_held() });
        }
    }

    pub(crate) struct Condvar(std::sync::Condvar);

    impl Condvar {
        pub(crate) const fn new() -> Self {
            Condvar(std::sync::Condvar::new())
        }

        /// Sleeps until notified or `deadline`, or for no reason; `true` when the deadline passed first.
        pub(crate) fn wait_until<T>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            deadline: Option<Instant>,
        ) -> bool {
            // SAFETY: the guard says that the lock is locked, by this thread.
            let raw = unsafe { lock_api::MutexGuard::mutex(guard).raw() };
            // SAFETY: as above.
            let Some(held) = (unsafe { raw.take_held() }) else {
                unreachable!("a lock that is locked keeps what unlocks it");
            };
            let (held, timed_out) = match deadline {
                None => {
                    let held = self.0.wait(held).unwrap_or_else(PoisonError::into_inner);
                    (held, false)
                }
                Some(deadline) => {
                    let timeout = deadline.saturating_duration_since(Instant::now());
                    let waited = self.0.wait_timeout(held, timeout);
                    let (held, result) = waited.unwrap_or_else(PoisonError::into_inner);
                    (held, result.timed_out())
                }
            };
            // SAFETY: of this lock.
            unsafe { raw.keep(held) };
            timed_out
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }
    }
}

/// A lock that is compiled here, and so seen by a thread sanitizer, as std's is not.
#[cfg(pool_real_fences)]
mod lock {
    use std::time::Instant;

    use super::MutexGuard;

    pub(crate) type Raw = parking_lot::RawMutex;

    pub(crate) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(crate) const fn new() -> Self {
            Condvar(parking_lot::Condvar::new())
        }

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
}

/// Locks that are held without a guard.
pub(crate) mod seized {
    #![allow(unsafe_code)] // Nothing but the caller's word says that a lock is held.

    use super::{Mutex, MutexGuard};

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

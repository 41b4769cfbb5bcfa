//! The primitives as this machine has them.

pub(crate) use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

pub(crate) use lock::{Condvar, Mutex, MutexGuard, Seized};

/// The mutex and condition variable of `std`: one word of the system's own, without a table of waiting
/// threads, so the child of a fork inherits nothing but the word.
mod lock {
    #![allow(unsafe_code)] // A fork keeps a guard beside its lock.

    use std::cell::UnsafeCell;
    use std::marker::PhantomData;
    use std::mem::MaybeUninit;
    use std::sync::{self, PoisonError};
    use std::time::Instant;

    pub(crate) type MutexGuard<'a, T> = sync::MutexGuard<'a, T>;

    /// Room for a guard, whatever the type and lifetime of what it protects.
    type GuardBytes = MaybeUninit<[usize; 2]>;

    /// A mutex that a panic does not poison and that a fork can hold without a guard on its stack.
    pub(crate) struct Mutex<T> {
        lock: sync::Mutex<T>,
        /// The guard of `lock`, while a fork holds it. Accessed by the thread that has the lock.
        seized: UnsafeCell<GuardBytes>,
    }

    // SAFETY: `lock` is `Sync` for `T: Send`; `seized` is accessed only by the thread that has the lock.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    impl<T> Mutex<T> {
        const GUARD_FITS: () = assert!(
            size_of::<MutexGuard<'_, T>>() <= size_of::<GuardBytes>()
                && align_of::<MutexGuard<'_, T>>() <= align_of::<GuardBytes>()
        );

        pub(crate) const fn new(value: T) -> Self {
            const { Self::GUARD_FITS };
            Mutex {
                lock: sync::Mutex::new(value),
                seized: UnsafeCell::new(MaybeUninit::uninit()),
            }
        }

        #[inline(always)]
        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.lock.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Takes the lock and runs `f` on the value; the lock is given up by [`release`](Self::release).
        pub(crate) fn seize(&self, f: impl FnOnce(&mut T)) {
            let mut guard = self.lock();
            f(&mut guard);
            // SAFETY: this thread has the lock; the guard fits.
            unsafe { self.seized.get().cast::<MutexGuard<'_, T>>().write(guard) };
        }

        /// Runs `f` on the value and gives up the lock that [`seize`](Self::seize) took.
        pub(crate) fn release<R>(&self, _seized: &Seized, f: impl FnOnce(&mut T) -> R) -> R {
            // SAFETY: `Seized` says that this thread has the lock, and `seize` wrote the guard.
            let mut guard = unsafe { self.seized.get().cast::<MutexGuard<'_, T>>().read() };
            f(&mut guard)
        }
    }

    /// Says that the calling thread has seized the locks of all pools, each of which it releases once.
    pub(crate) struct Seized(PhantomData<*const ()>);

    impl Seized {
        /// # Safety
        ///
        /// The calling thread, or the one that it is a copy of in the child of a fork, has called
        /// [`seize`](Mutex::seize) for each lock that is [released](Mutex::release) with this, and not released it
        /// since.
        #[cfg(unix)] // Elsewhere there are no forks.
        pub(crate) unsafe fn new() -> Self {
            Seized(PhantomData)
        }
    }

    pub(crate) struct Condvar(sync::Condvar);

    impl Condvar {
        pub(crate) const fn new() -> Self {
            Condvar(sync::Condvar::new())
        }

        /// Sleeps until notified or `deadline`, or for no reason; `true` when the deadline passed first.
        pub(crate) fn wait_until<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            deadline: Option<Instant>,
        ) -> (MutexGuard<'a, T>, bool) {
            let Some(deadline) = deadline else {
                let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
                return (guard, false);
            };
            let timeout = deadline.saturating_duration_since(Instant::now());
            let (guard, result) = self
                .0
                .wait_timeout(guard, timeout)
                .unwrap_or_else(PoisonError::into_inner);
            (guard, result.timed_out())
        }

        pub(crate) fn notify_one(&self) {
            self.0.notify_one();
        }
    }
}

/// The cell of `std` with loom's interface, so that loom sees every access in a model.
#[repr(transparent)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    /// Runs `f` with a pointer that it may read through, if no other thread writes.
    #[inline(always)]
    pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Runs `f` with a pointer that it may write through, if the caller has exclusive access.
    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}

/// Turns of a wait that spin, each twice as long as the one before, and turns that then give the core away.
/// After them, the wait sleeps.
const SPINS: u32 = 6;
const YIELDS: u32 = 64;

/// The first and the longest sleep of a wait, in microseconds. Each is twice as long as the one before.
const FIRST_SLEEP: u64 = 10;
const LONGEST_SLEEP: u64 = 1_000;

/// One turn of a loop that waits for a few instructions of another thread.
///
/// Such a thread is done within nanoseconds unless it was preempted. Giving the core away then helps,
/// except where the waiting thread has a real-time priority: `sched_yield` never lets a thread of a
/// lower class run. So the wait sleeps in the end.
#[inline]
pub(crate) fn wait_a_turn(turns: &mut u32) {
    if *turns <= SPINS {
        back_off(turns);
        return;
    }
    *turns = turns.saturating_add(1);
    if *turns <= SPINS + YIELDS {
        std::thread::yield_now();
    } else {
        let doublings = (*turns - SPINS - YIELDS - 1).min(16);
        let micros = (FIRST_SLEEP << doublings).min(LONGEST_SLEEP);
        std::thread::sleep(std::time::Duration::from_micros(micros));
    }
}

/// One turn of a loop whose thread was overtaken by another: the more often, the longer it lets others go first.
#[inline]
pub(crate) fn back_off(turns: &mut u32) {
    for _ in 0..1 << (*turns).min(SPINS) {
        std::hint::spin_loop();
    }
    *turns = turns.saturating_add(1);
}

/// A thread-local that is initialised at compile time, so that an access is a plain address.
macro_rules! thread_local_const {
    ($(#[$attr:meta])* static $name:ident: $type:ty = $init:expr;) => {
        ::std::thread_local! {
            $(#[$attr])*
            static $name: $type = const { $init };
        }
    };
}
pub(crate) use thread_local_const;

//! What becomes of pools when the process forks.
//!
//! A child has one thread, the one that forked, and a copy of whatever the others were in the middle
//! of. So before a fork, every pool is brought to rest: its locks are taken, and its slots revoked,
//! which waits for whoever is inside. After it they are given up, in the parent and in the child, where
//! nobody else is. Nothing of this costs anything before somebody forks, except that pools are listed
//! here from their making to their end.
//!
//! Who makes processes by `std::process::Command` comes here only where std has to fork (`pre_exec` and its
//! like): `posix_spawn` runs no handlers.
#![allow(unsafe_code)] // Pools are listed by address, and locks held without guards.

use std::mem;

use crate::sync::{Mutex, seized};
use crate::wait::Call;

/// On which side of a fork a pool goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Parent,
    Child,
}

/// What is brought to rest before a fork.
pub(crate) trait Fork {
    /// Has every other thread outside and kept there: takes each lock, of two that wait for each other
    /// the one that is taken first elsewhere.
    fn before_fork(&self);

    /// Lets them in again, and gives the calls that are to be made when all pools have: here no code of
    /// the user's may run, since others are still held.
    ///
    /// # Safety
    ///
    /// The calling thread has called [`before_fork`](Self::before_fork), and this not since; on the
    /// side of the child there is no other thread.
    unsafe fn after_fork(&self, side: Side) -> Vec<Call>;
}

/// Takes a lock, for [`release`] to give it up.
pub(crate) fn seize<T>(mutex: &Mutex<T>) {
    mem::forget(mutex.lock());
}

/// # Safety
///
/// The calling thread has [seized](seize) the lock.
pub(crate) unsafe fn release<T>(mutex: &Mutex<T>) {
    // In a child too: the lock is a word, and those who wait for it are not there.
    // SAFETY: by contract.
    unsafe { seized::unlock(mutex) };
}

pub(crate) use self::registry::{list, strike};

/// The pools there are.
#[cfg(all(unix, not(loom)))]
mod registry {
    use std::collections::BTreeMap;
    use std::mem;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{Call, Fork, Side, release};
    use crate::sync::{Mutex, seized};

    /// A pool, whatever its type.
    #[derive(Clone, Copy)]
    struct Entry {
        pool: NonNull<()>,
        before: unsafe fn(NonNull<()>),
        after: unsafe fn(NonNull<()>, Side) -> Vec<Call>,
    }

    // SAFETY: `list` asks for a pool that any thread may share.
    unsafe impl Send for Entry {}

    /// By their addresses.
    static POOLS: Mutex<BTreeMap<usize, Entry>> = Mutex::new(BTreeMap::new());

    /// Has the pool at `pool` brought to rest for each fork, until it is [struck](strike).
    ///
    /// # Safety
    ///
    /// The pool is alive until then, and what `Fork` does with it may be done by any thread.
    pub(crate) unsafe fn list<P: Fork>(pool: NonNull<P>) {
        static INSTALLED: AtomicBool = AtomicBool::new(false);
        // Nobody waits for who installs them: a fork meanwhile would leave a child waiting for ever.
        // Relaxed: it says nothing about other memory.
        if !INSTALLED.swap(true, Ordering::Relaxed) {
            // SAFETY: the handlers take no arguments and do not unwind. If there is no memory for
            // them, forks are as they would be without this module.
            unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        }
        let entry = Entry {
            pool: pool.cast(),
            // SAFETY: called for a pool that is listed, and so alive, as a `P`.
            before: |pool| unsafe { pool.cast::<P>().as_ref() }.before_fork(),
            after: |pool, side| {
                // SAFETY: as above.
                let pool = unsafe { pool.cast::<P>().as_ref() };
                // SAFETY: called once after the other, by the same thread.
                unsafe { pool.after_fork(side) }
            },
        };
        POOLS.lock().insert(pool.addr().get(), entry);
    }

    /// Takes a pool that is about to be freed off the list.
    pub(crate) fn strike<P>(pool: NonNull<P>) {
        POOLS.lock().remove(&pool.addr().get());
    }

    extern "C" fn before() {
        let pools = POOLS.lock();
        for entry in pools.values() {
            // SAFETY: listed, so alive.
            unsafe { (entry.before)(entry.pool) };
        }
        // Given up in `after`.
        mem::forget(pools);
    }

    extern "C" fn in_parent() {
        after(Side::Parent);
    }

    extern "C" fn in_child() {
        after(Side::Child);
    }

    fn after(side: Side) {
        // SAFETY: `before` took the lock, on this thread.
        let pools = unsafe { seized::guard(&POOLS) };
        let mut calls = Vec::new();
        for entry in pools.values() {
            // SAFETY: listed, and at rest since `before`.
            calls.extend(unsafe { (entry.after)(entry.pool, side) });
        }
        mem::forget(pools);
        // SAFETY: as above, and the guard is gone.
        unsafe { release(&POOLS) };
        calls.into_iter().for_each(Call::ring);
    }
}

/// Where there are no forks, or a model of none.
#[cfg(any(not(unix), loom))]
mod registry {
    use std::ptr::NonNull;

    use super::{Fork, Side};

    pub(crate) unsafe fn list<P: Fork>(_pool: NonNull<P>) {
        // Never run, and no dead code for that.
        let _ = |pool: &P| {
            pool.before_fork();
            for side in [Side::Parent, Side::Child] {
                // SAFETY: as on the machine.
                drop(unsafe { pool.after_fork(side) });
            }
        };
    }

    pub(crate) fn strike<P>(_pool: NonNull<P>) {}
}

//! What becomes of pools when the process forks.
//!
//! A child has one thread, the one that forked, and a copy of whatever the others were in the middle
//! of. So before a fork, every pool is brought to rest: its locks are taken, and its slots revoked,
//! which waits for whoever is inside. After it they are given up, in the parent and in the child, where
//! nobody else is. Nothing of this costs anything before somebody forks, except that pools are listed
//! here from their making to their end.
//!
//! Who makes processes by `std::process::Command` does not come here: `posix_spawn` runs no handlers.
#![allow(unsafe_code)] // Pools are listed by address, and locks held without guards.

use std::mem;

use crate::sync::{Mutex, seized};

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

    /// Lets them in again. Runs no code of the user's: other pools are still held.
    ///
    /// # Safety
    ///
    /// The calling thread has called [`before_fork`](Self::before_fork), and this not since; on the
    /// side of the child there is no other thread.
    unsafe fn after_fork(&self, side: Side);
}

/// Takes a lock, for [`release`] to give it up.
pub(crate) fn seize<T>(mutex: &Mutex<T>) {
    mem::forget(mutex.lock());
}

/// # Safety
///
/// The calling thread has [seized](seize) the lock; on the side of the child there is no other thread.
pub(crate) unsafe fn release<T>(mutex: &Mutex<T>, side: Side) {
    match side {
        // SAFETY: by contract.
        Side::Parent => unsafe { seized::unlock(mutex) },
        // The threads that wait for it here are the parent's, and must not be given it.
        // SAFETY: by contract.
        Side::Child => unsafe { seized::make_anew(mutex) },
    }
}

pub(crate) use self::registry::{list, strike};

/// The pools there are.
#[cfg(all(unix, not(loom)))]
mod registry {
    use std::collections::BTreeMap;
    use std::mem;
    use std::ptr::NonNull;
    use std::sync::Once;

    use super::{Fork, Side, release};
    use crate::sync::{Mutex, seized};

    /// A pool, whatever its type.
    #[derive(Clone, Copy)]
    struct Entry {
        pool: NonNull<()>,
        before: unsafe fn(NonNull<()>),
        after: unsafe fn(NonNull<()>, Side),
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
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            // SAFETY: the handlers take no arguments and do not unwind. If there is no memory for
            // them, forks are as they would be without this module.
            unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        });
        let entry = Entry {
            pool: pool.cast(),
            // SAFETY: called for a pool that is listed, and so alive, as a `P`.
            before: |pool| unsafe { pool.cast::<P>().as_ref() }.before_fork(),
            after: |pool, side| {
                // SAFETY: as above.
                let pool = unsafe { pool.cast::<P>().as_ref() };
                // SAFETY: called once after the other, by the same thread.
                unsafe { pool.after_fork(side) };
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
        for entry in pools.values() {
            // SAFETY: listed, and at rest since `before`.
            unsafe { (entry.after)(entry.pool, side) };
        }
        mem::forget(pools);
        // SAFETY: as above, and the guard is gone.
        unsafe { release(&POOLS, side) };
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
                unsafe { pool.after_fork(side) };
            }
        };
    }

    pub(crate) fn strike<P>(_pool: NonNull<P>) {}
}

//! What becomes of pools when the process forks.
//!
//! A child has one thread, the one that forked, and a copy of what the others were in the middle of. So before
//! a fork every pool is stopped: its locks are seized and its slots revoked, which waits for the threads inside.
//! After it they are released, in the parent and in the child, which has no other thread. None of this costs
//! anything before the process forks, except that pools are registered here from their start to their end.
//!
//! A process started by `std::process::Command` comes here only where std has to fork (for `pre_exec` and the
//! like): `posix_spawn` runs no handlers.
#![allow(unsafe_code)] // Pools are registered by address.

use crate::central::Wake;
use crate::sync::Seized;

pub(crate) use self::registry::{register, unregister};

/// On which side of a fork a pool goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForkSide {
    Parent,
    Child,
}

/// What is stopped for a fork. Neither of the handlers may ask for memory or free some: an allocator may have
/// locked itself for the fork already.
pub(crate) trait Fork {
    /// Keeps every other thread out: seizes each lock, of two that are held at once the one that is taken first
    /// elsewhere.
    fn before_fork(&self);

    /// Lets other threads in again.
    fn after_fork(&self, side: ForkSide, seized: &Seized);

    /// Serves a waiter in the child of a fork, once all locks are released: what the threads of the parent had
    /// been granted may go to a task. Called until it gives `None`.
    fn serve_in_child(&self) -> Option<Wake>;
}

/// The pools there are.
#[cfg(all(unix, not(loom)))]
mod registry {
    use std::collections::BTreeMap;
    use std::mem;
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{Fork, ForkSide, Seized};
    use crate::sync::Mutex;

    /// A pool, whatever its type.
    #[derive(Clone, Copy)]
    struct Entry(NonNull<dyn Fork>);

    // SAFETY: `register` asks for a pool that any thread may use.
    unsafe impl Send for Entry {}

    impl Entry {
        /// The pool, for as long as it stays registered.
        fn pool(&self) -> &dyn Fork {
            // SAFETY: registered, so alive: entries are used while the list is locked, or in a child, which has no
            // other thread that could end a pool.
            unsafe { self.0.as_ref() }
        }
    }

    /// By their addresses.
    static POOLS: Mutex<BTreeMap<usize, Entry>> = Mutex::new(BTreeMap::new());

    /// Has the pool stopped for each fork, until it is [unregistered](unregister).
    ///
    /// # Safety
    ///
    /// The pool is alive until then, and any thread may do with it what `Fork` does.
    pub(crate) unsafe fn register<P: Fork>(pool: NonNull<P>) {
        static INSTALLED: AtomicBool = AtomicBool::new(false);
        // No thread waits for the one that installs them: a fork meanwhile would leave a child waiting for ever.
        // Relaxed: it says nothing about other memory.
        if !INSTALLED.swap(true, Ordering::Relaxed) {
            // SAFETY: the handlers take no arguments and do not unwind. If there is no memory for them, forks
            // are as they would be without this module.
            unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        }
        let any: NonNull<dyn Fork + '_> = pool;
        // SAFETY: by contract off the list before its type can end.
        let any = unsafe { mem::transmute::<NonNull<dyn Fork + '_>, NonNull<dyn Fork>>(any) };
        POOLS.lock().insert(pool.addr().get(), Entry(any));
    }

    /// Takes a pool that is about to be freed off the list.
    pub(crate) fn unregister<P>(pool: NonNull<P>) {
        POOLS.lock().remove(&pool.addr().get());
    }

    extern "C" fn before() {
        POOLS.seize(|pools| {
            for entry in pools.values() {
                entry.pool().before_fork();
            }
        });
    }

    extern "C" fn in_parent() {
        after(ForkSide::Parent);
    }

    extern "C" fn in_child() {
        after(ForkSide::Child);
        // A waker is user code and may use a pool: so each is woken while no lock is held, and the list is
        // looked at again. The child has no other thread that could free a pool meanwhile.
        let mut last = 0;
        loop {
            let next = POOLS
                .lock()
                .range(last..)
                .next()
                .map(|(at, entry)| (*at, *entry));
            let Some((at, entry)) = next else { break };
            match entry.pool().serve_in_child() {
                Some(wake) => {
                    last = at;
                    wake.wake();
                }
                None => last = at + 1,
            }
        }
    }

    fn after(side: ForkSide) {
        // SAFETY: this thread seized all of them in `before`, and each is released once below.
        let seized = unsafe { Seized::new() };
        POOLS.release(&seized, |pools| {
            for entry in pools.values() {
                entry.pool().after_fork(side, &seized);
            }
        });
    }
}

/// Where there are no forks, or a model of none.
#[cfg(any(not(unix), loom))]
mod registry {
    use std::ptr::NonNull;

    use super::{Fork, ForkSide, Seized};

    pub(crate) unsafe fn register<P: Fork>(_pool: NonNull<P>) {
        // Never run, so that there is no dead code.
        let _ = |pool: &P, seized: &Seized| {
            pool.before_fork();
            for side in [ForkSide::Parent, ForkSide::Child] {
                pool.after_fork(side, seized);
            }
            pool.serve_in_child()
        };
    }

    pub(crate) fn unregister<P>(_pool: NonNull<P>) {}
}

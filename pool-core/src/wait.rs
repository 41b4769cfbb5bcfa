//! Waiting for an object to come back.
//!
//! Threads wait with the lock that protects the idle objects, so that none is missed: who puts one
//! back under that lock sees who waits. A pool that caches revokes its caches first (see
//! `backend::slots`), so that while nobody waits a release pays nothing for this.

use std::time::Instant;

use crate::sync::{AtomicU64, AtomicUsize, Condvar, MutexGuard, Ordering};

/// Who waits under one lock.
pub(crate) struct Waiters {
    condvar: Condvar,
    /// How many wait now. Written and read under the lock only, hence Relaxed throughout.
    waiting: AtomicUsize,
    /// How many of them wait for more than one object.
    for_many: AtomicUsize,
    /// How many have ever waited.
    total: AtomicU64,
}

impl Waiters {
    pub(crate) fn new() -> Self {
        Waiters {
            condvar: Condvar::new(),
            waiting: AtomicUsize::new(0),
            for_many: AtomicUsize::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// Whether anyone waits. Under the lock.
    pub(crate) fn any(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// How many waits there were.
    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Counts the caller, who wants `n` objects, among those who wait, until the result is dropped.
    /// Under the lock, both.
    pub(crate) fn arrive(&self, n: usize) -> Waiting<'_> {
        add(&self.waiting, 1);
        let for_many = n > 1;
        if for_many {
            add(&self.for_many, 1);
        }
        self.total.store(self.total() + 1, Ordering::Relaxed);
        Waiting {
            waiters: self,
            for_many,
        }
    }

    /// Wakes the one that has waited longest; all, if one of them waits for more than came. Under
    /// the lock.
    pub(crate) fn notify_one(&self) {
        if self.for_many.load(Ordering::Relaxed) > 0 {
            self.condvar.notify_all();
        } else if self.any() {
            self.condvar.notify_one();
        }
    }

    /// Wakes all. Under the lock.
    pub(crate) fn notify_all(&self) {
        if self.any() {
            self.condvar.notify_all();
        }
    }
}

/// One that waits.
pub(crate) struct Waiting<'a> {
    waiters: &'a Waiters,
    for_many: bool,
}

impl Waiting<'_> {
    /// Sleeps, the lock released meanwhile, until notified; `true` if `deadline` passed first.
    pub(crate) fn sleep<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        deadline: Option<Instant>,
    ) -> bool {
        self.waiters.condvar.wait_until(guard, deadline)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        add(&self.waiters.waiting, -1);
        if self.for_many {
            add(&self.waiters.for_many, -1);
        }
    }
}

/// Under the lock, so without a read-modify-write.
fn add(count: &AtomicUsize, n: isize) {
    let now = count.load(Ordering::Relaxed);
    count.store(now.wrapping_add_signed(n), Ordering::Relaxed);
}

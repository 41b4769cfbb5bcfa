//! The count of objects: what the bound is checked against, and what keeps a pool's memory alive.
//!
//! Touched when an object is made or destroyed, never by a hit.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, AtomicUsize, Ordering};

pub(crate) struct Ledger {
    /// The most that may be alive.
    capacity: usize,
    counts: CachePadded<Counts>,
}

struct Counts {
    /// Places under the bound that are taken, by objects idle or in use. Not counted without a bound.
    taken: AtomicUsize,
    /// What the pool's memory is kept for: every object alive, and one more for all
    /// [`Pool`](crate::Pool)s together (LIFE-REFS).
    refs: AtomicUsize,
    /// Objects that are no more. Those ever made are these and the ones alive: growth is where a count
    /// less is felt.
    destroyed: AtomicU64,
}

impl Ledger {
    /// Of a pool with no objects, held by its first `Pool`.
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Ledger {
            capacity: capacity.unwrap_or(usize::MAX),
            counts: CachePadded::new(Counts {
                taken: AtomicUsize::new(0),
                refs: AtomicUsize::new(1),
                destroyed: AtomicU64::new(0),
            }),
        }
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.capacity != usize::MAX
    }

    /// Counts one object more, unless the bound is reached.
    pub(crate) fn admit(&self) -> bool {
        self.admit_all(1)
    }

    /// Counts `n` objects more, unless that would exceed the bound: all or none.
    pub(crate) fn admit_all(&self, n: usize) -> bool {
        if n == 0 {
            return true;
        }
        if self.is_bounded() {
            // Acquire: pairs with the Release in `leave_room`, so that the memory given back before is
            // there to be had. Release is for the next who admits.
            let taken = &self.counts.taken;
            let admitted = taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |taken| {
                taken.checked_add(n).filter(|&taken| taken <= self.capacity)
            });
            if admitted.is_err() {
                return false;
            }
        }
        // Relaxed: the caller holds a reference already.
        let refs = self.counts.refs.fetch_add(n, Ordering::Relaxed);
        // As `Arc` has it: far more than memory has room for.
        if refs.saturating_add(n) > isize::MAX as usize {
            std::process::abort();
        }
        true
    }

    /// Gives an object's place under the bound to the next. The object's reference stays.
    pub(crate) fn leave_room(&self) {
        // Relaxed: only a total.
        self.counts.destroyed.fetch_add(1, Ordering::Relaxed);
        if self.is_bounded() {
            self.counts.taken.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Lets go of one reference; `true` if it was the last, and the caller frees the pool.
    pub(crate) fn release_ref(&self) -> bool {
        // Release: what this thread did with the pool happens before it is freed; the load of who
        // frees it is the partner. (As good as a fence there, and seen by a thread sanitizer.)
        if self.counts.refs.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        self.counts.refs.load(Ordering::Acquire);
        true
    }

    /// Takes back leave for `n` objects that were never made. A `Pool` holds the pool.
    pub(crate) fn withdraw(&self, n: usize) {
        for _ in 0..n {
            self.leave_room();
            let last = self.release_ref();
            debug_assert!(!last, "a `Pool` holds the pool");
        }
    }

    /// Takes over the counts of a pool without a bound, which were kept elsewhere until now.
    pub(crate) fn settle(&self, created: u64, live: usize) {
        debug_assert!(!self.is_bounded());
        self.counts.refs.fetch_add(live, Ordering::Relaxed);
        let destroyed = created - live as u64;
        self.counts
            .destroyed
            .fetch_add(destroyed, Ordering::Relaxed);
    }

    /// Counts an object that another was made in the place of.
    pub(crate) fn count_remade(&self) {
        self.counts.destroyed.fetch_add(1, Ordering::Relaxed);
    }

    /// Objects ever made or attached, and how many of them are alive. For who holds a `Pool`.
    pub(crate) fn totals(&self) -> (u64, usize) {
        let destroyed = self.counts.destroyed.load(Ordering::Relaxed);
        let live = self.live();
        (destroyed + live as u64, live)
    }

    /// Objects alive: idle or in use. For who holds a `Pool`.
    pub(crate) fn live(&self) -> usize {
        if self.is_bounded() {
            self.counts.taken.load(Ordering::Acquire)
        } else {
            self.counts.refs.load(Ordering::Acquire) - 1
        }
    }
}

//! The count of objects: what the bound is checked against, and what keeps a pool's memory alive.
//!
//! Touched when an object is made or destroyed, never by a hit.

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, AtomicUsize, Ordering, fence};

pub(crate) struct Ledger {
    /// The most that may be alive.
    capacity: usize,
    counts: CachePadded<Counts>,
}

struct Counts {
    /// Objects alive: idle or in use.
    live: AtomicUsize,
    /// What the pool's memory is kept for: every object alive, and one more for all
    /// [`Pool`](crate::Pool)s together (LIFE-REFS).
    refs: AtomicUsize,
    /// Objects ever made or attached.
    created: AtomicU64,
}

impl Ledger {
    /// Of a pool with no objects, held by its first `Pool`.
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Ledger {
            capacity: capacity.unwrap_or(usize::MAX),
            counts: CachePadded::new(Counts {
                live: AtomicUsize::new(0),
                refs: AtomicUsize::new(1),
                created: AtomicU64::new(0),
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
        // Acquire: pairs with the Release in `leave_room`, so that the memory given back before is
        // there to be had. Release is for the next who admits.
        let admitted = self
            .counts
            .live
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |live| {
                live.checked_add(n).filter(|&live| live <= self.capacity)
            });
        if admitted.is_err() {
            return false;
        }
        // Relaxed, both: the caller holds a reference already, and `created` is only a total.
        self.counts.refs.fetch_add(n, Ordering::Relaxed);
        self.counts.created.fetch_add(n as u64, Ordering::Relaxed);
        true
    }

    /// Gives an object's place under the bound to the next. The object's reference stays.
    pub(crate) fn leave_room(&self) {
        self.counts.live.fetch_sub(1, Ordering::AcqRel);
    }

    /// Lets go of one reference; `true` if it was the last, and the caller frees the pool.
    pub(crate) fn release_ref(&self) -> bool {
        // Release: what this thread did with the pool happens before it is freed; the fence of who
        // frees it is the partner.
        if self.counts.refs.fetch_sub(1, Ordering::Release) != 1 {
            return false;
        }
        fence(Ordering::Acquire);
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

    /// Takes over a count that was kept elsewhere until now.
    pub(crate) fn settle(&self, created: u64, live: usize) {
        self.counts.live.fetch_add(live, Ordering::AcqRel);
        self.counts.refs.fetch_add(live, Ordering::Relaxed);
        self.counts.created.fetch_add(created, Ordering::Relaxed);
    }

    /// Counts an object made in the place of another.
    pub(crate) fn count_remade(&self) {
        self.counts.created.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn created(&self) -> u64 {
        self.counts.created.load(Ordering::Relaxed)
    }

    pub(crate) fn live(&self) -> usize {
        self.counts.live.load(Ordering::Acquire)
    }
}

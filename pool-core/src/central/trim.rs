//! When a pool drops objects that are not needed: the caller's policy, and what a pool keeps for it.
//!
//! Objects carry no time of their own, since every release would have to read the clock. The shelf keeps the
//! least number of objects that were idle at a time since the last look (its low water). So many objects were
//! not needed, whichever they are. A policy asks for that number once per period.

use std::time::{Duration, Instant};

/// How a pool shrinks while it is quiet, for [`Pool::trim_by`](crate::Pool::trim_by).
///
/// # Examples
///
/// A service calls it from a timer that it has anyway:
///
/// ```
/// use std::time::{Duration, Instant};
/// use pool_core::{Pool, TrimPolicy};
///
/// let pool = Pool::<Vec<u8>>::new();
/// let policy = TrimPolicy::idle_for(Duration::from_secs(60)).min_idle(100);
///
/// drop(pool.acquire_many(1_000)); // a burst
///
/// let start = Instant::now();
/// pool.trim_by(&policy, start); // a period begins, in which nothing is needed
/// assert_eq!(pool.trim_by(&policy, start + Duration::from_secs(61)), 900);
/// assert_eq!(pool.idle(), 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimPolicy {
    idle_for: Duration,
    min_idle: usize,
}

impl TrimPolicy {
    /// Drops objects that were not needed for `age`, up to all of them.
    #[must_use]
    pub const fn idle_for(age: Duration) -> Self {
        TrimPolicy {
            idle_for: age,
            min_idle: 0,
        }
    }

    /// Never drops below this many idle objects. Default: 0.
    #[must_use]
    pub const fn min_idle(mut self, objects: usize) -> Self {
        self.min_idle = objects;
        self
    }
}

/// Which idle objects a trim leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TrimTarget {
    /// This many.
    AtMost(usize),
    /// As many as were needed at a time since this was last asked, and no less than `at_least`. What threads
    /// have in their slots counts as needed.
    Needed { at_least: usize },
}

impl TrimTarget {
    /// The number of idle objects below which a trim never goes.
    pub(super) fn floor(self) -> usize {
        match self {
            TrimTarget::AtMost(kept) => kept,
            TrimTarget::Needed { at_least } => at_least,
        }
    }
}

/// The least number of objects that were idle at a time since [`TrimTarget::Needed`] was last asked for. 0 until
/// it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LowWater(usize);

impl LowWater {
    pub(crate) fn new(idle: usize) -> Self {
        LowWater(idle)
    }

    pub(crate) fn get(self) -> usize {
        self.0
    }

    /// Notes that only `idle` objects are left.
    #[inline]
    pub(crate) fn note(&mut self, idle: usize) {
        self.0 = self.0.min(idle);
    }

    /// How many of `idle` objects are in excess. If that was asked by need, a new period begins with the others.
    pub(crate) fn excess(&mut self, idle: usize, target: TrimTarget) -> usize {
        match target {
            TrimTarget::AtMost(kept) => {
                self.note(kept);
                idle.saturating_sub(kept)
            }
            TrimTarget::Needed { at_least } => {
                let excess = self.0.min(idle.saturating_sub(at_least));
                self.0 = idle - excess;
                excess
            }
        }
    }
}

/// When the period began in which need is watched; one for all threads that trim the pool by a policy.
pub(crate) struct Period(Option<Instant>);

impl Period {
    pub(crate) const fn new() -> Self {
        Period(None)
    }

    /// What `policy` leaves, if the period is over at `now`; a new one begins then.
    pub(crate) fn end(&mut self, policy: &TrimPolicy, now: Instant) -> Option<TrimTarget> {
        let over = self.0.is_none_or(|since| {
            // A clock that went back ends no period.
            now.saturating_duration_since(since) >= policy.idle_for
        });
        if !over {
            return None;
        }
        self.0 = Some(now);
        Some(TrimTarget::Needed {
            at_least: policy.min_idle,
        })
    }
}

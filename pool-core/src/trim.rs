//! When a pool gives back what nobody needs: the caller's policy, and what a pool remembers for it.
//!
//! Objects carry no time of their own, which would cost every release a look at the clock. The
//! backend keeps the least number of objects that were idle at a time since the last look (its low
//! water); that many were needed by nobody, whichever they are. So a policy asks, once per period, how
//! many those are.

use std::time::{Duration, Instant};

use crate::sync::Mutex;

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
/// pool.trim_by(&policy, start); // a period begins, and nobody needs anything in it
/// assert_eq!(pool.trim_by(&policy, start + Duration::from_secs(61)), 900);
/// assert_eq!(pool.idle(), 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimPolicy {
    idle_for: Duration,
    min_idle: usize,
}

impl TrimPolicy {
    /// Drops objects that nobody has needed for `age`, all of them if need be.
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

/// How many idle objects a backend leaves when it is asked for those beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keep {
    /// This many.
    AtMost(usize),
    /// As many as were needed at a time since this was last asked, and no less than `at_least`. What
    /// threads have in their caches counts as needed.
    Needed { at_least: usize },
}

/// The least number of objects that were idle at a time since [`Keep::Needed`] was last asked for. 0
/// until it is.
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

    /// How many of `idle` objects go. If that was asked by need, a new period begins with those left.
    pub(crate) fn surplus(&mut self, idle: usize, keep: Keep) -> usize {
        match keep {
            Keep::AtMost(kept) => {
                self.note(kept);
                idle.saturating_sub(kept)
            }
            Keep::Needed { at_least } => {
                let surplus = self.0.min(idle.saturating_sub(at_least));
                self.0 = idle - surplus;
                surplus
            }
        }
    }
}

/// When the period in which need is watched began; one for all who trim the pool by a policy.
pub(crate) struct Period(Mutex<Option<Instant>>);

impl Period {
    pub(crate) fn new() -> Self {
        Period(Mutex::new(None))
    }

    /// What `policy` keeps, if the period is over at `now`; a new one begins then.
    pub(crate) fn end(&self, policy: &TrimPolicy, now: Instant) -> Option<Keep> {
        let mut since = self.0.lock();
        let over = since.is_none_or(|since| {
            // A clock that went back ends no period.
            now.saturating_duration_since(since) >= policy.idle_for
        });
        if !over {
            return None;
        }
        *since = Some(now);
        Some(Keep::Needed {
            at_least: policy.min_idle,
        })
    }

    /// The lock, for a fork.
    pub(crate) fn lock_of(&self) -> &Mutex<Option<Instant>> {
        &self.0
    }
}

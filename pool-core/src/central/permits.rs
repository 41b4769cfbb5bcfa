//! Permits: the bound on objects alive, and what keeps the pool's memory.
//!
//! Kept under the central lock. An object holds one permit from before it is created until its block is vacant
//! again; a waiter may hold one for an object that is not created yet. In a `Heap` pool threads keep some in
//! their slots, which count as taken here.

/// A permit that was given out.
#[derive(Debug)]
#[must_use = "a permit that is lost keeps the pool for ever"]
pub(crate) struct Granted;

/// The capacity of a pool without a bound.
const NO_BOUND: usize = usize::MAX;

pub(crate) struct Permits {
    /// The most that may be taken. More are, for a while, after it was [lowered](Permits::set_capacity).
    capacity: usize,
    /// Permits that are taken. Each keeps the pool's memory (LIFE-REFS).
    taken: usize,
    /// The most that were ever taken at a time.
    peak: usize,
    /// Permits that were ever taken for an object, also if it was not created in the end.
    created: u64,
    /// How many [`WeakPool`](crate::WeakPool)s there are. Each keeps the pool's memory, and no object.
    weak: usize,
    /// Whether a [`Pool`](crate::Pool) is left. All of them together keep the pool's memory, too.
    has_pool: bool,
}

impl Permits {
    /// Of a pool without objects, with its first `Pool`.
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Permits {
            capacity: capacity.unwrap_or(NO_BOUND),
            taken: 0,
            peak: 0,
            created: 0,
            weak: 0,
            has_pool: true,
        }
    }

    /// How many more may be taken; none, while too many are.
    #[inline]
    pub(crate) fn available(&self) -> usize {
        self.capacity.saturating_sub(self.taken)
    }

    /// The most that may be taken; `None` if there is no bound.
    pub(crate) fn capacity(&self) -> Option<usize> {
        (self.capacity != NO_BOUND).then_some(self.capacity)
    }

    /// Changes the bound. What is taken beyond a lower one is [surplus](Self::surplus).
    pub(crate) fn set_capacity(&mut self, capacity: Option<usize>) {
        self.capacity = capacity.unwrap_or(NO_BOUND);
    }

    /// How many are taken beyond the bound.
    #[inline]
    pub(crate) fn surplus(&self) -> usize {
        self.taken.saturating_sub(self.capacity)
    }

    /// Whether a waiter for `n` at once could ever have them. One object can be waited for also while the
    /// bound is 0.
    pub(crate) fn may_grant(&self, n: usize) -> bool {
        n <= self.capacity.max(1)
    }

    /// Takes one, unless the bound is reached.
    #[inline]
    pub(crate) fn try_acquire(&mut self) -> bool {
        self.try_acquire_many(1)
    }

    /// Takes `n`, or none if that would exceed the bound.
    #[inline]
    pub(crate) fn try_acquire_many(&mut self, n: usize) -> bool {
        if n > self.available() {
            return false;
        }
        self.take(n);
        self.created += n as u64;
        true
    }

    /// Takes up to `n` for a thread to keep, which counts itself what it creates; gives how many.
    pub(crate) fn acquire_up_to(&mut self, n: usize) -> usize {
        let n = n.min(self.available());
        self.take(n);
        n
    }

    #[inline]
    fn take(&mut self, n: usize) {
        self.taken += n;
        self.peak = self.peak.max(self.taken);
    }

    /// Returns `n` permits, whose objects are gone or were never created.
    #[inline]
    pub(crate) fn release(&mut self, n: usize) {
        self.taken -= n;
    }

    /// Counts objects that were created with permits from [`acquire_up_to`](Self::acquire_up_to), or in the
    /// place of another.
    pub(crate) fn count_created(&mut self, n: u64) {
        self.created += n;
    }

    /// Whether nothing keeps the pool's memory any more.
    #[inline]
    pub(crate) fn is_end(&self) -> bool {
        self.taken == 0 && !self.has_pool && self.weak == 0
    }

    /// Counts one `WeakPool` more.
    pub(crate) fn add_weak(&mut self) {
        self.weak += 1;
    }

    /// Counts one `WeakPool` less.
    pub(crate) fn release_weak(&mut self) {
        self.weak -= 1;
    }

    /// Notes that the last `Pool` is gone.
    pub(crate) fn drop_pool(&mut self) {
        self.has_pool = false;
    }

    /// The most permits that were taken at a time.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Permits that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Objects ever created or attached, and permits returned unused.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }
}

//! What a pool has done and holds.

/// Counts of one pool, from [`Pool::stats`](crate::Pool::stats).
///
/// Gathered when asked for, under the backend's lock: a hit counts nothing. With handles at rest,
/// that is while no thread is inside a call, the counts are exact, and
/// `created - destroyed == idle + in_use`. Under load each is close to what was true during the call, and
/// `created` may be less by an object or two than it was a moment ago.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let pool = Pool::<String>::new();
/// let (a, b) = (pool.acquire(), pool.acquire());
/// drop(a);
/// let stats = pool.stats();
/// assert_eq!((stats.created, stats.destroyed), (2, 0));
/// assert_eq!((stats.idle, stats.in_use), (1, 1));
/// # drop(b);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Stats {
    /// Objects that ever joined the pool: made by it, or attached. One that there was leave to make
    /// and that did not come about (its making panicked, or the wait for it ended in vain) counts here
    /// and as destroyed, so that neither number ever falls.
    pub created: usize,
    /// Objects that have left it: dropped, or detached.
    pub destroyed: usize,
    /// Objects waiting to be acquired, thread caches included.
    pub idle: usize,
    /// Objects out in handles; forgotten handles count, since theirs never came back.
    pub in_use: usize,
    /// Those idle in thread caches: not for others to acquire, except where the pool would
    /// otherwise be exhausted.
    pub cached: usize,
    /// Visits to the depot, in a [`Batched`](crate::Backend::Batched) pool.
    pub exchanges: usize,
    /// Times that what threads keep for themselves (caches; in a [`Heap`](crate::Backend::Heap) or
    /// [`Queue`](crate::Backend::Queue) pool, nothing but counts or marks) was called in to have the
    /// whole picture, each at the price of a barrier on every core.
    pub revocations: usize,
    /// Objects dropped on their way back because they were not reusable or their reset panicked,
    /// or by [`discard`](crate::Pooled::discard).
    pub discarded: usize,
    /// Acquires that had to wait.
    pub waits: usize,
}

//! What a pool has done and holds.

use core::time::Duration;

use crate::object::Held;

/// Counts of one pool, from [`Pool::stats`](crate::Pool::stats).
///
/// Collected on demand, under the central lock: a hit counts nothing. While no thread is inside a call, the counts are
/// exact, and `created - destroyed == idle + in_use`. Under load each is close to the truth during the call, and `created`
/// may be an object or two less than before.
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
    /// Objects that the pool created or that were attached. A permit that was returned unused (`create` panicked, or a
    /// wait ended) counts here and as destroyed.
    pub created: usize,
    /// Objects that were dropped or detached.
    pub destroyed: usize,
    /// Idle objects, thread caches included.
    pub idle: usize,
    /// Objects that handles own, forgotten handles included, and objects granted to a waiter that has not taken them yet.
    pub in_use: usize,
    /// Idle objects in thread caches. Other threads get them only when the pool is otherwise exhausted.
    pub cached: usize,
    /// Visits to the depot, in a [`Batched`](crate::Backend::Batched) pool.
    pub exchanges: usize,
    /// How often the slots of all threads were revoked, each time with a barrier on every core.
    pub revocations: usize,
    /// Objects that were not reusable, whose reset panicked, or that were [discarded](crate::Pooled::discard).
    pub discarded: usize,
    /// The most objects that were alive at a time. ([`Heap`](crate::Backend::Heap) counts the permits that threads keep.)
    pub peak_live: usize,
    /// Acquires that had to wait.
    pub waits: usize,
    /// The current bound on live objects; `None` if there is none.
    pub capacity: Option<usize>,
    /// Threads and tasks that wait now.
    pub waiting: usize,
    /// How long all acquires together have waited.
    pub wait_time: Duration,
    /// Acquires that [`max_waiting`](crate::Builder::max_waiting) refused.
    pub saturated: usize,
    /// Bytes of all chunks; 0 in a [`Heap`](crate::Backend::Heap) pool. See [`Memory`](crate::Memory).
    pub memory_bytes: usize,
    /// Of these, bytes that are locked into memory.
    pub locked_bytes: usize,
    /// Of these, bytes for which the kernel agreed to huge pages. How many transparent ones it uses is in
    /// `/proc/self/smaps`, as `AnonHugePages`. Those of [`Memory::system`](crate::Memory::system) are not counted.
    pub huge_bytes: usize,
    /// Chunks for which the system refused something that the [`Memory`](crate::Memory) asks for.
    pub memory_fallbacks: usize,
}

impl Stats {
    /// The counts of the memory alone.
    pub(crate) fn of_memory(held: Held) -> Self {
        Stats {
            memory_bytes: held.bytes,
            locked_bytes: held.locked,
            huge_bytes: held.huge,
            memory_fallbacks: held.fallbacks,
            ..Stats::default()
        }
    }
}

//! What a pool has done and holds.

use core::time::Duration;

use crate::object::Held;

/// Counts of one pool, from [`Pool::stats`](crate::Pool::stats).
///
/// Gathered when asked for, under the central lock: a hit counts nothing. With handles at rest,
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
    /// Objects that ever joined the pool: made by it, or attached. A permit that was taken and returned unused
    /// (`create` panicked, or the wait ended without an object) counts here and as destroyed, so neither number
    /// ever falls.
    pub created: usize,
    /// Objects that have left it: dropped, or detached.
    pub destroyed: usize,
    /// Objects waiting to be acquired, thread caches included.
    pub idle: usize,
    /// Objects out in handles, forgotten handles included, and objects granted to a waiter that has not come for
    /// them yet (such as a future that was served and is not polled).
    pub in_use: usize,
    /// Objects idle in thread caches: other threads acquire them only where the pool would
    /// otherwise be exhausted.
    pub cached: usize,
    /// Visits to the depot, in a [`Batched`](crate::Backend::Batched) pool.
    pub exchanges: usize,
    /// Times that the slots of all threads were revoked, each at the price of a barrier on every core. Slots hold
    /// caches; in a [`Heap`](crate::Backend::Heap) pool permits, in a [`Queue`](crate::Backend::Queue) pool nothing.
    pub revocations: usize,
    /// Objects dropped on their way back because they were not reusable or their reset panicked,
    /// or by [`discard`](crate::Pooled::discard).
    pub discarded: usize,
    /// The most objects that were alive at a time. (A [`Heap`](crate::Backend::Heap) pool counts the permits that
    /// threads keep at hand, up to two batches each.)
    pub peak_live: usize,
    /// Acquires that had to wait.
    pub waits: usize,
    /// The bound on objects alive, as it is now; `None` if there is none.
    pub capacity: Option<usize>,
    /// Threads and tasks that wait now, and are not served.
    pub waiting: usize,
    /// How long acquires have waited, all together, from when each came until it was served or left.
    pub wait_time: Duration,
    /// Acquires that were refused because as many waited as [may](crate::Builder::max_waiting).
    pub saturated: usize,
    /// Bytes of the chunks that objects lie in, vacant ones included; 0 in a [`Heap`](crate::Backend::Heap) pool,
    /// which asks for each object by itself. See [`Memory`](crate::Memory).
    pub memory_bytes: usize,
    /// Of these, bytes that are locked into memory.
    pub locked_bytes: usize,
    /// Of these, bytes for which the pool asked for huge pages and the kernel agreed. Explicit ones were had; how many
    /// transparent ones the kernel uses is in `/proc/self/smaps`, as `AnonHugePages`. (The wish of
    /// [`Memory::system`](crate::Memory::system) for large chunks is not counted.)
    pub huge_bytes: usize,
    /// Chunks that the pool ever had to do without something that its [`Memory`](crate::Memory) asks for,
    /// because the system refused it.
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

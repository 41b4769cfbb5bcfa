//! What a pool can be told, as plain data.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::error::ParseBackendError;

/// Where a pool keeps its idle objects.
///
/// A value, so that a flag or a configuration file can choose; [`FromStr`] and
/// [`Display`](fmt::Display) use the lower-case names.
///
/// | | a hit costs | for |
/// | --- | --- | --- |
/// | [`Heap`](Backend::Heap) | one allocation | the control: what would be without a pool |
/// | [`Mutex`](Backend::Mutex) | one lock | few threads; the simplest to reason about |
/// | [`Queue`](Backend::Queue) | a compare-and-swap pair on a shared line | a middle way |
/// | [`Batched`](Backend::Batched) | no lock, no atomic read-modify-write | message loops; the default |
///
/// # Examples
///
/// ```
/// use pool_core::Backend;
///
/// assert_eq!("queue".parse(), Ok(Backend::Queue));
/// assert_eq!(Backend::Batched.to_string(), "batched");
/// assert_eq!(
///     "stack".parse::<Backend>().unwrap_err().to_string(),
///     "unknown backend \"stack\": expected one of heap, mutex, queue, batched",
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Keeps nothing: every acquire allocates, every drop frees. The control to measure a pool
    /// against, and the one to look for memory errors with, since a sanitizer sees every object
    /// come and go.
    Heap,
    /// A stack under one lock.
    Mutex,
    /// One queue for all threads: first in, first out. An array when the pool is bounded, by
    /// 67,108,864 objects at most; else a list of blocks, which allocates a block every 31 releases.
    Queue,
    /// A stack per thread, refilled and emptied by batches.
    #[default]
    Batched,
}

impl Backend {
    /// Every backend, in the order of the documentation.
    pub const ALL: [Backend; 4] = [
        Backend::Heap,
        Backend::Mutex,
        Backend::Queue,
        Backend::Batched,
    ];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Backend::Heap => "heap",
            Backend::Mutex => "mutex",
            Backend::Queue => "queue",
            Backend::Batched => "batched",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = ParseBackendError;

    /// Reads a name, whatever its case.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Backend::ALL
            .into_iter()
            .find(|backend| backend.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| ParseBackendError::new(name))
    }
}

/// When a used object is wiped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResetOn {
    /// By the thread that drops the handle, before the object is anyone else's. Idle objects hold
    /// nothing of their last user, and what they referred to is let go early.
    #[default]
    Release,
    /// By the thread that acquires next, which is about to touch the object anyway. Keeps the
    /// dropping thread short; an idle object keeps its last contents until then.
    Acquire,
}

/// The choices of one pool, checked.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) backend: Backend,
    /// Objects in a batch. A thread's cache holds at most two batches.
    pub(crate) batch_size: usize,
    /// The most objects alive at once; `None`, no bound.
    pub(crate) capacity: Option<usize>,
    /// Objects made when the pool is built.
    pub(crate) prefill: usize,
    /// Nodes added per growth step; `None`, as many as there are, within limits.
    pub(crate) grow_by: Option<usize>,
    /// The most objects idle at once; `None`, no limit.
    pub(crate) max_idle: Option<usize>,
    pub(crate) reset_on: ResetOn,
    pub(crate) name: Option<Cow<'static, str>>,
}

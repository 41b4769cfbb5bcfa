//! The choices of a pool, as plain data: collected by the builders, and checked once.

use alloc::borrow::Cow;
use core::fmt;
use core::str::FromStr;

use crate::error::{
    BuildError, BuildErrorKind, ParseBackendError, ParseRecallError, ParseResetOnError,
};
use crate::memory::Memory;
use crate::object::{Chunks, NoChunk};
#[cfg(feature = "serde")]
use crate::observe::serial::objects;

/// The default batch size.
const DEFAULT_BATCH_SIZE: usize = 64;

/// The largest batch: an exchange of more would only move memory.
const LARGEST_BATCH_SIZE: usize = 1 << 16;

/// Where a pool keeps its idle objects.
///
/// The backend is a runtime value, so a command-line flag or a configuration file can select it: [`Display`](fmt::Display)
/// writes the lower-case name, and [`FromStr`] reads it in any case. `benches/TABLES.md` in the repository has the times
/// of each.
///
/// | | a hit costs | for |
/// | --- | --- | --- |
/// | [`Heap`](Backend::Heap) | an allocation, slightly more than `Box` | a baseline: does pooling help at all? |
/// | [`Mutex`](Backend::Mutex) | one uncontended lock each way | few threads; the simplest to reason about |
/// | [`Queue`](Backend::Queue) | a compare-and-swap each way, on shared cache lines | first in, first out |
/// | [`Batched`](Backend::Batched) | no lock, no atomic read-modify-write | message loops; the default |
///
/// # Examples
///
/// ```
/// use pool_core::Backend;
///
/// assert_eq!("queue".parse(), Ok(Backend::Queue));
/// assert_eq!(Backend::Batched.to_string(), "batched");
/// assert!("stack".parse::<Backend>().is_err()); // the error lists the names
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// Keeps nothing: every acquire allocates, and every drop frees. It is the baseline to measure a pool against, and
    /// lets a sanitizer see each object's allocation and release. Live objects are counted in thread slots; near the
    /// bound, threads use the central lock.
    Heap,
    /// A stack under one lock, which an acquire and a release take once each.
    Mutex,
    /// One queue for all threads: first in, first out. It is a ring without a lock, which grows when more objects are
    /// idle than ever before.
    Queue,
    /// A stack per thread, which exchanges batches of objects with a depot that all threads share.
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

/// When a used object is reset. A value with a name, as [`Backend`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ResetOn {
    /// By the thread that drops the handle, before another thread can acquire the object.
    #[default]
    Release,
    /// By the thread that acquires next. The dropping thread does less; an idle object keeps its last contents.
    ///
    /// If an idle object is not reusable, another is created in its place, so the caller keeps its turn among waiters.
    /// Only `try_acquire_idle`, which never creates an object, discards it and looks for another. An object that was
    /// never acquired is not reset, but `is_reusable` is called.
    Acquire,
}

impl ResetOn {
    /// Both, in the order of the documentation.
    pub const ALL: [ResetOn; 2] = [ResetOn::Release, ResetOn::Acquire];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ResetOn::Release => "release",
            ResetOn::Acquire => "acquire",
        }
    }
}

/// How a pool gets the objects that threads cache, when it ran dry, somebody waits, or it is trimmed, drained, resized or
/// closed. A value with a name, as [`Backend`] is. The guide's page on pinned threads says which call interrupts which
/// threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recall {
    /// At once, by a barrier that interrupts each core that runs a thread of the process. So
    /// [`Exhausted`](crate::AcquireError::Exhausted) is exact.
    #[default]
    Interrupt,
    /// At the thread's next acquire or drop, any other call that takes the pool's lock, or its end. No thread is
    /// interrupted, and a hit costs the same.
    ///
    /// The capacity is never exceeded. But until then the objects in a thread's cache are out of reach: an acquire may
    /// return `Exhausted`, a waiter waits for the thread, [`Pool::wait_idle`](crate::Pool::wait_idle) counts them as in
    /// use, `trim`, `drain`, `retain` and `close` do not see them, and near `max_idle` the cache counts as full. What a
    /// closed pool or a lower bound rejects is dropped by the next acquire, release, `flush` or `wait_idle`. Call
    /// [`Pool::flush`](crate::Pool::flush) before a thread goes quiet.
    ///
    /// The drop of the last [`Pool`](crate::Pool) and a fork interrupt all the same, if a thread has something in its
    /// cache. A [`Queue`](Backend::Queue) takes its lock for each operation in this mode.
    Cooperate,
}

impl Recall {
    /// Both, in the order of the documentation.
    pub const ALL: [Recall; 2] = [Recall::Interrupt, Recall::Cooperate];

    /// The name, as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Recall::Interrupt => "interrupt",
            Recall::Cooperate => "cooperate",
        }
    }
}

/// Writes a choice by its name, and reads it.
macro_rules! named {
    ($Choice:ident, $Error:ident) => {
        impl fmt::Display for $Choice {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $Choice {
            type Err = $Error;

            /// Reads a name, whatever its case.
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $Choice::ALL
                    .into_iter()
                    .find(|choice| choice.name().eq_ignore_ascii_case(name))
                    .ok_or_else(|| $Error::new(name))
            }
        }
    };
}

named!(Backend, ParseBackendError);
named!(ResetOn, ParseResetOnError);
named!(Recall, ParseRecallError);

/// The settings of a pool as plain data: what a [`Builder`] collects, and what a service reads from its configuration
/// file.
///
/// Each field means what the builder's setter of that name says. `None` leaves the setting as it was.
/// [`build`](crate::Builder::build) checks them. [`Builder::memory`](crate::Builder::memory), which can hold an
/// allocator, is not here.
///
/// [`Builder`]: crate::Builder
///
/// # Examples
///
/// ```
/// use pool_core::{Backend, Pool, PoolConfig};
///
/// let mut config = PoolConfig::default();
/// config.backend = Some(Backend::Queue);
/// config.capacity = Some(1_000);
///
/// let pool = Pool::<String>::builder().apply(&config).build()?;
/// assert_eq!((pool.backend(), pool.capacity()), (Backend::Queue, Some(1_000)));
/// # Ok::<(), pool_core::BuildError>(())
/// ```
///
/// With the feature `serde` it is read from any format. Errors name the field:
///
/// ```
/// # #[cfg(feature = "serde")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use pool_core::{Pool, PoolConfig};
///
/// let config: PoolConfig = serde_json::from_str(r#"{ "backend": "batched", "prefill": 64 }"#)?;
/// assert_eq!(Pool::<String>::builder().apply(&config).build()?.idle(), 64);
///
/// let error = serde_json::from_str::<PoolConfig>(r#"{ "prefill": "many" }"#).unwrap_err();
/// assert!(error.to_string().contains("expected `prefill` to be a number of objects"));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "serde"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct PoolConfig {
    /// See [`Builder::backend`](crate::Builder::backend).
    pub backend: Option<Backend>,
    /// See [`Builder::batch_size`](crate::Builder::batch_size).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::batch_size"))]
    pub batch_size: Option<usize>,
    /// See [`Builder::capacity`](crate::Builder::capacity).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::capacity"))]
    pub capacity: Option<usize>,
    /// See [`Builder::prefill`](crate::Builder::prefill).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::prefill"))]
    pub prefill: Option<usize>,
    /// See [`Builder::grow_by`](crate::Builder::grow_by).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::grow_by"))]
    pub grow_by: Option<usize>,
    /// See [`Builder::max_idle`](crate::Builder::max_idle).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::max_idle"))]
    pub max_idle: Option<usize>,
    /// See [`Builder::max_waiting`](crate::Builder::max_waiting).
    #[cfg_attr(feature = "serde", serde(deserialize_with = "objects::max_waiting"))]
    pub max_waiting: Option<usize>,
    /// See [`Builder::track_holders`](crate::Builder::track_holders).
    pub track_holders: Option<bool>,
    /// See [`Builder::reset_on`](crate::Builder::reset_on).
    pub reset_on: Option<ResetOn>,
    /// See [`Builder::recall`](crate::Builder::recall).
    pub recall: Option<Recall>,
    /// See [`Builder::name`](crate::Builder::name).
    pub name: Option<Cow<'static, str>>,
}

impl PoolConfig {
    /// Takes each setting that is `Some` in `other`, such as flags over a file.
    pub fn apply(&mut self, other: &PoolConfig) {
        // Every field by its name, so that none is forgotten.
        let PoolConfig {
            backend,
            batch_size,
            capacity,
            prefill,
            grow_by,
            max_idle,
            max_waiting,
            track_holders,
            reset_on,
            recall,
            name,
        } = other;
        self.backend = backend.or(self.backend);
        self.batch_size = batch_size.or(self.batch_size);
        self.capacity = capacity.or(self.capacity);
        self.prefill = prefill.or(self.prefill);
        self.grow_by = grow_by.or(self.grow_by);
        self.max_idle = max_idle.or(self.max_idle);
        self.max_waiting = max_waiting.or(self.max_waiting);
        self.track_holders = track_holders.or(self.track_holders);
        self.reset_on = reset_on.or(self.reset_on);
        self.recall = recall.or(self.recall);
        if let Some(name) = name {
            self.name = Some(name.clone());
        }
    }

    /// The choices for a pool of `T` on `memory`, checked, and the chunks that it begins with.
    pub(crate) fn check<T>(self, memory: Memory) -> Result<(Config, Chunks<T>), BuildError> {
        let PoolConfig {
            backend,
            batch_size,
            capacity,
            prefill,
            grow_by,
            max_idle,
            max_waiting,
            track_holders,
            reset_on,
            recall,
            name,
        } = self;
        let fail = |kind: BuildErrorKind| Err(kind.into());
        let backend = backend.unwrap_or_default();
        match (batch_size, backend) {
            (Some(0), _) => return fail(BuildErrorKind::ZeroBatchSize),
            (None, _) | (Some(1..=LARGEST_BATCH_SIZE), Backend::Batched) => {}
            (Some(batch_size), Backend::Batched) => {
                return fail(BuildErrorKind::BatchSizeTooLarge {
                    batch_size,
                    most: LARGEST_BATCH_SIZE,
                });
            }
            (Some(batch_size), backend) => {
                return fail(BuildErrorKind::BatchSizeWithoutBatches {
                    batch_size,
                    backend,
                });
            }
        }
        if capacity == Some(0) {
            return fail(BuildErrorKind::ZeroCapacity);
        }
        if grow_by == Some(0) {
            return fail(BuildErrorKind::ZeroGrowBy);
        }
        let prefill = prefill.unwrap_or(0);
        if let Some(capacity) = capacity.filter(|capacity| prefill > *capacity) {
            return fail(BuildErrorKind::PrefillAboveCapacity { prefill, capacity });
        }
        if let Some(max_idle) = max_idle.filter(|max_idle| prefill > *max_idle) {
            return fail(BuildErrorKind::PrefillAboveMaxIdle { prefill, max_idle });
        }
        let batches = batch_size.zip(max_idle);
        if let Some((batch_size, max_idle)) = batches.filter(|(size, max)| *size > max / 2) {
            return fail(BuildErrorKind::BatchSizeAboveMaxIdle {
                batch_size,
                max_idle,
            });
        }
        memory.check()?;
        if backend == Backend::Heap && !memory.is_system() {
            return fail(BuildErrorKind::MemoryWithHeap);
        }
        let grow_by = grow_by.map(|grow_by| grow_by.min(capacity.unwrap_or(usize::MAX)));
        let too_much = |what, objects| BuildErrorKind::TooMuchMemory {
            what,
            objects,
            node_size: Chunks::<T>::block_size(),
        };
        if !memory.is_allocator() {
            for (what, objects) in [("prefill", prefill), ("grow_by", grow_by.unwrap_or(0))] {
                // Asked for, and given back: where it is needed later, no error could be returned.
                if !Chunks::<T>::can_be_had(objects) {
                    return fail(too_much(what, objects));
                }
            }
        }
        let chunks =
            Chunks::begin(&memory, prefill, grow_by, capacity).map_err(|none| match none {
                NoChunk::TooLarge { blocks } if prefill == 0 => too_much("grow_by", blocks),
                NoChunk::TooLarge { .. } => too_much("prefill", prefill),
                NoChunk::Refused(refusal) => BuildErrorKind::Refused(refusal),
            })?;
        // So that several threads can keep two batches each.
        let default_batch_size = match capacity.into_iter().chain(max_idle).min() {
            Some(objects) => (objects / 8).clamp(1, DEFAULT_BATCH_SIZE),
            None => DEFAULT_BATCH_SIZE,
        };
        let config = Config {
            backend,
            batch_size: batch_size.unwrap_or(default_batch_size),
            capacity,
            prefill,
            grow_by,
            max_idle,
            max_waiting,
            track_holders: track_holders.unwrap_or(false),
            reset_on: reset_on.unwrap_or_default(),
            recall: recall.unwrap_or_default(),
            name,
            memory,
        };
        Ok((config, chunks))
    }
}

/// The choices of one pool, checked: nothing is left open.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "std"), allow(dead_code))] // Only pools for many threads have a backend.
pub(crate) struct Config {
    pub(crate) backend: Backend,
    /// Objects in a batch. A thread's cache holds at most two batches.
    pub(crate) batch_size: usize,
    /// The most objects alive at once; `None`, no bound.
    pub(crate) capacity: Option<usize>,
    /// Objects made when the pool is built.
    pub(crate) prefill: usize,
    /// Blocks added per growth step; `None`, as many as there are, within limits.
    pub(crate) grow_by: Option<usize>,
    /// The most objects idle at once; `None`, no limit.
    pub(crate) max_idle: Option<usize>,
    /// The most waiters at once; `None`, no limit.
    pub(crate) max_waiting: Option<usize>,
    /// Whether it is noted who holds each object in use.
    pub(crate) track_holders: bool,
    pub(crate) reset_on: ResetOn,
    pub(crate) recall: Recall,
    pub(crate) name: Option<Cow<'static, str>>,
    pub(crate) memory: Memory,
}

#[cfg(feature = "std")]
impl Config {
    /// Whether an idle object is as its acquirer wants it, and nobody has to know who that is: so that a hit can
    /// hand it out.
    pub(crate) fn has_hits(&self) -> bool {
        self.reset_on == ResetOn::Release && !self.track_holders
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            backend: Backend::default(),
            batch_size: DEFAULT_BATCH_SIZE,
            capacity: None,
            prefill: 0,
            grow_by: None,
            max_idle: None,
            max_waiting: None,
            track_holders: false,
            reset_on: ResetOn::default(),
            recall: Recall::default(),
            name: None,
            memory: Memory::default(),
        }
    }
}

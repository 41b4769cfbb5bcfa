//! Named choices, checked once.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::arena::Arena;
use crate::config::{Backend, Config, ResetOn};
use crate::error::{BuildError, BuildErrorKind};
use crate::lifecycle::{Derived, Lifecycle};
use crate::pool::Pool;

/// The batch size of a pool that was not told one.
const DEFAULT_BATCH_SIZE: usize = 64;

/// The largest batch: an exchange of more would only move memory.
const LARGEST_BATCH_SIZE: usize = 1 << 16;

/// Collects the choices of a pool; from [`Pool::builder`].
///
/// Nothing is checked before [`build`](Self::build), so the setters may come in any order, and the
/// last word on each choice counts.
///
/// # Examples
///
/// ```
/// use pool_core::{Backend, Pool, ResetOn};
///
/// let pool = Pool::<String>::builder()
///     .backend(Backend::Batched)
///     .batch_size(128)
///     .capacity(10_000)
///     .prefill(1_000)
///     .grow_by(256)
///     .max_idle(8_000)
///     .reset_on(ResetOn::Release)
///     .name("orders")
///     .build()?;
/// assert_eq!(pool.idle(), 1_000);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<T, L = Derived> {
    lifecycle: L,
    backend: Backend,
    batch_size: Option<usize>,
    capacity: Option<usize>,
    prefill: usize,
    grow_by: Option<usize>,
    max_idle: Option<usize>,
    reset_on: ResetOn,
    name: Option<Cow<'static, str>>,
    _makes: PhantomData<fn() -> T>,
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
            reset_on: ResetOn::default(),
            name: None,
        }
    }
}

impl<T, L: Lifecycle<T>> Builder<T, L> {
    pub(crate) fn new(lifecycle: L) -> Self {
        Builder {
            lifecycle,
            backend: Backend::default(),
            batch_size: None,
            capacity: None,
            prefill: 0,
            grow_by: None,
            max_idle: None,
            reset_on: ResetOn::default(),
            name: None,
            _makes: PhantomData,
        }
    }

    /// Where idle objects are kept. Default: [`Backend::Batched`].
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// How many objects go between a thread's cache and the depot at a time; a cache holds up to
    /// twice as many, and takes 72 bytes of memory for each of the batch. (A thread whose bursts are
    /// far above that for long earns larger exchanges, and a cache of up to nine batches.) Only for
    /// [`Backend::Batched`], 1 to 65,536.
    ///
    /// Default: 64, or less in a pool with a small bound, so that four threads can cache without
    /// running it dry (an eighth of the capacity, 1 at least).
    pub fn batch_size(mut self, objects: usize) -> Self {
        self.batch_size = Some(objects);
        self
    }

    /// A hard bound on objects alive, idle ones included, on every backend. Default: none.
    pub fn capacity(mut self, objects: usize) -> Self {
        self.capacity = Some(objects);
        self
    }

    /// How many objects to make at once, in [`build`](Self::build). Default: none. A
    /// [`Heap`](Backend::Heap) pool keeps nothing idle, and makes none.
    pub fn prefill(mut self, objects: usize) -> Self {
        self.prefill = objects;
        self
    }

    /// Memory for how many objects to ask the allocator for at a time, when the pool has to make
    /// one and has no room; never more than the capacity leaves. No effect on
    /// [`Heap`](Backend::Heap). Default: as many as there are, at least 32, and at most 1 MiB.
    pub fn grow_by(mut self, objects: usize) -> Self {
        self.grow_by = Some(objects);
        self
    }

    /// How many objects may be idle; those that come back beyond are dropped. Default: no limit.
    ///
    /// Exact: within two batches a thread of the limit, releases go through the depot so that they
    /// can be counted, which costs a lock.
    pub fn max_idle(mut self, objects: usize) -> Self {
        self.max_idle = Some(objects);
        self
    }

    /// When a used object is wiped. Default: [`ResetOn::Release`].
    pub fn reset_on(mut self, when: ResetOn) -> Self {
        self.reset_on = when;
        self
    }

    /// A name, shown where the pool is: in `Debug`, in messages. Default: none.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If the choices disagree: a batch size of 0, of more than 65,536, or for a backend without
    /// batches; a capacity or `grow_by` of 0; a prefill above the capacity or above `max_idle`; more
    /// memory than there are addresses.
    ///
    /// # Panics
    ///
    /// If making an object for `prefill` does; those made before are dropped.
    pub fn build(self) -> Result<Pool<T, L>, BuildError> {
        let (config, lifecycle) = self.into_config()?;
        Ok(Pool::from_config(config, lifecycle))
    }

    /// The choices, checked, and the lifecycle.
    pub(crate) fn into_config(self) -> Result<(Config, L), BuildError> {
        Ok((self.config()?, self.lifecycle))
    }

    /// The choices, checked.
    fn config(&self) -> Result<Config, BuildError> {
        let fail = |kind: BuildErrorKind| Err(kind.into());
        match (self.batch_size, self.backend) {
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
        if self.capacity == Some(0) {
            return fail(BuildErrorKind::ZeroCapacity);
        }
        if self.grow_by == Some(0) {
            return fail(BuildErrorKind::ZeroGrowBy);
        }
        let prefill = self.prefill;
        if let Some(capacity) = self.capacity
            && prefill > capacity
        {
            return fail(BuildErrorKind::PrefillAboveCapacity { prefill, capacity });
        }
        if let Some(max_idle) = self.max_idle
            && prefill > max_idle
        {
            return fail(BuildErrorKind::PrefillAboveMaxIdle { prefill, max_idle });
        }
        let grow_by = self
            .grow_by
            .map(|grow_by| grow_by.min(self.capacity.unwrap_or(usize::MAX)));
        for (what, objects) in [("prefill", prefill), ("grow_by", grow_by.unwrap_or(0))] {
            if !Arena::<T>::fits(objects) {
                return fail(BuildErrorKind::TooMuchMemory {
                    what,
                    objects,
                    node_size: Arena::<T>::node_size(),
                });
            }
        }
        let default_batch_size = match self.capacity {
            Some(capacity) => (capacity / 8).clamp(1, DEFAULT_BATCH_SIZE),
            None => DEFAULT_BATCH_SIZE,
        };
        Ok(Config {
            backend: self.backend,
            batch_size: self.batch_size.unwrap_or(default_batch_size),
            capacity: self.capacity,
            prefill,
            grow_by,
            max_idle: self.max_idle,
            reset_on: self.reset_on,
            name: self.name.clone(),
        })
    }
}

impl<T, L> fmt::Debug for Builder<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("backend", &self.backend)
            .field("batch_size", &self.batch_size)
            .field("capacity", &self.capacity)
            .field("prefill", &self.prefill)
            .field("grow_by", &self.grow_by)
            .field("max_idle", &self.max_idle)
            .field("reset_on", &self.reset_on)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

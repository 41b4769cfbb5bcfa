//! Named choices, checked once.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use crate::config::{Backend, PoolConfig, Recall, ResetOn};
use crate::error::{BuildError, BuildErrorKind};
use crate::lifecycle::{Derived, Lifecycle, Recycle, WithoutCreate};
use crate::memory::Memory;
use crate::pool::Pool;
use crate::shared::Fast;

/// Collects the settings of a pool. [`Pool::builder`] returns one.
///
/// A later call of a setter replaces an earlier one. [`build`](Self::build) checks the settings.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let pool = Pool::<String>::builder().capacity(10_000).prefill(1_000).name("orders").build()?;
/// assert_eq!(pool.idle(), 1_000);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<T, L: Recycle<T> + ?Sized = Derived> {
    hooks: L::Hooks,
    choices: PoolConfig,
    memory: Memory,
    _makes: PhantomData<fn() -> T>,
}

impl<T, L: Recycle<T> + ?Sized> Builder<T, L> {
    pub(crate) fn new(hooks: L::Hooks) -> Self {
        Builder {
            hooks,
            choices: PoolConfig::default(),
            memory: Memory::default(),
            _makes: PhantomData,
        }
    }

    /// Applies each setting that is `Some` in `config`, as if its setter were called now.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Pool, PoolConfig};
    ///
    /// let mut file = PoolConfig::default();
    /// (file.capacity, file.prefill) = (Some(100), Some(10));
    /// let mut flags = PoolConfig::default();
    /// flags.capacity = Some(200);
    ///
    /// let pool = Pool::<String>::builder().apply(&file).apply(&flags).build()?;
    /// assert_eq!((pool.capacity(), pool.idle()), (Some(200), 10));
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn apply(mut self, config: &PoolConfig) -> Self {
        self.choices.apply(config);
        self
    }

    /// Where idle objects are kept. Default: [`Backend::Batched`].
    pub fn backend(mut self, backend: Backend) -> Self {
        self.choices.backend = Some(backend);
        self
    }

    /// How many objects move between a thread's cache and the depot at a time: 1 to 65,536. For
    /// [`Backend::Batched`] only.
    ///
    /// A cache holds up to two batches, and takes 72 bytes of memory for each object of a batch. If the bursts of a
    /// thread stay far above that, the thread gets larger refills and a cache of up to nine batches.
    ///
    /// Default: 64, or an eighth of the capacity or of [`max_idle`](Self::max_idle) if that is less, but at least 1. Two
    /// batches have to fit into `max_idle`. If `max_idle` is below 2, threads cache nothing.
    pub fn batch_size(mut self, objects: usize) -> Self {
        self.choices.batch_size = Some(objects);
        self
    }

    /// A hard bound on live objects, idle ones included, on every backend: 1 or more. Default: none.
    ///
    /// At the bound [`acquire`](Pool::acquire) waits, and [`try_acquire`](Pool::try_acquire) fails.
    /// [`Pool::set_capacity`] changes the bound later.
    pub fn capacity(mut self, objects: usize) -> Self {
        self.choices.capacity = Some(objects);
        self
    }

    /// How many objects to allocate memory for at a time, within the capacity. No effect on [`Heap`](Backend::Heap).
    ///
    /// Default: as many as there are, at least 32, and at most 2 MiB or a 64th of them. A step of 2 MiB or more asks for
    /// large pages (Linux's transparent huge pages), for fewer page faults.
    pub fn grow_by(mut self, objects: usize) -> Self {
        self.choices.grow_by = Some(objects);
        self
    }

    /// How many objects may be idle. An object that is released beyond that is dropped. Default: no limit.
    ///
    /// The limit is exact. While a [`Batched`](Backend::Batched) pool is within two batches per thread of the limit,
    /// each release takes a lock, because the depot counts it.
    pub fn max_idle(mut self, objects: usize) -> Self {
        self.choices.max_idle = Some(objects);
        self
    }

    /// How many threads and tasks may wait for an object at once. Default: no limit. With 0, nothing waits.
    ///
    /// An acquire that would be one more waiter returns [`Saturated`](crate::AcquireError::Saturated) at once;
    /// [`acquire`](Pool::acquire) and [`acquire_many`](Pool::acquire_many) panic.
    pub fn max_waiting(mut self, waiters: usize) -> Self {
        self.choices.max_waiting = Some(waiters);
        self
    }

    /// Whether to record where and when each object in use was acquired. Default: no.
    ///
    /// [`Pool::holders`] lists the records, and so does `{:#?}` of the pool. The message of a
    /// [`Timeout`](crate::AcquireError::Timeout) names the oldest. With tracking, each acquire and each release takes
    /// one more lock, and no backend has a fast path.
    pub fn track_holders(mut self, track: bool) -> Self {
        self.choices.track_holders = Some(track);
        self
    }

    /// When a used object is reset. Default: [`ResetOn::Release`].
    pub fn reset_on(mut self, when: ResetOn) -> Self {
        self.choices.reset_on = Some(when);
        self
    }

    /// How the pool gets idle objects out of the caches of other threads. Default: [`Recall::Interrupt`].
    /// [`Recall::Cooperate`] is for pinned threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Pool, Recall};
    ///
    /// let pool = Pool::<String>::builder().recall(Recall::Cooperate).build()?;
    /// drop(pool.acquire());
    /// pool.trim(0);
    /// assert_eq!(pool.stats().revocations, 0);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn recall(mut self, how: Recall) -> Self {
        self.choices.recall = Some(how);
        self
    }

    /// Where the memory of the objects comes from. Default: [`Memory::system`], the global allocator.
    ///
    /// `build` fails if the system refuses the first chunk of another memory; [`Memory`] says what happens to a later
    /// one. [`Heap`](Backend::Heap) takes no other memory.
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// A name for the pool. `Debug`, panic messages, metrics and events show it. Default: none.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.choices.name = Some(name.into());
        self
    }
}

impl<T, L: Lifecycle<T>> Builder<T, L> {
    /// How many objects [`build`](Self::build) creates in advance. Default: none. A [`Heap`](Backend::Heap) pool keeps
    /// nothing idle, so it ignores this.
    pub fn prefill(mut self, objects: usize) -> Self {
        self.choices.prefill = Some(objects);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    ///
    /// - A batch size of 0, of more than 65,536, of more than half of `max_idle`, or for a backend without batches.
    /// - A capacity or `grow_by` of 0.
    /// - A prefill above the capacity or above `max_idle`.
    /// - More memory than is available, or [`memory`](Self::memory) that the system refuses.
    ///
    /// # Panics
    ///
    /// If creating an object for `prefill` panics. Objects created before are dropped.
    pub fn build(self) -> Result<Pool<T, L>, BuildError> {
        let config = self.choices.check::<T>(self.memory)?;
        let prefill = config.0.prefill;
        let fast = Fast::creating(&config.0);
        let pool = Pool::from_config(config, self.hooks, fast);
        pool.reserve(prefill);
        Ok(pool)
    }
}

impl<T, R: Fn(&mut T)> Builder<T, WithoutCreate<R>> {
    /// Builds the pool, empty.
    ///
    /// # Errors
    ///
    /// As for a pool that creates objects. Also if an applied [`PoolConfig`] has a prefill.
    pub fn build(self) -> Result<Pool<T, WithoutCreate<R>>, BuildError> {
        let (config, chunks) = self.choices.check::<T>(self.memory)?;
        match config.prefill {
            0 => {
                let fast = Fast::new(&config);
                Ok(Pool::from_config((config, chunks), self.hooks, fast))
            }
            prefill => Err(BuildErrorKind::PrefillWithoutCreate { prefill }.into()),
        }
    }
}

/// A clone has the same settings, the name included. Give a second pool a name of its own.
impl<T, L: Recycle<T> + ?Sized> Clone for Builder<T, L>
where
    L::Hooks: Clone,
{
    fn clone(&self) -> Self {
        Builder {
            hooks: self.hooks.clone(),
            choices: self.choices.clone(),
            memory: self.memory.clone(),
            _makes: PhantomData,
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for Builder<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("choices", &self.choices)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

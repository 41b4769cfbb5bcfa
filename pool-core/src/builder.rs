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

    /// Makes each choice that `config` makes, as if by its setter; choices that it leaves open stay as
    /// they are. So a configuration that is applied later wins over an earlier one, and a setter called later wins
    /// over both.
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

    /// How many objects go between a thread's cache and the depot at a time; a cache holds up to
    /// twice as many, and takes 72 bytes of memory for each of the batch. (A thread whose bursts are
    /// far above that for long gets larger refills, and a cache of up to nine batches.) Only for
    /// [`Backend::Batched`], 1 to 65,536.
    ///
    /// Default: 64, or less in a pool with a small bound, so that four threads can cache without
    /// running it dry (an eighth of the capacity or of `max_idle`, 1 at least). A batch that was asked for has to
    /// fit twice into [`max_idle`](Self::max_idle); if that is below 2, threads keep nothing and each operation
    /// takes the lock.
    pub fn batch_size(mut self, objects: usize) -> Self {
        self.choices.batch_size = Some(objects);
        self
    }

    /// A hard bound on objects alive, idle ones included, on every backend. Default: none.
    pub fn capacity(mut self, objects: usize) -> Self {
        self.choices.capacity = Some(objects);
        self
    }

    /// Memory for how many objects to ask the allocator for at a time, when the pool has to make
    /// one and has no room; never more than the capacity leaves. No effect on
    /// [`Heap`](Backend::Heap). Default: as many as there are, at least 32, and at most 2 MiB
    /// or a 64th of them. A step of 2 MiB or more starts at a large page of the system, and asks for
    /// large pages (Linux's transparent huge pages), so that a pool of many objects takes fewer faults.
    pub fn grow_by(mut self, objects: usize) -> Self {
        self.choices.grow_by = Some(objects);
        self
    }

    /// How many objects may be idle; objects that come back beyond that are dropped. Default: no limit.
    ///
    /// Exact: in a [`Batched`](Backend::Batched) pool within two batches per thread of the limit, releases go
    /// through the depot so that they can be counted, which costs a lock.
    pub fn max_idle(mut self, objects: usize) -> Self {
        self.choices.max_idle = Some(objects);
        self
    }

    /// How many threads and tasks may wait for an object at once. One more that would wait is refused with
    /// [`Saturated`](crate::AcquireError::Saturated) at once, and counted: under overload a quick no is better than a
    /// late yes. Default: no limit; 0: none waits.
    ///
    /// [`acquire`](Pool::acquire) and [`acquire_many`](Pool::acquire_many) have no error to return, and panic.
    pub fn max_waiting(mut self, waiters: usize) -> Self {
        self.choices.max_waiting = Some(waiters);
        self
    }

    /// Whether to note who holds each object in use: where it was acquired, and since when. Default: no.
    ///
    /// For finding out who keeps what: [`Pool::holders`] lists them, the alternate `Debug` form of the pool (`{:#?}`)
    /// shows them, and the message of a [`Timeout`](crate::AcquireError::Timeout) names the oldest. Each acquire and
    /// each release looks at the clock or takes one more lock then, and no backend has a fast path. Without it a hit
    /// pays nothing.
    pub fn track_holders(mut self, track: bool) -> Self {
        self.choices.track_holders = Some(track);
        self
    }

    /// When a used object is reset. Default: [`ResetOn::Release`].
    pub fn reset_on(mut self, when: ResetOn) -> Self {
        self.choices.reset_on = Some(when);
        self
    }

    /// How the pool gets at what other threads cache. Default: [`Recall::Interrupt`]; [`Recall::Cooperate`] is for
    /// pinned threads.
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
    /// With any other, `build` gets the first chunk, and what is refused then is an error; see [`Memory`] for
    /// chunks that are needed later. [`Heap`](Backend::Heap), which asks the global allocator for each object, is
    /// refused with any other.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # {
    /// use pool_core::{Huge, Memory, Pool};
    ///
    /// let pages = Memory::pages().huge(Huge::Transparent).prefaulted();
    /// match Pool::<[u64; 8]>::builder().memory(pages).prefill(10_000).build() {
    ///     Ok(pool) => assert!(pool.stats().huge_bytes >= 640_000),
    ///     Err(error) => eprintln!("{error}"), // the system has none
    /// }
    ///
    /// let nowhere = Pool::<String>::builder().memory(Memory::pages().node(9_999)).build();
    /// assert!(nowhere.unwrap_err().to_string().starts_with("memory node 9999: "));
    /// # }
    /// ```
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// A name, shown where the pool is: in `Debug`, in messages, in metrics and events. Default: none.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.choices.name = Some(name.into());
        self
    }
}

impl<T, L: Lifecycle<T>> Builder<T, L> {
    /// How many objects to make at once, in [`build`](Self::build). Default: none. A
    /// [`Heap`](Backend::Heap) pool keeps nothing idle, and makes none.
    pub fn prefill(mut self, objects: usize) -> Self {
        self.choices.prefill = Some(objects);
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If the choices disagree: a batch size of 0, of more than 65,536, or for a backend without
    /// batches; a capacity or `grow_by` of 0; a prefill above the capacity or above `max_idle`; more
    /// memory than can be had; [`memory`](Self::memory) that the system refuses.
    ///
    /// # Panics
    ///
    /// If making an object for `prefill` does; objects made before are dropped.
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
    /// Makes the pool, empty.
    ///
    /// # Errors
    ///
    /// As for a pool that makes objects; and if a [`PoolConfig`] asked for a prefill.
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

/// Of the same choices. The name goes with them: a second pool may want one of its own.
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

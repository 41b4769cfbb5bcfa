//! The settings of a pool for one thread.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;

use super::Pool;
use crate::config::{PoolConfig, ResetOn};
use crate::error::BuildError;
use crate::lifecycle::{Derived, Lifecycle, Recycle};
use crate::memory::Memory;

/// Collects the settings of a pool for one thread. [`Pool::builder`] returns one. The setters are those of
/// [`pool_core::Builder`](crate::Builder) that do not concern threads.
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<T, L: Recycle<T> + ?Sized = Derived> {
    hooks: L::Hooks,
    choices: PoolConfig,
    memory: Memory,
    _makes: PhantomData<fn() -> T>,
}

impl<T, L: Recycle<T> + ?Sized> Builder<T, L> {
    pub(super) fn new(hooks: L::Hooks) -> Self {
        Builder {
            hooks,
            choices: PoolConfig::default(),
            memory: Memory::default(),
            _makes: PhantomData,
        }
    }

    /// Applies each setting that is `Some` in `config`. Backend, batch size, waiters, holders and recall have no effect.
    pub fn apply(mut self, config: &PoolConfig) -> Self {
        self.choices.apply(&PoolConfig {
            backend: None,
            batch_size: None,
            max_waiting: None,
            track_holders: None,
            recall: None,
            ..config.clone()
        });
        self
    }

    /// A hard bound on live objects, idle ones included. Default: none.
    pub fn capacity(mut self, objects: usize) -> Self {
        self.choices.capacity = Some(objects);
        self
    }

    /// How many objects to allocate memory for at a time. Default: as
    /// [`pool_core::Builder::grow_by`](crate::Builder::grow_by).
    pub fn grow_by(mut self, objects: usize) -> Self {
        self.choices.grow_by = Some(objects);
        self
    }

    /// How many objects may be idle. An object that is released beyond that is dropped. Default: no limit.
    pub fn max_idle(mut self, objects: usize) -> Self {
        self.choices.max_idle = Some(objects);
        self
    }

    /// When a used object is reset. Default: [`ResetOn::Release`].
    pub fn reset_on(mut self, when: ResetOn) -> Self {
        self.choices.reset_on = Some(when);
        self
    }

    /// Where the memory of the objects comes from. Default: [`Memory::system`], the global allocator.
    /// As [`pool_core::Builder::memory`](crate::Builder::memory).
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// A name for the pool, in `Debug`, panic messages and events. Default: none.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.choices.name = Some(name.into());
        self
    }
}

impl<T, L: Lifecycle<T>> Builder<T, L> {
    /// How many objects [`build`](Self::build) creates in advance. Default: none.
    pub fn prefill(mut self, objects: usize) -> Self {
        self.choices.prefill = Some(objects);
        self
    }

    /// Builds the pool.
    ///
    /// # Errors
    ///
    /// As [`pool_core::Builder::build`](crate::Builder::build).
    ///
    /// # Panics
    ///
    /// If creating an object for `prefill` panics. Objects created before are dropped.
    pub fn build(self) -> Result<Pool<T, L>, BuildError> {
        let config = self.choices.check::<T>(self.memory)?;
        let prefill = config.0.prefill;
        let pool = Pool::from_config(config, self.hooks);
        pool.reserve(prefill);
        Ok(pool)
    }
}

/// A clone has the same settings, the name included.
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

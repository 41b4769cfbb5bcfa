//! The choices that a pool for one thread leaves.

use std::borrow::Cow;

use super::Pool;
use crate::builder::Builder as SharedBuilder;
use crate::config::{Backend, ResetOn};
use crate::error::BuildError;
use crate::lifecycle::{Derived, Lifecycle};

/// Collects the choices of a pool for one thread; from [`Pool::builder`]. As
/// [`pool_core::Builder`](crate::Builder), without a backend to choose.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder<T, L = Derived> {
    choices: SharedBuilder<T, L>,
}

impl<T, L: Lifecycle<T>> Builder<T, L> {
    pub(super) fn new(lifecycle: L) -> Self {
        Builder {
            choices: SharedBuilder::new(lifecycle).backend(Backend::Mutex),
        }
    }

    /// A hard bound on objects alive, idle ones included. Default: none.
    pub fn capacity(mut self, objects: usize) -> Self {
        self.choices = self.choices.capacity(objects);
        self
    }

    /// How many objects to make at once, in [`build`](Self::build). Default: none.
    pub fn prefill(mut self, objects: usize) -> Self {
        self.choices = self.choices.prefill(objects);
        self
    }

    /// Memory for how many objects to ask the allocator for at a time. Default: as many as there
    /// are, at least 32, and at most 1 MiB.
    pub fn grow_by(mut self, objects: usize) -> Self {
        self.choices = self.choices.grow_by(objects);
        self
    }

    /// How many objects may be idle; those that come back beyond are dropped. Default: no limit.
    pub fn max_idle(mut self, objects: usize) -> Self {
        self.choices = self.choices.max_idle(objects);
        self
    }

    /// When a used object is wiped. Default: [`ResetOn::Release`].
    pub fn reset_on(mut self, when: ResetOn) -> Self {
        self.choices = self.choices.reset_on(when);
        self
    }

    /// A name, shown where the pool is. Default: none.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.choices = self.choices.name(name);
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If the choices disagree, as for [`pool_core::Builder::build`](crate::Builder::build).
    ///
    /// # Panics
    ///
    /// If making an object for `prefill` does; those made before are dropped.
    pub fn build(self) -> Result<Pool<T, L>, BuildError> {
        let (config, lifecycle) = self.choices.into_config()?;
        Ok(Pool::from_config(config, lifecycle))
    }
}

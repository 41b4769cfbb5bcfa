//! The one place that chooses between the primitives of the machine and loom's model of them.
//!
//! Everything that threads share goes through here: atomics, the mutex and condition variable,
//! [`UnsafeCell`], thread-locals, and the two halves of the asymmetric [`barrier`]. Built with
//! `--cfg loom`, the same code runs under the model checker.

pub(crate) mod barrier;
mod counter;

pub(crate) use counter::ProcessCounter;

#[cfg(not(loom))]
mod machine;
#[cfg(not(loom))]
pub(crate) use machine::*;

#[cfg(loom)]
mod model;
#[cfg(loom)]
pub(crate) use model::*;

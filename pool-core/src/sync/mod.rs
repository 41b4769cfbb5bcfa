//! The one place that chooses between the primitives of the machine and loom's model of them.
//!
//! Everything that threads share goes through here: atomics, the mutex and condition variable,
//! [`UnsafeCell`], thread-locals, and the two halves of the [`barrier`]. Built with
//! `--cfg loom`, the same code runs under the model checker.

#[cfg(feature = "std")]
pub(crate) mod barrier;
#[cfg(feature = "std")]
mod counter;

#[cfg(feature = "std")]
pub(crate) use counter::ProcessCounter;

#[cfg(all(feature = "std", not(loom)))]
mod machine;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) use machine::*;

#[cfg(loom)]
mod model;
#[cfg(loom)]
pub(crate) use model::*;

// Pools for one thread need no more than the type.
#[cfg(not(feature = "std"))]
pub(crate) use core::sync::atomic::AtomicU32;

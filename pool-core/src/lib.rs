//! Typed object pools for message loops that cannot afford the allocator.
#![deny(unsafe_code)]

// In the order of an object's road: promised, made, chosen for, acquired, held, given back, kept.
mod arena;
mod backend;
mod builder;
mod config;
mod error;
mod handle;
mod inner;
mod ledger;
mod lifecycle;
mod pool;
pub mod poolable;
mod release;
mod stats;
mod sync;
mod wait;

pub use builder::Builder;
pub use config::{Backend, ResetOn};
pub use error::{AcquireError, AttachError, BuildError, ParseBackendError};
pub use handle::Pooled;
pub use lifecycle::{Derived, Hooks, Lifecycle};
pub use pool::{Drain, Pool};
#[doc(hidden)]
pub use poolable::build as __private;
pub use poolable::{MaxCapacity, Place, Poolable, Ready};
pub use stats::Stats;

#[cfg(feature = "derive")]
pub use pool_derive::Poolable;

//! Typed object pools for message loops that cannot afford the allocator.
#![deny(unsafe_code)]

// In the order of an object's road: promised, chosen for, acquired, held, given back, kept.
pub mod poolable;
mod lifecycle;
mod builder;
mod config;
mod pool;
mod inner;
mod ledger;
mod handle;
mod release;
mod backend;
mod wait;
mod arena;
pub mod unsync;
mod stats;
mod error;
mod sync;

#[cfg(all(test, loom))]
mod models;

pub use builder::Builder;
pub use config::{Backend, ResetOn};
pub use error::{AcquireError, AttachError, BuildError, ParseBackendError};
pub use handle::{Burst, Pooled, SharedPooled};
pub use lifecycle::{Derived, Hooks, Lifecycle};
pub use pool::{Drain, Pool};
#[doc(hidden)]
pub use poolable::build as __private;
pub use poolable::{MaxCapacity, Place, Poolable, Ready};
pub use stats::Stats;

#[cfg(feature = "derive")]
pub use pool_derive::Poolable;

//! Typed object pools for message loops that cannot afford the allocator.
#![deny(unsafe_code)]

pub mod poolable;

pub use poolable::{Place, Poolable, Ready};

#[cfg(feature = "derive")]
pub use pool_derive::Poolable;

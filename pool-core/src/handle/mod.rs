//! What a user holds: an object until it is dropped.

pub(crate) mod forward;
pub(crate) mod own;
pub(crate) mod slice;

#[cfg(feature = "std")]
mod pooled;
#[cfg(feature = "std")]
mod shared;
#[cfg(feature = "std")]
mod burst;

#[cfg(feature = "std")]
pub use burst::Burst;
#[cfg(feature = "std")]
pub use pooled::Pooled;
#[cfg(feature = "std")]
pub use shared::SharedPooled;

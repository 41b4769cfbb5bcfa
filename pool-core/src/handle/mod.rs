//! What a user holds: an object until it is dropped.

pub(crate) mod forward;

mod pooled;
mod shared;
mod burst;

pub use burst::Burst;
pub use pooled::Pooled;
pub use shared::SharedPooled;

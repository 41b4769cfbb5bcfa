//! What a user holds: an object until it is dropped.

mod burst;
mod pooled;

pub use burst::Burst;
pub use pooled::Pooled;

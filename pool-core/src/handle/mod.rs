//! What a user holds: an object until it is dropped.

mod pooled;

pub use pooled::Pooled;

//! What a pool says of itself: counts, metrics, events, and its configuration as text.

#[cfg(feature = "std")]
pub(crate) mod holders;
#[cfg(feature = "metrics")]
pub(crate) mod metrics;
#[cfg(feature = "serde")]
pub(crate) mod serial;
pub(crate) mod stats;
pub(crate) mod trace;

//! The tests of optional features. Each module also compiles and passes with its feature alone, which
//! `ci/features.sh` checks.
//!
//! `cargo test` in the root of the repository enables every feature.

#[cfg(all(feature = "serde", feature = "derive", feature = "std"))]
mod config;
#[cfg(any(
    feature = "arrayvec",
    feature = "bytes",
    feature = "chrono",
    feature = "hashbrown",
    feature = "heapless",
    feature = "indexmap",
    feature = "rust_decimal",
    feature = "smallvec",
    feature = "uuid"
))]
mod crates;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "tracing")]
mod tracing;
mod unsync_panics;

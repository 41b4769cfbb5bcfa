//! Measures pool-core against its rivals.

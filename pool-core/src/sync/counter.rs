//! A count that is part of no protocol, and so of no model.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers that are given once in the life of the process.
pub(crate) struct ProcessCounter(AtomicU64);

impl ProcessCounter {
    pub(crate) const fn new(first: u64) -> Self {
        ProcessCounter(AtomicU64::new(first))
    }

    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

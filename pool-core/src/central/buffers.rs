//! Buffers for bursts: the arrays in which a [`Burst`](crate::Burst) keeps its handles, reused so that steady
//! state allocates nothing.

use crate::object::ErasedObject;
use crate::sync::Mutex;

/// Buffers that a pool keeps. More bursts than this at a time have theirs from the allocator.
const KEPT: usize = 32;

/// Empty buffers, shared by all threads.
// A lock of its own: the thread that has it asks for no other.
pub(crate) struct Buffers(Mutex<Vec<Vec<ErasedObject>>>);

impl Buffers {
    pub(super) fn new() -> Self {
        Buffers(Mutex::new(Vec::with_capacity(KEPT)))
    }

    /// A buffer with room for `n`.
    pub(super) fn take(&self, n: usize) -> Vec<ErasedObject> {
        let mut buffer = self.0.lock().pop().unwrap_or_default();
        buffer.reserve(n);
        buffer
    }

    /// Keeps a buffer, unless there are enough. Forgets what is in it, which the caller has taken over.
    pub(super) fn give(&self, mut buffer: Vec<ErasedObject>) {
        buffer.clear();
        if buffer.capacity() == 0 {
            return;
        }
        let mut kept = self.0.lock();
        if kept.len() < KEPT {
            kept.push(buffer);
        }
    }

    /// Frees the buffers that are kept: that of a large burst is as large.
    pub(super) fn clear(&self) {
        let kept: Vec<_> = self.0.lock().drain(..).collect();
        drop(kept);
    }

    /// The lock, for a fork.
    pub(super) fn mutex(&self) -> &Mutex<Vec<Vec<ErasedObject>>> {
        &self.0
    }
}

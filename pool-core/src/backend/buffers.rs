//! Buffers for bursts: the arrays that a [`Burst`](crate::Burst) keeps its handles in, used again so
//! that steady state allocates nothing.

use crossbeam_queue::ArrayQueue;

use crate::arena::NodePtr;

/// Buffers that a pool keeps. More bursts than this at a time have theirs from the allocator.
const KEPT: usize = 32;

/// Empty buffers, shared by all threads.
pub(super) struct Buffers(ArrayQueue<Vec<NodePtr>>);

impl Buffers {
    pub(super) fn new() -> Self {
        Buffers(ArrayQueue::new(KEPT))
    }

    /// A buffer with room for `n`.
    pub(super) fn take(&self, n: usize) -> Vec<NodePtr> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.reserve(n);
        buffer
    }

    /// Keeps a buffer, unless there are enough. What is in it is left to the caller, who has taken
    /// it over.
    pub(super) fn give(&self, mut buffer: Vec<NodePtr>) {
        buffer.clear();
        if buffer.capacity() > 0 {
            // Full: freed here.
            drop(self.0.push(buffer));
        }
    }
}

//! The memory of objects, for many threads: the chunks under a lock.

use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;

use super::{Chunk, Chunks, Node};
use crate::sync::{Mutex, Seized};
use crate::trace;

/// Nodes for many threads.
pub(crate) struct Arena<T> {
    kind: Kind<T>,
    grow_by: Option<usize>,
    capacity: Option<usize>,
    /// Nodes that were added, for the pool to tell of when the locks are given up.
    untold: trace::Untold,
}

enum Kind<T> {
    /// Each node by itself from the allocator.
    Single,
    Chunked {
        chunks: Mutex<Chunks<T>>,
        /// Held by the thread that grows.
        growth: Mutex<()>,
    },
}

impl<T> Arena<T> {
    /// Nodes in chunks.
    pub(crate) fn chunked(grow_by: Option<usize>, capacity: Option<usize>) -> Self {
        let kind = Kind::Chunked {
            chunks: Mutex::new(Chunks::new()),
            growth: Mutex::new(()),
        };
        Arena {
            kind,
            grow_by,
            capacity,
            untold: trace::Untold::new(),
        }
    }

    /// Each node by itself, straight from the allocator.
    pub(crate) fn single() -> Self {
        Arena {
            kind: Kind::Single,
            grow_by: None,
            capacity: None,
            untold: trace::Untold::new(),
        }
    }

    /// A vacant node.
    pub(crate) fn take(&self) -> NonNull<Node<T>> {
        let (chunks, growth) = match &self.kind {
            Kind::Single => {
                // Freed in `give`.
                let lot = ManuallyDrop::new(Chunk::new(1)).memory;
                // SAFETY: allocated just now.
                return unsafe { Node::prepare(lot) };
            }
            Kind::Chunked { chunks, growth } => (chunks, growth),
        };
        if let Some(node) = chunks.lock().take() {
            return node;
        }
        let _growing = growth.lock();
        loop {
            // Another thread may have grown while this one waited to.
            let step = {
                let mut chunks = chunks.lock();
                if let Some(node) = chunks.take() {
                    return node;
                }
                chunks.next_step(self.grow_by, self.capacity)
            };
            let chunk = Chunk::for_growth(step);
            chunks.lock().add(chunk);
            self.untold.note(step);
        }
    }

    /// Makes sure that the next `nodes` takes find memory there, as one chunk if need be.
    pub(crate) fn reserve(&self, nodes: usize) {
        if let Kind::Chunked { chunks, growth } = &self.kind {
            let _growing = growth.lock();
            let missing = nodes.saturating_sub(chunks.lock().available());
            if missing > 0 {
                let chunk = Chunk::for_growth(missing);
                chunks.lock().add(chunk);
                self.untold.note(missing);
            }
        }
    }

    /// Nodes that were added and not told of yet.
    #[inline]
    pub(crate) fn untold_nodes(&self) -> usize {
        self.untold.take()
    }

    /// Frees the chunks that hold no object. Others can give nodes back meanwhile; who finds none
    /// vacant waits as for one that grows.
    pub(crate) fn shrink(&self) {
        if let Kind::Chunked { chunks, growth } = &self.kind {
            let _growing = growth.lock();
            // Nobody adds a chunk while this thread may grow; those left in place are without any.
            let mut all = mem::replace(&mut *chunks.lock(), Chunks::new());
            let unused = all.take_unused();
            {
                let mut chunks = chunks.lock();
                while let Some(node) = chunks.take() {
                    // SAFETY: given back just now, to this arena.
                    unsafe { all.give(node) };
                }
                *chunks = all;
            }
            unused.into_iter().for_each(Chunk::vacate);
        }
    }

    /// Takes back a node that is vacant again.
    ///
    /// # Safety
    ///
    /// `node` came from [`take`](Self::take) of this arena, is the caller's alone, and its object
    /// is gone.
    pub(crate) unsafe fn give(&self, node: NonNull<Node<T>>) {
        match &self.kind {
            Kind::Single => drop(Chunk {
                memory: Node::lot(node),
                nodes: 1,
            }),
            // SAFETY: by contract.
            Kind::Chunked { chunks, .. } => unsafe { chunks.lock().give(node) },
        }
    }

    /// Keeps other threads out, for a fork.
    pub(crate) fn before_fork(&self) {
        if let Kind::Chunked { chunks, growth } = &self.kind {
            growth.seize(|()| {});
            chunks.seize(|_| {});
        }
    }

    /// Lets them in again.
    pub(crate) fn after_fork(&self, seized: &Seized) {
        if let Kind::Chunked { chunks, growth } = &self.kind {
            chunks.release(seized, |_| {});
            growth.release(seized, |()| {});
        }
    }
}

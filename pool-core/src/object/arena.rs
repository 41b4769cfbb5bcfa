//! The memory of a pool for many threads: the chunks under a lock.
//!
//! The lock is never held while memory is asked for: one thread can grow the pool while others find
//! vacant blocks. (The pages of a chunk that was had are brought in under the lock, a few at a time.)
#![allow(unsafe_code)] // Locks without guards, and blocks that go back to where they came from.

use super::block::Block;
use super::chunks::{Chunk, Chunks};
use super::pages::Held;
use crate::config::{Backend, Config};
use crate::memory::Memory;
use crate::observe::trace;
use crate::sync::{AtomicUsize, Mutex, Ordering, Seized};

/// Blocks for many threads.
pub(crate) struct Arena<T> {
    kind: Kind<T>,
    grow_by: Option<usize>,
    /// The most objects there may be; `usize::MAX` if there is no bound. Chunks are no larger than it leaves.
    capacity: AtomicUsize,
    memory: Memory,
    /// Blocks that were added, for the pool to report when the locks are given up.
    unreported: trace::Unreported,
}

enum Kind<T> {
    /// Each block by itself from the allocator.
    Single,
    Chunked {
        chunks: Mutex<Chunks<T>>,
        /// Held by the thread that grows.
        growth: Mutex<()>,
        /// Held by the thread that shrinks, which has the chunks to itself for a while.
        shrinking: Mutex<()>,
    },
}

impl<T> Arena<T> {
    /// The memory of a pool that begins with `chunks`.
    pub(crate) fn new(config: &Config, chunks: Chunks<T>) -> Self {
        let unreported = trace::Unreported::new();
        unreported.note(chunks.blocks());
        let kind = match config.backend {
            Backend::Heap => Kind::Single,
            _ => Kind::Chunked {
                chunks: Mutex::new(chunks),
                growth: Mutex::new(()),
                shrinking: Mutex::new(()),
            },
        };
        Arena {
            kind,
            grow_by: config.grow_by,
            capacity: AtomicUsize::new(config.capacity.unwrap_or(usize::MAX)),
            memory: config.memory.clone(),
            unreported,
        }
    }

    /// What the chunks have.
    pub(crate) fn held(&self) -> Held {
        match &self.kind {
            Kind::Single => Held::default(),
            Kind::Chunked { chunks, .. } => chunks.lock().held(),
        }
    }

    /// Changes the most objects there may be.
    pub(crate) fn set_capacity(&self, capacity: Option<usize>) {
        // Relaxed: see `take`.
        (self.capacity).store(capacity.unwrap_or(usize::MAX), Ordering::Relaxed);
    }

    /// A vacant block.
    #[inline]
    pub(crate) fn take(&self) -> Block<T> {
        match &self.kind {
            Kind::Single => Chunk::new(1).into_single(),
            Kind::Chunked { chunks, growth, .. } => self.take_of(chunks, growth),
        }
    }

    #[inline(never)]
    fn take_of(&self, chunks: &Mutex<Chunks<T>>, growth: &Mutex<()>) -> Block<T> {
        let vacant = chunks.lock().take();
        vacant.unwrap_or_else(|| self.grow_and_take(chunks, growth))
    }

    #[cold]
    #[inline(never)]
    fn grow_and_take(&self, chunks: &Mutex<Chunks<T>>, growth: &Mutex<()>) -> Block<T> {
        let _growing = growth.lock();
        loop {
            // Another thread may have grown while this one waited to.
            let step = {
                let mut chunks = chunks.lock();
                if let Some(block) = chunks.take() {
                    return block;
                }
                // Relaxed: only the size of the chunk depends on it.
                chunks.next_step(self.grow_by, Some(self.capacity.load(Ordering::Relaxed)))
            };
            self.unreported.note(self.grow(chunks, step));
        }
    }

    /// Adds a chunk, of `blocks` at least; gives how many it has. The caller has the lock for growth.
    fn grow(&self, chunks: &Mutex<Chunks<T>>, blocks: usize) -> usize {
        let chunk = Chunk::for_growth(blocks, &self.memory);
        chunks.lock().add(chunk)
    }

    /// Makes sure that the next `blocks` takes find memory there, as one chunk if need be.
    pub(crate) fn reserve(&self, blocks: usize) {
        if let Kind::Chunked { chunks, growth, .. } = &self.kind {
            let _growing = growth.lock();
            let missing = blocks.saturating_sub(chunks.lock().available());
            if missing > 0 {
                self.unreported.note(self.grow(chunks, missing));
            }
        }
    }

    /// Blocks that were added and not reported yet.
    #[inline]
    pub(crate) fn unreported_blocks(&self) -> usize {
        self.unreported.take()
    }

    /// Frees the chunks that hold no object. Other threads can take blocks and give them back meanwhile; one that
    /// finds none vacant grows the pool, rather than wait for the walk over all that are.
    pub(crate) fn shrink(&self) {
        if let Kind::Chunked {
            chunks, shrinking, ..
        } = &self.kind
        {
            let _shrinking = shrinking.lock();
            let mut all = chunks.lock().take_all();
            let unused = all.take_unused();
            {
                let mut chunks = chunks.lock();
                while let Some(block) = chunks.take() {
                    // SAFETY: of a chunk in `all`, given back just now to this arena, or of one that was added
                    // meanwhile and follows.
                    unsafe { all.give(block) };
                }
                all.append(&mut chunks);
                *chunks = all;
            }
            unused.into_iter().for_each(Chunk::vacate);
        }
    }

    /// Takes back a block that is vacant again.
    ///
    /// # Safety
    ///
    /// `block` came from [`take`](Self::take) of this arena, and its object is gone.
    #[inline]
    pub(crate) unsafe fn give(&self, block: Block<T>) {
        match &self.kind {
            // SAFETY: by contract from `take`, which makes each from a chunk of one here.
            Kind::Single => drop(unsafe { Chunk::from_single(block) }),
            // SAFETY: by contract.
            Kind::Chunked { chunks, .. } => unsafe { chunks.lock().give(block) },
        }
    }

    /// Keeps other threads out, for a fork.
    pub(crate) fn before_fork(&self) {
        if let Kind::Chunked {
            chunks,
            growth,
            shrinking,
        } = &self.kind
        {
            shrinking.seize(|()| {});
            growth.seize(|()| {});
            chunks.seize(|_| {});
        }
    }

    /// Lets them in again.
    pub(crate) fn after_fork(&self, seized: &Seized) {
        if let Kind::Chunked {
            chunks,
            growth,
            shrinking,
        } = &self.kind
        {
            chunks.release(seized, |_| {});
            growth.release(seized, |()| {});
            shrinking.release(seized, |()| {});
        }
    }
}

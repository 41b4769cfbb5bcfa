//! Blocks in chunks of memory.
//!
//! An object never moves. When it is destroyed or detached its block is vacant, and the next object made
//! goes into it. Chunks are used from the front, so memory that was never used is never touched. A chunk
//! whose blocks are all vacant is freed when the pool is trimmed, and all are with the pool.
#![allow(unsafe_code)] // Raw memory.

use alloc::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use alloc::vec::Vec;
#[cfg(feature = "std")]
use core::mem;
use core::ops::Range;
use core::ptr::NonNull;

use super::block::{Block, BlockMemory};
use super::pages;

/// Blocks in the first chunk of a pool without a `grow_by`.
const FIRST_CHUNK: usize = 32;

/// Past this many bytes, chunks without a `grow_by` stop doubling: the chunk of one large page.
const LARGEST_STEP: usize = pages::LARGE;

/// Past this many times [`LARGEST_STEP`], a chunk is that part of the memory there is. The system can map
/// only some ten thousand chunks apart.
const MOST_STEPS: usize = 64;

/// Memory for blocks.
pub(crate) struct Chunk<T> {
    memory: NonNull<BlockMemory<T>>,
    blocks: usize,
}

impl<T> Chunk<T> {
    /// # Panics
    ///
    /// If the chunk exceeds the address space. Aborts, as a `Box` would, when memory is out.
    pub(super) fn new(blocks: usize) -> Self {
        Self::try_new(blocks).unwrap_or_else(|| {
            let layout = Self::layout(blocks).expect("a growth step exceeds the address space");
            handle_alloc_error(layout)
        })
    }

    /// [`new`](Self::new), for a chunk to be filled: on large pages where it fills some, of which the
    /// first is there already.
    pub(super) fn for_growth(blocks: usize) -> Self {
        let chunk = Self::new(blocks);
        pages::prefer_large(chunk.bytes());
        chunk
    }

    fn try_new(blocks: usize) -> Option<Self> {
        let layout = Self::layout(blocks)?;
        // SAFETY: a block has a header and a chunk has a block, so the size is not 0.
        let memory = unsafe { alloc(layout) };
        let memory = NonNull::new(memory.cast())?;
        Some(Chunk { memory, blocks })
    }

    /// Blocks that fill a large page start at one.
    fn layout(blocks: usize) -> Option<Layout> {
        let layout = Layout::array::<BlockMemory<T>>(blocks).ok()?;
        if blocks == 1 || layout.size() < pages::LARGE {
            return Some(layout);
        }
        layout.align_to(pages::ALIGN).ok()
    }

    fn bytes(&self) -> Range<*mut u8> {
        let start = self.memory.as_ptr();
        start.cast()..start.wrapping_add(self.blocks).cast()
    }

    /// The only block of a chunk that has one, and with it the chunk.
    #[cfg(feature = "std")]
    pub(super) fn into_single(self) -> Block<T> {
        debug_assert_eq!(self.blocks, 1);
        let chunk = mem::ManuallyDrop::new(self);
        // SAFETY: the first block of a chunk that only the caller has.
        unsafe { Block::prepare(chunk.memory) }
    }

    /// Undoes [`into_single`](Self::into_single).
    ///
    /// # Safety
    ///
    /// The block came from there and is vacant.
    #[cfg(feature = "std")]
    pub(super) unsafe fn from_single(block: Block<T>) -> Self {
        Chunk {
            memory: block.into_memory(),
            blocks: 1,
        }
    }

    /// Frees the chunk, and has its pages leave the memory of the process at once, where the system
    /// allows that. An allocator may keep what is freed, the more so below a block that is in use.
    pub(crate) fn vacate(self) {
        // SAFETY: the chunk's memory, in which there is no object: the owner of a `Chunk` has all its
        // blocks.
        unsafe { pages::give_up(self.bytes()) };
        drop(self);
    }
}

impl<T> Drop for Chunk<T> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.blocks) {
            // SAFETY: allocated in `try_new` with this layout.
            unsafe { dealloc(self.memory.as_ptr().cast(), layout) };
        }
    }
}

/// Vacant blocks that were used before, linked through their headers.
struct VacantList<T> {
    first: Option<Block<T>>,
    len: usize,
}

impl<T> VacantList<T> {
    const fn new() -> Self {
        VacantList {
            first: None,
            len: 0,
        }
    }

    fn push(&mut self, block: Block<T>) {
        block.set_next_vacant(self.first.take());
        self.first = Some(block);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Block<T>> {
        let block = self.first.take()?;
        // SAFETY: `push` noted the next one, and a block in the list is not filled meanwhile.
        self.first = unsafe { block.take_next_vacant() };
        self.len -= 1;
        Some(block)
    }
}

/// The part of the newest chunk that was never used.
struct Fresh<T> {
    next: NonNull<BlockMemory<T>>,
    left: usize,
    /// The address up to which the pages were brought in.
    brought_in: usize,
}

impl<T> Fresh<T> {
    const fn none() -> Self {
        Fresh {
            next: NonNull::dangling(),
            left: 0,
            brought_in: 0,
        }
    }

    fn take(&mut self) -> Option<Block<T>> {
        if self.left == 0 {
            return None;
        }
        let memory = self.next;
        // SAFETY: within the chunk, or its end.
        self.next = unsafe { memory.add(1) };
        if self.next.addr().get() > self.brought_in {
            self.bring_in(memory);
        }
        self.left -= 1;
        // SAFETY: within the chunk, whose block this was not before.
        Some(unsafe { Block::prepare(memory) })
    }

    /// Brings in the next pages, from `memory` on. The last pages, and all of a small chunk, come
    /// as they are touched.
    #[cold]
    fn bring_in(&mut self, memory: NonNull<BlockMemory<T>>) {
        let left = self.left * size_of::<BlockMemory<T>>();
        let start = memory.as_ptr().cast::<u8>();
        // Never again for this chunk, unless the next step is whole.
        self.brought_in = usize::MAX;
        if left >= pages::STEP {
            let end = start.wrapping_add(pages::STEP);
            self.brought_in = end.addr();
            pages::bring_in(start..end);
        }
    }
}

/// Blocks for one thread.
pub(crate) struct Chunks<T> {
    chunks: Vec<Chunk<T>>,
    fresh: Fresh<T>,
    vacant: VacantList<T>,
    /// Blocks in all chunks.
    blocks: usize,
}

/// How many blocks of a chunk are free: vacant, or never used.
struct Tally<T> {
    memory: NonNull<BlockMemory<T>>,
    blocks: usize,
    free: usize,
}

impl<T> Tally<T> {
    fn of(chunk: &Chunk<T>) -> Self {
        Tally {
            memory: chunk.memory,
            blocks: chunk.blocks,
            free: 0,
        }
    }

    /// The tally of the chunk that `memory` is in. `tallies` are in the order of addresses.
    fn find(tallies: &mut [Self], memory: NonNull<BlockMemory<T>>) -> Option<&mut Self> {
        let after = tallies.partition_point(|tally| tally.memory <= memory);
        tallies.get_mut(after.checked_sub(1)?)
    }
}

impl<T> Chunks<T> {
    pub(crate) const fn new() -> Self {
        Chunks {
            chunks: Vec::new(),
            fresh: Fresh::none(),
            vacant: VacantList::new(),
            blocks: 0,
        }
    }

    /// A vacant block, if there is one.
    pub(crate) fn take(&mut self) -> Option<Block<T>> {
        self.vacant.pop().or_else(|| self.fresh.take())
    }

    /// Whether the allocator has memory for so many blocks, or says so: systems promise more than they
    /// have.
    pub(crate) fn can_be_had(blocks: usize) -> bool {
        // Hidden, or the compiler leaves out what is freed at once, and takes it to be had.
        blocks == 0 || core::hint::black_box(Chunk::<T>::try_new(blocks)).is_some()
    }

    /// What a block takes in memory, its header included, in bytes.
    pub(crate) const fn block_size() -> usize {
        size_of::<BlockMemory<T>>()
    }

    /// How many blocks there are, vacant or not.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// How many blocks are vacant.
    #[cfg(feature = "std")]
    pub(super) fn available(&self) -> usize {
        self.fresh.left + self.vacant.len
    }

    /// Takes back a block that is vacant again.
    ///
    /// # Safety
    ///
    /// `block` came from [`take`](Self::take) of these chunks, and its object is gone.
    pub(crate) unsafe fn give(&mut self, block: Block<T>) {
        self.vacant.push(block);
    }

    /// Takes out the chunks that hold no object, whose blocks are all vacant or were never used. Walks over
    /// the vacant blocks twice.
    pub(crate) fn take_unused(&mut self) -> Vec<Chunk<T>> {
        let mut tallies: Vec<_> = self.chunks.iter().map(Tally::of).collect();
        tallies.sort_unstable_by_key(|tally| tally.memory);
        if self.fresh.left > 0
            && let Some(tally) = Tally::find(&mut tallies, self.fresh.next)
        {
            tally.free += self.fresh.left;
        }
        let mut counted = VacantList::new();
        while let Some(block) = self.vacant.pop() {
            if let Some(tally) = Tally::find(&mut tallies, block.memory()) {
                tally.free += 1;
            }
            counted.push(block);
        }
        let mut is_unused = |memory| {
            Tally::find(&mut tallies, memory).is_some_and(|tally| tally.free == tally.blocks)
        };
        if self.fresh.left > 0 && is_unused(self.fresh.next) {
            self.fresh = Fresh::none();
        }
        while let Some(block) = counted.pop() {
            if !is_unused(block.memory()) {
                self.vacant.push(block);
            }
        }
        let unused: Vec<_> = (self.chunks)
            .extract_if(.., |chunk| is_unused(chunk.memory))
            .collect();
        self.blocks -= unused.iter().map(|chunk| chunk.blocks).sum::<usize>();
        unused
    }

    /// How many blocks the next chunk has, when `grow_by` was asked for or not.
    ///
    /// `usize::MAX` blocks or more are left to the allocator to refuse.
    pub(super) fn next_step(&self, grow_by: Option<usize>, capacity: Option<usize>) -> usize {
        let step = grow_by.unwrap_or_else(|| {
            let most = LARGEST_STEP.div_ceil(Self::block_size());
            let most = most.max(self.blocks / MOST_STEPS);
            self.blocks.max(FIRST_CHUNK).min(most)
        });
        let room = capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(self.blocks));
        step.min(room).max(1)
    }

    /// Adds a chunk. What was left of the chunk before goes to the vacant blocks.
    pub(super) fn add(&mut self, chunk: Chunk<T>) {
        while let Some(block) = self.fresh.take() {
            self.vacant.push(block);
        }
        self.fresh = Fresh {
            next: chunk.memory,
            left: chunk.blocks,
            brought_in: 0,
        };
        self.blocks += chunk.blocks;
        self.chunks.push(chunk);
    }

    /// Takes over the chunks of `other`, which has no vacant block.
    #[cfg(feature = "std")]
    pub(super) fn append(&mut self, other: &mut Self) {
        debug_assert_eq!(other.available(), 0);
        self.chunks.append(&mut other.chunks);
        self.blocks += mem::take(&mut other.blocks);
    }

    /// A vacant block, growing if there is none.
    pub(crate) fn take_or_grow(
        &mut self,
        grow_by: Option<usize>,
        capacity: Option<usize>,
    ) -> Block<T> {
        loop {
            if let Some(block) = self.take() {
                return block;
            }
            let step = self.next_step(grow_by, capacity);
            self.add(Chunk::for_growth(step));
        }
    }
}

// SAFETY: a block in the chunks holds no object, so a `Chunks` is memory and nothing else.
unsafe impl<T> Send for Chunks<T> {}

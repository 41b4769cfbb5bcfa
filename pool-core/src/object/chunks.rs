//! Blocks in chunks of memory.
//!
//! An object never moves. When it is destroyed or detached its block is vacant, and the next object made
//! goes into it. Chunks are used from the front, so memory that was never used is never touched. A chunk
//! whose blocks are all vacant is freed when the pool is trimmed, and all are with the pool.
#![allow(unsafe_code)] // Raw memory.

use alloc::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;
use core::ptr::NonNull;

use super::block::{Block, BlockMemory};
use super::pages::{self, Held, Mapping, OnRefusal, Refusal};
#[cfg(feature = "allocator-api2")]
use crate::memory::DynAllocator;
use crate::memory::{Memory, Source};

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
    origin: Origin,
}

/// How a chunk was had, and is given back.
enum Origin {
    /// From the global allocator.
    System,
    Mapping(Box<Mapping>),
    #[cfg(feature = "allocator-api2")]
    Allocator(DynAllocator),
}

/// Why there is no chunk.
pub(crate) enum NoChunk {
    /// There is no memory for so many blocks.
    TooLarge { blocks: usize },
    /// The system does not give what was asked of its pages.
    Refused(Refusal),
}

impl<T> Chunk<T> {
    /// A chunk from the global allocator.
    ///
    /// # Panics
    ///
    /// If the chunk exceeds the address space. Aborts, as a `Box` would, when memory is out.
    #[cfg(feature = "std")]
    pub(super) fn new(blocks: usize) -> Self {
        Self::try_new(blocks).unwrap_or_else(|| Self::out_of_memory(blocks))
    }

    /// Ends as a `Box` does when memory is out.
    #[cold]
    fn out_of_memory(blocks: usize) -> ! {
        let layout = Self::layout(blocks).expect("a growth step exceeds the address space");
        handle_alloc_error(layout)
    }

    /// A chunk to be filled, of `blocks` or as many more as fill its pages. One that fills large pages is
    /// on such, of which the first is there already. Without what the system refuses; aborts when memory is out.
    pub(crate) fn for_growth(blocks: usize, memory: &Memory) -> Self {
        Self::get(blocks, memory, OnRefusal::FallBack)
            .unwrap_or_else(|_| Self::out_of_memory(blocks))
    }

    fn get(blocks: usize, memory: &Memory, on_refusal: OnRefusal) -> Result<Self, NoChunk> {
        let too_large = || NoChunk::TooLarge { blocks };
        match memory.source() {
            Source::System => {
                let chunk = Self::try_new(blocks).ok_or_else(too_large)?;
                pages::prefer_large(chunk.bytes());
                Ok(chunk)
            }
            Source::Pages(choices) => {
                let page = choices.page();
                let layout = Layout::array::<BlockMemory<T>>(blocks)
                    .and_then(|layout| {
                        Layout::from_size_align(layout.size(), page.max(layout.align()))
                    })
                    .map_err(|_| too_large())?
                    .pad_to_align();
                let mapping = pages::map(layout, choices, on_refusal).map_err(|refusal| {
                    match refusal.is_of_all() {
                        true => too_large(),
                        false => NoChunk::Refused(refusal),
                    }
                })?;
                Ok(Chunk {
                    memory: mapping.start().cast(),
                    blocks: layout.size() / Chunks::<T>::block_size(),
                    origin: Origin::Mapping(Box::new(mapping)),
                })
            }
            #[cfg(feature = "allocator-api2")]
            Source::Allocator(allocator) => {
                let layout = Layout::array::<BlockMemory<T>>(blocks).map_err(|_| too_large())?;
                let memory = allocator.allocate(layout).map_err(|_| too_large())?;
                Ok(Chunk {
                    memory: memory.cast(),
                    blocks,
                    origin: Origin::Allocator(allocator.clone()),
                })
            }
        }
    }

    fn try_new(blocks: usize) -> Option<Self> {
        let layout = Self::layout(blocks)?;
        // SAFETY: a block has a header and a chunk has a block, so the size is not 0.
        let memory = unsafe { alloc(layout) };
        Some(Chunk {
            memory: NonNull::new(memory.cast())?,
            blocks,
            origin: Origin::System,
        })
    }

    /// What the chunk has.
    fn held(&self) -> Held {
        match &self.origin {
            Origin::Mapping(mapping) => mapping.held(),
            _ => Held {
                bytes: self.blocks * Chunks::<T>::block_size(),
                ..Held::default()
            },
        }
    }

    /// Whether its pages are there, or are not for the pool to bring in.
    fn is_resident(&self) -> bool {
        match &self.origin {
            Origin::System => false,
            Origin::Mapping(mapping) => mapping.is_resident(),
            #[cfg(feature = "allocator-api2")]
            Origin::Allocator(_) => true,
        }
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
            origin: Origin::System,
        }
    }

    /// Gives the chunk back, and has its pages leave the memory of the process at once, where the system
    /// allows that. The global allocator may keep what is freed, the more so below a block that is in use; what an
    /// allocator of the user's keeps is its own.
    pub(crate) fn vacate(self) {
        if let Origin::System = self.origin {
            // SAFETY: the chunk's memory, in which there is no object: the owner of a `Chunk` has all its
            // blocks.
            unsafe { pages::give_up(self.bytes()) };
        }
        drop(self);
    }
}

impl<T> Drop for Chunk<T> {
    fn drop(&mut self) {
        match &self.origin {
            Origin::System => {
                if let Some(layout) = Self::layout(self.blocks) {
                    // SAFETY: allocated in `try_new` with this layout.
                    unsafe { dealloc(self.memory.as_ptr().cast(), layout) };
                }
            }
            // Dropped with the chunk.
            Origin::Mapping(_) => {}
            #[cfg(feature = "allocator-api2")]
            Origin::Allocator(allocator) => {
                if let Ok(layout) = Layout::array::<BlockMemory<T>>(self.blocks) {
                    // SAFETY: allocated in `get` with this layout, by this allocator.
                    unsafe { allocator.deallocate(self.memory.cast(), layout) };
                }
            }
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
    /// What the chunks have.
    held: Held,
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
            held: Held {
                bytes: 0,
                locked: 0,
                huge: 0,
                fallbacks: 0,
            },
        }
    }

    /// The chunks that a pool begins with: for `prefill` objects or of the first growth step, and all that was
    /// asked for; of the global allocator, none.
    pub(crate) fn begin(
        memory: &Memory,
        prefill: usize,
        grow_by: Option<usize>,
        capacity: Option<usize>,
    ) -> Result<Self, NoChunk> {
        let mut chunks = Chunks::new();
        if !memory.is_system() {
            let blocks = match prefill {
                0 => chunks.next_step(grow_by, capacity),
                prefill => prefill,
            };
            chunks.add(Chunk::get(blocks, memory, OnRefusal::Fail)?);
        }
        Ok(chunks)
    }

    /// A vacant block, if there is one.
    pub(crate) fn take(&mut self) -> Option<Block<T>> {
        self.vacant.pop().or_else(|| self.fresh.take())
    }

    /// Whether there is memory for so many blocks, or the global allocator says so: systems promise more than
    /// they have.
    pub(crate) fn can_be_had(blocks: usize) -> bool {
        // Hidden, or the compiler leaves out what is freed at once, and takes it to be had.
        blocks == 0 || core::hint::black_box(Chunk::<T>::try_new(blocks)).is_some()
    }

    /// What the chunks have.
    pub(crate) fn held(&self) -> Held {
        self.held
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
        if self.fresh.left > 0 {
            if let Some(tally) = Tally::find(&mut tallies, self.fresh.next) {
                tally.free += self.fresh.left;
            }
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
        let unused;
        (unused, self.chunks) = mem::take(&mut self.chunks)
            .into_iter()
            .partition(|chunk| is_unused(chunk.memory));
        for chunk in &unused {
            self.blocks -= chunk.blocks;
            self.held.subtract(chunk.held());
        }
        unused
    }

    /// How many blocks the next chunk has, when `grow_by` was asked for or not.
    ///
    /// `usize::MAX` blocks or more are left to the allocator to refuse.
    pub(crate) fn next_step(&self, grow_by: Option<usize>, capacity: Option<usize>) -> usize {
        let step = grow_by.unwrap_or_else(|| {
            let most = LARGEST_STEP.div_ceil(Self::block_size());
            let most = most.max(self.blocks / MOST_STEPS);
            self.blocks.max(FIRST_CHUNK).min(most)
        });
        let room = capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(self.blocks));
        step.min(room).max(1)
    }

    /// Adds a chunk, and gives how many blocks it has. What was left of the chunk before goes to the vacant blocks.
    pub(crate) fn add(&mut self, chunk: Chunk<T>) -> usize {
        while let Some(block) = self.fresh.take() {
            self.vacant.push(block);
        }
        self.fresh = Fresh {
            next: chunk.memory,
            left: chunk.blocks,
            brought_in: match chunk.is_resident() {
                true => usize::MAX,
                false => 0,
            },
        };
        let added = chunk.blocks;
        self.blocks += added;
        self.held.add(chunk.held());
        self.chunks.push(chunk);
        added
    }

    /// Takes all chunks out, to be [put back](Self::append). What they have is counted here meanwhile.
    #[cfg(feature = "std")]
    pub(super) fn take_all(&mut self) -> Self {
        let mut all = mem::replace(self, Chunks::new());
        self.held = mem::take(&mut all.held);
        all
    }

    /// Takes over the chunks of `other`, which has no vacant block.
    #[cfg(feature = "std")]
    pub(super) fn append(&mut self, other: &mut Self) {
        debug_assert_eq!(other.available(), 0);
        self.chunks.append(&mut other.chunks);
        self.blocks += mem::take(&mut other.blocks);
        self.held.add(mem::take(&mut other.held));
    }
}

// SAFETY: a block in the chunks holds no object, so a `Chunks` is memory and nothing else.
unsafe impl<T> Send for Chunks<T> {}

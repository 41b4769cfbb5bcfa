//! The memory of objects: nodes in chunks. Raw pointers to objects start and end here.
//!
//! A node is where an object lives, which never moves, with a header before it. When the object is
//! destroyed or detached the node is vacant, and the next object made goes into it. Chunks are filled
//! from the front, so memory that was never used is never touched. A chunk whose nodes are all vacant
//! is freed when the pool is trimmed, and all are with the pool.
//!
//! [`Chunks`] is the bare structure, for one thread; [`Arena`] locks it, and never while the allocator is
//! asked: one thread can grow the pool while others find vacant nodes. (Pages of a chunk that was had are
//! brought in under the lock, a few at a time.)
#![allow(unsafe_code)] // Raw memory.
// What only pools for many threads ask of a node.
#![cfg_attr(not(feature = "std"), allow(dead_code))]

#[cfg(feature = "std")]
mod shared;

use alloc::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::iter;
use core::mem::{MaybeUninit, offset_of};
use core::ops::Range;
use core::ptr::{self, NonNull};

#[cfg(feature = "std")]
pub(crate) use self::shared::Arena;
use crate::pages;
use crate::poolable::{Place, Ready};
use crate::sync::AtomicU32;

/// The first chunk of a pool that was not told how to grow.
const FIRST_CHUNK: usize = 32;

/// Past this many bytes, chunks that nobody asked for stop doubling: the chunk of one large page.
const LARGEST_STEP: usize = pages::LARGE;

/// And past this many times as many, they are that part of what there is. The system can map only some
/// ten thousand chunks apart.
const MOST_STEPS: usize = 64;

/// Numbers a pool, never twice. Half a word, so that it fits into the header of a node.
pub(crate) type Number = u32;

/// The number of no pool that has slots: looking it up finds nothing.
pub(crate) const NO_POOL: Number = 0;

/// What stands before each object.
#[repr(C)]
pub(crate) struct Header {
    /// The pool that the object belongs to; for a vacant node, the next vacant one.
    link: Cell<*const ()>,
    /// Handles beyond the first, while the object is shared (see `handle::shared`).
    sharers: AtomicU32,
    /// The number under which the drop of a handle finds the thread's cache, beside the object, so
    /// that a hit need not touch the pool.
    number: Cell<Number>,
}

/// A node: where an object lives. Always in a [`Lot`], behind its header: pointers to nodes may be
/// followed to either (NODE-LOT).
///
/// The address of a node is that of its object, so a handle, which is the one, is the other too.
#[repr(transparent)]
pub(crate) struct Node<T> {
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A node and its header, as they lie in a chunk.
#[repr(C)]
struct Lot<T> {
    header: Header,
    node: Node<T>,
}

impl<T> Lot<T> {
    /// The node.
    ///
    /// # Safety
    ///
    /// `lot` is one of a chunk.
    unsafe fn node(lot: NonNull<Self>) -> NonNull<Node<T>> {
        // SAFETY: the offset is within the lot; of an object without a size, at its end.
        unsafe { lot.cast::<u8>().add(offset_of!(Lot<T>, node)) }.cast()
    }
}

/// A node that holds an object, whatever its type: all that backends know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct NodePtr(NonNull<()>);

// SAFETY: an address. Whoever makes a reference of it answers for the thread it does so on; the
// pool that a `NodePtr` travels in is `Send` and `Sync` only as far as `T` is `Send`.
unsafe impl Send for NodePtr {}
// SAFETY: as above; a shared `NodePtr` can only be copied.
unsafe impl Sync for NodePtr {}

impl NodePtr {
    #[inline(always)]
    pub(crate) fn from_node<T>(node: NonNull<Node<T>>) -> Self {
        NodePtr(node.cast())
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut () {
        self.0.as_ptr()
    }

    /// # Safety
    ///
    /// From `as_ptr`.
    #[inline(always)]
    pub(crate) unsafe fn from_ptr(object: *mut ()) -> Self {
        // SAFETY: by contract not null.
        NodePtr(unsafe { NonNull::new_unchecked(object) })
    }

    /// # Safety
    ///
    /// The node is one for a `T`.
    #[inline(always)]
    pub(crate) unsafe fn node<T>(self) -> NonNull<Node<T>> {
        self.0.cast()
    }
}

impl<T> Node<T> {
    /// The header.
    ///
    /// # Safety
    ///
    /// `node` is alive: its chunk has not been freed (NODE-LIVES).
    #[inline(always)]
    unsafe fn header<'a>(node: NonNull<Self>) -> &'a Header {
        let lot = Self::lot(node).cast::<Header>();
        // SAFETY: alive by contract; headers are initialised before a node is given out, and only
        // shared references to them are ever made.
        unsafe { lot.as_ref() }
    }

    /// The lot that the node is in.
    #[inline(always)]
    fn lot(node: NonNull<Self>) -> NonNull<Lot<T>> {
        // SAFETY: undoes what `Lot::node` did (NODE-LOT).
        unsafe { node.cast::<u8>().sub(offset_of!(Lot<T>, node)) }.cast()
    }

    /// The pool that the node's object belongs to.
    ///
    /// # Safety
    ///
    /// `node` is alive and holds an object.
    #[inline(always)]
    pub(crate) unsafe fn pool(node: NonNull<Self>) -> *const () {
        // SAFETY: by contract.
        unsafe { Self::header(node) }.link.get()
    }

    /// The number under which a hit finds the thread's cache.
    ///
    /// # Safety
    ///
    /// `node` is alive and holds an object.
    #[inline(always)]
    pub(crate) unsafe fn number(node: NonNull<Self>) -> Number {
        // SAFETY: by contract.
        unsafe { Self::header(node) }.number.get()
    }

    /// The count of sharers.
    ///
    /// # Safety
    ///
    /// `node` is alive for `'a`.
    pub(crate) unsafe fn sharers<'a>(node: NonNull<Self>) -> &'a AtomicU32 {
        // SAFETY: by contract.
        &unsafe { Self::header(node) }.sharers
    }

    /// The address of the object.
    #[inline(always)]
    pub(crate) fn value(node: NonNull<Self>) -> NonNull<T> {
        node.cast()
    }

    /// The object.
    ///
    /// # Safety
    ///
    /// `node` holds an object, which is the caller's alone for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn object<'a>(node: NonNull<Self>) -> &'a mut T {
        // SAFETY: by contract.
        unsafe { Self::value(node).as_mut() }
    }

    /// Moves the object out. The node is vacant then.
    ///
    /// # Safety
    ///
    /// `node` holds an object, which is the caller's alone.
    pub(crate) unsafe fn take_object(node: NonNull<Self>) -> T {
        // SAFETY: by contract.
        unsafe { Self::value(node).read() }
    }

    /// The node of the object at `value`.
    ///
    /// # Safety
    ///
    /// `value` came from [`value`](Self::value), with its provenance.
    pub(crate) unsafe fn of_value(value: NonNull<T>) -> NonNull<Self> {
        value.cast()
    }

    /// The node in memory that was never one before, whose header is written.
    ///
    /// # Safety
    ///
    /// `lot` is memory for a node, and the caller's alone.
    unsafe fn prepare(lot: NonNull<Lot<T>>) -> NonNull<Self> {
        let header = Header {
            link: Cell::new(ptr::null()),
            sharers: AtomicU32::new(0),
            number: Cell::new(NO_POOL),
        };
        // SAFETY: by contract.
        unsafe { lot.cast::<Header>().write(header) };
        // SAFETY: by contract.
        unsafe { Lot::node(lot) }
    }

    /// Makes an object in a vacant node.
    ///
    /// # Panics
    ///
    /// If `make` panics, or hands over an object that stands elsewhere. The node is vacant then.
    ///
    /// # Safety
    ///
    /// `node` is alive, vacant, and the caller's alone.
    pub(crate) unsafe fn fill(
        node: NonNull<Self>,
        pool: *const (),
        number: Number,
        make: impl FnOnce(Place<'_, T>) -> Ready<'_, T>,
    ) {
        // SAFETY: the caller's alone; uninitialised memory is a valid `MaybeUninit`.
        let place = unsafe { node.cast::<MaybeUninit<T>>().as_mut() };
        Place::new(place).fill_with(make).into_ptr();
        // SAFETY: by contract.
        let header = unsafe { Self::header(node) };
        header.link.set(pool);
        header.number.set(number);
    }
}

/// Nodes for one thread.
pub(crate) struct Chunks<T> {
    chunks: Vec<Chunk<T>>,
    /// The first lot of the newest chunk that was never used, and how many there are.
    fresh: NonNull<Lot<T>>,
    fresh_left: usize,
    /// How far the pages of the newest chunk were brought in.
    brought_in: usize,
    /// Vacant nodes that were used before, linked through their headers, and how many there are.
    vacant: *const Node<T>,
    vacant_len: usize,
    /// Nodes in all chunks.
    nodes: usize,
}

/// Memory for nodes.
pub(crate) struct Chunk<T> {
    memory: NonNull<Lot<T>>,
    nodes: usize,
}

impl<T> Chunk<T> {
    /// # Panics
    ///
    /// If the chunk exceeds the address space. Aborts, as a `Box` would, when memory is out.
    fn new(nodes: usize) -> Self {
        Self::try_new(nodes).unwrap_or_else(|| {
            let layout = Self::layout(nodes).expect("a growth step exceeds the address space");
            handle_alloc_error(layout)
        })
    }

    /// [`new`](Self::new), for a chunk to be filled: with large pages where it fills some, of which the
    /// first is there already.
    fn for_growth(nodes: usize) -> Self {
        let chunk = Self::new(nodes);
        pages::prefer_large(chunk.bytes());
        chunk
    }

    fn try_new(nodes: usize) -> Option<Self> {
        let layout = Self::layout(nodes)?;
        // SAFETY: a lot has a header, so the size is not 0: there is a node at least.
        let memory = unsafe { alloc(layout) };
        let memory = NonNull::new(memory.cast())?;
        Some(Chunk { memory, nodes })
    }

    /// Of many nodes that fill a large page, at the start of one.
    fn layout(nodes: usize) -> Option<Layout> {
        let layout = Layout::array::<Lot<T>>(nodes).ok()?;
        if nodes == 1 || layout.size() < pages::LARGE {
            return Some(layout);
        }
        layout.align_to(pages::ALIGN).ok()
    }

    fn bytes(&self) -> Range<*mut u8> {
        let start = self.memory.as_ptr();
        // SAFETY: the end of the chunk.
        let end = unsafe { start.add(self.nodes) };
        start.cast()..end.cast()
    }

    /// Frees the chunk, and has its pages leave the memory of the process at once, where the system
    /// allows that. An allocator may keep what it is given, the more so below a block that is in use.
    pub(crate) fn vacate(self) {
        // SAFETY: the chunk's memory, in which there is no object.
        unsafe { pages::give_up(self.bytes()) };
        drop(self);
    }
}

impl<T> Drop for Chunk<T> {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.nodes) {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.memory.as_ptr().cast(), layout) };
        }
    }
}

/// How many nodes of a chunk are free: vacant, or never used.
struct Tally<T> {
    memory: NonNull<Lot<T>>,
    nodes: usize,
    free: usize,
}

impl<T> Tally<T> {
    fn of(chunk: &Chunk<T>) -> Self {
        Tally {
            memory: chunk.memory,
            nodes: chunk.nodes,
            free: 0,
        }
    }

    /// That of the chunk that `lot` is in, given those of all chunks in the order of addresses.
    fn find(tallies: &mut [Self], lot: NonNull<Lot<T>>) -> Option<&mut Self> {
        let after = tallies.partition_point(|tally| tally.memory <= lot);
        tallies.get_mut(after.checked_sub(1)?)
    }
}

impl<T> Chunks<T> {
    pub(crate) const fn new() -> Self {
        Chunks {
            chunks: Vec::new(),
            fresh: NonNull::dangling(),
            fresh_left: 0,
            brought_in: 0,
            vacant: ptr::null(),
            vacant_len: 0,
            nodes: 0,
        }
    }

    /// A vacant node, if there is one.
    pub(crate) fn take(&mut self) -> Option<NonNull<Node<T>>> {
        if let Some(node) = NonNull::new(self.vacant.cast_mut()) {
            // SAFETY: a node in the list is alive (NODE-LIVES), and vacant, so its link is the next one.
            let next = unsafe { Node::pool(node) };
            self.vacant = next.cast();
            self.vacant_len -= 1;
            return Some(node);
        }
        self.take_fresh()
    }

    /// A node that was never used, if there is one.
    fn take_fresh(&mut self) -> Option<NonNull<Node<T>>> {
        if self.fresh_left == 0 {
            return None;
        }
        let lot = self.fresh;
        self.fresh_left -= 1;
        // SAFETY: within the newest chunk, or one past its end.
        self.fresh = unsafe { lot.add(1) };
        if self.fresh.addr().get() > self.brought_in {
            self.bring_in(lot);
        }
        // SAFETY: within the chunk, and never used before.
        Some(unsafe { Node::prepare(lot) })
    }

    /// Brings in the next pages of the newest chunk, from `lot` on. The last ones, and those of a
    /// chunk that is small, come as they are touched.
    #[cold]
    fn bring_in(&mut self, lot: NonNull<Lot<T>>) {
        let left = (self.fresh_left + 1) * Self::node_size();
        let start = lot.as_ptr().cast::<u8>();
        // Never again for this chunk, unless the next step is whole.
        self.brought_in = usize::MAX;
        if left >= pages::STEP {
            // SAFETY: within the chunk.
            let end = unsafe { start.add(pages::STEP) };
            self.brought_in = end.addr();
            pages::bring_in(start..end);
        }
    }

    /// Whether the allocator has memory for so many nodes, or says so: systems promise more than they
    /// have.
    pub(crate) fn can_be_had(nodes: usize) -> bool {
        // Hidden, or the compiler leaves out what is freed at once, and takes it to be had.
        nodes == 0 || core::hint::black_box(Chunk::<T>::try_new(nodes)).is_some()
    }

    /// What a node takes in memory, its header included, in bytes.
    pub(crate) const fn node_size() -> usize {
        size_of::<Lot<T>>()
    }

    /// How many nodes there are, vacant or not.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes
    }

    /// How many nodes are vacant.
    fn available(&self) -> usize {
        self.fresh_left + self.vacant_len
    }

    /// Takes back a node that is vacant again.
    ///
    /// # Safety
    ///
    /// `node` came from [`take`](Self::take), is the caller's alone, and its object is gone.
    pub(crate) unsafe fn give(&mut self, node: NonNull<Node<T>>) {
        // SAFETY: by contract.
        let header = unsafe { Node::header(node) };
        header.link.set(self.vacant.cast());
        self.vacant = node.as_ptr();
        self.vacant_len += 1;
    }

    /// Takes out the chunks that hold no object, whose nodes are all vacant or were never used. Costs
    /// a walk over the vacant nodes.
    pub(crate) fn take_unused(&mut self) -> Vec<Chunk<T>> {
        let mut tallies: Vec<_> = self.chunks.iter().map(Tally::of).collect();
        tallies.sort_unstable_by_key(|tally| tally.memory);
        let fresh = Tally::find(&mut tallies, self.fresh).filter(|_| self.fresh_left > 0);
        if let Some(tally) = fresh {
            tally.free += self.fresh_left;
        }
        let vacant = self.vacant_nodes();
        for node in vacant.clone() {
            if let Some(tally) = Tally::find(&mut tallies, Node::lot(node)) {
                tally.free += 1;
            }
        }
        let mut is_unused =
            |lot| Tally::find(&mut tallies, lot).is_some_and(|tally| tally.free == tally.nodes);
        if self.fresh_left > 0 && is_unused(self.fresh) {
            self.fresh_left = 0;
        }
        (self.vacant, self.vacant_len) = (ptr::null(), 0);
        for node in vacant {
            if !is_unused(Node::lot(node)) {
                // SAFETY: it was in the list of vacant nodes, and is in none now.
                unsafe { self.give(node) };
            }
        }
        let freed: Vec<_> = (self.chunks)
            .extract_if(.., |chunk| is_unused(chunk.memory))
            .collect();
        self.nodes -= freed.iter().map(|chunk| chunk.nodes).sum::<usize>();
        freed
    }

    /// The vacant nodes that were used before. A node may be given or taken once the iterator has
    /// passed it.
    fn vacant_nodes(&self) -> impl Iterator<Item = NonNull<Node<T>>> + Clone + use<T> {
        iter::successors(NonNull::new(self.vacant.cast_mut()), |node| {
            // SAFETY: a node in the list is alive (NODE-LIVES), and vacant, so its link is the next one.
            let next = unsafe { Node::pool(*node) };
            NonNull::new(next.cast_mut().cast())
        })
    }

    /// How many nodes the next chunk has, when `grow_by` was asked for or not.
    ///
    /// `usize::MAX` nodes or more are left to the allocator to refuse.
    pub(crate) fn next_step(&self, grow_by: Option<usize>, capacity: Option<usize>) -> usize {
        let step = grow_by.unwrap_or_else(|| {
            let most = LARGEST_STEP.div_ceil(Self::node_size());
            let most = most.max(self.nodes / MOST_STEPS);
            self.nodes.max(FIRST_CHUNK).min(most)
        });
        let room = capacity.map_or(usize::MAX, |capacity| capacity.saturating_sub(self.nodes));
        step.min(room).max(1)
    }

    /// Adds a chunk. What was left of the chunk before goes to the vacant nodes.
    fn add(&mut self, chunk: Chunk<T>) {
        while let Some(node) = self.take_fresh() {
            // SAFETY: just taken, and never held an object.
            unsafe { self.give(node) };
        }
        self.fresh = chunk.memory;
        self.fresh_left = chunk.nodes;
        self.brought_in = 0;
        self.nodes += chunk.nodes;
        self.chunks.push(chunk);
    }

    /// A vacant node, growing if there is none.
    pub(crate) fn take_or_grow(
        &mut self,
        grow_by: Option<usize>,
        capacity: Option<usize>,
    ) -> NonNull<Node<T>> {
        loop {
            if let Some(node) = self.take() {
                return node;
            }
            let step = self.next_step(grow_by, capacity);
            self.add(Chunk::for_growth(step));
        }
    }
}

// SAFETY: a node in the arena holds no object, so a `Chunks` is memory and nothing else.
unsafe impl<T> Send for Chunks<T> {}

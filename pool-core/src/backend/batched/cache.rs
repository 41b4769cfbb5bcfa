//! Batches, and the stack of objects that a thread keeps in its slot.
#![allow(unsafe_code)] // No bounds checks on the way of a hit, and a word that is an address.

use std::mem::{self, ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;

use super::copy::copy_run;
use crate::backend::slots::Word;
use crate::object::ErasedObject;

/// An array of pointers to idle objects, filled from the front. Changes hands by pointer.
pub(super) struct Batch {
    items: Box<[MaybeUninit<ErasedObject>]>,
    len: usize,
}

impl Batch {
    pub(super) fn new(capacity: usize) -> Self {
        Batch {
            items: Box::new_uninit_slice(capacity),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == self.items.len()
    }

    pub(super) fn push(&mut self, node: ErasedObject) {
        self.items[self.len].write(node);
        self.len += 1;
    }

    pub(super) fn pop(&mut self) -> Option<ErasedObject> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: those before the old `len` were written.
        Some(unsafe { self.items[self.len].assume_init() })
    }

    /// Fills the empty batch with copies of `nodes`, as many as it has room for.
    pub(super) fn fill(&mut self, nodes: &[ErasedObject]) {
        for (item, node) in self.items.iter_mut().zip(nodes) {
            item.write(*node);
        }
        self.len = nodes.len().min(self.items.len());
    }

    /// Forgets what is in it.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// What is in it, the oldest first.
    pub(super) fn nodes(&self) -> &[ErasedObject] {
        let filled = &self.items[..self.len];
        // SAFETY: those before `len` were written, and `MaybeUninit` has the layout of what it may
        // hold.
        unsafe { &*(std::ptr::from_ref(filled) as *const [ErasedObject]) }
    }

    /// Takes out the `n` oldest, or all.
    pub(super) fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        let n = n.min(self.len);
        if n == 0 {
            return;
        }
        out.extend(&self.nodes()[..n]);
        self.items.copy_within(n..self.len, 0);
        self.len -= n;
    }
}

/// The most batches that a thread takes from the depot in a visit; its cache holds one more.
const LARGEST_WIDTH: usize = 8;

/// How many visits of the kind that a larger width would have spared, over those of the other kind,
/// double the width; and the other way round, halve it.
const ADAPTS_AFTER: i32 = 256;

/// What a thread keeps: a stack, usually of at most two batches.
///
/// The word of the slot is the end of the stack, and the bounds of the slot are where the stack
/// begins and where it has to end, so a hit is one comparison and one load or store. A cache that is
/// empty takes a batch from the depot, one that is full gives its oldest batch: a thread that
/// alternates at an edge visits the depot once per batch at most, the object released last is
/// acquired first, and those that leave are the oldest.
///
/// A thread whose bursts are far above the batch comes to take a second time before it has given, or
/// to give a second time before it has taken. For that it earns a larger `width`: it takes that many
/// batches in a visit, gives half as many, and may hold one more. It loses the width by visits that
/// alternate, and when its slot is revoked.
pub(crate) struct Cache {
    /// The memory of the stack, with room for the largest width. Raw, so that the word can point into
    /// it.
    base: NonNull<ErasedObject>,
    batch_size: usize,
    /// How many batches a visit takes: 1 to [`LARGEST_WIDTH`].
    width: usize,
    /// Visits that were like the one before, less those that were not, since the width changed.
    alike: i32,
    /// Whether the last visit took; else it gave.
    took: bool,
    /// Batches taken from the depot, not yet copied to the stack, the oldest first.
    pub(super) incoming: Vec<Batch>,
    /// Copies of the oldest batches of the stack, about to be given to the depot.
    pub(super) outgoing: Vec<Batch>,
    /// Empty batches.
    pub(super) shells: Vec<Batch>,
    /// An empty buffer for the next burst, if it has room for any.
    pub(super) buffer: Vec<ErasedObject>,
}

// SAFETY: `base` is memory owned by this value, full of `ErasedObject`s, which are `Send`.
unsafe impl Send for Cache {}

impl Cache {
    pub(super) fn new(batch_size: usize) -> Self {
        let memory = Vec::with_capacity((LARGEST_WIDTH + 1) * batch_size);
        let base = ManuallyDrop::new(memory).as_mut_ptr();
        // With room for all that may come, since no memory is asked for inside a slot.
        let batches = || Vec::with_capacity(LARGEST_WIDTH + 1);
        Cache {
            // SAFETY: a vector's pointer is not null.
            base: unsafe { NonNull::new_unchecked(base) },
            batch_size,
            width: 1,
            alike: 0,
            took: false,
            incoming: batches(),
            outgoing: batches(),
            shells: Vec::with_capacity(2 * (LARGEST_WIDTH + 1)),
            buffer: Vec::new(),
        }
    }

    /// The word of an empty stack, and the address of the word of a full one.
    pub(super) fn bounds(&self) -> (Word, usize) {
        let room = (self.width + 1) * self.batch_size;
        let empty = self.base.as_ptr();
        (empty.cast(), empty.wrapping_add(room).addr())
    }

    /// How many objects there are.
    pub(super) fn len(&self, word: Word) -> usize {
        (word.addr() - self.base.addr().get()) / size_of::<ErasedObject>()
    }

    /// How many batches the next visit takes or, when the stack is full, gives.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn given(&self) -> usize {
        self.width.div_ceil(2)
    }

    /// Notes a visit to the depot, that `takes` or gives, and adapts the width to it.
    pub(super) fn visit(&mut self, takes: bool) {
        self.alike += if takes == self.took { 1 } else { -1 };
        self.took = takes;
        if self.alike >= ADAPTS_AFTER {
            self.width = (self.width * 2).min(LARGEST_WIDTH);
            self.alike = 0;
        } else if self.alike <= -ADAPTS_AFTER && takes {
            // Only now, when the stack is empty, it cannot be larger than it may be.
            self.width = (self.width / 2).max(1);
            self.alike = 0;
        }
    }

    /// Back to two batches, when all was taken away.
    pub(super) fn narrow(&mut self) {
        self.width = 1;
        self.alike = 0;
    }

    /// The objects, the oldest first.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, and `word` is its word.
    unsafe fn nodes(&mut self, word: Word) -> &mut [ErasedObject] {
        let len = self.len(word);
        // SAFETY: those up to the word were written by pushes, and are the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), len) }
    }

    /// Moves the batches that came in to the end of the stack; gives the new word.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, and `word` is its word. There is room.
    pub(super) unsafe fn take_in(&mut self, mut word: Word) -> Word {
        for mut batch in self.incoming.drain(..) {
            for node in batch.nodes() {
                // SAFETY: there is room, by contract.
                word = unsafe { push(word, *node) };
            }
            batch.clear();
            self.shells.push(batch);
        }
        word
    }

    /// Copies the oldest batches to shells, of which there are as many, to be given to the depot.
    /// They stay in the stack until they are [forgotten](Self::forget_oldest).
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, and `word` is its word.
    pub(super) unsafe fn copy_out(&mut self, word: Word) {
        let (given, batch_size) = (self.given(), self.batch_size);
        let mut outgoing = mem::take(&mut self.outgoing);
        let mut shells = mem::take(&mut self.shells);
        // SAFETY: by contract.
        let nodes = unsafe { self.nodes(word) };
        for oldest in nodes.chunks_exact(batch_size).take(given) {
            if let Some(mut shell) = shells.pop() {
                shell.fill(oldest);
                outgoing.push(shell);
            }
        }
        self.outgoing = outgoing;
        self.shells = shells;
    }

    /// Moves the stack down over its `batches` oldest batches, which the depot has; gives the new
    /// word.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, `word` is its word, and there are as many.
    pub(super) unsafe fn forget_oldest(&mut self, word: Word, batches: usize) -> Word {
        let n = batches * self.batch_size;
        // SAFETY: by contract.
        unsafe { self.nodes(word) }.copy_within(n.., 0);
        word.cast::<ErasedObject>().wrapping_sub(n).cast()
    }

    /// Takes back the copies that were not given.
    pub(super) fn keep_outgoing(&mut self) {
        for mut batch in self.outgoing.drain(..) {
            batch.clear();
            self.shells.push(batch);
        }
    }

    /// How many objects more there is room for.
    pub(super) fn room(&self, word: Word) -> usize {
        ((self.width + 1) * self.batch_size).saturating_sub(self.len(word))
    }

    /// Moves the `n` newest objects to `out`, which is empty and has room for them; gives the new
    /// word.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, `word` is its word, and there are as many.
    #[inline]
    pub(super) unsafe fn pop_many(
        &mut self,
        word: Word,
        n: usize,
        out: &mut Vec<ErasedObject>,
    ) -> Word {
        debug_assert!(n <= self.len(word) && out.is_empty() && n <= out.capacity());
        // SAFETY: there are as many below the word.
        let oldest = unsafe { word.cast::<ErasedObject>().sub(n) };
        // SAFETY: `out` has room; it is not part of the stack.
        unsafe { copy_run(oldest, out.as_mut_ptr(), n) };
        // SAFETY: copied just now, from what pushes wrote.
        unsafe { out.set_len(n) };
        oldest.cast()
    }

    /// Puts all of `nodes` on top, the last last; gives the new word.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, `word` is its word, and there is room.
    #[inline]
    pub(super) unsafe fn push_all(&mut self, word: Word, nodes: &[ErasedObject]) -> Word {
        debug_assert!(nodes.len() <= self.room(word));
        let end = word.cast::<ErasedObject>();
        // SAFETY: there is room; `nodes` are not part of the stack.
        unsafe { copy_run(nodes.as_ptr(), end, nodes.len()) };
        // SAFETY: within the stack, or at its end.
        unsafe { end.add(nodes.len()) }.cast()
    }

    /// Takes as many of `nodes`, from their end, as there is room for; gives the new word.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, and `word` is its word.
    pub(super) unsafe fn push_many(&mut self, word: Word, nodes: &mut Vec<ErasedObject>) -> Word {
        let rest = nodes.len().saturating_sub(self.room(word));
        // SAFETY: no more than there is room for.
        let word = unsafe { self.push_all(word, &nodes[rest..]) };
        nodes.truncate(rest);
        word
    }

    /// Empties the stack, the oldest first, into `f`, a batch or less at a time.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, and `word` is its word; the next word is that of an empty
    /// stack.
    pub(super) unsafe fn drain(&mut self, word: Word, f: impl FnMut(&[ErasedObject])) {
        let batch_size = self.batch_size;
        // SAFETY: by contract.
        let nodes = unsafe { self.nodes(word) };
        nodes.chunks(batch_size).for_each(f);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let capacity = (LARGEST_WIDTH + 1) * self.batch_size;
        // SAFETY: the parts of the vector made in `new`.
        drop(unsafe { Vec::from_raw_parts(self.base.as_ptr(), 0, capacity) });
    }
}

/// The newest object; the next word is the one given with it.
///
/// # Safety
///
/// `word` is or was the word of a stack that is not empty, and what lies on top of that is the caller's:
/// nobody writes there meanwhile.
#[inline(always)]
pub(super) unsafe fn pop(word: Word) -> (ErasedObject, Word) {
    // SAFETY: not the first word, so within the stack.
    let newest = unsafe { word.cast::<ErasedObject>().sub(1) };
    // SAFETY: written by the push that made the word.
    (unsafe { newest.read() }, newest.cast())
}

/// Puts `node` on top; gives the next word.
///
/// # Safety
///
/// The caller has the cache to itself, and `word` is its word, and not that of a full stack.
#[inline(always)]
pub(super) unsafe fn push(word: Word, node: ErasedObject) -> Word {
    let end = word.cast::<ErasedObject>();
    // SAFETY: not the last word, so within the stack.
    unsafe { end.write(node) };
    // SAFETY: as above.
    unsafe { end.add(1) }.cast()
}

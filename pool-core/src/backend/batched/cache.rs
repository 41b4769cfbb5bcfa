//! Batches, and the two of them that a thread keeps in its slot.
#![allow(unsafe_code)] // No bounds checks on the way of a hit.

use std::mem::{self, MaybeUninit};

use crate::arena::NodePtr;
use crate::backend::slots::OwnedCount;

/// An array of pointers to idle objects, filled from the front. Changes hands by pointer.
pub(super) struct Batch {
    items: Box<[MaybeUninit<NodePtr>]>,
    /// How many are filled in; for a batch on top of a cache, the slot's word counts instead.
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

    pub(super) fn push(&mut self, node: NodePtr) {
        self.items[self.len].write(node);
        self.len += 1;
    }

    pub(super) fn pop(&mut self) -> Option<NodePtr> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: those before the old `len` were written by `push`.
        Some(unsafe { self.items[self.len].assume_init() })
    }

    /// Empties the batch, oldest first.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = NodePtr> + '_ {
        let len = mem::take(&mut self.len);
        // SAFETY: those before the old `len` were written by `push`.
        self.items[..len]
            .iter()
            .map(|item| unsafe { item.assume_init() })
    }

    /// Takes out the `n` oldest, or all.
    pub(super) fn take_oldest(&mut self, n: usize, out: &mut Vec<NodePtr>) {
        let n = n.min(self.len);
        // SAFETY: those before `len` were written by `push`.
        out.extend(
            self.items[..n]
                .iter()
                .map(|item| unsafe { item.assume_init() }),
        );
        self.items.copy_within(n..self.len, 0);
        self.len -= n;
    }
}

/// What a thread keeps: a stack of at most two batches.
///
/// The word of the slot counts the objects in `top`. All pushes and pops go there; when it runs
/// full or empty it changes places with `below`, if that helps, and only then is the depot asked.
/// So a thread that alternates at an edge visits the depot once per batch at most, the object
/// released last is acquired first, and those that leave are the oldest.
pub(crate) struct Cache {
    pub(super) top: Batch,
    /// Full or empty, never in between.
    pub(super) below: Batch,
    /// An empty buffer for the next burst, if it has room for any.
    pub(super) buffer: Vec<NodePtr>,
}

/// How many objects lie in `below`, for who counts.
#[derive(Default)]
pub(crate) struct Below(OwnedCount);

impl Below {
    pub(super) fn get(&self) -> usize {
        self.0.get() as usize
    }

    pub(super) fn set(&self, count: usize) {
        self.0.set(count as u64);
    }
}

impl Cache {
    pub(super) fn new(batch_size: usize) -> Self {
        Cache {
            top: Batch::new(batch_size),
            below: Batch::new(batch_size),
            buffer: Vec::new(),
        }
    }

    /// The newest object, of `word` in `top`.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, `word` is its word and not 0; the new word is one less.
    #[inline(always)]
    pub(super) unsafe fn pop(&mut self, word: usize) -> NodePtr {
        // SAFETY: the word counts what was written to `top`, and is at most its length.
        let item = unsafe { self.top.items.get_unchecked(word - 1) };
        // SAFETY: as above.
        unsafe { item.assume_init() }
    }

    /// Whether `top` has no room.
    #[inline(always)]
    pub(super) fn top_is_full(&self, word: usize) -> bool {
        word == self.top.items.len()
    }

    /// Puts `node` on top; the new word is one more.
    ///
    /// # Safety
    ///
    /// The caller has the cache to itself, `word` is its word, and `top` is not full.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, word: usize, node: NodePtr) {
        // SAFETY: less than the length, by contract.
        unsafe { self.top.items.get_unchecked_mut(word) }.write(node);
    }

    /// With `top` empty: brings up the full batch below, if there is one. Gives the new word.
    pub(super) fn turn_up(&mut self, below: &Below) -> usize {
        self.swap(0, below)
    }

    /// With `top` full: puts it below, if there is room. Gives the new word.
    pub(super) fn turn_down(&mut self, below: &Below) -> usize {
        let word = self.top.items.len();
        if self.below.len == 0 {
            self.swap(word, below)
        } else {
            word
        }
    }

    /// Moves the `n` newest objects to `out`; gives the new word. `out` has room for them.
    pub(super) fn pop_many(
        &mut self,
        mut word: usize,
        n: usize,
        below: &Below,
        out: &mut Vec<NodePtr>,
    ) -> usize {
        debug_assert!(n <= word + self.below.len);
        let mut missing = n;
        loop {
            let taken = missing.min(word);
            let items = &self.top.items[word - taken..word];
            // SAFETY: the word counts what was written to `top`.
            out.extend(items.iter().map(|item| unsafe { item.assume_init() }));
            word -= taken;
            missing -= taken;
            if missing == 0 {
                return word;
            }
            word = self.turn_up(below);
        }
    }

    /// Takes as many of `nodes`, from their end, as there is room for; gives the new word.
    pub(super) fn push_many(
        &mut self,
        mut word: usize,
        below: &Below,
        nodes: &mut Vec<NodePtr>,
    ) -> usize {
        loop {
            let room = self.top.items.len() - word;
            let rest = nodes.len().saturating_sub(room);
            for (item, node) in self.top.items[word..].iter_mut().zip(nodes.drain(rest..)) {
                item.write(node);
                word += 1;
            }
            if nodes.is_empty() || self.below.len > 0 {
                return word;
            }
            word = self.turn_down(below);
        }
    }

    fn swap(&mut self, word: usize, below: &Below) -> usize {
        self.top.len = word;
        mem::swap(&mut self.top, &mut self.below);
        below.set(self.below.len);
        self.top.len
    }

    /// Exchanges `top`, of `word` objects, for `batch`; gives the old `top` and the new word.
    pub(super) fn replace_top(&mut self, word: usize, batch: Batch) -> (Batch, usize) {
        self.top.len = word;
        let old = mem::replace(&mut self.top, batch);
        (old, self.top.len)
    }
}

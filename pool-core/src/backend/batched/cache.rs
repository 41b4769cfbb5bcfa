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

/// The most batches that a thread may have below its top one.
pub(super) const LARGEST_WIDTH: usize = 8;

/// Quick visits in a row that double the width.
const EARNED_AFTER: u32 = 256;

/// A visit is quick if, since the last one, the batches changed places no more than this often for
/// each that the width allows: what was taken then was used up at once, or what was given came
/// again at once.
const QUICK_TURNS: u32 = 2;

/// A visit after this many turns for each that the width allows halves the width again.
const QUIET_TURNS: u32 = 64;

/// What a thread keeps: a stack of batches, usually two.
///
/// The word of the slot counts the objects in `top`. All pushes and pops go there; when it runs
/// full or empty it changes places with a batch below, if that helps, and only then is the depot
/// asked. So a thread that alternates at an edge visits the depot once per batch at most, the object
/// released last is acquired first, and those that leave are the oldest.
///
/// A thread that keeps visiting, since its bursts are far above the batch, earns a larger `width`:
/// that many batches are exchanged in a visit, and may lie below the top. It loses it when its visits
/// become rare, and when its slot is revoked.
#[repr(C)] // `top` first, beside the slot's words.
pub(crate) struct Cache {
    pub(super) top: Batch,
    /// Full batches, the newest last; at most `width`.
    pub(super) below: Vec<Batch>,
    /// Empty batches, to change places with a full `top`: with those below, at most `width`.
    pub(super) shells: Vec<Batch>,
    /// How many batches may lie below, and are exchanged in a visit: 1 to [`LARGEST_WIDTH`].
    pub(super) width: usize,
    /// How often batches changed places since the last visit.
    turns: u32,
    /// Quick visits in a row.
    quick_visits: u32,
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
        // With room for all that may come, since no memory is asked for inside a slot.
        let mut shells = Vec::with_capacity(LARGEST_WIDTH + 1);
        shells.push(Batch::new(batch_size));
        Cache {
            top: Batch::new(batch_size),
            below: Vec::with_capacity(LARGEST_WIDTH),
            shells,
            width: 1,
            turns: 0,
            quick_visits: 0,
            buffer: Vec::new(),
        }
    }

    /// Notes a visit to the depot, and adapts the width.
    pub(super) fn visit(&mut self) {
        let width = self.width as u32;
        if self.turns > QUIET_TURNS * width {
            self.width = (self.width / 2).max(1);
        }
        if self.turns > QUICK_TURNS * width {
            self.quick_visits = 0;
        } else {
            self.quick_visits += 1;
            if self.quick_visits >= EARNED_AFTER {
                self.width = (self.width * 2).min(LARGEST_WIDTH);
                self.quick_visits = 0;
            }
        }
        self.turns = 0;
    }

    /// Back to two batches, when all was taken away.
    pub(super) fn narrow(&mut self) {
        self.width = 1;
        self.turns = 0;
        self.quick_visits = 0;
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

    /// With `top` empty: brings up the newest batch below, if there is one. Gives the new word.
    pub(super) fn turn_up(&mut self, below: &Below) -> usize {
        let Some(full) = self.below.pop() else {
            return 0;
        };
        let (shell, word) = self.replace_top(0, full);
        self.shells.push(shell);
        self.turned(below);
        word
    }

    /// With `top` full: puts it below, if there is room. Gives the new word.
    pub(super) fn turn_down(&mut self, below: &Below) -> usize {
        let word = self.top.items.len();
        if self.below.len() >= self.width {
            return word;
        }
        let Some(shell) = self.shells.pop() else {
            return word;
        };
        let (full, word) = self.replace_top(word, shell);
        self.below.push(full);
        self.turned(below);
        word
    }

    fn turned(&mut self, below: &Below) {
        self.turns = self.turns.saturating_add(1);
        self.count_below(below);
    }

    pub(super) fn count_below(&self, below: &Below) {
        below.set(self.below.len() * self.top.items.len());
    }

    /// How many objects there are.
    pub(super) fn len(&self, word: usize) -> usize {
        word + self.below.len() * self.top.items.len()
    }

    /// Moves the `n` newest objects to `out`; gives the new word. `out` has room for them.
    pub(super) fn pop_many(
        &mut self,
        mut word: usize,
        n: usize,
        below: &Below,
        out: &mut Vec<NodePtr>,
    ) -> usize {
        debug_assert!(n <= self.len(word));
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
            if nodes.is_empty() {
                return word;
            }
            word = self.turn_down(below);
            if self.top_is_full(word) {
                return word;
            }
        }
    }

    /// Exchanges `top`, of `word` objects, for `batch`; gives the old `top` and the new word.
    pub(super) fn replace_top(&mut self, word: usize, batch: Batch) -> (Batch, usize) {
        self.top.len = word;
        let old = mem::replace(&mut self.top, batch);
        (old, self.top.len)
    }
}

//! The depot: idle objects that are in no thread's cache, as a stack of batches.
//!
//! All of it is under the centre's lock, and all of it is short: a visit moves one batch by
//! pointer, or, for a thread that may not cache, one object.
#![allow(unsafe_code)] // The parts of a cache that trust its word.

use std::mem;

use super::cache::{Batch, Below, Cache};
use crate::arena::NodePtr;
use crate::backend::slots::Centre;

/// For how many visits caches stay revoked after the pool ran dry.
///
/// Each time nothing is idle at the depot and the bound is reached, the caches have to be searched,
/// at the price of a barrier. A pool that ran dry is likely to again, so for a while every release
/// goes to the depot, where the next one who finds nothing needs no search. 64 visits cost about
/// what a barrier does, so the price of running dry is at most doubled, and not paid per poll.
const DRY_VISITS: u32 = 64;

pub(crate) struct Depot {
    batch_size: usize,
    max_idle: usize,
    /// Full batches, those that came last at the end.
    full: Vec<Batch>,
    /// One batch that is being filled and emptied object by object.
    loose: Batch,
    /// Empty batches, to be filled again.
    shells: Vec<Batch>,
    /// Visits for which caches stay revoked.
    dry: u32,
    pub(super) exchanges: u64,
}

impl Depot {
    pub(super) fn new(batch_size: usize, max_idle: Option<usize>) -> Self {
        Depot {
            batch_size,
            max_idle: max_idle.unwrap_or(usize::MAX),
            full: Vec::new(),
            loose: Batch::new(batch_size),
            shells: Vec::new(),
            dry: 0,
            exchanges: 0,
        }
    }

    /// Idle objects here.
    pub(super) fn idle(&self) -> usize {
        self.full.len() * self.batch_size + self.loose.len()
    }

    /// Whether `more` objects could take the pool past `max_idle`, if the caches of `active`
    /// threads were as full as they get.
    pub(super) fn may_overflow(&self, more: usize, active: usize) -> bool {
        let cached = active.saturating_mul(2 * self.batch_size);
        self.idle().saturating_add(cached).saturating_add(more) > self.max_idle
    }

    pub(super) fn ran_dry(&mut self) {
        self.dry = DRY_VISITS;
    }

    /// Takes one object, for a thread that may not cache.
    pub(super) fn take_one(&mut self) -> Option<NodePtr> {
        let node = self.pop()?;
        self.visited();
        Some(node)
    }

    fn pop(&mut self) -> Option<NodePtr> {
        self.loose.pop().or_else(|| {
            let full = self.full.pop()?;
            let shell = mem::replace(&mut self.loose, full);
            self.shells.push(shell);
            self.loose.pop()
        })
    }

    /// Puts one object, from a thread that may not cache.
    pub(super) fn put_one(&mut self, node: NodePtr) {
        self.keep(node);
        self.visited();
    }

    /// Moves the `n` objects that came last to `out`, which has room for them. There are as many.
    pub(super) fn take_many(&mut self, n: usize, out: &mut Vec<NodePtr>) {
        debug_assert!(n <= self.idle());
        let mut missing = n;
        while missing > 0 {
            if missing >= self.batch_size
                && let Some(mut full) = self.full.pop()
            {
                missing -= self.batch_size;
                out.extend(full.drain());
                self.shells.push(full);
            } else if let Some(node) = self.pop() {
                missing -= 1;
                out.push(node);
            } else {
                break;
            }
        }
        self.visited();
    }

    /// Keeps all of `nodes`.
    pub(super) fn put_many(&mut self, nodes: impl Iterator<Item = NodePtr>) {
        nodes.for_each(|node| self.keep(node));
        self.visited();
    }

    fn visited(&mut self) {
        self.exchanges += 1;
        self.dry = self.dry.saturating_sub(1);
    }

    fn keep(&mut self, node: NodePtr) {
        if self.loose.is_full() {
            let shell = self.shell();
            let full = mem::replace(&mut self.loose, shell);
            self.full.push(full);
        }
        self.loose.push(node);
    }

    fn shell(&mut self) -> Batch {
        self.shells
            .pop()
            .unwrap_or_else(|| Batch::new(self.batch_size))
    }

    /// Whether the next exchange has to allocate a shell; the caller brings one, so that memory is
    /// not asked for under the lock.
    pub(super) fn needs_shell(&self) -> bool {
        self.shells.is_empty()
    }

    pub(super) fn add_shell(&mut self, shell: Batch) {
        self.shells.push(shell);
    }

    /// Gives batches to a cache that has none, as many as its width allows, and takes one object off
    /// the newest. `None` if there is none here.
    pub(super) fn refill(
        &mut self,
        word: &mut usize,
        cache: &mut Cache,
        below: &Below,
    ) -> Option<NodePtr> {
        debug_assert!(*word == 0 && cache.below.is_empty());
        let newest = match self.full.pop() {
            Some(full) => full,
            None if self.loose.len() > 0 => {
                let shell = self.shell();
                mem::replace(&mut self.loose, shell)
            }
            None => return None,
        };
        let (shell, filled) = cache.replace_top(0, newest);
        cache.shells.push(shell);
        if self.adapts() {
            cache.visit();
            let rest = self.full.len().saturating_sub(cache.width - 1);
            cache.below.extend(self.full.drain(rest..));
            cache.count_below(below);
        }
        self.take_surplus_shells(cache);
        self.visited();
        // SAFETY: the lock is held and the owner is not inside; a batch from here is not empty.
        let node = unsafe { cache.pop(filled) };
        *word = filled - 1;
        Some(node)
    }

    /// Takes the older half of the batches in a cache that has no room, and puts `node` on top of
    /// what stays. Also for a cache with room, which was revoked meanwhile.
    pub(super) fn spill(
        &mut self,
        word: &mut usize,
        cache: &mut Cache,
        below: &Below,
        node: NodePtr,
    ) {
        if cache.top_is_full(*word) {
            *word = cache.turn_down(below);
        }
        if cache.top_is_full(*word) {
            if self.adapts() {
                cache.visit();
            }
            if cache.below.len() >= cache.width {
                let kept = (cache.below.len() / 2).min(cache.width - 1);
                let given = cache.below.len() - kept;
                self.full.extend(cache.below.drain(..given));
                cache.count_below(below);
            }
            while cache.shells.len() + cache.below.len() < cache.width
                && (cache.shells.is_empty() || !self.shells.is_empty())
            {
                let shell = self.shell();
                cache.shells.push(shell);
            }
            self.take_surplus_shells(cache);
            *word = cache.turn_down(below);
            self.visited();
        }
        // SAFETY: the lock is held and the owner is not inside; `top` was just made to have room.
        unsafe { cache.push(*word, node) };
        *word += 1;
    }

    /// Whether widths adapt. Not under a `max_idle`, which is counted by what a cache of two batches
    /// could hold.
    fn adapts(&self) -> bool {
        self.max_idle == usize::MAX
    }

    fn take_surplus_shells(&mut self, cache: &mut Cache) {
        let room = cache.width - cache.below.len().min(cache.width);
        if cache.shells.len() > room {
            self.shells.extend(cache.shells.drain(room..));
        }
    }

    /// Takes out the `n` objects that have been idle longest, or all.
    pub(super) fn take_oldest(&mut self, n: usize) -> Vec<NodePtr> {
        let n = n.min(self.idle());
        let mut out = Vec::with_capacity(n);
        let batches = (n / self.batch_size).min(self.full.len());
        for mut batch in self.full.drain(..batches) {
            out.extend(batch.drain());
            self.shells.push(batch);
        }
        if let Some(oldest) = self.full.first_mut() {
            let rest = n - out.len();
            oldest.take_oldest(rest, &mut out);
            // A batch among the full ones is full: what is left of this one is kept singly.
            if rest > 0 {
                let mut batch = self.full.remove(0);
                for node in batch.drain() {
                    self.keep(node);
                }
                self.shells.push(batch);
            }
        }
        let rest = n - out.len();
        self.loose.take_oldest(rest, &mut out);
        out
    }

    /// Lets go of the memory of empty batches.
    pub(super) fn shrink(&mut self) {
        self.shells = Vec::new();
        self.full.shrink_to_fit();
    }
}

impl Centre for Depot {
    type State = Cache;
    type Meter = Below;

    fn empty(&self) -> Cache {
        Cache::new(self.batch_size)
    }

    fn limit(&self) -> usize {
        self.batch_size
    }

    fn gather(&mut self, word: usize, cache: &mut Cache, below: &Below) {
        self.full.append(&mut cache.below);
        cache.narrow();
        cache.count_below(below);
        while cache.shells.is_empty() {
            let shell = self.shell();
            cache.shells.push(shell);
        }
        self.take_surplus_shells(cache);
        if word == self.batch_size {
            let shell = self.shell();
            let (full, _) = cache.replace_top(word, shell);
            self.full.push(full);
        } else {
            // The oldest first, so that the newest comes to lie on top.
            for at in 1..=word {
                // SAFETY: the caller has the cache to itself, and `word` is its word.
                let node = unsafe { cache.pop(at) };
                self.keep(node);
            }
        }
    }

    fn may_cache(&self, active: usize) -> bool {
        self.dry == 0 && !self.may_overflow(0, active + 1)
    }
}

//! The depot: idle objects that are in no thread's cache, as a stack of batches.
//!
//! All of it is under the centre's lock, and all of it is short: a visit moves one batch by
//! pointer, or, for a thread that may not cache, one object.
#![allow(unsafe_code)] // The parts of a cache that trust its word.

use std::mem;

use super::cache::{Batch, Cache};
use crate::backend::slots::{Centre, Word};
use crate::object::ErasedObject;
use crate::trim::{Keep, LowWater};

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
    /// Full batches, those that came last at the end. The first may have lost its oldest to a trim.
    full: Vec<Batch>,
    /// One batch that is being filled and emptied object by object.
    loose: Batch,
    /// Empty batches, to be filled again.
    shells: Vec<Batch>,
    /// Visits for which caches stay revoked.
    dry: u32,
    low_water: LowWater,
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
            low_water: LowWater::default(),
            exchanges: 0,
        }
    }

    /// Idle objects here.
    pub(super) fn idle(&self) -> usize {
        let full = match &self.full[..] {
            [] => 0,
            [first, rest @ ..] => {
                debug_assert!(first.len() > 0 && rest.last().is_none_or(Batch::is_full));
                first.len() + rest.len() * self.batch_size
            }
        };
        full + self.loose.len()
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
    pub(super) fn take_one(&mut self) -> Option<ErasedObject> {
        let node = self.pop()?;
        self.visited();
        Some(node)
    }

    fn pop(&mut self) -> Option<ErasedObject> {
        self.loose.pop().or_else(|| {
            let full = self.full.pop()?;
            let shell = mem::replace(&mut self.loose, full);
            self.shells.push(shell);
            self.loose.pop()
        })
    }

    /// Puts one object, from a thread that may not cache.
    pub(super) fn put_one(&mut self, node: ErasedObject) {
        self.keep(node);
        self.visited();
    }

    /// Moves the `n` objects that came last to `out`, which has room for them. There are as many.
    pub(super) fn take_many(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        debug_assert!(n <= self.idle());
        let mut missing = n;
        while missing > 0 {
            if missing >= self.batch_size
                && let Some(mut full) = self.full.pop()
            {
                missing -= full.len();
                out.extend_from_slice(full.nodes());
                full.clear();
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
    pub(super) fn put_many(&mut self, nodes: impl Iterator<Item = ErasedObject>) {
        nodes.for_each(|node| self.keep(node));
        self.visited();
    }

    fn visited(&mut self) {
        self.exchanges += 1;
        self.dry = self.dry.saturating_sub(1);
        self.low_water.note(self.idle());
    }

    fn keep(&mut self, node: ErasedObject) {
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

    /// Hands batches to a cache that is empty, as many as its width allows; `false` if none is here.
    /// The owner copies them to its stack after the lock is given up.
    pub(super) fn hand_over(&mut self, cache: &mut Cache) -> bool {
        if self.idle() == 0 {
            return false;
        }
        if self.adapts() {
            cache.visit(true);
        }
        self.take_surplus_shells(cache);
        let rest = self.full.len().saturating_sub(cache.width());
        cache.incoming.extend(self.full.drain(rest..));
        if cache.incoming.is_empty() {
            let shell = self.shell();
            cache.incoming.push(mem::replace(&mut self.loose, shell));
        }
        self.visited();
        true
    }

    /// Takes over the batches that the owner of a full cache has copied out; gives how many.
    pub(super) fn take_over(&mut self, cache: &mut Cache) -> usize {
        let given = cache.outgoing.len();
        self.full.append(&mut cache.outgoing);
        if self.adapts() && given > 0 {
            cache.visit(false);
        }
        // For the next time.
        let wanted = cache.given().saturating_sub(cache.shells.len());
        let rest = self.shells.len().saturating_sub(wanted);
        cache.shells.extend(self.shells.drain(rest..));
        self.visited();
        given
    }

    /// Whether widths adapt. Not under a `max_idle`, which is counted by what a cache of two batches
    /// could hold.
    fn adapts(&self) -> bool {
        self.max_idle == usize::MAX
    }

    fn take_surplus_shells(&mut self, cache: &mut Cache) {
        let kept = cache.given().min(cache.shells.len());
        self.shells.extend(cache.shells.drain(kept..));
    }

    /// Takes out the objects beyond `keep`, and lets go of memory that the others do not need.
    pub(super) fn take_surplus(&mut self, keep: Keep) -> Vec<ErasedObject> {
        let surplus = self.low_water.surplus(self.idle(), keep);
        let oldest = self.take_oldest(surplus);
        if surplus > 0 {
            self.shells = Vec::new();
            self.full.shrink_to_fit();
        }
        oldest
    }

    /// Takes out the `n` objects that have been idle longest, or all.
    pub(super) fn take_oldest(&mut self, n: usize) -> Vec<ErasedObject> {
        let n = n.min(self.idle());
        let mut out = Vec::with_capacity(n);
        let mut emptied = 0;
        for batch in &mut self.full {
            batch.take_oldest(n - out.len(), &mut out);
            if batch.len() > 0 {
                break;
            }
            emptied += 1;
        }
        self.shells.extend(self.full.drain(..emptied));
        self.loose.take_oldest(n - out.len(), &mut out);
        out
    }
}

impl Centre for Depot {
    type State = Cache;
    type Meter = ();

    fn empty(&self) -> Cache {
        Cache::new(self.batch_size)
    }

    fn bounds(&self, cache: &Cache) -> (Word, usize) {
        cache.bounds()
    }

    fn gather(&mut self, word: Word, cache: &mut Cache, (): &()) {
        // SAFETY: the caller has the cache to itself, and `word` is its word.
        unsafe {
            cache.drain(word, |nodes| {
                if nodes.len() == self.batch_size {
                    let mut batch = self.shell();
                    batch.fill(nodes);
                    self.full.push(batch);
                } else {
                    // The oldest first, so that the newest comes to lie on top.
                    nodes.iter().for_each(|node| self.keep(*node));
                }
            });
        }
        // Copies of what was just taken, if the owner was on its way here with them.
        cache.keep_outgoing();
        cache.narrow();
        self.take_surplus_shells(cache);
    }

    fn may_cache(&self, active: usize) -> bool {
        self.dry == 0 && !self.may_overflow(0, active + 1)
    }
}

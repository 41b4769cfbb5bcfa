//! Batched: a stack of its own for each thread, refilled and emptied by batches.
//!
//! A hit ([`pop_hit`], [`push_hit`]) works on the calling thread's [`Cache`] alone. A miss goes to
//! the [`Depot`], once per batch. When the depot has nothing and the bound is reached, the caches
//! of all threads are revoked and searched, so the bound is exact and nothing idle is out of reach.
#![allow(unsafe_code)] // Inside a slot, the cache is the owner's.

mod cache;
mod depot;

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use self::cache::{Batch, Below, Cache};
use self::depot::Depot;
use super::buffers::Buffers;
use super::slots::{self, Locked, Slot, Slots};
use super::{Counts, NotFrozen, Store, Taken};
use crate::arena::NodePtr;
use crate::config::Config;
use crate::error::AcquireError;
use crate::ledger::Ledger;

pub(crate) struct Batched {
    slots: Arc<Slots<Depot>>,
    buffers: Buffers,
    batch_size: usize,
    max_idle: Option<usize>,
    _tail: NotFrozen,
}

type CacheSlot = Slot<Cache, Below>;

// All that a hit touches, but for the batch itself, is one line, which nobody else writes: the two
// words of the slot, and `top`.
#[cfg(all(not(loom), target_pointer_width = "64"))]
const _: () = assert!(slots::state_offset::<Cache, Below>() + size_of::<Batch>() <= 64);

/// The calling thread's slot in the pool numbered `number`, if it is at hand.
///
/// # Safety
///
/// The number is that of a [`Batched`] that is alive for `'a`, or of no pool.
#[inline(always)]
pub(crate) unsafe fn slot_at_hand<'a>(number: u64) -> Option<&'a CacheSlot> {
    // SAFETY: by contract.
    unsafe { slots::recent::<Depot>(number) }
}

/// A hit: the newest object in the slot. `None` if `top` is empty or the slot revoked.
#[inline(always)]
pub(crate) fn pop_hit(slot: &CacheSlot) -> Option<NodePtr> {
    let word = slot.enter_to_take()?;
    // SAFETY: inside the slot (BIAS-EXCLUSIVE), with at least one object on top.
    let node = slot.with_state(|cache| unsafe { (*cache).pop(word) });
    slot.leave(word - 1);
    Some(node)
}

/// A hit: puts an object on top of the slot. `false` if `top` is full or the slot revoked.
///
/// On `true` the object is no longer the caller's, nor is the pool kept alive by it.
#[inline(always)]
pub(crate) fn push_hit(slot: &CacheSlot, node: NodePtr) -> bool {
    let Some(word) = slot.enter_to_put() else {
        return false;
    };
    // SAFETY: inside the slot (BIAS-EXCLUSIVE), with room on top.
    slot.with_state(|cache| unsafe { (*cache).push(word, node) });
    slot.leave(word + 1);
    true
}

/// As [`pop_hit`], bringing up the batch below if the top one is empty.
fn pop_own(slot: &CacheSlot) -> Option<NodePtr> {
    let mut word = slot.enter()?;
    let node = slot.with_state(|cache| {
        // SAFETY: inside the slot (BIAS-EXCLUSIVE).
        let cache = unsafe { &mut *cache };
        if word == 0 {
            word = cache.turn_up(slot.meter());
        }
        if word == 0 {
            return None;
        }
        // SAFETY: as above, and not empty.
        let node = unsafe { cache.pop(word) };
        word -= 1;
        Some(node)
    });
    slot.leave(word);
    node
}

/// As [`push_hit`], putting the top batch below if it is full and there is room.
fn push_own(slot: &CacheSlot, node: NodePtr) -> bool {
    let Some(mut word) = slot.enter() else {
        return false;
    };
    let pushed = slot.with_state(|cache| {
        // SAFETY: inside the slot (BIAS-EXCLUSIVE).
        let cache = unsafe { &mut *cache };
        if cache.top_is_full(word) {
            word = cache.turn_down(slot.meter());
        }
        if cache.top_is_full(word) {
            return false;
        }
        // SAFETY: as above, and there is room.
        unsafe { cache.push(word, node) };
        word += 1;
        true
    });
    slot.leave(word);
    pushed
}

/// What came of taking many objects from a slot.
enum Popped {
    All(Vec<NodePtr>),
    /// Nothing was taken; the buffer may be used.
    TooFew(Vec<NodePtr>),
}

/// Takes `n` objects, if the slot has as many and a buffer for them.
fn pop_many_own(slot: &CacheSlot, n: usize) -> Popped {
    let Some(mut word) = slot.enter() else {
        return Popped::TooFew(Vec::new());
    };
    let popped = slot.with_state(|cache| {
        // SAFETY: inside the slot (BIAS-EXCLUSIVE).
        let cache = unsafe { &mut *cache };
        let mut nodes = mem::take(&mut cache.buffer);
        if n > cache.len(word) || n > nodes.capacity() {
            return Popped::TooFew(nodes);
        }
        word = cache.pop_many(word, n, slot.meter(), &mut nodes);
        Popped::All(nodes)
    });
    slot.leave(word);
    popped
}

/// Puts `nodes`, if the slot has room for all of them, and keeps the buffer they came in. If not,
/// `nodes` are those that are left.
fn push_many_own(slot: &CacheSlot, nodes: &mut Vec<NodePtr>, buffers: &Buffers) -> bool {
    let Some(mut word) = slot.enter() else {
        return false;
    };
    let pushed = slot.with_state(|cache| {
        // SAFETY: inside the slot (BIAS-EXCLUSIVE).
        let cache = unsafe { &mut *cache };
        word = cache.push_many(word, slot.meter(), nodes);
        let pushed = nodes.is_empty();
        if pushed {
            let buffer = mem::take(nodes);
            if cache.buffer.capacity() == 0 {
                cache.buffer = buffer;
            } else {
                buffers.give(buffer);
            }
        }
        pushed
    });
    slot.leave(word);
    pushed
}

impl Batched {
    pub(super) fn new(config: &Config) -> Self {
        Batched {
            slots: Slots::new(Depot::new(config.batch_size, config.max_idle)),
            buffers: Buffers::new(),
            batch_size: config.batch_size,
            max_idle: config.max_idle,
            _tail: NotFrozen::new(),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.slots.number()
    }

    /// The centre, with a shell at hand in case a batch has to be taken over.
    fn lock_with_shell(&self) -> Locked<'_, Depot> {
        let mut shell = None;
        loop {
            let mut centre = self.slots.lock();
            if !centre.shared().needs_shell() {
                return centre;
            }
            if let Some(shell) = shell.take() {
                centre.shared().add_shell(shell);
                return centre;
            }
            drop(centre);
            shell = Some(Batch::new(self.batch_size));
        }
    }

    /// Whether `more` objects may be added; where that is close, the caches are revoked so that
    /// the count is exact.
    fn has_room(&self, centre: &mut Locked<'_, Depot>, more: usize) -> bool {
        let Some(max_idle) = self.max_idle else {
            return true;
        };
        let active = centre.active();
        if centre.shared().may_overflow(more, active) {
            centre.revoke_all();
            return centre.shared().idle() < max_idle;
        }
        true
    }
}

impl Store for Batched {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        let own = self.slots.own();
        if let Some(node) = own.and_then(pop_own) {
            return Taken::Idle(node);
        }
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Taken::Closed;
        }
        let refilled = own.and_then(|slot| {
            centre.with_own(slot, |word, cache, below, depot| {
                depot.refill(word, cache, below)
            })
        });
        let node = match refilled {
            Some(node) => node,
            None => centre.shared().take_one(),
        };
        if let Some(node) = node {
            return Taken::Idle(node);
        }
        if make && ledger.admit() {
            return Taken::Admitted;
        }
        centre.revoke_all();
        centre.shared().ran_dry();
        if let Some(node) = centre.shared().take_one() {
            return Taken::Idle(node);
        }
        if make && ledger.admit() {
            return Taken::Admitted;
        }
        Taken::Exhausted
    }

    fn put(&self, node: NodePtr) -> Result<(), NodePtr> {
        let own = self.slots.own();
        if own.is_some_and(|slot| push_own(slot, node)) {
            return Ok(());
        }
        let mut centre = self.lock_with_shell();
        if centre.is_closed() || !self.has_room(&mut centre, self.batch_size) {
            return Err(node);
        }
        let spilled = own.and_then(|slot| {
            centre.with_own(slot, |word, cache, below, depot| {
                depot.spill(word, cache, below, node);
            })
        });
        if spilled.is_none() {
            centre.shared().put_one(node);
            centre.waiters().notify_one();
        }
        Ok(())
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        _surplus: &mut Vec<NodePtr>,
    ) -> Result<Vec<NodePtr>, AcquireError> {
        let own = self.slots.own();
        let mut nodes = match own.map(|slot| pop_many_own(slot, n)) {
            Some(Popped::All(nodes)) => return Ok(nodes),
            Some(Popped::TooFew(nodes)) => nodes,
            None => Vec::new(),
        };
        if nodes.capacity() < n {
            self.buffers.give(nodes);
            nodes = self.buffers.take(n);
        }
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Err(AcquireError::Closed);
        }
        if let Some(slot) = own {
            centre.flush(slot);
        }
        let idle = n.min(centre.shared().idle());
        if ledger.admit_all(n - idle) {
            centre.shared().take_many(idle, &mut nodes);
            return Ok(nodes);
        }
        centre.revoke_all();
        centre.shared().ran_dry();
        let idle = n.min(centre.shared().idle());
        if ledger.admit_all(n - idle) {
            centre.shared().take_many(idle, &mut nodes);
            return Ok(nodes);
        }
        self.buffers.give(nodes);
        Err(AcquireError::Exhausted)
    }

    fn put_many(&self, mut nodes: Vec<NodePtr>) -> Vec<NodePtr> {
        let own = self.slots.own();
        if own.is_some_and(|slot| push_many_own(slot, &mut nodes, &self.buffers)) {
            return nodes;
        }
        let mut centre = self.lock_with_shell();
        if centre.is_closed() {
            return nodes;
        }
        let mut kept = nodes.len();
        if let Some(max_idle) = self.max_idle {
            let active = centre.active();
            if centre.shared().may_overflow(kept, active) {
                centre.revoke_all();
                kept = kept.min(max_idle.saturating_sub(centre.shared().idle()));
            }
        }
        let refused = nodes.split_off(kept);
        centre.shared().put_many(nodes.drain(..));
        // The next release may do without the lock, if that is allowed.
        if let Some(slot) = own {
            centre.with_own(slot, |_, _, _, _| ());
        }
        centre.waiters().notify_all();
        self.buffers.give(nodes);
        refused
    }

    fn wait(&self, ledger: &Ledger, n: usize, deadline: Option<Instant>) -> bool {
        self.slots.lock().wait(n, deadline, |depot| {
            depot.idle().saturating_add(ledger.room()) >= n
        })
    }

    fn gather(&self, keep: usize) -> Vec<NodePtr> {
        let mut centre = self.slots.lock();
        centre.revoke_all();
        let depot = centre.shared();
        let surplus = depot.idle().saturating_sub(keep);
        let oldest = depot.take_oldest(surplus);
        if surplus > 0 {
            depot.shrink();
        }
        oldest
    }

    fn close(&self, _ledger: &Ledger) -> Vec<NodePtr> {
        let mut centre = self.slots.lock();
        centre.close();
        centre.shared().take_oldest(usize::MAX)
    }

    fn flush(&self) {
        let Some(slot) = self.slots.own() else {
            return;
        };
        self.slots.lock().flush(slot);
    }

    fn counts(&self) -> Counts {
        let mut centre = self.slots.lock();
        let mut cached = 0;
        centre.for_each_active(|word, below| cached += word + below.get());
        Counts {
            idle: centre.shared().idle() + cached,
            cached,
            exchanges: centre.shared().exchanges,
            revocations: centre.revocations(),
            waits: centre.waiters().total(),
        }
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        let centre = self.slots.lock();
        super::admit_unless(centre.is_closed(), ledger)
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        ledger.leave_room();
        if ledger.is_bounded() {
            self.slots.lock().waiters().notify_one();
        }
        ledger.release_ref()
    }
}

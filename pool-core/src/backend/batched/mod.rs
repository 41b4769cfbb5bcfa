//! Batched: a stack of its own for each thread, refilled and emptied by batches.
//!
//! A hit ([`pop_hit`], [`push_hit`]) works on the calling thread's [`Cache`] alone. A miss goes to
//! the [`Depot`], once per batch. When the depot has nothing and the bound is reached, the caches
//! of all threads are revoked and searched, so the bound is exact and nothing idle is out of reach.
#![allow(unsafe_code)] // Inside a slot, the cache is the owner's.

mod cache;
mod depot;

use std::sync::Arc;
use std::time::Instant;

use self::cache::{Batch, Below, Cache};
use self::depot::Depot;
use super::slots::{self, Locked, Slot, Slots};
use super::{Counts, NotFrozen, Store, Taken};
use crate::arena::NodePtr;
use crate::config::Config;
use crate::error::AcquireError;
use crate::ledger::Ledger;

pub(crate) struct Batched {
    slots: Arc<Slots<Depot>>,
    batch_size: usize,
    max_idle: Option<usize>,
    _tail: NotFrozen,
}

type CacheSlot = Slot<Cache, Below>;

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

impl Batched {
    pub(super) fn new(config: &Config) -> Self {
        Batched {
            slots: Slots::new(Depot::new(config.batch_size, config.max_idle)),
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
            centre.with_own(slot, |word, cache, _, depot| depot.refill(word, cache))
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

    fn wait(&self, ledger: &Ledger, deadline: Option<Instant>) -> bool {
        self.slots
            .lock()
            .wait(deadline, |depot| depot.idle() > 0 || !ledger.at_bound())
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

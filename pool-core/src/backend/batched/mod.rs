//! Batched: a stack of its own for each thread, refilled and emptied by batches.
//!
//! A hit ([`pop_hit`], [`push_hit`]) works on the calling thread's [`Cache`] alone. A miss goes to
//! the [`Depot`], once per batch. When the depot has nothing and the bound is reached, the caches
//! of all threads are revoked and searched, so the bound is exact and nothing idle is out of reach.
#![allow(unsafe_code)] // Inside a slot, the cache is the owner's.

mod cache;
mod copy;
mod depot;

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;
use std::{iter, mem};

use self::cache::{Batch, Cache};
use self::depot::Depot;
use super::buffers::Buffers;
use super::slots::{self, Idle, Locked, PoolId, Slot, Slots, Word};
use super::{Counts, NotFrozen, Store, Taken, centre_in_slots, send_away};
use crate::config::Config;
use crate::error::AcquireError;
use crate::fork::Side;
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::trim::Keep;
use crate::wait::{Call, Grant, Ticket};

pub(crate) struct Batched {
    slots: Arc<Slots<Depot>>,
    buffers: Buffers,
    batch_size: usize,
    max_idle: Option<usize>,
    _tail: NotFrozen,
}

type CacheSlot = Slot<Cache, ()>;

/// The calling thread's slot in the pool numbered `number`, if it is at hand.
///
/// # Safety
///
/// The number is that of a [`Batched`] that is alive for `'a`, or of no pool.
#[inline(always)]
pub(crate) unsafe fn slot_at_hand<'a>(number: PoolId) -> Option<&'a CacheSlot> {
    // SAFETY: by contract.
    unsafe { slots::recent::<Depot>(number) }
}

/// A hit: the newest object in the slot. `None` if it is empty or revoked; the caller then goes to
/// [`take`](Store::take), where it may turn out that the object was had.
///
/// The caller keeps the pool alive.
#[inline(always)]
pub(crate) fn pop_hit(slot: &CacheSlot) -> Option<ErasedObject> {
    let word = slot.step_down(size_of::<ErasedObject>())?;
    // SAFETY: that was not the word of an empty stack, and what lay on top is the owner's (BIAS-STEP).
    let (node, _) = unsafe { cache::pop(word) };
    Some(node)
}

/// A hit: puts an object on top of the slot. `false` if it is full or revoked.
///
/// On `true` the object is no longer the caller's, nor is the pool kept alive by it.
#[inline(always)]
pub(crate) fn push_hit(slot: &CacheSlot, node: ErasedObject) -> bool {
    let Some(word) = slot.enter_to_put() else {
        return false;
    };
    // SAFETY: inside the slot (BIAS-EXCLUSIVE), which is not full.
    let word = slot.with_state(|_| unsafe { cache::push(word, node) });
    slot.leave(word);
    true
}

/// A hit of many: the `n` newest objects, if the slot has as many, and a buffer for them.
#[inline]
pub(crate) fn pop_many_hit(slot: &CacheSlot, n: usize) -> Option<Vec<ErasedObject>> {
    let word = slot.enter_to_take_many(n.saturating_mul(size_of::<ErasedObject>()))?;
    work_inside(slot, word, |cache, word| {
        // None are not at hand either: there would be nothing by which the buffer finds its way back.
        if n.wrapping_sub(1) >= cache.buffer.capacity() {
            return (None, word);
        }
        let mut nodes = mem::take(&mut cache.buffer);
        // SAFETY: inside the slot, which has as many.
        let word = unsafe { cache.pop_many(word, n, &mut nodes) };
        (Some(nodes), word)
    })
}

/// A hit of many: puts all of `nodes`, if the slot has room for them and for their buffer; else gives
/// them back.
///
/// On `Ok` the objects are no longer the caller's, nor is the pool kept alive by them.
#[inline(always)]
pub(crate) fn push_many_hit(
    slot: &CacheSlot,
    nodes: Vec<ErasedObject>,
) -> Result<(), Vec<ErasedObject>> {
    let Some(word) = slot.enter_to_put_many(size_of_val(&nodes[..])) else {
        return Err(nodes);
    };
    work_inside(slot, word, |cache, word| {
        if cache.buffer.capacity() > 0 {
            return (Err(nodes), word);
        }
        // SAFETY: inside the slot, which has room.
        let word = unsafe { cache.push_all(word, &nodes) };
        // Without a look at what it replaces, which has no memory.
        mem::forget(mem::replace(&mut cache.buffer, nodes));
        cache.buffer.clear();
        (Ok(()), word)
    })
}

/// Runs `f` inside the slot on its cache and word; it gives the next word. `None` if the slot is
/// revoked.
#[inline(always)]
fn inside<R>(slot: &CacheSlot, f: impl FnOnce(&mut Cache, Word) -> (R, Word)) -> Option<R> {
    let word = slot.enter()?;
    Some(work_inside(slot, word, f))
}

/// Runs `f` inside the slot, which was entered at `word`, and leaves it with the word that `f` gives.
#[inline(always)]
fn work_inside<R>(
    slot: &CacheSlot,
    word: Word,
    f: impl FnOnce(&mut Cache, Word) -> (R, Word),
) -> R {
    // SAFETY: inside the slot (BIAS-EXCLUSIVE).
    let (result, word) = slot.with_state(|cache| f(unsafe { &mut *cache }, word));
    slot.leave(word);
    result
}

/// What came of taking many objects from a slot.
enum Popped {
    All(Vec<ErasedObject>),
    /// Nothing was taken; the buffer may be used.
    TooFew(Vec<ErasedObject>),
}

/// Takes `n` objects, if the slot has as many and a buffer for them.
fn pop_many_own(slot: &CacheSlot, n: usize) -> Popped {
    inside(slot, |cache, word| {
        let mut nodes = mem::take(&mut cache.buffer);
        if n > cache.len(word) || n > nodes.capacity() {
            return (Popped::TooFew(nodes), word);
        }
        // SAFETY: inside the slot, which has as many.
        let word = unsafe { cache.pop_many(word, n, &mut nodes) };
        (Popped::All(nodes), word)
    })
    .unwrap_or(Popped::TooFew(Vec::new()))
}

/// Puts `nodes`, if the slot has room for all of them, and keeps the buffer they came in. If not,
/// `nodes` are those that are left.
fn push_many_own(slot: &CacheSlot, nodes: &mut Vec<ErasedObject>, buffers: &Buffers) -> bool {
    inside(slot, |cache, word| {
        // SAFETY: inside the slot.
        let word = unsafe { cache.push_many(word, nodes) };
        let pushed = nodes.is_empty();
        if pushed {
            let buffer = mem::take(nodes);
            if cache.buffer.capacity() == 0 {
                cache.buffer = buffer;
            } else {
                buffers.give(buffer);
            }
        }
        (pushed, word)
    })
    .unwrap_or(false)
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

    pub(super) fn number(&self) -> PoolId {
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

    /// Has the owner of a full slot copy out what it is about to give to the depot. What it copied
    /// stays in its stack until the depot has it, so that at no time it is nowhere.
    fn copy_out(&self, slot: &CacheSlot) {
        let mut shells = Vec::new();
        while let Some(missing) = inside(slot, |cache, word| {
            cache.shells.append(&mut shells);
            let missing = cache.given().saturating_sub(cache.shells.len());
            if missing == 0 && cache.outgoing.is_empty() {
                // SAFETY: inside the slot.
                unsafe { cache.copy_out(word) };
            }
            (missing, word)
        }) && missing > 0
        {
            shells.extend(iter::repeat_with(|| Batch::new(self.batch_size)).take(missing));
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

impl Idle<Depot> for Batched {
    fn grab(&self, depot: &mut Depot) -> Option<ErasedObject> {
        depot.take_one()
    }

    fn keep(&self, depot: &mut Depot, node: ErasedObject) -> Result<(), ErasedObject> {
        if self
            .max_idle
            .is_some_and(|max_idle| depot.idle() >= max_idle)
        {
            return Err(node);
        }
        depot.put_one(node);
        Ok(())
    }

    fn buffers(&self) -> Option<&Buffers> {
        Some(&self.buffers)
    }
}

impl Store for Batched {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        let own = self.slots.own();
        // In vain, if the caller has tried; not if the slot was not at hand, or objects are wiped when they
        // are acquired.
        if let Some(node) = own.and_then(pop_hit) {
            return Taken::Idle(node);
        }
        let mut centre = self.slots.lock();
        if let Some(slot) = own
            && let Some(word) = centre.stepped_down(slot, size_of::<ErasedObject>())
        {
            // SAFETY: it counts as taken by the hit, so it is the owner's (BIAS-STEP).
            let (node, _) = unsafe { cache::pop(word) };
            return Taken::Idle(node);
        }
        if centre.is_closed() {
            return Taken::Closed;
        }
        if let Some(slot) = own
            && centre.activate(slot)
        {
            if centre.with_own(slot, |cache, depot| depot.hand_over(cache)) {
                let word = centre.enter(slot);
                let (node, word) = slot.with_state(|cache| {
                    // SAFETY: inside the slot (BIAS-EXCLUSIVE).
                    let cache = unsafe { &mut *cache };
                    // SAFETY: as above; it was empty.
                    let word = unsafe { cache.take_in(word) };
                    // SAFETY: as above, and something came in.
                    unsafe { cache::pop(word) }
                });
                slot.leave(word);
                return Taken::Idle(node);
            }
        } else if let Some(node) = centre.shared().take_one() {
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

    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        let own = self.slots.own();
        if let Some(slot) = own {
            if push_hit(slot, node) {
                return Ok(());
            }
            self.copy_out(slot);
        }
        let mut centre = self.lock_with_shell();
        if centre.is_closed() {
            return Err(node);
        }
        let node = match centre.waiters().offer(node) {
            Err(node) => node,
            Ok(call) => {
                drop(centre);
                call.into_iter().for_each(Call::ring);
                return Ok(());
            }
        };
        if !self.has_room(&mut centre, self.batch_size) {
            return Err(node);
        }
        if let Some(slot) = own
            && centre.activate(slot)
        {
            let given = centre.with_own(slot, |cache, depot| depot.take_over(cache));
            let word = centre.enter(slot);
            let word = slot.with_state(|cache| {
                // SAFETY: inside the slot (BIAS-EXCLUSIVE).
                let cache = unsafe { &mut *cache };
                // SAFETY: as above; it has what it gave at its start.
                let word = unsafe { cache.forget_oldest(word, given) };
                // SAFETY: as above; it was just activated, or has given some, so there is room.
                unsafe { cache::push(word, node) }
            });
            slot.leave(word);
        } else {
            centre.shared().put_one(node);
        }
        Ok(())
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        _surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
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

    fn put_many(&self, mut nodes: Vec<ErasedObject>) -> Vec<ErasedObject> {
        let own = self.slots.own();
        if own.is_some_and(|slot| push_many_own(slot, &mut nodes, &self.buffers)) {
            return nodes;
        }
        let mut centre = self.lock_with_shell();
        if centre.is_closed() {
            return nodes;
        }
        let calls = centre.waiters().offer_many(&mut nodes);
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
        own.map(|slot| centre.activate(slot));
        self.buffers.give(nodes);
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        refused
    }

    centre_in_slots!();

    fn gather(&self, keep: Keep) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        centre.revoke_all();
        let surplus = centre.shared().take_surplus(keep);
        let vacant = centre.take_vacant();
        drop(centre);
        drop(vacant);
        if !surplus.is_empty() {
            self.buffers.clear();
        }
        surplus
    }

    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        let (grant, calls) = centre.close();
        let mut idle = centre.shared().take_oldest(usize::MAX);
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        idle.extend(send_away(ledger, grant));
        idle
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
        centre.for_each_active(|bytes, ()| cached += bytes / size_of::<ErasedObject>());
        Counts {
            idle: centre.shared().idle() + cached,
            cached,
            exchanges: centre.shared().exchanges,
            revocations: centre.revocations(),
            waits: centre.waits(),
        }
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        let centre = self.slots.lock();
        super::admit_unless(centre.is_closed(), ledger)
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        self.slots.leave_room(ledger);
        ledger.release_ref()
    }
}

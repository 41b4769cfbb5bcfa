//! What one thread keeps of a pool for itself, and how other threads get at it.
//!
//! A thread works in its own [`Slot`] without a lock or an atomic read-modify-write, and where the system has an
//! asymmetric [`barrier`], without a fence. A thread that
//! needs the whole picture (an exhausted pool, a waiter, `drain`, `trim`, `close`, the end of a pool) takes the
//! central lock and revokes the slots: one barrier for all of them. Then they are empty, and their owners use
//! the central lock until they may activate their slots again. Where no thread is to be interrupted, slots are asked
//! for instead: what they hold is handed over by their owners, at their next visit to the central lock.
//!
//! What a slot holds depends on the backend: `Batched` a stack of idle objects, `Heap` a number of permits,
//! `Queue` nothing (its owner is inside while it uses the shared queue, so a revocation waits for it).
//!
//! - [`registry`]: which slot the calling thread has in which pool
//! - [`slot`]: the biased lock
//! - [`stack`]: what it protects
//! - [`hit`]: the fast paths
#![allow(unsafe_code)] // Slots are reached through raw pointers from thread-locals.

mod copy;
pub(crate) mod hit;
mod registry;
mod slot;
mod stack;

use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::object::PoolId;
use crate::sync::{AtomicU64, Ordering, ProcessCounter, UnsafeCell, barrier};

pub(crate) use self::registry::Unregister;
#[cfg(all(test, loom))]
pub(crate) use self::slot::Top;
pub(crate) use self::slot::{Inside, Missed, Opened, OwnSlot, Slot, SlotState};
pub(crate) use self::stack::{Batch, LocalStack};

/// A slot whose type is known to the pool with the id under which it is registered.
pub(crate) type SlotAddress = NonNull<()>;

type PaddedSlot<S> = CachePadded<Slot<S>>;

/// The slots of one pool. Kept under the central lock, so a method that takes `&mut self` is called by the
/// thread that has the lock.
pub(crate) struct Slots<S> {
    /// The slots that belong to a living thread, active or revoked.
    taken: Vec<NonNull<PaddedSlot<S>>>,
    /// The slots that were given up, for the next threads: many short threads need few slots.
    vacant: Vec<NonNull<PaddedSlot<S>>>,
    /// How many of `taken` are active or asked for, and how many of those are asked for.
    occupied: usize,
    asked: usize,
    /// Whether slots are stopped that are not emptied yet; a fork leaves that to later.
    unreclaimed: bool,
}

// SAFETY: the pointers are to slots that this value owns, which are `Send` and `Sync` for `S: Send`.
unsafe impl<S: Send> Send for Slots<S> {}

impl<S: SlotState> Slots<S> {
    pub(crate) const fn new() -> Self {
        Slots {
            taken: Vec::new(),
            vacant: Vec::new(),
            occupied: 0,
            asked: 0,
            unreclaimed: false,
        }
    }

    /// How many threads may have something in their slots now.
    pub(crate) fn occupied(&self) -> usize {
        self.occupied
    }

    /// The slots that belong to a living thread.
    fn taken(&self) -> impl Iterator<Item = &Slot<S>> {
        // SAFETY: in the list, so alive (SLOT-LIVES).
        self.taken.iter().map(|slot| unsafe { &**slot.as_ref() })
    }

    /// Whether there are slots to be [reclaimed](Self::reclaim) or [handed over](Self::hand_over).
    #[inline(always)]
    pub(crate) fn has_backlog(&self) -> bool {
        self.unreclaimed || self.asked > 0
    }

    /// Asks the owner of each active slot for what it holds, to be [handed over](Self::hand_over) once the owner
    /// finds that it may not enter any more. No barrier: until then no other thread touches the slot (BIAS-ASKED).
    pub(crate) fn ask_all(&mut self) {
        if self.asked == self.occupied {
            return;
        }
        for slot in self.taken().filter(|slot| slot.is_active()) {
            slot.ask();
        }
        self.asked = self.occupied;
    }

    /// Empties the calling thread's slot into `reclaim`, if it was asked for.
    pub(crate) fn hand_over(
        &mut self,
        own: OwnSlot<'_, S>,
        reclaim: impl FnOnce(&mut Opened<'_, S>),
    ) {
        if own.slot().is_asked() {
            self.flush(own, reclaim);
        }
    }

    /// A slot for the calling thread, with the state of `make` if it is a new one.
    pub(crate) fn register(&mut self, make: impl FnOnce() -> S) -> SlotAddress {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            NonNull::from(Box::leak(Box::new(CachePadded::new(Slot::new(make())))))
        });
        self.taken.push(slot);
        // A thread's end asks for no memory.
        let (taken, vacant) = (self.taken.len(), self.vacant.len());
        self.vacant.reserve(taken.saturating_sub(vacant));
        slot.cast()
    }

    /// Takes the slot at `address` back from the calling thread. `reclaim` takes over what it holds, as in
    /// [`reclaim`](Self::reclaim).
    pub(crate) fn unregister(
        &mut self,
        address: SlotAddress,
        reclaim: impl FnOnce(&mut Opened<'_, S>),
    ) {
        let Some(at) = self.taken.iter().position(|slot| slot.cast() == address) else {
            return;
        };
        let pointer = self.taken.swap_remove(at);
        self.vacant.push(pointer);
        // SAFETY: in one of the lists, so alive (SLOT-LIVES).
        let slot = unsafe { pointer.as_ref() };
        self.empty(slot, reclaim);
    }

    /// Empties a slot that belongs to the calling thread, which is outside. The slot is not active after that.
    fn empty(&mut self, slot: &Slot<S>, reclaim: impl FnOnce(&mut Opened<'_, S>)) {
        let asked = slot.take_asked();
        if !asked && !slot.is_active() {
            return; // Another thread has emptied it.
        }
        // No barrier: the owner is here.
        slot.revoke();
        self.occupied -= 1;
        self.asked -= usize::from(asked);
        // SAFETY: the calling thread is the owner and outside; it has the central lock, so no revoking thread
        // is there (BIAS-EXCLUSIVE), and nobody has touched what was asked for (BIAS-ASKED).
        unsafe { slot.open(slot.own_top(), reclaim) };
    }

    /// Activates the calling thread's slot, which is empty.
    pub(crate) fn activate(&mut self, own: OwnSlot<'_, S>) {
        let slot = own.slot();
        slot.activate(self.own_state(own, |state| state.bounds()));
        self.occupied += 1;
    }

    pub(crate) fn is_active(&self, own: OwnSlot<'_, S>) -> bool {
        own.slot().is_active()
    }

    /// Runs `f` on the state of the calling thread's slot, which is active, and sets the high bound anew.
    pub(crate) fn with_own<R>(&mut self, own: OwnSlot<'_, S>, f: impl FnOnce(&mut S) -> R) -> R {
        debug_assert!(own.slot().is_active());
        self.own_state(own, |state| {
            let result = f(state);
            own.slot().set_high(state.bounds().1);
            result
        })
    }

    fn own_state<R>(&mut self, own: OwnSlot<'_, S>, f: impl FnOnce(&mut S) -> R) -> R {
        // SAFETY: the calling thread owns the slot and is outside; it has the central lock, so no revoking
        // thread is there (BIAS-EXCLUSIVE).
        unsafe { own.slot().with_state(f) }
    }

    /// Enters the calling thread's slot, which is active. The lock may be given up then: a revoking thread
    /// waits until the owner has left.
    pub(crate) fn enter<'a>(&mut self, own: OwnSlot<'a, S>) -> Inside<'a, S> {
        own.enter_locked()
    }

    /// Empties the calling thread's slot into `reclaim`. The slot is not active after that.
    pub(crate) fn flush(&mut self, own: OwnSlot<'_, S>, reclaim: impl FnOnce(&mut Opened<'_, S>)) {
        self.empty(own.slot(), reclaim);
    }

    /// Revokes all slots and waits until their owners are outside; whether that took a barrier. What the slots
    /// hold is for [`reclaim`](Self::reclaim), before anything else is done with them.
    pub(crate) fn stop_all(&mut self) -> bool {
        if self.occupied == 0 {
            return false; // They are empty, and are not looked at again (BIAS-STALE).
        }
        for slot in self.taken() {
            if slot.take_asked() || slot.is_active() {
                slot.revoke();
                slot.set_pending();
            }
        }
        barrier::heavy();
        for slot in self.taken() {
            if slot.take_pending() {
                // The owner was seen outside after the barrier that follows the revocation, so it does not
                // enter again before it has had the lock (BIAS-DEKKER).
                slot.observe(slot.wait_until_quiescent());
            }
        }
        (self.occupied, self.asked) = (0, 0);
        self.unreclaimed = true;
        true
    }

    /// Empties the slots that were stopped and not emptied yet: calls `reclaim` with what each holds, which it takes
    /// over, and the owner's count of objects created.
    #[inline]
    pub(crate) fn reclaim(&mut self, reclaim: impl FnMut(&mut Opened<'_, S>)) {
        if self.unreclaimed {
            self.reclaim_slow(reclaim);
        }
    }

    fn reclaim_slow(&mut self, mut reclaim: impl FnMut(&mut Opened<'_, S>)) {
        self.unreclaimed = false;
        for slot in self.taken() {
            if let Some(top) = slot.take_unreclaimed() {
                // SAFETY: stopped, and not activated since, which needs the lock: so this thread has the state
                // to itself (BIAS-EXCLUSIVE). What the owner may pop optimistically lies above the observed
                // top and is left alone (BIAS-POP).
                unsafe { slot.open(top, &mut reclaim) };
            }
        }
    }

    /// Calls `f` with the size of the stack in bytes and the count of objects created of each slot that may hold
    /// something. Exact for a slot whose owner is outside.
    pub(crate) fn for_each_occupied(&self, mut f: impl FnMut(usize, &OwnedCount)) {
        for slot in self.taken() {
            if slot.is_active() || slot.is_asked() {
                let top = slot.wait_until_quiescent();
                f(top.addr().saturating_sub(slot.empty()), slot.created());
            }
        }
    }
}

impl<S> Slots<S> {
    /// Takes out the slots that no thread has, to be freed when the lock is given up.
    pub(crate) fn take_vacant(&mut self) -> Vec<Box<PaddedSlot<S>>> {
        let vacant = self.vacant.drain(..);
        vacant
            // SAFETY: made by `Box::leak` in `register`, and in the list, so not freed before. A thread that had it has
            // given it up, and does not find it any more (SLOT-LIVES).
            .map(|slot| unsafe { Box::from_raw(slot.as_ptr()) })
            .collect()
    }
}

impl<S> Drop for Slots<S> {
    fn drop(&mut self) {
        // A thread that still has the address of one finds it only by the pool's id, which it can no longer have, or by
        // upgrading its weak reference to the pool, which fails (SLOT-LIVES).
        self.vacant.append(&mut self.taken);
        drop(self.take_vacant());
    }
}

/// # Safety
///
/// The calling thread registered the slot at `address`, one of state `S`, under the id of a pool that is alive
/// for `'a`.
#[inline(always)]
unsafe fn own_at<'a, S>(address: SlotAddress) -> OwnSlot<'a, S> {
    // SAFETY: the pool keeps its slots until it ends (SLOT-LIVES).
    let slot = unsafe { &**address.cast::<PaddedSlot<S>>().as_ptr() };
    // SAFETY: the thread that registered a slot owns it.
    unsafe { OwnSlot::new(slot) }
}

/// The key with which a thread finds its slot in one pool. Lies beside the [`Slots`] whose addresses
/// are registered with it, so code that can borrow the key can use the slot.
pub(crate) struct SlotKey<S> {
    pool: PoolId,
    _finds: PhantomData<fn() -> S>,
}

impl<S> Clone for SlotKey<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for SlotKey<S> {}

impl<S> SlotKey<S> {
    /// The key of a new pool; of no pool, if ids are used up.
    pub(crate) fn new() -> Self {
        static NEXT: ProcessCounter = ProcessCounter::new(1);
        SlotKey {
            pool: PoolId::nth(NEXT.next()),
            _finds: PhantomData,
        }
    }

    /// The key that finds nothing.
    pub(crate) const fn of_no_pool() -> Self {
        SlotKey {
            pool: PoolId::NONE,
            _finds: PhantomData,
        }
    }

    /// The id of the pool.
    pub(crate) fn pool(&self) -> PoolId {
        self.pool
    }

    /// The calling thread's slot, if it was used lately.
    #[inline(always)]
    pub(crate) fn at_hand(&self) -> Option<OwnSlot<'_, S>> {
        // SAFETY: the key lies in the pool, so that is alive.
        registry::recent(self.pool).map(|address| unsafe { own_at(address) })
    }

    /// The calling thread's slot, if it has one.
    pub(crate) fn find(&self) -> Option<OwnSlot<'_, S>> {
        let address = registry::find(self.pool)?;
        // SAFETY: as in `at_hand`; registered under the pool's id.
        Some(unsafe { own_at(address) })
    }

    /// The calling thread's slot: the slot it has, or else a slot that `register` makes. `None` for the key of
    /// no pool, or if the thread is ending and can have no slot.
    #[inline]
    pub(crate) fn find_or_register(
        &self,
        register: impl FnOnce() -> (SlotAddress, Arc<dyn Unregister>),
    ) -> Option<OwnSlot<'_, S>> {
        if let Some(own) = self.at_hand() {
            return Some(own);
        }
        if self.pool == PoolId::NONE {
            return None;
        }
        let address = registry::find_or_register(self.pool, register)?;
        // SAFETY: as in `at_hand`; registered under the pool's id, just now or before.
        Some(unsafe { own_at(address) })
    }
}

/// A value that threads use inside their slots, and that is replaced under the central lock while no thread is
/// inside one.
pub(crate) struct SharedInSlots<V>(UnsafeCell<V>);

// SAFETY: threads inside their slots share the value (`V: Sync`); a thread that replaces it drops it (`V: Send`), and
// has it to itself (see `replace`).
unsafe impl<V: Send + Sync> Sync for SharedInSlots<V> {}

impl<V> SharedInSlots<V> {
    pub(crate) fn new(value: V) -> Self {
        SharedInSlots(UnsafeCell::new(value))
    }

    /// Runs `f` on the value, inside a slot of the pool that the value belongs to.
    #[inline(always)]
    pub(crate) fn with<S, R>(&self, inside: Inside<'_, S>, f: impl FnOnce(&V) -> R) -> R {
        // SAFETY: the owner is inside, so no other thread replaces the value meanwhile.
        inside.work(|_| self.0.with(|value| f(unsafe { &*value })))
    }

    /// Replaces the value. Under the central lock of the pool that it and the slots belong to.
    pub(crate) fn replace<S: SlotState>(&self, slots: &mut Slots<S>, value: V) -> V {
        slots.stop_all();
        // SAFETY: no thread is inside a slot, nor enters one before it has had the lock, which this thread has
        // (BIAS-EXCLUSIVE).
        self.0
            .with_mut(|old| mem::replace(unsafe { &mut *old }, value))
    }
}

/// A count that only one thread writes, and any may read.
#[derive(Default)]
pub(crate) struct OwnedCount(AtomicU64);

impl OwnedCount {
    /// Adds `n`. Owner only: a load and a store, no read-modify-write.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        // Relaxed: the owner's own last store.
        self.set(self.0.load(Ordering::Relaxed).wrapping_add(n));
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        // Acquire: what happened before the count is seen with it; pairs with `set`.
        self.0.load(Ordering::Acquire)
    }

    #[inline(always)]
    pub(crate) fn set(&self, count: u64) {
        self.0.store(count, Ordering::Release);
    }

    /// The count, which starts again at 0. Under the central lock, of a slot that the caller has to itself.
    pub(crate) fn take(&self) -> u64 {
        let count = self.get();
        self.set(0);
        count
    }
}

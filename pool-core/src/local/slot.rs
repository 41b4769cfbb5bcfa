//! One thread's slot: a lock biased to its owner.
//!
//! The owner enters and leaves with plain loads and stores, or pops the newest object in a single store.
//! Another thread first revokes the slot, holding the central lock (see [`Slots`](super::Slots)). The state
//! table and the dangerous interleavings are in ARCHITECTURE.md, "The biased slot"; so are the invariants that
//! the SAFETY comments name (BIAS-…).
#![allow(unsafe_code)] // Access to the protected state, by the protocol.

use std::marker::PhantomData;
use std::ptr;

use super::OwnedCount;
use crate::object::ErasedObject;
use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, UnsafeCell, barrier, wait_a_turn};

/// The end of a local stack: where the next object goes. Its address is compared with the bounds of the slot.
pub(crate) type Top = *mut ();

/// The top of a slot whose owner is inside.
const BUSY: Top = ptr::without_provenance_mut(usize::MAX);

/// How far a pop moves the top.
const OBJECT: usize = size_of::<ErasedObject>();

/// The bounds of a slot that its owner may not enter: no top is above the first and below the second.
const REVOKED_LOW: usize = usize::MAX;
const REVOKED_HIGH: usize = 0;

/// What the slot's lock protects.
pub(crate) trait SlotState: Send {
    /// The top of the empty stack, and the address of the top of a full one, which is not 0.
    fn bounds(&self) -> (Top, usize);
}

/// What one thread keeps for one pool.
///
/// The owner writes everything in here at full speed, so a slot has cache lines of its own (it is kept in a
/// `CachePadded`). Another thread writes only when it revokes the slot.
// In this order, so that what a hit touches shares a line.
#[repr(C)]
pub(crate) struct Slot<S> {
    /// [`BUSY`] while the owner is inside; else the end of its stack, from `low` to `high` as they were when
    /// it entered. For a moment it may be one object below that: while the owner tries to pop from a slot that
    /// is empty or revoked. Written by the owner only.
    top: AtomicPtr<()>,
    /// The top of the empty stack: above it there is an object to pop. [`REVOKED_LOW`] if the owner may not
    /// enter, so that one comparison answers both questions. Written under the central lock only.
    low: AtomicUsize,
    /// The top of the full stack: below it there is room to push. [`REVOKED_HIGH`] if the owner may not enter.
    /// Written under the central lock only.
    high: AtomicUsize,
    /// The state that the lock protects.
    state: UnsafeCell<S>,
    /// Objects that the owner created without the central lock. Written by the owner only.
    created: OwnedCount,
    /// The slot is revoked, and the owner was not seen outside since. Used under the central lock only.
    pending: AtomicBool,
    /// The top of the empty stack, since the slot was activated. Used under the central lock only.
    empty: AtomicUsize,
    /// The slot was asked for: its owner may not enter, and has to hand over under the central lock what it holds.
    /// Used there only.
    asked: AtomicBool,
    /// The slot is revoked, and its stack not emptied yet (a fork leaves that to later). Used under the
    /// central lock only.
    unreclaimed: AtomicBool,
    /// The top that the revoking thread observed, until the owner has asked for it or activated the slot; null,
    /// if there is nothing to ask for. Used under the central lock only.
    observed_top: AtomicPtr<()>,
}

// SAFETY: `state` is the only part that is not shared as it stands. One thread at a time accesses it
// (BIAS-EXCLUSIVE), which may be any thread: hence `S: Send`.
unsafe impl<S: Send> Sync for Slot<S> {}

impl<S> Slot<S> {
    /// A slot that its owner has to activate.
    pub(super) fn new(state: S) -> Self {
        Slot {
            top: AtomicPtr::new(ptr::null_mut()),
            low: AtomicUsize::new(REVOKED_LOW),
            high: AtomicUsize::new(REVOKED_HIGH),
            state: UnsafeCell::new(state),
            created: OwnedCount::default(),
            pending: AtomicBool::new(false),
            empty: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
            unreclaimed: AtomicBool::new(false),
            observed_top: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline(always)]
    pub(crate) fn created(&self) -> &OwnedCount {
        &self.created
    }

    /// Whether the owner may enter. For the owner, or under the central lock.
    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        // Relaxed: written under the lock that is held here; for the owner, see `enter_if`.
        self.high.load(Ordering::Relaxed) != REVOKED_HIGH
    }

    /// The top of the empty stack. Under the central lock, of a slot that is active or asked for.
    pub(super) fn empty(&self) -> usize {
        self.empty.load(Ordering::Relaxed)
    }

    /// Lets the owner enter again. Under the central lock, by the owner, whose slot is empty.
    pub(super) fn activate(&self, (empty, high): (Top, usize)) {
        debug_assert_ne!(high, REVOKED_HIGH);
        debug_assert!(!self.unreclaimed.load(Ordering::Relaxed) && !self.is_asked());
        // The top may be stale; the slot was emptied by the thread that revoked it.
        self.top.store(empty, Ordering::Relaxed);
        // The owner has not asked, if it came to push. The top moves on, and must not come to look like the
        // one after an optimistic pop, not even to the next owner of the slot.
        self.observed_top.store(ptr::null_mut(), Ordering::Relaxed);
        // Relaxed, all: the owner reads them in program order, others under the lock.
        self.empty.store(empty.addr(), Ordering::Relaxed);
        self.low.store(empty.addr(), Ordering::Relaxed);
        self.high.store(high, Ordering::Relaxed);
    }

    /// Moves the high bound of an active slot. Under the central lock, by the owner.
    pub(super) fn set_high(&self, high: usize) {
        debug_assert!(self.is_active() && high != REVOKED_HIGH);
        self.high.store(high, Ordering::Relaxed);
    }

    /// Forbids the owner to enter. Under the central lock. Unless the caller is the owner, the state is not to be
    /// touched before a heavy barrier and [`wait_until_quiescent`](Self::wait_until_quiescent).
    pub(super) fn revoke(&self) {
        self.low.store(REVOKED_LOW, Ordering::Relaxed);
        self.high.store(REVOKED_HIGH, Ordering::Relaxed);
    }

    /// Forbids the owner to enter, and leaves it to the owner to hand over what the slot holds (BIAS-ASKED). Under
    /// the central lock.
    pub(super) fn ask(&self) {
        self.revoke();
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the slot was asked for, and is not emptied since. Under the central lock.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// [`is_asked`](Self::is_asked), once.
    pub(super) fn take_asked(&self) -> bool {
        let asked = self.is_asked();
        self.asked.store(false, Ordering::Relaxed);
        asked
    }

    pub(super) fn set_pending(&self) {
        self.pending.store(true, Ordering::Relaxed);
    }

    /// Whether the owner has to be waited for since the slot was revoked; asked once. Under the central lock.
    pub(super) fn take_pending(&self) -> bool {
        let pending = self.pending.load(Ordering::Relaxed);
        self.pending.store(false, Ordering::Relaxed);
        pending
    }

    /// The top, once the owner is outside.
    pub(super) fn wait_until_quiescent(&self) -> Top {
        let mut turns = 0;
        loop {
            // Acquire: pairs with the Release in `leave` and `pop_optimistic`, so the state is as the owner
            // left it.
            let top = self.top.load(Ordering::Acquire);
            if top != BUSY {
                return top;
            }
            wait_a_turn(&mut turns);
        }
    }

    /// Keeps the top that a revoking thread observed, for the owner to ask for and for the stack to be emptied
    /// by. Under the central lock.
    pub(super) fn observe(&self, top: Top) {
        // Below that of an empty stack: the owner tried to pop, and found nothing.
        let top = match top.addr() < self.empty() {
            true => top.wrapping_byte_add(OBJECT),
            false => top,
        };
        self.observed_top.store(top, Ordering::Relaxed);
        self.unreclaimed.store(true, Ordering::Relaxed);
    }

    /// The observed top, if the stack was not emptied since; asked once. Under the central lock.
    pub(super) fn take_unreclaimed(&self) -> Option<Top> {
        let unreclaimed = self.unreclaimed.load(Ordering::Relaxed);
        self.unreclaimed.store(false, Ordering::Relaxed);
        unreclaimed.then(|| self.observed_top.load(Ordering::Relaxed))
    }

    /// The observed top, once. Under the central lock.
    fn take_observed_top(&self) -> Option<Top> {
        let observed = self.observed_top.load(Ordering::Relaxed);
        self.observed_top.store(ptr::null_mut(), Ordering::Relaxed);
        (!observed.is_null()).then_some(observed)
    }

    /// Runs `f` on what the slot protects, whose top is `top`; gives the top that `f` leaves, too.
    ///
    /// # Safety
    ///
    /// The caller has it to itself meanwhile (BIAS-EXCLUSIVE), and observed the top since then.
    #[inline(always)]
    pub(super) unsafe fn open<R>(
        &self,
        top: Top,
        f: impl FnOnce(&mut Opened<'_, S>) -> R,
    ) -> (R, Top) {
        self.state.with_mut(|state| {
            let mut opened = Opened {
                // SAFETY: by contract.
                state: unsafe { &mut *state },
                top,
                created: &self.created,
            };
            let result = f(&mut opened);
            (result, opened.top)
        })
    }

    /// [`open`](Self::open) for what does not ask for the top.
    ///
    /// # Safety
    ///
    /// The caller has the state to itself meanwhile (BIAS-EXCLUSIVE).
    #[inline(always)]
    pub(super) unsafe fn with_state<R>(&self, f: impl FnOnce(&mut S) -> R) -> R {
        // SAFETY: by contract.
        self.state.with_mut(|state| f(unsafe { &mut *state }))
    }

    /// The top as its owner finds it under the central lock.
    pub(super) fn own_top(&self) -> Top {
        self.top.load(Ordering::Relaxed)
    }

    /// Leaves, publishing what was done inside along with `top`.
    #[inline(always)]
    fn leave(&self, top: Top) {
        debug_assert_ne!(top, BUSY);
        // Release: everything done inside happens before the Acquire load of a revoking thread that sees the
        // top.
        self.top.store(top, Ordering::Release);
    }
}

/// What a slot protects, in the hands of the thread that has it to itself (BIAS-EXCLUSIVE): its owner inside, or a
/// thread that empties it.
pub(crate) struct Opened<'a, S> {
    pub(crate) state: &'a mut S,
    pub(crate) top: Top,
    /// The owner's count of objects created.
    pub(crate) created: &'a OwnedCount,
}

/// The calling thread's slot in one pool. Not `Send`: its methods are for the owner.
pub(crate) struct OwnSlot<'a, S> {
    slot: &'a Slot<S>,
    _of_this_thread: PhantomData<*const ()>,
}

impl<S> Clone for OwnSlot<'_, S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for OwnSlot<'_, S> {}

impl<'a, S> OwnSlot<'a, S> {
    /// # Safety
    ///
    /// The calling thread owns the slot, which lives for `'a` (SLOT-LIVES).
    #[inline(always)]
    pub(super) unsafe fn new(slot: &'a Slot<S>) -> Self {
        OwnSlot {
            slot,
            _of_this_thread: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn slot(self) -> &'a Slot<S> {
        self.slot
    }

    /// Enters, unless the slot is revoked.
    #[inline(always)]
    pub(crate) fn enter(self) -> Option<Inside<'a, S>> {
        self.enter_if(|slot, _| slot.is_active())
    }

    /// Moves the top down by one object, if it is above the low bound: pops in one store, without entering.
    /// Gives the top as it was. What lay below that is the owner's then, since no other thread ever writes
    /// there.
    ///
    /// The caller keeps the pool alive: the slot is read after the store.
    #[inline(always)]
    pub(super) fn pop_optimistic(self) -> Result<Top, Missed<'a, S>> {
        let slot = self.slot;
        // Relaxed: as in `enter_if`.
        let top = slot.top.load(Ordering::Relaxed);
        debug_assert_ne!(top, BUSY, "a slot was entered before");
        // Release: what the owner put below the new top happens before the Acquire load of a revoking thread
        // that sees it.
        slot.top
            .store(top.wrapping_byte_sub(OBJECT), Ordering::Release);
        barrier::light();
        // Relaxed: either the bound that a revoking thread stored is seen here, or that thread sees the store
        // above (BIAS-DEKKER).
        if top.addr() <= slot.low.load(Ordering::Relaxed) {
            slot.undo_pop(top);
            return Err(Missed { own: self });
        }
        Ok(top)
    }

    /// [`enter`](Self::enter), if the top is below the high bound: there is room to push.
    #[inline(always)]
    pub(crate) fn enter_to_push(self) -> Option<Inside<'a, S>> {
        // Relaxed: see `enter_if`.
        self.enter_if(|slot, top| top.addr() < slot.high.load(Ordering::Relaxed))
    }

    /// [`enter`](Self::enter), if the top is at least `bytes` above the low bound.
    #[inline(always)]
    pub(super) fn enter_to_pop_many(self, bytes: usize) -> Option<Inside<'a, S>> {
        // Relaxed: see `enter_if`. The bound of a revoked slot is as high as can be.
        self.enter_if(|slot, top| {
            top.addr() >= slot.low.load(Ordering::Relaxed).saturating_add(bytes)
        })
    }

    /// [`enter`](Self::enter), if the top is at least `bytes` below the high bound. At least one.
    #[inline(always)]
    pub(super) fn enter_to_push_many(self, bytes: usize) -> Option<Inside<'a, S>> {
        debug_assert!(bytes > 0, "0 bytes would fit into a revoked slot");
        // Relaxed: see `enter_if`.
        self.enter_if(|slot, top| {
            top.addr().saturating_add(bytes) <= slot.high.load(Ordering::Relaxed)
        })
    }

    /// `may_enter` loads one of the bounds, and is false, whatever the top, for that of a revoked slot.
    #[inline(always)]
    fn enter_if(self, may_enter: impl FnOnce(&Slot<S>, Top) -> bool) -> Option<Inside<'a, S>> {
        let slot = self.slot;
        // Relaxed: the owner's own last store, or a stale value that is not read again (BIAS-STALE).
        let top = slot.top.load(Ordering::Relaxed);
        debug_assert_ne!(top, BUSY, "a slot was entered twice");
        // Relaxed: ordered before the load of the bound by the barrier, whose heavy half is in
        // `Slots::stop_all`.
        slot.top.store(BUSY, Ordering::Relaxed);
        barrier::light();
        // The bound, Relaxed: either the store of a revoking thread is seen here, or that thread sees the
        // store above (BIAS-DEKKER).
        if !may_enter(slot, top) {
            // Out again, before the central lock is asked for. If the slot is revoked the top may be stale,
            // which is harmless (BIAS-STALE).
            slot.leave(top);
            return None;
        }
        Some(Inside { own: self, top })
    }

    /// Enters a slot that is active. Under the central lock, which may be given up before the owner leaves.
    pub(super) fn enter_locked(self) -> Inside<'a, S> {
        debug_assert!(self.slot.is_active());
        let top = self.slot.own_top();
        // Relaxed: a revoking thread takes the lock after this, which orders it.
        self.slot.top.store(BUSY, Ordering::Relaxed);
        Inside { own: self, top }
    }
}

impl<S> Slot<S> {
    /// Puts the top back after an optimistic pop that missed. A revoking thread observed one or the other
    /// (BIAS-POP).
    #[cold]
    #[inline(never)]
    fn undo_pop(&self, top: Top) {
        self.leave(top);
    }
}

/// An optimistic pop that found the slot empty or revoked.
///
/// If the slot was revoked meanwhile, the pop may count all the same: the revoking thread may have observed the
/// lower top. So this has to be [redeemed](Self::redeem) under the central lock before the slot is used again.
#[must_use = "the pop may count; ask under the central lock before the slot is used again"]
pub(crate) struct Missed<'a, S> {
    own: OwnSlot<'a, S>,
}

impl<'a, S> Missed<'a, S> {
    /// The slot, and the top as it was if the pop counts. Under the central lock, before all else.
    pub(super) fn redeem(self) -> (OwnSlot<'a, S>, Option<Top>) {
        let slot = self.own.slot;
        let top = slot.own_top();
        let counts = slot.take_observed_top() == Some(top.wrapping_byte_sub(OBJECT));
        (self.own, counts.then_some(top))
    }
}

/// The owner inside its slot, with the state to itself.
///
/// Inside, the owner must not run user code or ask for the central lock: a revoking thread would wait for ever.
#[must_use = "the owner has to leave"]
pub(crate) struct Inside<'a, S> {
    own: OwnSlot<'a, S>,
    top: Top,
}

impl<'a, S> Inside<'a, S> {
    /// Runs `f` on what the slot protects, and leaves.
    #[inline(always)]
    pub(crate) fn work<R>(self, f: impl FnOnce(&mut Opened<'_, S>) -> R) -> R {
        // SAFETY: the owner is inside (BIAS-EXCLUSIVE), until the leave below.
        let (result, top) = unsafe { self.own.slot.open(self.top, f) };
        self.own.slot.leave(top);
        result
    }
}

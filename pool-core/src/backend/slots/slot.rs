//! One thread's slot: a lock biased to its owner.
//!
//! The owner enters and leaves with plain loads and stores, or takes what is on top in a single one.
//! Anyone else first revokes the slot, holding the centre's lock (see [`Locked`](super::Locked)). The
//! state table and the interleavings that were feared are in ARCHITECTURE.md, "The biased slot"; the names
//! in the SAFETY comments (BIAS-…) are from there.
#![allow(unsafe_code)] // `Sync`, by the protocol.

use std::ptr;

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, UnsafeCell, barrier, wait_a_turn};

/// What the owner of a slot leaves there; for a cache, the end of its stack. Its address is compared
/// with the bounds of the slot.
pub(crate) type Word = *mut ();

/// The word of a slot whose owner is inside.
const BUSY: Word = ptr::without_provenance_mut(usize::MAX);

/// The bounds of a slot whose owner may not enter: no word is above the one and below the other.
const REVOKED_LOW: usize = usize::MAX;
const REVOKED_HIGH: usize = 0;

/// What one thread keeps for one pool.
///
/// Everything in here is written by the owner at full speed, so a slot fills lines of its own (it
/// is kept in a `CachePadded`, 128 bytes apart). Only a revoker's rare stores come from elsewhere.
// In this order, so that what a hit touches shares a line.
#[repr(C)]
pub(crate) struct Slot<S, M> {
    /// [`BUSY`] while the owner is inside; else what the owner left there, from `low` to `high` as
    /// they were when it entered, or for a moment less, when it tries to step down and must not. Written by
    /// the owner only.
    word: AtomicPtr<()>,
    /// The word of an empty slot: above it there is something to take. [`REVOKED_LOW`] if the owner
    /// may not enter, so that one comparison answers both questions. Written under the centre's lock
    /// only, as `high` is.
    low: AtomicUsize,
    /// The word of a full slot: below it there is room to put. [`REVOKED_HIGH`] if the owner may not
    /// enter.
    high: AtomicUsize,
    /// The state that the lock protects.
    state: UnsafeCell<S>,
    /// Counts that anyone may read at any time, and only the owner writes.
    meter: M,
    /// Revoked, but not yet seen without its owner. Used under the centre's lock only.
    unsettled: AtomicBool,
    /// The word that the revoker found, until the owner has asked or activated the slot; null, if there is
    /// nothing to ask. Used under the centre's lock only.
    found: AtomicPtr<()>,
}

// SAFETY: `state` is the only part that is not shared as it stands, and it is touched by one thread
// at a time (BIAS-EXCLUSIVE), which may be any thread: hence `S: Send`.
unsafe impl<S: Send, M: Sync> Sync for Slot<S, M> {}

impl<S, M> Slot<S, M> {
    /// A slot that its owner has to activate at the centre.
    pub(super) fn new(state: S, meter: M) -> Self {
        Slot {
            word: AtomicPtr::new(ptr::null_mut()),
            low: AtomicUsize::new(REVOKED_LOW),
            high: AtomicUsize::new(REVOKED_HIGH),
            state: UnsafeCell::new(state),
            meter,
            unsettled: AtomicBool::new(false),
            found: AtomicPtr::new(ptr::null_mut()),
        }
    }

    #[inline]
    pub(crate) fn meter(&self) -> &M {
        &self.meter
    }

    /// Enters, unless the slot is revoked; gives the word that was left there. Owner only.
    ///
    /// Between this and [`leave`](Self::leave) the owner has the state to itself. It must neither
    /// run code of the user's nor ask for the centre's lock in between: a revoker would wait for
    /// ever.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Option<Word> {
        self.enter_if(|slot, _| slot.is_active())
    }

    /// Moves the word down by `bytes`, if it is above the low bound: takes what is on top, in one store
    /// and without entering. Gives the word as it was. Owner only.
    ///
    /// What lay on top is the owner's then, since nobody else ever writes there. `None` may mean that it
    /// is all the same: if the slot was revoked, who revoked it may have found the word moved. The owner
    /// has to ask at the centre, before it does anything else with the slot
    /// ([`Locked::stepped_down`](super::Locked::stepped_down)). The pool must be kept alive meanwhile: the
    /// slot is looked at after the store.
    #[inline(always)]
    pub(crate) fn step_down(&self, bytes: usize) -> Option<Word> {
        // Relaxed: as in `enter_if`.
        let word = self.word.load(Ordering::Relaxed);
        debug_assert_ne!(word, BUSY, "a slot was entered before");
        // Release: what the owner put below the new word happens before a revoker's Acquire load sees it.
        self.word
            .store(word.wrapping_byte_sub(bytes), Ordering::Release);
        barrier::light();
        // Relaxed: a revoker's store is either seen here, or the store above is seen by it (BIAS-DEKKER).
        if word.addr() <= self.low.load(Ordering::Relaxed) {
            self.step_back(word);
            return None;
        }
        Some(word)
    }

    /// The word as it was before a step that missed. A revoker has found the one or the other (BIAS-STEP).
    #[cold]
    #[inline(never)]
    fn step_back(&self, word: Word) {
        self.leave(word);
    }

    /// [`enter`](Self::enter), if the word is below the high bound: there is room to put.
    #[inline(always)]
    pub(crate) fn enter_to_put(&self) -> Option<Word> {
        // Relaxed: see `enter_if`.
        self.enter_if(|slot, word| word.addr() < slot.high.load(Ordering::Relaxed))
    }

    /// [`enter`](Self::enter), if the word is at least `bytes` above the low bound.
    #[inline(always)]
    pub(crate) fn enter_to_take_many(&self, bytes: usize) -> Option<Word> {
        // Relaxed: see `enter_if`. The bound of a revoked slot is as high as can be.
        self.enter_if(|slot, word| {
            word.addr() >= slot.low.load(Ordering::Relaxed).saturating_add(bytes)
        })
    }

    /// [`enter`](Self::enter), if the word is at least `bytes` below the high bound.
    #[inline(always)]
    pub(crate) fn enter_to_put_many(&self, bytes: usize) -> Option<Word> {
        debug_assert!(
            bytes > 0,
            "the bound of a revoked slot is no bound for nothing"
        );
        // Relaxed: see `enter_if`. Some bytes more are above the bound of a revoked slot.
        self.enter_if(|slot, word| {
            word.addr().saturating_add(bytes) <= slot.high.load(Ordering::Relaxed)
        })
    }

    /// `may_enter` loads one of the bounds, and is false, whatever the word, if it is that of a
    /// revoked slot.
    #[inline(always)]
    fn enter_if(&self, may_enter: impl FnOnce(&Self, Word) -> bool) -> Option<Word> {
        // Relaxed: the owner's own last store, or a stale value that nobody reads again
        // (BIAS-STALE).
        let word = self.word.load(Ordering::Relaxed);
        debug_assert_ne!(word, BUSY, "a slot was entered twice");
        // Relaxed: ordered before the load of the bound by the barrier, whose heavy half is in
        // `Locked::revoke_all`.
        self.word.store(BUSY, Ordering::Relaxed);
        barrier::light();
        // The bound, Relaxed: a revoker's store is either seen here, or the store above is seen by
        // it (BIAS-DEKKER).
        if !may_enter(self, word) {
            // Out again, before the lock is asked for. If the slot is revoked the word may be
            // stale: only a revoker that waits right now can read it, who takes it for what it was
            // (BIAS-STALE).
            self.leave(word);
            return None;
        }
        Some(word)
    }

    /// Enters without asking, for the owner under the centre's lock whose slot is active; gives the
    /// word. The lock may be given up before the owner [leaves](Self::leave).
    pub(super) fn enter_locked(&self) -> Word {
        let word = self.own_word();
        // Relaxed: a revoker has had the lock after this, which orders it.
        self.word.store(BUSY, Ordering::Relaxed);
        word
    }

    /// Leaves, publishing what was done inside along with `word`. Owner only, after `enter`.
    #[inline(always)]
    pub(crate) fn leave(&self, word: Word) {
        debug_assert_ne!(word, BUSY);
        // Release: everything done inside happens before a revoker's Acquire load sees the word.
        self.word.store(word, Ordering::Release);
    }

    /// The state, for who is inside or holds the lock over a slot at rest.
    #[inline(always)]
    pub(crate) fn with_state<R>(&self, f: impl FnOnce(*mut S) -> R) -> R {
        self.state.with_mut(f)
    }

    /// Whether the owner may enter without asking. For the owner, or under the lock.
    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        // Relaxed: written under the lock that is held here; for the owner, see `enter_if`.
        self.high.load(Ordering::Relaxed) != REVOKED_HIGH
    }

    /// The word of an empty slot. Under the lock, of an active slot.
    pub(super) fn low(&self) -> usize {
        self.low.load(Ordering::Relaxed)
    }

    /// Lets the owner in again. Under the lock, by the owner, whose slot is empty: its word is to be
    /// `empty`.
    pub(super) fn activate(&self, empty: Word, high: usize) {
        debug_assert_ne!(high, REVOKED_HIGH);
        // The word may be stale; the slot was emptied by who revoked it.
        self.word.store(empty, Ordering::Relaxed);
        // Nobody has asked, if the owner came to put; the word moves on, and must not come to look like the
        // one after a step, not even to the next owner.
        self.found.store(ptr::null_mut(), Ordering::Relaxed);
        // Relaxed, all: the owner reads them in program order, others under the lock.
        self.low.store(empty.addr(), Ordering::Relaxed);
        self.high.store(high, Ordering::Relaxed);
    }

    /// Moves the high bound of an active slot. Under the lock, by the owner.
    pub(super) fn set_high(&self, high: usize) {
        debug_assert!(self.is_active() && high != REVOKED_HIGH);
        self.high.store(high, Ordering::Relaxed);
    }

    /// Says that the owner may not enter. Under the lock; a heavy barrier must follow before the
    /// slot is [`settled`](Self::settled), unless the caller is the owner.
    pub(super) fn revoke(&self) {
        self.low.store(REVOKED_LOW, Ordering::Relaxed);
        self.high.store(REVOKED_HIGH, Ordering::Relaxed);
        self.unsettled.store(true, Ordering::Relaxed);
    }

    /// Whether the slot was revoked, and not settled since. Under the lock.
    pub(super) fn take_unsettled(&self) -> bool {
        let unsettled = self.unsettled.load(Ordering::Relaxed);
        self.unsettled.store(false, Ordering::Relaxed);
        unsettled
    }

    /// The word, once the owner is outside.
    pub(super) fn settled(&self) -> Word {
        let mut turns = 0;
        loop {
            // Acquire: pairs with the Release in `leave` and `step_down`, so the state is as the owner left it.
            let word = self.word.load(Ordering::Acquire);
            if word != BUSY {
                return word;
            }
            wait_a_turn(&mut turns);
        }
    }

    /// Keeps the word that a revoker has found, for the owner to ask for. Under the lock.
    pub(super) fn keep_found(&self, word: Word) {
        self.found.store(word, Ordering::Relaxed);
    }

    /// The word that was found by who revoked the slot, once. Under the lock.
    pub(super) fn take_found(&self) -> Option<Word> {
        let found = self.found.load(Ordering::Relaxed);
        self.found.store(ptr::null_mut(), Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }

    /// The word as its owner finds it under the lock.
    pub(super) fn own_word(&self) -> Word {
        self.word.load(Ordering::Relaxed)
    }
}

//! One thread's slot: a lock biased to its owner.
//!
//! The owner enters and leaves with plain loads and stores. Anyone else first revokes the slot,
//! holding the centre's lock (see [`Locked`](super::Locked)). The state table and the interleavings
//! that were feared are in ARCHITECTURE.md, "The biased slot"; the names in the SAFETY comments
//! (BIAS-…) are from there.
#![allow(unsafe_code)] // `Sync`, by the protocol.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, UnsafeCell, barrier, wait_a_turn};

/// The word of a slot whose owner is inside.
const BUSY: usize = usize::MAX;

/// The word of a slot that holds nothing.
pub(super) const EMPTY: usize = 0;

/// The limit of a slot whose owner may not enter.
const REVOKED: usize = 0;

/// What one thread keeps for one pool.
///
/// Everything in here is written by the owner at full speed, so a slot fills lines of its own (it
/// is kept in a `CachePadded`, 128 bytes apart). Only a revoker's rare stores come from elsewhere.
// In this order, so that what a hit touches shares a line with the start of the state.
#[repr(C)]
pub(crate) struct Slot<S, M> {
    /// [`BUSY`] while the owner is inside; else what the owner left there, at most `limit` was when
    /// it entered: the number of objects on top of the stack, for a cache. Written by the owner
    /// only.
    word: AtomicUsize,
    /// The largest word the owner may leave; [`REVOKED`] if it may not enter. One comparison with
    /// it tells a pop that there is an object and a push that there is room, and both that the slot
    /// is theirs. Written under the centre's lock only.
    limit: AtomicUsize,
    /// The state that the lock protects.
    state: UnsafeCell<S>,
    /// Counts that anyone may read at any time, and only the owner writes.
    meter: M,
    /// Revoked, but not yet seen without its owner. Used under the centre's lock only.
    unsettled: AtomicBool,
}

// SAFETY: `state` is the only part that is not shared as it stands, and it is touched by one thread
// at a time (BIAS-EXCLUSIVE), which may be any thread: hence `S: Send`.
unsafe impl<S: Send, M: Sync> Sync for Slot<S, M> {}

/// Where in a slot its state begins.
pub(crate) const fn state_offset<S, M>() -> usize {
    std::mem::offset_of!(Slot<S, M>, state)
}

impl<S, M> Slot<S, M> {
    /// A slot that its owner has to activate at the centre.
    pub(super) fn new(state: S, meter: M) -> Self {
        Slot {
            word: AtomicUsize::new(EMPTY),
            limit: AtomicUsize::new(REVOKED),
            state: UnsafeCell::new(state),
            meter,
            unsettled: AtomicBool::new(false),
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
    pub(crate) fn enter(&self) -> Option<usize> {
        self.enter_if(|_, limit| limit != REVOKED)
    }

    /// [`enter`](Self::enter), if the word is not 0: there is something to take.
    #[inline(always)]
    pub(crate) fn enter_to_take(&self) -> Option<usize> {
        self.enter_if(|word, limit| word.wrapping_sub(1) < limit)
    }

    /// [`enter`](Self::enter), if the word is below the limit: there is room to put.
    #[inline(always)]
    pub(crate) fn enter_to_put(&self) -> Option<usize> {
        self.enter_if(|word, limit| word < limit)
    }

    /// `wanted` is false, whatever the word, when the limit is [`REVOKED`].
    #[inline(always)]
    fn enter_if(&self, wanted: impl FnOnce(usize, usize) -> bool) -> Option<usize> {
        // Relaxed: the owner's own last store, or a stale value that nobody reads again
        // (BIAS-STALE).
        let word = self.word.load(Ordering::Relaxed);
        debug_assert_ne!(word, BUSY, "a slot was entered twice");
        // Relaxed: ordered before the load below by the barrier, whose heavy half is in
        // `Locked::revoke_all`.
        self.word.store(BUSY, Ordering::Relaxed);
        barrier::light();
        // Relaxed: a revoker's store is either seen here, or the store above is seen by it
        // (BIAS-DEKKER).
        let limit = self.limit.load(Ordering::Relaxed);
        if !wanted(word, limit) {
            // Out again, before the lock is asked for. If the slot is revoked the word may be
            // stale: only a revoker that waits right now can read it, who takes it for what it was
            // (BIAS-STALE).
            self.leave(word);
            return None;
        }
        Some(word)
    }

    /// Leaves, publishing what was done inside along with `word`. Owner only, after `enter`.
    #[inline(always)]
    pub(crate) fn leave(&self, word: usize) {
        debug_assert_ne!(word, BUSY);
        // Release: everything done inside happens before a revoker's Acquire load sees the word.
        self.word.store(word, Ordering::Release);
    }

    /// The state, for who is inside or holds the lock over a slot at rest.
    #[inline(always)]
    pub(crate) fn with_state<R>(&self, f: impl FnOnce(*mut S) -> R) -> R {
        self.state.with_mut(f)
    }

    /// Whether the owner may enter without asking. Under the lock.
    pub(super) fn is_active(&self) -> bool {
        // Relaxed: written under the lock that is held here.
        self.limit.load(Ordering::Relaxed) != REVOKED
    }

    /// Lets the owner in again. Under the lock, by the owner, whose slot is empty.
    pub(super) fn activate(&self, limit: usize) {
        debug_assert_ne!(limit, REVOKED);
        // The word may be stale; the slot was emptied by who revoked it.
        self.word.store(EMPTY, Ordering::Relaxed);
        // Relaxed, both: the owner reads them in program order, others under the lock.
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Says that the owner may not enter. Under the lock; a heavy barrier must follow before the
    /// slot is [`settled`](Self::settled), unless the caller is the owner.
    pub(super) fn revoke(&self) {
        self.limit.store(REVOKED, Ordering::Relaxed);
        self.unsettled.store(true, Ordering::Relaxed);
    }

    /// Whether the slot was revoked, and not settled since. Under the lock.
    pub(super) fn take_unsettled(&self) -> bool {
        let unsettled = self.unsettled.load(Ordering::Relaxed);
        self.unsettled.store(false, Ordering::Relaxed);
        unsettled
    }

    /// The word, once the owner is outside.
    pub(super) fn settled(&self) -> usize {
        let mut turns = 0;
        loop {
            // Acquire: pairs with the Release in `leave`, so the state is as the owner left it.
            let word = self.word.load(Ordering::Acquire);
            if word != BUSY {
                return word;
            }
            wait_a_turn(&mut turns);
        }
    }

    /// The word as its owner finds it under the lock.
    pub(super) fn own_word(&self) -> usize {
        self.word.load(Ordering::Relaxed)
    }
}

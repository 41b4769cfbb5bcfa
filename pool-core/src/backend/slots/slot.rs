//! One thread's slot: a lock biased to its owner.
//!
//! The owner enters and leaves with plain loads and stores. Anyone else first revokes the slot,
//! holding the centre's lock (see [`Locked`](super::Locked)). The state table and the interleavings
//! that were feared are in ARCHITECTURE.md, "The biased slot"; the names in the SAFETY comments
//! (BIAS-…) are from there.
#![allow(unsafe_code)] // `Sync`, by the protocol.

use crate::sync::{AtomicU8, AtomicUsize, Ordering, UnsafeCell, barrier, wait_a_turn};

/// The word of a slot whose owner is inside.
const BUSY: usize = usize::MAX;

/// The word of a slot that holds nothing.
pub(super) const EMPTY: usize = 0;

/// The owner may enter.
const ACTIVE: u8 = 0;
/// A revoker has said so, and waits for the owner to be seen outside.
const REVOKING: u8 = 1;
/// The owner has to ask at the centre; the slot is empty.
const REVOKED: u8 = 2;

/// What one thread keeps for one pool.
///
/// Everything in here is written by the owner at full speed, so a slot fills lines of its own (it
/// is kept in a `CachePadded`, 128 bytes apart). Only a revoker's rare store to `bias` comes from
/// elsewhere.
pub(crate) struct Slot<S, M> {
    /// [`BUSY`] while the owner is inside; else what the owner left there: the number of objects
    /// on top of the stack, for a cache. Written by the owner only.
    word: AtomicUsize,
    /// [`ACTIVE`], [`REVOKING`] or [`REVOKED`]. Written under the centre's lock only.
    bias: AtomicU8,
    /// The state that the lock protects.
    state: UnsafeCell<S>,
    /// Counts that anyone may read at any time, and only the owner writes.
    meter: M,
}

// SAFETY: `state` is the only part that is not shared as it stands, and it is touched by one thread
// at a time (BIAS-EXCLUSIVE), which may be any thread: hence `S: Send`.
unsafe impl<S: Send, M: Sync> Sync for Slot<S, M> {}

impl<S, M> Slot<S, M> {
    /// A slot that its owner has to activate at the centre.
    pub(super) fn new(state: S, meter: M) -> Self {
        Slot {
            word: AtomicUsize::new(EMPTY),
            bias: AtomicU8::new(REVOKED),
            state: UnsafeCell::new(state),
            meter,
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
        // Relaxed: the owner's own last store, or a stale value that nobody reads again
        // (BIAS-STALE).
        let word = self.word.load(Ordering::Relaxed);
        debug_assert_ne!(word, BUSY, "a slot was entered twice");
        // Relaxed: ordered before the load below by the barrier, whose heavy half is in `revoke`.
        self.word.store(BUSY, Ordering::Relaxed);
        barrier::light();
        // Relaxed: a revoker's store is either seen here, or the store above is seen by it
        // (BIAS-DEKKER).
        if self.bias.load(Ordering::Relaxed) != ACTIVE {
            // Out again before the lock is asked for. Release is not needed: nothing was done
            // inside, and the word is not read again (BIAS-STALE) except by a revoker that waits
            // right now, which takes it for what it was.
            self.word.store(word, Ordering::Release);
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
        self.bias.load(Ordering::Relaxed) == ACTIVE
    }

    /// Lets the owner in again. Under the lock, by the owner, whose slot is empty.
    pub(super) fn activate(&self) {
        // The word may be stale; the slot was emptied by who revoked it.
        self.word.store(EMPTY, Ordering::Relaxed);
        // Relaxed, both: the owner reads them in program order, others under the lock.
        self.bias.store(ACTIVE, Ordering::Relaxed);
    }

    /// Says that the owner may not enter. Under the lock; a heavy barrier must follow, then
    /// [`settled`](Self::settled).
    pub(super) fn begin_revoke(&self) {
        self.bias.store(REVOKING, Ordering::Relaxed);
    }

    pub(super) fn is_revoking(&self) -> bool {
        self.bias.load(Ordering::Relaxed) == REVOKING
    }

    /// Ends a revocation, once the state has been taken over. Under the lock.
    pub(super) fn end_revoke(&self) {
        self.bias.store(REVOKED, Ordering::Relaxed);
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

    /// The word as the owner under the lock finds it, and sets it.
    pub(super) fn own_word(&self) -> usize {
        self.word.load(Ordering::Relaxed)
    }

    pub(super) fn set_own_word(&self, word: usize) {
        // Release: as in `leave`; a reader of counts may look without the lock.
        self.word.store(word, Ordering::Release);
    }
}

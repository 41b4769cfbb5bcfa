//! The slots of threads, as the central lock sees them: activated, revoked and emptied.

use super::waiters::Wakes;
use super::{Central, Locked, State};
use crate::config::{Backend, Recall};
use crate::local::hit::Own;
use crate::local::{LocalStack, SlotAddress, Unregister};
use crate::sync::Ordering;

/// For how many visits slots stay revoked after the pool ran dry.
///
/// Each time nothing is idle at the shelf and the bound is reached, the slots have to be revoked, at the price of
/// a barrier. A pool that ran dry is likely to again, so for a while every release comes to the central lock,
/// where the next thread that finds nothing needs no barrier. 64 visits cost about what a barrier does, so the
/// price of running dry is at most doubled, and not paid for each poll.
const DRY_VISITS: u32 = 64;

impl Central {
    /// Puts what the calling thread keeps where every thread finds it.
    pub(crate) fn flush(&self) {
        if let Some(own) = self.own_slot() {
            let mut locked = self.lock();
            match self.recall {
                Recall::Interrupt => locked.flush(own),
                // Not active after it: a thread that is quiet then has nothing to be interrupted for.
                Recall::Cooperate => locked.empty(own),
            }
        }
    }
}

impl Unregister for Central {
    fn unregister(&self, address: SlotAddress) {
        let mut locked = self.lock();
        let State {
            slots,
            shelf,
            permits,
            ..
        } = &mut *locked.state;
        slots.unregister(address, |slot| shelf.reclaim(slot, permits));
        locked.pass_on();
    }
}

impl Locked<'_> {
    /// Puts on the shelf, or grants to waiters, what a fork left in the slots, and what the calling thread was asked
    /// for.
    #[cold]
    #[inline(never)]
    pub(super) fn catch_up(&mut self) {
        self.reclaim();
        self.hand_over_own();
        self.pass_on();
    }

    /// Moves what the calling thread's slot holds to the shelf, if it was asked for.
    fn hand_over_own(&mut self) {
        let State {
            slots,
            shelf,
            permits,
            ..
        } = &mut *self.state;
        if let Some(own) = self.central.slots.find() {
            slots.hand_over(own, |slot| shelf.reclaim(slot, permits));
        }
    }

    /// Grants what is idle, and permits, to the waiters, and notes what is not wanted: after a thread has handed over
    /// what it was asked for.
    fn pass_on(&mut self) {
        self.state.serve(&mut self.due.0);
        self.note_unwanted();
    }

    /// Notes what is on the shelf and not wanted, to be destroyed when the lock is given up.
    pub(super) fn note_unwanted(&self) {
        let state = &*self.state;
        if state.shelf.len() > 0 && (state.closed || state.permits.surplus() > 0) {
            // Relaxed: see `take_has_unwanted`.
            self.central.has_unwanted.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn register(&mut self) -> SlotAddress {
        let batch_size = self.central.batch_size;
        self.state.slots.register(|| match self.central.backend {
            Backend::Batched => LocalStack::of_objects(batch_size),
            Backend::Heap => LocalStack::of_permits(batch_size),
            Backend::Queue | Backend::Mutex => LocalStack::of_nothing(),
        })
    }

    /// Moves what is in the slots that were stopped to the shelf.
    #[inline]
    pub(super) fn reclaim(&mut self) {
        let State {
            slots,
            shelf,
            permits,
            ..
        } = &mut *self.state;
        slots.reclaim(|slot| shelf.reclaim(slot, permits));
    }

    /// Brings what all slots hold to the shelf, or has their owners bring it when they come by. Until the slots may be
    /// active again, and for ever once the pool is closed, their owners come to the central lock for each operation.
    pub(super) fn recall(&mut self) {
        match self.central.recall {
            Recall::Interrupt => self.revoke_all(),
            Recall::Cooperate => {
                self.state.slots.ask_all();
                // The calling thread has come by. Waiters there are none, or all slots were asked for before.
                self.hand_over_own();
            }
        }
    }

    /// Brings what all slots hold to the shelf, at the price of a barrier.
    pub(super) fn revoke_all(&mut self) {
        let stopped = self.state.slots.stop_all();
        self.reclaim();
        if stopped {
            self.state.revocations += 1;
            self.central.unreported.note(1);
        }
    }

    /// [`recall`](Self::recall), for want of an object.
    pub(super) fn ran_dry(&mut self) {
        self.recall();
        self.state.dry = DRY_VISITS;
    }

    /// Whether one more slot may be active.
    pub(super) fn may_activate(&self) -> bool {
        let state = &*self.state;
        state.may_bypass()
            && state.dry == 0
            && self.due.0.is_empty()
            && !self.may_overflow(0, state.slots.occupied() + 1)
    }

    /// Activates the calling thread's slot if that is allowed; whether it is active now.
    pub(super) fn activate(&mut self, own: Own<'_>) -> bool {
        if self.state.slots.is_active(own) {
            return true;
        }
        let allowed = self.may_activate();
        self.state.dry = self.state.dry.saturating_sub(1);
        if allowed {
            self.state.slots.activate(own);
        }
        allowed
    }

    /// Moves what the calling thread's slot holds to the shelf.
    pub(super) fn flush(&mut self, own: Own<'_>) {
        if self.state.slots.is_active(own) {
            self.empty(own);
            if self.may_activate() {
                self.state.slots.activate(own);
            }
        }
    }

    /// Moves what the calling thread's slot holds to the shelf. It is not active after that.
    pub(super) fn empty(&mut self, own: Own<'_>) {
        let State {
            slots,
            shelf,
            permits,
            ..
        } = &mut *self.state;
        slots.flush(own, |slot| shelf.reclaim(slot, permits));
    }
}

impl State {
    /// Grants to the waiters the idle objects that are not beyond the bound, and permits.
    pub(super) fn serve(&mut self, wakes: &mut Wakes) {
        let State {
            shelf,
            permits,
            waiters,
            ..
        } = self;
        while !waiters.is_empty() && shelf.len() > permits.surplus() {
            let Some(object) = shelf.pop() else { break };
            match waiters.offer(object) {
                Ok(wake) => wakes.add(wake),
                Err(_) => unreachable!("somebody waits"),
            }
        }
        waiters.offer_permits(permits, wakes);
    }
}

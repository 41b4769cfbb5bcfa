//! The slots of threads, as the central lock sees them: activated, revoked and emptied.

use super::{Central, Locked, State};
use crate::config::Backend;
use crate::local::hit::Own;
use crate::local::{LocalStack, SlotAddress, Unregister};

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
            self.lock().flush(own);
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
        slots.unregister(address, |top, stack, created| {
            shelf.reclaim(top, stack, created, permits);
        });
    }
}

impl Locked<'_> {
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
        slots.reclaim(|top, stack, created| shelf.reclaim(top, stack, created, permits));
    }

    /// Brings what all slots hold to the shelf. Until they may be active again, and for ever once the pool is
    /// closed, their owners come to the central lock for each operation.
    pub(super) fn recall(&mut self) {
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
        state.may_bypass() && state.dry == 0 && !self.may_overflow(0, state.slots.active() + 1)
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
        slots.flush(own, |top, stack, created| {
            shelf.reclaim(top, stack, created, permits);
        });
    }
}

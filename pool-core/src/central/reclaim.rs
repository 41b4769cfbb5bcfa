//! Idle objects and memory that leave the pool: for a trim, a drain, at the close.

use std::mem;
use std::sync::Arc;

use super::queue::FifoQueue;
use super::shelf::Shelf;
use super::trim::TrimTarget;
use super::waiters::Wakes;
use super::{Central, Locked, State};
use crate::object::ErasedObject;

/// How many objects a trim takes out under the lock at a time.
const TRIM_STEP: usize = 256;

/// The part of the idle objects that is taken out at a time to be looked at, so that others find some meanwhile.
const INSPECTED_PART: usize = 8;

impl Central {
    /// Recalls what is in the slots, and gives the idle objects in excess, to be taken out step by step.
    pub(crate) fn excess(&self, target: TrimTarget) -> Excess<'_> {
        let mut locked = self.lock();
        locked.recall();
        Excess {
            central: self,
            left: locked.state.shelf.excess(target),
            floor: target.floor(),
        }
    }

    /// Recalls what is in the slots, until the inspection is dropped, and gives all idle objects to be looked at.
    pub(crate) fn inspect(&self) -> Inspection<'_> {
        let mut locked = self.lock();
        locked.state.inspections += 1;
        locked.recall();
        Inspection {
            central: self,
            left: locked.state.shelf.len(),
            again: 0,
        }
    }

    /// Changes the bound on objects alive. Waiters are served with what a larger one allows; waiters that want more at
    /// once than a smaller one ever will are turned away, and what they had been granted is given out, to be
    /// [put](Self::put_many) back. What idle objects are too many now is in [surplus](Self::take_surplus).
    pub(crate) fn set_capacity(&self, capacity: Option<usize>) -> Vec<ErasedObject> {
        let mut locked = self.lock();
        locked.recall();
        locked.state.permits.set_capacity(capacity);
        let queue = locked.raise_queue_limit(capacity);
        let State {
            waiters, permits, ..
        } = &mut *locked.state;
        let (mut returned, mut objects) = (0, Vec::new());
        let mut wakes = Wakes::default();
        waiters.reject(
            |wants| !permits.may_grant(wants),
            |grant, wake| {
                returned += grant.permits;
                objects.extend(grant.iter());
                wakes.add(Some(wake));
            },
        );
        permits.release(returned);
        locked.state.serve(&mut wakes);
        drop(locked);
        drop(queue);
        wakes.wake();
        objects
    }

    /// Takes out the next few idle objects beyond the bound, the longest idle first. The caller destroys them before
    /// it asks again, and then the `refused` that it has in hand.
    pub(crate) fn take_surplus(&self, refused: usize) -> Option<Vec<ErasedObject>> {
        let mut objects = Vec::with_capacity(TRIM_STEP);
        let mut locked = self.lock();
        // While there is one no slot is active, so all idle objects are on the shelf, or come there.
        let surplus = locked.state.permits.surplus().saturating_sub(refused);
        let step = surplus.min(TRIM_STEP);
        locked.state.shelf.take_oldest(step, &mut objects);
        (!objects.is_empty()).then_some(objects)
    }

    /// Gives back memory that nothing needs: of slots that no thread has, of batches, waiters and buffers.
    pub(crate) fn free_excess_memory(&self, buffers: bool) {
        let mut locked = self.lock();
        let slots = locked.state.slots.take_vacant();
        let waiters = locked.state.waiters.take_excess_memory();
        let batches = match buffers {
            true => locked.state.shelf.take_excess_memory(),
            false => Vec::new(),
        };
        let queue = locked.shrink_queue();
        drop(locked);
        drop((slots, waiters, batches, queue));
        if buffers {
            self.buffers.clear();
        }
    }

    /// Closes for good: from now on each [`put`](Self::put) gives back. Gives the objects that waiters had been
    /// granted, and whether the pool was open; what is idle is in [excess](Self::excess) now. `at_once`, whatever is
    /// chosen for recalls, that is also what is in the slots.
    pub(crate) fn close(&self, at_once: bool) -> (Vec<ErasedObject>, bool) {
        let mut locked = self.lock();
        let was_open = !mem::replace(&mut locked.state.closed, true);
        match at_once {
            true => locked.revoke_all(),
            false => locked.recall(),
        }
        let State {
            waiters, permits, ..
        } = &mut *locked.state;
        let mut objects = Vec::new();
        let wakes = waiters.cancel_all(|grant| {
            permits.release(grant.permits);
            objects.extend(grant.iter());
        });
        drop(locked);
        wakes.wake();
        (objects, was_open)
    }
}

impl Locked<'_> {
    /// Goes over to a queue that takes as many objects as there may be.
    fn raise_queue_limit(&mut self, capacity: Option<usize>) -> Option<[Arc<FifoQueue>; 2]> {
        let Shelf::Queue(queue) = &self.state.shelf else {
            return None;
        };
        let larger = queue.with_limit(Shelf::queue_limit(capacity, self.central.max_idle))?;
        self.replace_queue(larger)
    }

    /// Goes over to a smaller queue, if the one on the shelf has far more memory than its objects need.
    pub(super) fn shrink_queue(&mut self) -> Option<[Arc<FifoQueue>; 2]> {
        let Shelf::Queue(queue) = &self.state.shelf else {
            return None;
        };
        let queue = queue.clone();
        self.recall();
        let smaller = queue.smaller()?;
        self.replace_queue(smaller)
    }
}

/// Idle objects in excess; from [`Central::excess`].
pub(crate) struct Excess<'a> {
    central: &'a Central,
    left: usize,
    floor: usize,
}

impl Excess<'_> {
    /// How many there are still, unless other threads acquire them.
    pub(crate) fn len(&self) -> usize {
        self.left
    }

    /// Takes out the next few, the longest idle first. A few at a time, so that other threads do not wait long for the
    /// lock.
    pub(crate) fn take_some(&mut self) -> Option<Vec<ErasedObject>> {
        if self.left == 0 {
            return None;
        }
        let step = TRIM_STEP.min(self.left);
        let mut objects = Vec::with_capacity(step);
        let mut locked = self.central.lock();
        let idle = locked.state.shelf.len();
        let step = step.min(idle.saturating_sub(self.floor));
        locked.state.shelf.take_oldest(step, &mut objects);
        drop(locked);
        self.left = match objects.len() {
            0 => 0,
            taken => self.left - taken,
        };
        (!objects.is_empty()).then_some(objects)
    }
}

/// Idle objects that are looked at, a few at a time, and put back; from [`Central::inspect`]. While there is one no slot
/// is active, so an object is on the shelf if it is idle, unless it is in a slot that was asked for.
///
/// Those looked at go behind the others. So each is taken out once, unless other threads acquire some of those
/// that are left, or inspect them too.
pub(crate) struct Inspection<'a> {
    central: &'a Central,
    /// How many are left, of those that were idle at first.
    left: usize,
    /// How many have been taken out again since the last that had not been looked at.
    again: usize,
}

impl Inspection<'_> {
    /// Takes out the next few; `None` if all were looked at that are idle still.
    pub(crate) fn take_some(&mut self) -> Option<Vec<ErasedObject>> {
        if self.left == 0 {
            return None;
        }
        let step = (self.left / INSPECTED_PART).clamp(1, TRIM_STEP);
        let mut objects = Vec::with_capacity(step);
        let mut locked = self.central.lock();
        if self.again >= locked.state.shelf.len() {
            return None;
        }
        locked.state.shelf.take_oldest(step, &mut objects);
        Some(objects)
    }

    /// Notes that one was looked at that was taken out; `false` if it had been looked at before.
    pub(crate) fn note(&mut self, first_time: bool) {
        if first_time {
            self.left = self.left.saturating_sub(1);
            self.again = 0;
        } else {
            self.again += 1;
        }
    }
}

impl Drop for Inspection<'_> {
    fn drop(&mut self) {
        self.central.lock().state.inspections -= 1;
    }
}

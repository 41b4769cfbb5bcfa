//! One pool in a fork: what is done under its lock.

use std::mem;

use super::waiters::Wake;
use super::{Central, State};
use crate::fork::ForkSide;
use crate::sync::Seized;

impl Central {
    /// Stops every other thread, for a fork. What is in the slots stays there, since memory might be needed to
    /// keep it elsewhere; the next thread that takes the lock sees to it.
    pub(crate) fn before_fork(&self) {
        self.state.seize(|state| {
            if state.slots.stop_all() {
                state.revocations += 1;
                self.unreported.note(1);
            }
        });
        self.buffers.mutex().seize(|_| {});
    }

    /// Lets the other threads go on. A child has none: threads that waited are forgotten.
    pub(crate) fn after_fork(&self, side: ForkSide, seized: &Seized) {
        self.buffers.mutex().release(seized, |_| {});
        self.state.release(seized, |state| {
            if side == ForkSide::Child {
                state.forget_threads();
            }
            state.set_bounds(self.max_idle);
        });
    }

    /// Serves the head of the queue with what the threads that are forgotten had been granted; gives its wake.
    pub(crate) fn serve_in_child(&self) -> Option<Wake> {
        // What is granted here needs no memory, and is not granted by the lock before.
        let mut locked = self.lock_only();
        locked.reclaim();
        let state = &mut *locked.state;
        loop {
            if let Some(wake) = state.waiters.pop_served_head() {
                return Some(wake);
            }
            if state.waiters.is_empty() {
                return None;
            }
            if let Some(object) = state.shelf.pop() {
                if let Err(object) = state.waiters.offer_without_memory(object) {
                    let kept = state.shelf.push_without_memory(object);
                    debug_assert!(kept.is_ok(), "it was there before");
                    return None;
                }
            } else if !state.waiters.try_grant_permit(&mut state.permits) {
                return None;
            }
        }
    }
}

impl State {
    /// Forgets the threads that waited where this process was forked from. What they had been granted is idle;
    /// an object that cannot be kept without asking for memory stays in use for ever.
    pub(super) fn forget_threads(&mut self) {
        self.idle_waiters.forget_threads();
        while let Some(grant) = self.waiters.forget_thread() {
            for object in grant.iter() {
                let _ = self.shelf.push_without_memory(object);
            }
            self.permits.release(grant.permits);
            // Its memory is not freed here either.
            mem::forget(grant);
        }
    }
}

//! Waiting until nothing is in use.
//!
//! While somebody waits for that no slot is active, so whatever comes back comes to the central lock. Whoever gives
//! the lock up while nothing is in use ends all these waits, wherever that is, and wakes once the lock is given
//! up. What is woken is no part of the pool, which may be gone by then (LIFE-TAIL).

use std::mem::{self, ManuallyDrop};
use std::task::{Poll, Waker};
use std::time::Instant;

use super::waiters::{Wake, Wakes, discard_waker};
use super::{Central, State};

/// Names a waiter for idleness. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IdleWaiterId(u64);

/// The waiters until nothing is in use. Few, so they are in no order. One that is not here any more is done.
pub(super) struct IdleWaiters {
    waiting: Vec<(IdleWaiterId, Wake)>,
    next: u64,
}

impl IdleWaiters {
    pub(super) const fn new() -> Self {
        IdleWaiters {
            waiting: Vec::new(),
            next: 0,
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn add(&mut self, wake: Wake) -> IdleWaiterId {
        let id = IdleWaiterId(self.next);
        self.next += 1;
        self.waiting.push((id, wake));
        id
    }

    fn position(&self, id: IdleWaiterId) -> Option<usize> {
        self.waiting.iter().position(|(waiting, _)| *waiting == id)
    }

    /// Takes one out; `None` if its wait was over. Dropped when the lock is given up.
    fn cancel(&mut self, id: IdleWaiterId) -> Option<Wake> {
        let at = self.position(id)?;
        Some(self.waiting.swap_remove(at).1)
    }

    /// Takes all out, to be woken.
    pub(super) fn end_all(&mut self, due: &mut DueWakes) {
        for (_, wake) in self.waiting.drain(..) {
            due.0.add(Some(wake));
        }
    }

    /// Takes out the threads, for the child of a fork. Their memory is kept: the child must not free any here.
    pub(super) fn forget_threads(&mut self) {
        let is_thread = |(_, wake): &(_, Wake)| matches!(wake, Wake::Thread(_));
        while let Some(at) = self.waiting.iter().position(is_thread) {
            mem::forget(self.waiting.swap_remove(at));
        }
    }
}

/// Wakes that are due when the lock is given up. Dropped, under no lock, it wakes.
#[derive(Default)]
// By hand: hardly any visit to the lock has one, and what is empty has no memory.
pub(super) struct DueWakes(pub(super) ManuallyDrop<Wakes>);

impl DueWakes {
    /// Moves those of `other` behind these.
    pub(super) fn append(&mut self, other: &mut DueWakes) {
        let more = mem::take(&mut *other.0);
        more.into_iter().for_each(|wake| self.0.add(Some(wake)));
    }

    #[cold]
    #[inline(never)]
    fn wake(&mut self) {
        mem::take(&mut *self.0).wake();
    }
}

impl Drop for DueWakes {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() {
            self.wake();
        }
    }
}

impl Central {
    /// Waits until nothing is in use.
    ///
    /// # Errors
    ///
    /// How many objects still were once `deadline` had passed.
    pub(crate) fn wait_idle(&self, deadline: Option<Instant>) -> Result<(), usize> {
        let mut locked = self.lock();
        locked.recall();
        if locked.state.in_use() == 0 {
            return Ok(());
        }
        let parker = locked.state.waiters.take_parker();
        let wake = Wake::Thread(parker.clone());
        let id = locked.state.idle_waiters.add(wake);
        drop(locked);
        let mut timed_out = false;
        let mut state = self.state.lock();
        while !timed_out && state.idle_waiters.position(id).is_some() {
            (state, timed_out) = parker.wait_until(state, deadline);
        }
        drop(state);
        let mut locked = self.lock();
        locked.state.waiters.put_parker(parker);
        match locked.state.idle_waiters.cancel(id) {
            None => Ok(()),
            Some(_) => Err(locked.state.in_use()),
        }
    }

    /// [`wait_idle`](Self::wait_idle) of a task, without a deadline. `id` is its place, `None` at first and when
    /// it is ready.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn poll_idle(&self, id: &mut Option<IdleWaiterId>, waker: &Waker) -> Poll<()> {
        // A waker is user code in all that it does, so it is cloned and dropped under no lock.
        let mut wake = Some(Wake::Task(waker.clone()));
        let mut locked = self.lock();
        let State { idle_waiters, .. } = &mut *locked.state;
        let known = match *id {
            Some(known) => idle_waiters.position(known),
            None => {
                locked.recall();
                if locked.state.in_use() > 0 {
                    *id = wake.take().map(|wake| locked.state.idle_waiters.add(wake));
                }
                None
            }
        };
        if let (Some(at), Some(wake)) = (known, &mut wake) {
            mem::swap(&mut locked.state.idle_waiters.waiting[at].1, wake);
        }
        let waits = known.is_some() || wake.is_none();
        drop(locked);
        discard_waker(wake);
        if waits {
            return Poll::Pending;
        }
        *id = None;
        Poll::Ready(())
    }

    /// Gives a place up.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn cancel_idle(&self, id: IdleWaiterId) {
        let mut locked = self.lock();
        let wake = locked.state.idle_waiters.cancel(id);
        drop(locked);
        discard_waker(wake);
    }
}

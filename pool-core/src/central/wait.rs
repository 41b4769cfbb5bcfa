//! Waiting for objects: arriving in the queue, being served, leaving it.

use std::mem;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::waiters::{Grant, WaiterId, Wake, Wakes, discard_waker};
use super::{Central, Locked, Refused, State};
use crate::error::AcquireError;
use crate::object::ErasedObject;

impl Central {
    /// Waits for `n` objects, idle or permits to create them, first in, first out.
    ///
    /// # Errors
    ///
    /// `Timeout` once `deadline` has passed; `Closed`; `Saturated`; `Exhausted` if the bound is below `n`, or comes to be.
    ///
    /// `buffer` from [`buffer`](Self::buffer).
    pub(crate) fn wait(
        &self,
        n: usize,
        mut buffer: Vec<ErasedObject>,
        deadline: Option<Instant>,
    ) -> Result<Grant, Refused> {
        let mut locked = self.lock();
        let parker = locked.state.waiters.take_parker();
        // What threads are granted is kept in the child of a fork, which can ask for no memory then.
        let granted = locked.state.waiters.wanted().saturating_add(n);
        locked.reserve(granted);
        let arrived = locked.arrive(n, &mut buffer, || Wake::Thread(parker.clone()));
        let id = match arrived {
            Ok(Err(id)) => id,
            Ok(Ok(grant)) => {
                locked.state.waiters.put_parker(parker);
                return Ok(grant);
            }
            Err(error) => {
                locked.state.waiters.put_parker(parker);
                drop(locked);
                self.buffers.give(buffer);
                return Err(error.into());
            }
        };
        drop(locked);
        let mut timed_out = false;
        let mut state = self.state.lock();
        while !timed_out && !state.closed && state.waiters.is_waiting(id) {
            (state, timed_out) = parker.wait_until(state, deadline);
        }
        drop(state);
        let mut locked = self.lock();
        locked.state.waiters.put_parker(parker);
        if let Some(grant) = locked.state.waiters.take_served(id) {
            return Ok(grant);
        }
        if locked.state.closed {
            return Err(AcquireError::Closed.into());
        }
        if !locked.state.waiters.is_waiting(id) {
            return Err(AcquireError::Exhausted.into());
        }
        Err(Refused {
            error: AcquireError::Timeout,
            rejected: locked.cancel(id),
        })
    }

    /// A buffer with which to wait for `n` objects together, whose array becomes that of the burst.
    pub(crate) fn buffer(&self, n: usize) -> Vec<ErasedObject> {
        self.buffers.take(n)
    }

    /// [`wait`](Self::wait) of a task, without a deadline. `id` is its place in the queue, `None` at first, when it
    /// needs the `buffer`, and when it is ready.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn poll_wait(
        &self,
        n: usize,
        mut buffer: Vec<ErasedObject>,
        id: &mut Option<WaiterId>,
        waker: &Waker,
    ) -> Poll<Result<Grant, AcquireError>> {
        // A waker is user code in all that it does, so it is cloned and dropped under no lock, and nothing that
        // was granted is in hand meanwhile.
        let mut clone = id.is_none().then(|| waker.clone());
        let ready = loop {
            let mut locked = self.lock();
            let Some(known) = *id else {
                let wake = || Wake::Task(clone.take().expect("a task takes one place"));
                match locked.arrive(n, &mut buffer, wake) {
                    Ok(Err(new)) => {
                        *id = Some(new);
                        return Poll::Pending;
                    }
                    Ok(Ok(grant)) => break Ok(grant),
                    Err(error) => break Err(error),
                }
            };
            if let Some(grant) = locked.state.waiters.take_served(known) {
                break Ok(grant);
            }
            let closed = locked.state.closed;
            let current = match locked.state.waiters.waker(known) {
                Some(current) if !closed => current,
                None if !closed => break Err(AcquireError::Exhausted),
                _ => break Err(AcquireError::Closed),
            };
            // A waker may not know that it is the same, so a new one is stored once and not looked at again.
            let is_stored = current.will_wake(waker)
                || clone
                    .as_mut()
                    .map(|clone| mem::swap(current, clone))
                    .is_some();
            drop(locked);
            if is_stored {
                discard_waker(clone);
                return Poll::Pending;
            }
            clone = Some(waker.clone());
        };
        discard_waker(clone);
        self.buffers.give(buffer);
        *id = None;
        Poll::Ready(ready)
    }

    /// Gives a place in the queue up, passing on what was granted meanwhile; gives what may not be kept.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn cancel_wait(&self, id: WaiterId) -> Vec<ErasedObject> {
        self.lock().cancel(id)
    }
}

impl Locked<'_> {
    /// Gets `n` objects at once or a place in the queue. Takes the buffer, unless it gets neither.
    pub(super) fn arrive(
        &mut self,
        n: usize,
        buffer: &mut Vec<ErasedObject>,
        wake: impl FnOnce() -> Wake,
    ) -> Result<Result<Grant, WaiterId>, AcquireError> {
        if self.state.closed {
            return Err(AcquireError::Closed);
        }
        if !self.state.permits.may_grant(n) {
            return Err(AcquireError::Exhausted);
        }
        self.recall();
        let State {
            waiters,
            shelf,
            permits,
            saturated,
            ..
        } = &mut *self.state;
        // No slot is active, so what is on the shelf is all.
        if waiters.queued().0 >= self.central.max_waiting
            && (!waiters.is_empty() || n.saturating_sub(shelf.len()) > permits.available())
        {
            *saturated += 1;
            return Err(AcquireError::Saturated);
        }
        Ok(waiters.arrive(n, mem::take(buffer), wake, permits, || shelf.pop()))
    }

    /// Gives what there is to the waiters, after permits were returned, and the lock up, and wakes.
    pub(super) fn serve_permits(mut self) {
        let mut wakes = Wakes::default();
        if !self.state.waiters.is_empty() {
            self.state.serve(&mut wakes);
        }
        drop(self);
        wakes.wake();
    }

    /// Takes a waiter out of the queue, and passes on what it had been granted; gives what may not be kept. Gives the
    /// lock up.
    fn cancel(mut self, id: WaiterId) -> Vec<ErasedObject> {
        let mut rejected = Vec::new();
        let (grant, wake) = self.state.waiters.cancel(id);
        let mut wakes = Wakes::default();
        self.state.permits.release(grant.permits);
        let surplus = self.state.permits.surplus();
        rejected.extend(grant.iter().take(surplus));
        let mut left = grant.iter().count().saturating_sub(surplus);
        for object in grant.iter().skip(surplus) {
            match self.state.waiters.offer(object) {
                Ok(wake) => wakes.add(wake),
                Err(_) => break,
            }
            left -= 1;
        }
        // No other waiter is left.
        if left > 0 {
            let room = match self.state.closed {
                true => 0,
                false => self.room_for(left).min(left),
            };
            rejected.extend(grant.iter().rev().take(left - room));
            self.recall(); // A queue is put back to at its front.
            self.reserve(room);
            self.put_back(
                grant.iter().rev().skip(left - room).take(room),
                &mut rejected,
            );
        }
        // Even if there was nothing: the next waiter may want less.
        self.state.serve(&mut wakes);
        let buffers = &self.central.buffers;
        drop(self);
        buffers.give(grant.into_buffer());
        wakes.wake();
        discard_waker(wake);
        rejected
    }
}

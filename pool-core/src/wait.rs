//! Waiting for objects to come back: in the order of arrival, by threads and by tasks.
//!
//! Who waits is kept in a queue under the lock of the backend's centre. While the queue is not empty
//! nobody caches (see `backend::slots`), so whatever comes back, an object or room under the bound,
//! comes to the centre, and is given to the head of the queue there and then: nobody else can take
//! it, and it needs no search. While nobody waits, a release pays nothing for this.
//!
//! One that waits for many objects collects them while it is the head. So bursts and single acquires
//! are served in one order, and neither starves the other.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;

use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::panics::forget_panic;
use crate::sync::Condvar;

/// What was waited for: idle objects, and leave to make some more.
#[derive(Default)]
pub(crate) struct Grant {
    /// By itself, since most wait for one: so no memory is asked for, under a lock at that.
    first: Option<ErasedObject>,
    rest: Vec<ErasedObject>,
    pub(crate) admitted: usize,
}

impl Grant {
    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len() + self.admitted
    }

    fn push(&mut self, node: ErasedObject) {
        match self.first {
            None => self.first = Some(node),
            Some(_) => self.rest.push(node),
        }
    }

    /// The object, of a grant of one; `None` if that is leave to make it.
    pub(crate) fn into_one(self) -> Option<ErasedObject> {
        debug_assert_eq!(self.len(), 1);
        self.first
    }

    /// The objects.
    pub(crate) fn into_nodes(self) -> Vec<ErasedObject> {
        let mut nodes = self.rest;
        nodes.extend(self.first);
        nodes
    }
}

/// Names one that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

/// How to call one that waits.
pub(crate) enum Call {
    Thread(Arc<Condvar>),
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    Task(Waker),
}

impl Call {
    /// Calls. Not under a lock: a waker is the user's code.
    ///
    /// A waker that panics is an executor's fault, of which the hook tells; that must not cost those
    /// who are called next, nor the objects that the caller has in hand.
    pub(crate) fn ring(self) {
        match self {
            Call::Thread(bell) => bell.notify_one(),
            Call::Task(waker) => {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                    forget_panic(panic);
                }
            }
        }
    }
}

struct Waiter {
    ticket: Ticket,
    wants: usize,
    call: Call,
    has: Grant,
}

struct Served {
    ticket: Ticket,
    grant: Grant,
    /// Whether it is a thread, not a task.
    thread: bool,
}

/// Who waits under one lock. All of it is used under that lock.
pub(crate) struct Waiters {
    /// Those who wait, in the order of arrival. Only the head has anything yet.
    queue: VecDeque<Waiter>,
    /// Those who have all they wanted and have not come for it yet.
    served: Vec<Served>,
    next: u64,
    /// Bells of threads that have gone, to be used again.
    bells: Vec<Arc<Condvar>>,
}

impl Waiters {
    pub(crate) fn new() -> Self {
        Waiters {
            queue: VecDeque::new(),
            served: Vec::new(),
            next: 0,
            bells: Vec::new(),
        }
    }

    /// Whether anyone waits.
    pub(crate) fn any(&self) -> bool {
        !self.queue.is_empty()
    }

    /// How many waits there were.
    pub(crate) fn total(&self) -> u64 {
        self.next
    }

    /// A bell for a thread that waits; to be [given back](Self::put_bell).
    pub(crate) fn take_bell(&mut self) -> Arc<Condvar> {
        self.bells.pop().unwrap_or_else(|| Arc::new(Condvar::new()))
    }

    pub(crate) fn put_bell(&mut self, bell: Arc<Condvar>) {
        // As many as ever waited at a time, at most.
        self.bells.push(bell);
    }

    /// Gets `wants` objects from `grab` and the ledger at once, if nobody waits before; else, or if
    /// there are too few, goes to the end of the queue, `call` to be called when it is served.
    pub(crate) fn arrive(
        &mut self,
        wants: usize,
        call: impl FnOnce() -> Call,
        ledger: &Ledger,
        mut grab: impl FnMut() -> Option<ErasedObject>,
    ) -> Result<Grant, Ticket> {
        let mut has = Grant::default();
        if !self.any() {
            while has.len() < wants
                && let Some(node) = grab()
            {
                has.push(node);
            }
            while has.len() < wants && ledger.admit() {
                has.admitted += 1;
            }
            if has.len() == wants {
                return Ok(has);
            }
        }
        let ticket = Ticket(self.next);
        self.next += 1;
        self.queue.push_back(Waiter {
            ticket,
            wants,
            call: call(),
            has,
        });
        Err(ticket)
    }

    /// Gives an object to the head of the queue, or back if nobody waits. The call is to be made
    /// when the lock is given up.
    pub(crate) fn offer(&mut self, node: ErasedObject) -> Result<Option<Call>, ErasedObject> {
        let Some(head) = self.queue.front_mut() else {
            return Err(node);
        };
        head.has.push(node);
        Ok(self.served_head())
    }

    /// [`offer`](Self::offer) of the last of `nodes`, as many as are wanted. The calls are to be made
    /// when the lock is given up.
    pub(crate) fn offer_many(&mut self, nodes: &mut Vec<ErasedObject>) -> Vec<Call> {
        let mut calls = Vec::new();
        while self.any()
            && let Some(node) = nodes.pop()
        {
            calls.extend(self.offer(node).into_iter().flatten());
        }
        calls
    }

    /// Gives room under the bound, as much as there is, to those who wait.
    pub(crate) fn offer_room(&mut self, ledger: &Ledger, calls: &mut Vec<Call>) {
        while let Some(head) = self.queue.front_mut()
            && ledger.admit()
        {
            head.has.admitted += 1;
            calls.extend(self.served_head());
        }
    }

    /// If the head has all it wants, moves it to those served.
    fn served_head(&mut self) -> Option<Call> {
        let head = self.queue.front()?;
        if head.has.len() < head.wants {
            return None;
        }
        let head = self.queue.pop_front()?;
        self.served.push(Served {
            ticket: head.ticket,
            grant: head.has,
            thread: matches!(head.call, Call::Thread(_)),
        });
        Some(head.call)
    }

    /// What one that was called has been given; `None` if it was not served yet.
    pub(crate) fn take_served(&mut self, ticket: Ticket) -> Option<Grant> {
        let at = self
            .served
            .iter()
            .position(|served| served.ticket == ticket)?;
        Some(self.served.swap_remove(at).grant)
    }

    /// Takes out all threads, which are not there any more; gives what they had.
    pub(crate) fn forget_threads(&mut self) -> Vec<Grant> {
        let mut grants: Vec<_> = (self.served)
            .extract_if(.., |served| served.thread)
            .map(|served| served.grant)
            .collect();
        self.queue.retain_mut(|waiter| {
            let thread = matches!(waiter.call, Call::Thread(_));
            if thread {
                grants.push(mem::take(&mut waiter.has));
            }
            !thread
        });
        grants
    }

    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    /// Has `call` called instead of the one before, which is given back; or `call`, if nobody waits
    /// with this ticket.
    pub(crate) fn call_instead(&mut self, ticket: Ticket, call: Option<Call>) -> Option<Call> {
        match self.queue.iter_mut().find(|waiter| waiter.ticket == ticket) {
            Some(waiter) => call.map(|call| mem::replace(&mut waiter.call, call)),
            None => call,
        }
    }

    /// Takes one out that waits no more; gives what it has, which is to be passed on, and its call, to
    /// be dropped when the lock is given up.
    pub(crate) fn leave(&mut self, ticket: Ticket) -> (Grant, Option<Call>) {
        if let Some(grant) = self.take_served(ticket) {
            return (grant, None);
        }
        let at = self.queue.iter().position(|waiter| waiter.ticket == ticket);
        match at.and_then(|at| self.queue.remove(at)) {
            Some(waiter) => (waiter.has, Some(waiter.call)),
            None => (Grant::default(), None),
        }
    }

    /// Sends everyone away; gives what they had, and the calls to make. Those served keep what they
    /// were given.
    pub(crate) fn close(&mut self, calls: &mut Vec<Call>) -> Grant {
        let mut left = Grant::default();
        for waiter in self.queue.drain(..) {
            left.admitted += waiter.has.admitted;
            left.rest.extend(waiter.has.into_nodes());
            calls.push(waiter.call);
        }
        left
    }
}

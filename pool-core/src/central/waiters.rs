//! The queue of threads and tasks that wait for objects, first in, first out.
//!
//! Kept under the central lock. While it is not empty no slot is active (see `local`), so whatever comes back,
//! an object or a permit, comes to the central lock and is given to the head of the queue there and then: no
//! other thread can take it, and it needs no search. While no thread or task waits, a release pays nothing for this.
//!
//! A waiter for many objects collects them while it is the head. So bursts and single acquires are served in one
//! order, and neither starves the other.
//!
//! Waiters are in a slab, linked in the order of arrival, so that each operation on one takes the same time
//! however many there are.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use super::permits::Permits;
use super::{Granted, Taken, TakenMany};
use crate::object::ErasedObject;
use crate::panics::forget_panic;
use crate::sync::Condvar;

/// What was waited for: idle objects, and permits to create the rest.
#[derive(Default)]
pub(crate) struct Grant {
    /// By itself for a waiter without a buffer, since most wait for one: so no memory is asked for under the lock.
    first: Option<ErasedObject>,
    /// The buffer that the waiter came with, with room for all.
    rest: Vec<ErasedObject>,
    pub(crate) permits: usize,
    /// How long the waiter waited for it.
    pub(crate) waited: Duration,
}

impl Grant {
    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len() + self.permits
    }

    fn push(&mut self, object: ErasedObject) {
        match self.first {
            None if self.rest.capacity() == 0 => self.first = Some(object),
            _ => self.rest.push(object),
        }
    }

    /// What was granted to a waiter for one.
    pub(crate) fn into_one(self) -> Taken {
        debug_assert_eq!(self.len(), 1);
        match self.first {
            Some(object) => Taken::Idle(object),
            None => Taken::Permit(Granted),
        }
    }

    /// What was granted to a waiter that came with a buffer.
    pub(crate) fn into_many(self) -> TakenMany {
        debug_assert!(self.first.is_none());
        TakenMany {
            idle: self.rest,
            permits: self.permits,
        }
    }

    /// The buffer, of a grant whose objects were passed on.
    pub(super) fn into_buffer(self) -> Vec<ErasedObject> {
        self.rest
    }

    /// The objects, in the order in which they were granted, without asking for memory.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = ErasedObject> {
        self.first.iter().chain(&self.rest).copied()
    }
}

/// Names a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterId {
    index: usize,
    /// Never used twice, so that an id of a waiter that has left is that of none.
    serial: u64,
}

/// How a waiter is woken.
pub(crate) enum Wake {
    Thread(Arc<Condvar>),
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    Task(Waker),
}

impl Wake {
    /// Wakes. Under no lock: a waker is user code.
    ///
    /// A panic of a waker is the executor's fault and reported by the panic hook. It must not cost the waiters
    /// that are woken next, nor the objects that the caller has in hand.
    pub(crate) fn wake(self) {
        match self {
            Wake::Thread(parker) => parker.notify_one(),
            Wake::Task(waker) => {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                    forget_panic(panic);
                }
            }
        }
    }
}

/// Wakes to be done when the lock is given up.
#[derive(Default)]
pub(crate) struct Wakes {
    /// By itself, since mostly it is one: so no memory is asked for under the lock.
    first: Option<Wake>,
    rest: Vec<Wake>,
}

impl Wakes {
    pub(crate) fn into_iter(self) -> impl Iterator<Item = Wake> {
        self.first.into_iter().chain(self.rest)
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(crate) fn add(&mut self, wake: Option<Wake>) {
        match self.first {
            None => self.first = wake,
            Some(_) => self.rest.extend(wake),
        }
    }

    /// Wakes all. Under no lock.
    #[inline]
    pub(crate) fn wake(self) {
        self.into_iter().for_each(Wake::wake);
    }
}

/// Drops a waker, which is user code. Under no lock; a panic is handled as that of [`Wake::wake`].
pub(crate) fn discard_waker<W>(waker: W) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(waker))) {
        forget_panic(panic);
    }
}

/// No index.
const NONE: usize = usize::MAX;

enum State {
    /// In the queue.
    Waiting {
        wake: Wake,
    },
    /// It has all it wanted, and has not come for it yet.
    Served {
        thread: bool,
    },
    Vacant,
}

struct Entry {
    serial: u64,
    state: State,
    wants: usize,
    grant: Grant,
    since: Instant,
    /// The neighbours in the queue; of a vacant entry, `next` is the next vacant one.
    previous: usize,
    next: usize,
}

/// The waiters of one pool.
pub(crate) struct Waiters {
    entries: Vec<Entry>,
    /// The first vacant entry.
    vacant: usize,
    /// How many entries are not vacant, and how many objects they want together.
    occupied: usize,
    wanted: usize,
    /// How many are in the queue.
    queued: usize,
    /// How long those that are not have waited.
    wait_time: Duration,
    /// The ends of the queue. Only the head has been granted anything yet.
    head: usize,
    tail: usize,
    next_serial: u64,
    /// Parkers of threads that wait no more, to be used again.
    parkers: Vec<Arc<Condvar>>,
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        Waiters {
            entries: Vec::new(),
            vacant: NONE,
            occupied: 0,
            wanted: 0,
            queued: 0,
            wait_time: Duration::ZERO,
            head: NONE,
            tail: NONE,
            next_serial: 0,
            parkers: Vec::new(),
        }
    }

    /// Whether the queue is empty.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// How many objects all waiters want together, including waiters that are served and have not come for them.
    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// How many waits there were.
    pub(crate) fn total(&self) -> u64 {
        self.next_serial
    }

    /// How many wait, and how long those that do not have waited.
    pub(crate) fn queued(&self) -> (usize, Duration) {
        (self.queued, self.wait_time)
    }

    /// A parker for a thread that waits; to be [given back](Self::put_parker).
    pub(crate) fn take_parker(&mut self) -> Arc<Condvar> {
        (self.parkers.pop()).unwrap_or_else(|| Arc::new(Condvar::new()))
    }

    pub(crate) fn put_parker(&mut self, parker: Arc<Condvar>) {
        self.parkers.push(parker);
    }

    /// Gets `wants` objects from `pop` and permits at once, if the queue is empty; else, or if there are too
    /// few, goes to its end with what there was, to be woken by `wake` when it is served. A waiter for many brings a
    /// `buffer` for them.
    pub(crate) fn arrive(
        &mut self,
        wants: usize,
        buffer: Vec<ErasedObject>,
        wake: impl FnOnce() -> Wake,
        permits: &mut Permits,
        mut pop: impl FnMut() -> Option<ErasedObject>,
    ) -> Result<Grant, WaiterId> {
        let mut grant = Grant {
            rest: buffer,
            ..Grant::default()
        };
        if self.is_empty() {
            while grant.len() < wants {
                let Some(object) = pop() else {
                    break;
                };
                grant.push(object);
            }
            while grant.len() < wants && permits.try_acquire() {
                grant.permits += 1;
            }
            if grant.len() == wants {
                return Ok(grant);
            }
        }
        let wake = wake();
        Err(self.push_back(State::Waiting { wake }, wants, grant))
    }

    fn push_back(&mut self, state: State, wants: usize, grant: Grant) -> WaiterId {
        let serial = self.next_serial;
        self.next_serial += 1;
        let entry = Entry {
            serial,
            state,
            wants,
            grant,
            since: Instant::now(),
            previous: self.tail,
            next: NONE,
        };
        let index = match self.vacant {
            NONE => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
            vacant => {
                self.vacant = self.entries[vacant].next;
                self.entries[vacant] = entry;
                vacant
            }
        };
        match self.tail {
            NONE => self.head = index,
            tail => self.entries[tail].next = index,
        }
        self.tail = index;
        self.occupied += 1;
        self.queued += 1;
        self.wanted += wants;
        WaiterId { index, serial }
    }

    /// Takes an entry out of the queue; it stays in the slab.
    fn unlink(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        let (previous, next) = (entry.previous, entry.next);
        entry.grant.waited = entry.since.elapsed();
        self.wait_time += entry.grant.waited;
        self.queued -= 1;
        match previous {
            NONE => self.head = next,
            previous => self.entries[previous].next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => self.entries[next].previous = previous,
        }
    }

    /// Takes an entry that is not in the queue out of the slab; gives what it was granted.
    fn remove(&mut self, index: usize) -> (State, Grant) {
        let vacant = mem::replace(&mut self.vacant, index);
        self.occupied -= 1;
        let entry = &mut self.entries[index];
        self.wanted -= entry.wants;
        entry.next = vacant;
        (
            mem::replace(&mut entry.state, State::Vacant),
            mem::take(&mut entry.grant),
        )
    }

    fn get(&mut self, id: WaiterId) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(id.index)?;
        let is_it = entry.serial == id.serial && !matches!(entry.state, State::Vacant);
        is_it.then_some(entry)
    }

    /// Grants an object to the head of the queue, or gives it back if the queue is empty. The wake is for when the
    /// lock is given up.
    pub(crate) fn offer(&mut self, object: ErasedObject) -> Result<Option<Wake>, ErasedObject> {
        if self.is_empty() {
            return Err(object);
        }
        self.entries[self.head].grant.push(object);
        Ok(self.pop_served())
    }

    /// [`offer`](Self::offer) of the first of `objects`, as many as are wanted.
    pub(crate) fn offer_many(&mut self, objects: &mut Vec<ErasedObject>) -> Wakes {
        let mut wakes = Wakes::default();
        let mut granted = 0;
        for object in objects.iter() {
            match self.offer(*object) {
                Ok(wake) => wakes.add(wake),
                Err(_) => break,
            }
            granted += 1;
        }
        objects.drain(..granted);
        wakes
    }

    /// Grants permits, as many as there are, to the waiters in their order.
    pub(crate) fn offer_permits(&mut self, permits: &mut Permits, wakes: &mut Wakes) {
        while !self.is_empty() && permits.try_acquire() {
            self.entries[self.head].grant.permits += 1;
            wakes.add(self.pop_served());
        }
    }

    /// If the head has all it wants, takes it out of the queue to be collected.
    fn pop_served(&mut self) -> Option<Wake> {
        let head = self.head;
        let entry = &mut self.entries[head];
        match &entry.state {
            State::Waiting { .. } if entry.grant.len() >= entry.wants => {}
            _ => return None,
        }
        let thread = matches!(
            entry.state,
            State::Waiting {
                wake: Wake::Thread(_),
                ..
            }
        );
        let state = mem::replace(&mut entry.state, State::Served { thread });
        self.unlink(head);
        match state {
            State::Waiting { wake, .. } => Some(wake),
            _ => None,
        }
    }

    /// Whether a waiter is in the queue still.
    pub(crate) fn is_waiting(&mut self, id: WaiterId) -> bool {
        matches!(self.get(id), Some(entry) if matches!(entry.state, State::Waiting { .. }))
    }

    /// What a waiter that was woken has been granted; `None` if it was not served yet.
    pub(crate) fn take_served(&mut self, id: WaiterId) -> Option<Grant> {
        match self.get(id)?.state {
            State::Served { .. } => Some(self.remove(id.index).1),
            _ => None,
        }
    }

    /// The waker with which a task waits.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn waker(&mut self, id: WaiterId) -> Option<&mut Waker> {
        match &mut self.get(id)?.state {
            State::Waiting {
                wake: Wake::Task(waker),
                ..
            } => Some(waker),
            _ => None,
        }
    }

    /// Takes a waiter out; gives what it was granted, to be passed on, and its wake, to be dropped when the
    /// lock is given up.
    pub(crate) fn cancel(&mut self, id: WaiterId) -> (Grant, Option<Wake>) {
        let Some(entry) = self.get(id) else {
            return (Grant::default(), None);
        };
        if let State::Waiting { .. } = entry.state {
            self.unlink(id.index);
        }
        match self.remove(id.index) {
            (State::Waiting { wake, .. }, grant) => (grant, Some(wake)),
            (_, grant) => (grant, None),
        }
    }

    /// Takes those out of the queue of whom `is_rejected` says so by how many they want; calls `rejected` with what each was
    /// granted, and its wake.
    pub(crate) fn reject(
        &mut self,
        is_rejected: impl Fn(usize) -> bool,
        mut rejected: impl FnMut(Grant, Wake),
    ) {
        let mut next = self.head;
        while next != NONE {
            let index = next;
            next = self.entries[index].next;
            if is_rejected(self.entries[index].wants) {
                self.unlink(index);
                if let (State::Waiting { wake }, grant) = self.remove(index) {
                    rejected(grant, wake);
                }
            }
        }
    }

    /// Takes all out of the queue; calls `rejected` with what each was granted, and gives their wakes. Waiters
    /// that are served keep what they were granted.
    pub(crate) fn cancel_all(&mut self, mut rejected: impl FnMut(Grant)) -> Wakes {
        let mut wakes = Wakes::default();
        self.reject(
            |_| true,
            |grant, wake| {
                rejected(grant);
                wakes.add(Some(wake));
            },
        );
        wakes
    }

    /// Takes out a thread, waiting or served, if there is one, for the child of a fork; gives what it was
    /// granted. Its memory is kept: the child must not free any here.
    pub(crate) fn forget_thread(&mut self) -> Option<Grant> {
        let (index, waits) =
            (self.entries.iter().enumerate()).find_map(|(index, entry)| match &entry.state {
                State::Waiting {
                    wake: Wake::Thread(_),
                    ..
                } => Some((index, true)),
                State::Served { thread: true } => Some((index, false)),
                _ => None,
            })?;
        if waits {
            self.unlink(index);
        }
        let (state, grant) = self.remove(index);
        mem::forget(state);
        Some(grant)
    }

    /// Takes the head out of the queue if it was granted all that it wants, without being woken.
    pub(crate) fn pop_served_head(&mut self) -> Option<Wake> {
        if self.is_empty() {
            return None;
        }
        self.pop_served()
    }

    /// Grants a permit to the head of the queue, if there is one, as
    /// [`offer_without_memory`](Self::offer_without_memory) does an object.
    pub(crate) fn try_grant_permit(&mut self, permits: &mut Permits) -> bool {
        let granted = !self.is_empty() && permits.try_acquire();
        if granted {
            self.entries[self.head].grant.permits += 1;
        }
        granted
    }

    /// Grants an object to the head of the queue, which is served by
    /// [`pop_served_head`](Self::pop_served_head) later; gives it back if the queue is empty, or if the head has
    /// enough or would need memory for it.
    pub(crate) fn offer_without_memory(
        &mut self,
        object: ErasedObject,
    ) -> Result<(), ErasedObject> {
        if self.is_empty() {
            return Err(object);
        }
        let entry = &mut self.entries[self.head];
        let wants = entry.wants;
        let grant = &mut entry.grant;
        if grant.len() >= wants
            || (grant.len() > grant.permits && grant.rest.len() == grant.rest.capacity())
        {
            return Err(object);
        }
        grant.push(object);
        Ok(())
    }

    /// Takes out the memory that no waiter needs, to be freed when the lock is given up.
    pub(crate) fn take_excess_memory(&mut self) -> impl Sized + use<> {
        let parkers = mem::take(&mut self.parkers);
        if self.occupied == 0 {
            self.vacant = NONE;
            return (parkers, mem::take(&mut self.entries));
        }
        let used = |entry: &Entry| !matches!(entry.state, State::Vacant);
        let kept = self
            .entries
            .iter()
            .rposition(used)
            .map_or(0, |last| last + 1);
        // A move takes time, so only where much is gained.
        if kept > self.entries.capacity() / 4 {
            return (parkers, Vec::new());
        }
        self.entries.truncate(kept);
        let mut smaller = Vec::with_capacity(kept);
        smaller.append(&mut self.entries);
        let before = mem::replace(&mut self.entries, smaller);
        self.vacant = NONE;
        for index in (0..kept).rev() {
            if matches!(self.entries[index].state, State::Vacant) {
                self.entries[index].next = self.vacant;
                self.vacant = index;
            }
        }
        (parkers, before)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn arrive(waiters: &mut Waiters, wants: usize) -> WaiterId {
        let wake = || Wake::Task(Waker::noop().clone());
        let mut permits = Permits::new(Some(0));
        match waiters.arrive(wants, Vec::new(), wake, &mut permits, || None) {
            Err(id) => id,
            Ok(_) => panic!("there was nothing to be had"),
        }
    }

    #[test]
    fn an_id_is_that_of_no_later_waiter() {
        let mut waiters = Waiters::new();
        let first = arrive(&mut waiters, 1);
        assert!(waiters.cancel(first).1.is_some());
        let second = arrive(&mut waiters, 1);
        assert_ne!(first, second);
        assert!(waiters.cancel(first).1.is_none());
        assert!(waiters.waker(second).is_some());
    }

    #[test]
    fn those_behind_and_before_one_that_leaves_keep_their_order() {
        let mut waiters = Waiters::new();
        let mut ids: Vec<_> = (0..5).map(|_| arrive(&mut waiters, 1)).collect();
        for leaving in [4, 2, 0] {
            waiters.cancel(ids.remove(leaving));
        }
        let mut permits = Permits::new(None);
        for id in ids {
            assert!(permits.try_acquire() && !waiters.is_empty());
            assert!(waiters.take_served(id).is_none());
            waiters.entries[waiters.head].grant.permits += 1;
            assert!(waiters.pop_served().is_some());
            assert_eq!(waiters.take_served(id).unwrap().permits, 1);
        }
        assert!(waiters.is_empty() && waiters.occupied == 0);
    }

    #[test]
    fn memory_goes_while_a_few_wait() {
        let mut waiters = Waiters::new();
        let ids: Vec<_> = (0..1_000).map(|_| arrive(&mut waiters, 1)).collect();
        for id in &ids[3..] {
            waiters.cancel(*id);
        }
        drop(waiters.take_excess_memory());
        assert_eq!(waiters.entries.capacity(), 3);
        assert!(waiters.waker(ids[2]).is_some());
        arrive(&mut waiters, 1);
        for id in ids {
            waiters.cancel(id);
        }
        assert!(!waiters.is_empty());
    }
}

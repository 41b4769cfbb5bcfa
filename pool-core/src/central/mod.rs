//! What threads share: one lock, and under it the shelf of idle objects, permits, waiters and the slots of threads.
//!
//! All four backends are this one type. They differ in their [`Shelf`], and in the fast path that each has
//! around or through the lock; whatever is unusual goes one common way.
//!
//! No user code runs in here: objects are moved, not created, reset or dropped. `shared` and `object` do that,
//! before or after.
//!
//! LIFE-TAIL: an object or a permit that is given up may have been what kept the pool's memory. So the last that
//! such a function touches of the pool is the store with which it unlocks or leaves its slot. (The references
//! that it formally still has are to types with interior mutability, which the compiler does not take to stay
//! readable.)

mod buffers;
mod depot;
mod permits;
mod queue;
mod shelf;
pub(crate) mod trim;
mod waiters;

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use self::buffers::Buffers;
use self::permits::Permits;
use self::queue::FifoQueue;
use self::shelf::Shelf;
use self::trim::{Period, TrimPolicy, TrimTarget};
pub(crate) use self::waiters::{Grant, WaiterId, Wake};
use self::waiters::{Waiters, Wakes, discard_waker};
use crate::config::{Backend, Config};
use crate::error::AcquireError;
use crate::fork::ForkSide;
use crate::local::hit::{self, Own};
use crate::local::{
    Batch, LocalStack, Missed, SharedInSlots, SlotAddress, SlotKey, Slots, Unregister,
};
use crate::object::ErasedObject;
use crate::sync::{Mutex, MutexGuard, Seized, barrier};
use crate::trace;

/// For how many visits slots stay revoked after the pool ran dry.
///
/// Each time nothing is idle at the shelf and the bound is reached, the slots have to be revoked, at the price of
/// a barrier. A pool that ran dry is likely to again, so for a while every release comes to the central lock,
/// where the next thread that finds nothing needs no barrier. 64 visits cost about what a barrier does, so the
/// price of running dry is at most doubled, and not paid for each poll.
const DRY_VISITS: u32 = 64;

/// How many objects a trim takes out under the lock at a time.
const TRIM_STEP: usize = 256;

/// What came of looking for an object.
#[derive(Debug)]
pub(crate) enum Taken {
    /// One was idle; it is the caller's now.
    Idle(ErasedObject),
    /// None was idle, and the caller has a permit to create one.
    Permit,
    /// None was idle, and none may be created. Exact: at one moment within the call no object was idle
    /// anywhere, in the stacks of threads included, and the bound was reached.
    Exhausted,
    /// The pool is closed.
    Closed,
}

/// Counts of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Objects ever created, and how many of them are alive.
    pub(crate) created: u64,
    pub(crate) live: usize,
    /// Idle objects, wherever they are, and how many of them are in the stacks of threads.
    pub(crate) idle: usize,
    pub(crate) cached: usize,
    /// Visits to the depot.
    pub(crate) exchanges: u64,
    /// Revocations that paid a barrier.
    pub(crate) revocations: u64,
    /// Acquires that had to wait.
    pub(crate) waits: u64,
}

pub(crate) struct Central {
    backend: Backend,
    batch_size: usize,
    max_idle: usize,
    /// The calling thread's slot; of no pool, where threads have none.
    slots: SlotKey<LocalStack>,
    /// The queue on the shelf, for threads inside their slots.
    queue: Option<SharedInSlots<Arc<FifoQueue>>>,
    buffers: Buffers,
    /// Revocations, for the pool to emit when the lock is given up.
    unreported: trace::Unreported,
    /// Padded: written by every thread that comes here, next to what is only read.
    state: CachePadded<Mutex<State>>,
}

struct State {
    shelf: Shelf,
    permits: Permits,
    waiters: Waiters,
    closed: bool,
    slots: Slots<LocalStack>,
    /// For how many visits slots stay revoked.
    dry: u32,
    revocations: u64,
    period: Period,
}

impl Central {
    pub(crate) fn new(config: &Config) -> Arc<Self> {
        let shelf = Shelf::new(config);
        let queue = match &shelf {
            Shelf::Queue(queue) => Some(SharedInSlots::new(queue.clone())),
            _ => None,
        };
        let slots = match config.backend {
            Backend::Mutex => SlotKey::of_no_pool(),
            _ if barrier::available() => SlotKey::new(),
            _ => SlotKey::of_no_pool(),
        };
        Arc::new(Central {
            backend: config.backend,
            batch_size: config.batch_size,
            max_idle: config.max_idle.unwrap_or(usize::MAX),
            slots,
            queue,
            buffers: Buffers::new(),
            unreported: trace::Unreported::new(),
            state: CachePadded::new(Mutex::new(State {
                shelf,
                permits: Permits::new(config.capacity),
                waiters: Waiters::new(),
                closed: false,
                slots: Slots::new(),
                dry: 0,
                revocations: 0,
                period: Period::new(),
            })),
        })
    }

    /// The key to the stacks of threads; of no pool, if the backend has none.
    pub(crate) fn stacks(&self) -> SlotKey<LocalStack> {
        match self.backend {
            Backend::Batched => self.slots,
            _ => SlotKey::of_no_pool(),
        }
    }

    /// The central lock. What a fork left in the slots is on the shelf then.
    fn lock(&self) -> Locked<'_> {
        let mut locked = Locked {
            state: self.state.lock(),
            central: self,
        };
        locked.reclaim();
        locked
    }

    /// The calling thread's slot, registered if it has none; `None` if it can have none.
    fn own_slot(self: &Arc<Self>) -> Option<Own<'_>> {
        self.slots.find_or_register(|| {
            let address = self.lock().register();
            let pool: Arc<dyn Unregister> = self.clone();
            (address, pool)
        })
    }

    /// Pops from the stack of a `Mutex`, if that needs nothing unusual.
    #[inline(always)]
    pub(crate) fn pop_stack(&self) -> Option<ErasedObject> {
        match &mut self.state.lock().shelf {
            Shelf::Stack(stack) => stack.pop_fast(),
            _ => None,
        }
    }

    /// Pushes to the stack of a `Mutex`, if that needs nothing unusual; else gives the object back. The rest as
    /// for [`put`](Self::put).
    #[inline(always)]
    pub(crate) fn push_stack(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        match &mut self.state.lock().shelf {
            Shelf::Stack(stack) => stack.push_fast(object),
            _ => Err(object),
        }
    }

    /// Pops from the queue of a `Queue`, if the calling thread may enter its slot.
    #[inline(always)]
    pub(crate) fn pop_queue(&self) -> Option<ErasedObject> {
        let queue = self.queue.as_ref()?;
        let inside = self.slots.at_hand()?.enter()?;
        queue.with(inside, |queue| queue.pop())
    }

    /// Pushes to the queue of a `Queue`, if the calling thread may enter its slot; else gives the object back.
    /// The rest as for [`put`](Self::put).
    #[inline(always)]
    pub(crate) fn push_queue(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        match (&self.queue, self.slots.at_hand().and_then(Own::enter)) {
            (Some(queue), Some(inside)) => queue.with(inside, |queue| queue.push(object)),
            (_, Some(inside)) => inside.work(|_, top| (Err(object), top)),
            (_, None) => Err(object),
        }
    }

    /// Takes a permit of a `Heap` that the calling thread has at hand.
    #[inline]
    pub(crate) fn take_permit(&self) -> bool {
        (self.slots.at_hand()).is_some_and(|own| hit::take_permits(own, 1))
    }

    /// Takes an idle object; else, with `may_create`, a permit to create one. A pop that `missed` is redeemed
    /// first.
    #[inline(always)]
    pub(crate) fn take(
        self: &Arc<Self>,
        missed: Option<Missed<'_, LocalStack>>,
        may_create: bool,
    ) -> Taken {
        match self.backend {
            Backend::Mutex => {
                if let Some(object) = self.pop_stack() {
                    return Taken::Idle(object);
                }
            }
            Backend::Queue => {
                if let Some(object) = self.pop_queue() {
                    return Taken::Idle(object);
                }
            }
            Backend::Heap => {
                if may_create && self.take_permit() {
                    return Taken::Permit;
                }
            }
            Backend::Batched => {}
        }
        self.take_slow(missed, may_create)
    }

    #[cold]
    #[inline(never)]
    fn take_slow(
        self: &Arc<Self>,
        missed: Option<Missed<'_, LocalStack>>,
        may_create: bool,
    ) -> Taken {
        let missed = match missed {
            None if self.backend == Backend::Batched => match self.own_slot().map(hit::pop) {
                Some(Ok(object)) => return Taken::Idle(object),
                Some(Err(missed)) => Some(missed),
                None => None,
            },
            missed => missed,
        };
        let own = match self.backend {
            Backend::Heap | Backend::Queue => self.own_slot(),
            Backend::Mutex | Backend::Batched => None,
        };
        let mut locked = self.lock();
        let own = match missed.map(hit::redeem) {
            Some((_, Some(object))) => return Taken::Idle(object),
            Some((own, None)) => Some(own),
            None => own,
        };
        if locked.state.closed {
            return Taken::Closed;
        }
        let active = own.filter(|own| locked.activate(*own));
        match (self.backend, active) {
            (Backend::Heap, _) if !may_create => return Taken::Exhausted,
            (Backend::Heap, Some(own)) => {
                if locked.refill_permits(own) {
                    return Taken::Permit;
                }
            }
            (Backend::Batched, Some(own)) => {
                if locked.hand_over(own) {
                    let inside = locked.state.slots.enter(own);
                    drop(locked);
                    return Taken::Idle(hit::take_in_and_pop(inside));
                }
            }
            _ => {
                if let Some(object) = locked.state.shelf.pop() {
                    return Taken::Idle(object);
                }
            }
        }
        if may_create && locked.state.permits.try_acquire() {
            return Taken::Permit;
        }
        // Nothing is in a slot after this, and nothing comes there before the lock is given up.
        locked.ran_dry();
        if let Some(object) = locked.state.shelf.pop() {
            return Taken::Idle(object);
        }
        if may_create && locked.state.permits.try_acquire() {
            return Taken::Permit;
        }
        Taken::Exhausted
    }

    /// Keeps an object for the next acquire. Gives it back if it is not wanted: the pool is closed, or has as
    /// many idle objects as it may keep.
    ///
    /// Once kept, the object may be acquired, and at the end of the pool destroyed, and the pool with it: the
    /// caller must not touch either again (LIFE-TAIL).
    #[inline(always)]
    pub(crate) fn put(self: &Arc<Self>, object: ErasedObject) -> Result<(), ErasedObject> {
        let object = match self.backend {
            Backend::Heap => return Err(object),
            Backend::Mutex => match self.push_stack(object) {
                Ok(()) => return Ok(()),
                Err(object) => object,
            },
            Backend::Queue => match self.push_queue(object) {
                Ok(()) => return Ok(()),
                Err(object) => object,
            },
            Backend::Batched => object,
        };
        self.put_slow(object)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn put_slow(self: &Arc<Self>, object: ErasedObject) -> Result<(), ErasedObject> {
        let own = self.own_slot();
        if self.backend == Backend::Batched
            && let Some(own) = own
        {
            if hit::push(own, object).is_ok() {
                return Ok(());
            }
            hit::copy_out(own, || Batch::new(self.batch_size));
        }
        let mut locked = self.lock_with_room(1);
        if locked.state.closed {
            return Err(object);
        }
        let object = match locked.state.waiters.offer(object) {
            Err(object) => object,
            Ok(wake) => {
                drop(locked);
                wake.into_iter().for_each(Wake::wake);
                return Ok(());
            }
        };
        if locked.room_for(self.batch_size) == 0 {
            return Err(object);
        }
        let active = own.filter(|own| locked.activate(*own));
        if self.backend == Backend::Batched
            && let Some(own) = active
        {
            let given = locked.take_over(own);
            let inside = locked.state.slots.enter(own);
            drop(locked);
            hit::forget_oldest_and_push(inside, given, object);
            return Ok(());
        }
        locked.push(object)
    }

    /// The lock, with a batch or a larger ring at hand in case the shelf needs one for `more` objects: no memory is
    /// asked for under the lock.
    fn lock_with_room(&self, more: usize) -> Locked<'_> {
        let locked = self.lock();
        if locked.state.shelf.has_memory_for(more) {
            return locked;
        }
        drop(locked);
        self.lock_with_new_room(more)
    }

    #[cold]
    fn lock_with_new_room(&self, more: usize) -> Locked<'_> {
        loop {
            let queue = match &self.lock().state.shelf {
                Shelf::Queue(queue) => Some(queue.clone()),
                _ => None,
            };
            let larger = queue.map(|queue| queue.larger(more));
            let spare = match larger {
                Some(_) => None,
                None => Some(Batch::new(self.batch_size)),
            };
            let mut locked = self.lock();
            if let Some(larger) = larger {
                drop(locked.replace_queue(larger));
            } else if let (Shelf::Depot(depot, _), Some(spare)) = (&mut locked.state.shelf, spare) {
                depot.add_spare(spare);
            }
            if locked.state.shelf.has_memory_for(more) {
                return locked;
            }
        }
    }

    /// Takes `n` objects at once: idle ones, and permits for the others, as many as are missing to `n`. Or none.
    ///
    /// # Errors
    ///
    /// `Exhausted`, as exact as that of [`take`](Self::take); `Closed`. Then `rejected` may hold objects that
    /// were taken in vain and may not be kept: the caller destroys them.
    pub(crate) fn take_many(
        self: &Arc<Self>,
        n: usize,
        rejected: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
        // Before permits are taken, which a panic for want of memory would lose.
        let mut objects = Vec::new();
        let mut own = None;
        match self.backend {
            Backend::Heap => {
                objects.reserve(n);
                if let Some(own) = self.slots.at_hand()
                    && hit::take_permits(own, n)
                {
                    return Ok(objects);
                }
            }
            Backend::Batched => {
                own = self.own_slot();
                objects = match own.map(|own| hit::try_pop_many(own, n)) {
                    Some(hit::Popped::All(objects)) => return Ok(objects),
                    Some(hit::Popped::TooFew(buffer)) => buffer,
                    None => objects,
                };
            }
            Backend::Mutex | Backend::Queue => {}
        }
        if objects.capacity() < n {
            self.buffers.give(objects);
            objects = self.buffers.take(n);
        }
        let mut locked = self.lock();
        if locked.state.closed {
            return Err(AcquireError::Closed);
        }
        if let Some(own) = own {
            locked.flush(own);
        }
        if locked.take_many(n, &mut objects) {
            return Ok(objects);
        }
        // Nothing is in a slot after this, and nothing comes there before the lock is given up.
        locked.ran_dry();
        if locked.take_many(n, &mut objects) {
            return Ok(objects);
        }
        locked.put_back(objects.drain(..).rev(), rejected);
        drop(locked);
        self.buffers.give(objects);
        Err(AcquireError::Exhausted)
    }

    /// [`put`](Self::put) of many at once, the last last; gives back the objects that are not wanted.
    pub(crate) fn put_many(self: &Arc<Self>, mut objects: Vec<ErasedObject>) -> Vec<ErasedObject> {
        match self.backend {
            Backend::Heap => return objects,
            Backend::Batched => {
                // The buffer is kept inside the slot: after it the pool may be gone (LIFE-TAIL).
                let give = |buffer| self.buffers.give(buffer);
                if (self.own_slot()).is_some_and(|own| hit::try_push_many(own, &mut objects, give))
                {
                    return objects;
                }
            }
            Backend::Queue => {
                if let Some(queue) = &self.queue
                    && let Some(own) = self.own_slot()
                    && let Some(inside) = own.enter()
                {
                    let all = queue.with(inside, |queue| {
                        let pushed = objects
                            .iter()
                            .take_while(|object| queue.push(**object).is_ok());
                        let pushed = pushed.count();
                        objects.drain(..pushed);
                        if objects.is_empty() {
                            // As above.
                            self.buffers.give(mem::take(&mut objects));
                        }
                        objects.is_empty()
                    });
                    if all {
                        return objects;
                    }
                }
            }
            Backend::Mutex => {}
        }
        let mut locked = self.lock_with_room(objects.len());
        if locked.state.closed {
            return objects;
        }
        let wakes = locked.state.waiters.offer_many(&mut objects);
        let room = locked.room_for(objects.len());
        let mut not_wanted = objects.split_off(room.min(objects.len()));
        for object in objects.drain(..) {
            not_wanted.extend(locked.state.shelf.push(object).err());
        }
        locked.state.shelf.count_visit();
        if let Some(own) = self.slots.at_hand() {
            // The next release may do without the lock, if that is allowed.
            locked.activate(own);
        }
        self.buffers.give(objects);
        drop(locked);
        wakes.wake();
        not_wanted
    }

    /// A permit for one object more, whether or not one is idle.
    pub(crate) fn acquire_permit(self: &Arc<Self>) -> Result<(), AcquireError> {
        if self.backend == Backend::Heap {
            return match self.take(None, true) {
                Taken::Closed => Err(AcquireError::Closed),
                Taken::Exhausted => Err(AcquireError::Exhausted),
                Taken::Idle(_) | Taken::Permit => Ok(()),
            };
        }
        let mut locked = self.lock();
        if locked.state.closed {
            Err(AcquireError::Closed)
        } else if locked.state.permits.try_acquire() {
            Ok(())
        } else {
            Err(AcquireError::Exhausted)
        }
    }

    /// Returns the permit of an object that is no more, or was never created; the next waiter gets it. `true` if
    /// it was what kept the pool's memory: the caller frees the pool. On `false` the caller must not touch it
    /// again (LIFE-TAIL).
    #[inline]
    pub(crate) fn return_permit(self: &Arc<Self>) -> bool {
        if self.backend == Backend::Heap
            && let Some(own) = self.slots.at_hand()
            && hit::return_permit(own)
        {
            return false;
        }
        self.return_permit_slow()
    }

    #[cold]
    #[inline(never)]
    fn return_permit_slow(self: &Arc<Self>) -> bool {
        let own = match self.backend {
            Backend::Heap => self.own_slot(),
            _ => None,
        };
        let mut locked = self.lock();
        let mut permits = 1;
        if let Some(own) = own {
            // If it is active, it is full. If it is not, the next one may do without the lock.
            if locked.state.slots.is_active(own) {
                permits += hit::take_half_of_permits(locked.state.slots.enter(own));
            } else {
                locked.activate(own);
            }
        }
        locked.state.permits.release(permits);
        let is_end = locked.state.permits.is_end();
        locked.serve_permits();
        is_end
    }

    /// Notes that the last `Pool` is gone. `true` if that was what kept the pool's memory, as in
    /// [`return_permit`](Self::return_permit).
    pub(crate) fn drop_last_pool(&self) -> bool {
        let mut locked = self.lock();
        locked.state.permits.drop_pool();
        locked.state.permits.is_end()
    }

    /// Counts an object that was created in the place of another.
    pub(crate) fn count_replaced(&self) {
        self.lock().state.permits.count_created(1);
    }

    /// Waits for `n` objects, idle or permits to create them, first in, first out.
    ///
    /// # Errors
    ///
    /// `Timeout` once `deadline` has passed; `Closed`. `rejected` as in [`take_many`](Self::take_many).
    pub(crate) fn wait(
        &self,
        n: usize,
        deadline: Option<Instant>,
        rejected: &mut Vec<ErasedObject>,
    ) -> Result<Grant, AcquireError> {
        let mut locked = self.lock();
        let parker = locked.state.waiters.take_parker();
        // What threads are granted is kept in the child of a fork, which can ask for no memory then.
        let granted = locked.state.waiters.wanted().saturating_add(n);
        locked.reserve(granted);
        let arrived = locked.arrive(n, || Wake::Thread(parker.clone()));
        let id = match arrived {
            Ok(Err(id)) => id,
            Ok(Ok(grant)) => {
                locked.state.waiters.put_parker(parker);
                return Ok(grant);
            }
            Err(error) => return Err(error),
        };
        drop(locked);
        let mut timed_out = false;
        let mut state = self.state.lock();
        while !timed_out && !state.closed && !state.waiters.is_served(id) {
            (state, timed_out) = parker.wait_until(state, deadline);
        }
        drop(state);
        let mut locked = self.lock();
        locked.state.waiters.put_parker(parker);
        if let Some(grant) = locked.state.waiters.take_served(id) {
            return Ok(grant);
        }
        if locked.state.closed {
            return Err(AcquireError::Closed);
        }
        locked.cancel(id, rejected);
        Err(AcquireError::Timeout)
    }

    /// [`wait`](Self::wait) of a task, without a deadline. `id` is its place in the queue, `None` at first and
    /// when it is ready.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn poll_wait(
        &self,
        n: usize,
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
                match locked.arrive(n, wake) {
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
        *id = None;
        Poll::Ready(ready)
    }

    /// Gives a place in the queue up, passing on what was granted meanwhile. `rejected` as in
    /// [`take_many`](Self::take_many).
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    pub(crate) fn cancel_wait(&self, id: WaiterId, rejected: &mut Vec<ErasedObject>) {
        self.lock().cancel(id, rejected);
    }

    /// Revokes the slots, and gives the idle objects in excess, to be taken out step by step.
    pub(crate) fn excess(&self, target: TrimTarget) -> Excess<'_> {
        let mut locked = self.lock();
        locked.recall();
        Excess {
            central: self,
            left: locked.state.shelf.excess(target),
            floor: target.floor(),
        }
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

    /// What a policy leaves, if its period is over.
    pub(crate) fn end_period(&self, policy: &TrimPolicy, now: Instant) -> Option<TrimTarget> {
        self.lock().state.period.end(policy, now)
    }

    /// Puts what the calling thread keeps where every thread finds it.
    pub(crate) fn flush(self: &Arc<Self>) {
        if let Some(own) = self.own_slot() {
            self.lock().flush(own);
        }
    }

    /// Closes for good: from now on each [`put`](Self::put) gives back. Gives the objects that waiters had been
    /// granted, and whether the pool was open; what is idle is in [excess](Self::excess) now.
    pub(crate) fn close(&self) -> (Vec<ErasedObject>, bool) {
        let mut locked = self.lock();
        let was_open = !mem::replace(&mut locked.state.closed, true);
        locked.recall();
        let State {
            waiters, permits, ..
        } = &mut *locked.state;
        let mut objects = Vec::new();
        let wakes = waiters.cancel_all(|grant| {
            permits.release(grant.permits);
            objects.extend(grant.into_objects());
        });
        drop(locked);
        wakes.wake();
        (objects, was_open)
    }

    /// Whether the pool was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().state.closed
    }

    /// Counts, exact while no thread is inside a call.
    pub(crate) fn counts(&self) -> Counts {
        let locked = self.lock();
        let state = &locked.state;
        let (mut kept, mut created) = (0, state.permits.created());
        state.slots.for_each_active(|bytes, count| {
            kept += bytes;
            created += count.get();
        });
        let taken = state.permits.taken();
        let (cached, live) = match self.backend {
            Backend::Batched => (kept / size_of::<ErasedObject>(), taken),
            Backend::Heap => (0, taken.saturating_sub(kept)),
            Backend::Mutex | Backend::Queue => (0, taken),
        };
        Counts {
            created,
            live,
            idle: state.shelf.len() + cached,
            cached,
            exchanges: state.shelf.exchanges(),
            revocations: state.revocations,
            waits: state.waiters.total(),
        }
    }

    /// Revocations that were not reported yet.
    #[inline]
    pub(crate) fn unreported_revocations(&self) -> usize {
        self.unreported.take()
    }

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
        let state = &mut *self.lock().state;
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

impl State {
    /// Tells the fast paths whether all is as usual.
    #[inline]
    fn set_bounds(&mut self, max_idle: usize) {
        let open = !self.closed && self.waiters.is_empty();
        self.shelf.set_bounds(open, max_idle);
    }

    /// Forgets the threads that waited where this process was forked from. What they had been granted is idle;
    /// an object that cannot be kept without asking for memory stays in use for ever.
    fn forget_threads(&mut self) {
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

/// The central lock, for what is unusual. The thread that has it may revoke the slots.
struct Locked<'a> {
    state: MutexGuard<'a, State>,
    central: &'a Central,
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        self.state.set_bounds(self.central.max_idle);
    }
}

impl Locked<'_> {
    fn register(&mut self) -> SlotAddress {
        let batch_size = self.central.batch_size;
        self.state.slots.register(|| match self.central.backend {
            Backend::Batched => LocalStack::of_objects(batch_size),
            Backend::Heap => LocalStack::of_permits(batch_size),
            Backend::Queue | Backend::Mutex => LocalStack::of_nothing(),
        })
    }

    /// Moves what is in the slots that were stopped to the shelf.
    #[inline]
    fn reclaim(&mut self) {
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
    fn recall(&mut self) {
        let stopped = self.state.slots.stop_all();
        self.reclaim();
        if stopped {
            self.state.revocations += 1;
            self.central.unreported.note(1);
        }
    }

    /// [`recall`](Self::recall), for want of an object.
    fn ran_dry(&mut self) {
        self.recall();
        self.state.dry = DRY_VISITS;
    }

    /// Whether slots may be active, one of them being `more`.
    fn may_activate(&self, more: usize) -> bool {
        let state = &*self.state;
        !state.closed
            && state.waiters.is_empty()
            && state.dry == 0
            && !self.may_overflow(0, state.slots.active() + more)
    }

    /// Activates the calling thread's slot if that is allowed; whether it is active now.
    fn activate(&mut self, own: Own<'_>) -> bool {
        if self.state.slots.is_active(own) {
            return true;
        }
        let allowed = self.may_activate(1);
        self.state.dry = self.state.dry.saturating_sub(1);
        if allowed {
            self.state.slots.activate(own);
        }
        allowed
    }

    /// Whether `more` objects could take the pool past `max_idle`, if the stacks of `active` threads were as full
    /// as they get.
    fn may_overflow(&self, more: usize, active: usize) -> bool {
        let Shelf::Depot(depot, _) = &self.state.shelf else {
            return false;
        };
        let max_idle = self.central.max_idle;
        let cached = active.saturating_mul(2 * self.central.batch_size);
        max_idle != usize::MAX && depot.len().saturating_add(cached).saturating_add(more) > max_idle
    }

    /// For how many of `more` objects there is room on the shelf; where that is close, the slots are revoked so
    /// that the count is exact. A queue says it when it is pushed to.
    fn room_for(&mut self, more: usize) -> usize {
        let max_idle = self.central.max_idle;
        if self.may_overflow(more, self.state.slots.active()) {
            self.recall();
            return max_idle.saturating_sub(self.state.shelf.len());
        }
        match &self.state.shelf {
            Shelf::None => 0,
            Shelf::Stack(stack) => max_idle.saturating_sub(stack.len()),
            Shelf::Queue(_) | Shelf::Depot(..) => usize::MAX,
        }
    }

    /// Keeps an object, for which there is [room](Self::room_for); gives it back if a queue is full.
    fn push(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        let pushed = self.state.shelf.push(object);
        self.state.shelf.count_visit();
        pushed
    }

    /// Hands batches to the calling thread's stack, which is active and empty; `false` if none is here.
    fn hand_over(&mut self, own: Own<'_>) -> bool {
        let State { slots, shelf, .. } = &mut *self.state;
        let Shelf::Depot(depot, _) = shelf else {
            return false;
        };
        let handed = slots.with_own(own, |stack| depot.hand_over(stack));
        if handed {
            shelf.count_visit();
        }
        handed
    }

    /// Takes over the batches that the calling thread has copied out of its stack, which is active.
    fn take_over(&mut self, own: Own<'_>) -> usize {
        let State { slots, shelf, .. } = &mut *self.state;
        let Shelf::Depot(depot, _) = shelf else {
            return 0;
        };
        let given = slots.with_own(own, |stack| depot.take_over(stack));
        shelf.count_visit();
        given
    }

    /// Takes permits for the calling thread, whose slot is active: one to be used now, which is counted, and as
    /// many more as it may keep. `false` if there is none.
    fn refill_permits(&mut self, own: Own<'_>) -> bool {
        let permits = self.state.permits.acquire_up_to(self.central.batch_size);
        if permits == 0 {
            return false;
        }
        self.state.permits.count_created(1);
        hit::add_permits(self.state.slots.enter(own), permits - 1);
        true
    }

    /// Moves what the calling thread's slot holds to the shelf.
    fn flush(&mut self, own: Own<'_>) {
        if !self.state.slots.is_active(own) {
            return;
        }
        let State {
            slots,
            shelf,
            permits,
            ..
        } = &mut *self.state;
        slots.flush(own, |top, stack, created| {
            shelf.reclaim(top, stack, created, permits);
        });
        if self.may_activate(1) {
            self.state.slots.activate(own);
        }
    }

    /// Sees to it that `n` more objects can be kept without asking for memory.
    fn reserve(&mut self, n: usize) {
        let larger = match &self.state.shelf {
            Shelf::Queue(queue) if queue.needs_more_cells(n) => Some(queue.larger(n)),
            _ => None,
        };
        match larger {
            Some(larger) => drop(self.replace_queue(larger)),
            None => self.state.shelf.reserve(n),
        }
    }

    /// Goes over to another queue, if that has room for the objects of the one on the shelf; gives what is not
    /// used, to be freed when the lock is given up.
    fn replace_queue(&mut self, queue: FifoQueue) -> Option<[Arc<FifoQueue>; 2]> {
        self.recall();
        let State { slots, shelf, .. } = &mut *self.state;
        let Shelf::Queue(on_shelf) = shelf else {
            return None;
        };
        let in_slots = self.central.queue.as_ref()?;
        if !queue.has_room_for(on_shelf) {
            return None;
        }
        queue.take_over(on_shelf);
        let queue = Arc::new(queue);
        let before = mem::replace(on_shelf, queue.clone());
        Some([before, in_slots.replace(slots, queue)])
    }

    /// Goes over to a smaller queue, if the one on the shelf has far more memory than its objects need.
    fn shrink_queue(&mut self) -> Option<[Arc<FifoQueue>; 2]> {
        self.recall();
        let Shelf::Queue(queue) = &self.state.shelf else {
            return None;
        };
        let smaller = queue.smaller()?;
        self.replace_queue(smaller)
    }

    /// Completes `objects` to `n`, by idle ones and permits. On `false` some may have come from a queue; else none.
    fn take_many(&mut self, n: usize, objects: &mut Vec<ErasedObject>) -> bool {
        let State { shelf, permits, .. } = &mut *self.state;
        if let Shelf::Queue(_) = shelf {
            // Other threads pop meanwhile, so what is there is known only when it is had.
            shelf.pop_many(n - objects.len(), objects);
            return permits.try_acquire_many(n - objects.len());
        }
        let idle = n.min(shelf.len());
        let taken = permits.try_acquire_many(n - idle);
        if taken {
            shelf.pop_many(idle, objects);
        }
        taken
    }

    /// Puts objects back where they were, the one that was taken last first. While no slot is active.
    fn put_back(
        &mut self,
        objects: impl Iterator<Item = ErasedObject>,
        rejected: &mut Vec<ErasedObject>,
    ) {
        for object in objects {
            // There may be no room: other threads may have pushed before the revocation.
            rejected.extend(self.state.shelf.push_next(object).err());
        }
    }

    /// Gets `n` objects at once or a place in the queue.
    fn arrive(
        &mut self,
        n: usize,
        wake: impl FnOnce() -> Wake,
    ) -> Result<Result<Grant, WaiterId>, AcquireError> {
        if self.state.closed {
            return Err(AcquireError::Closed);
        }
        self.recall();
        let State {
            waiters,
            shelf,
            permits,
            ..
        } = &mut *self.state;
        Ok(waiters.arrive(n, wake, permits, || shelf.pop()))
    }

    /// Gives the permits that there are to the waiters, and the lock up, and wakes.
    fn serve_permits(mut self) {
        let mut wakes = Wakes::default();
        let State {
            waiters, permits, ..
        } = &mut *self.state;
        if !waiters.is_empty() {
            waiters.offer_permits(permits, &mut wakes);
        }
        drop(self);
        wakes.wake();
    }

    /// Takes a waiter out of the queue, and passes on what it had been granted. Gives the lock up.
    fn cancel(mut self, id: WaiterId, rejected: &mut Vec<ErasedObject>) {
        let (grant, wake) = self.state.waiters.cancel(id);
        let mut wakes = Wakes::default();
        let permits = grant.permits;
        let mut objects = grant.into_objects().into_iter();
        for object in objects.by_ref() {
            match self.state.waiters.offer(object) {
                Ok(wake) => wakes.add(wake),
                Err(object) => {
                    // No other waiter is left.
                    let others: Vec<_> = objects.rev().chain([object]).collect();
                    let room = match self.state.closed {
                        true => 0,
                        false => self.room_for(others.len()),
                    };
                    let kept = others.len() - room.min(others.len());
                    rejected.extend(&others[..kept]);
                    self.recall(); // A queue is put back to at its front.
                    self.reserve(room.min(others.len()));
                    self.put_back(others[kept..].iter().copied(), rejected);
                    break;
                }
            }
        }
        let State {
            waiters,
            permits: all,
            ..
        } = &mut *self.state;
        all.release(permits);
        // Even if there was nothing: the next waiter may want less.
        waiters.offer_permits(all, &mut wakes);
        drop(self);
        wakes.wake();
        discard_waker(wake);
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

    /// Moves the next few to `objects`, the longest idle first; `false` if there are no more. A few at a time,
    /// so that other threads do not wait long for the lock.
    pub(crate) fn take_some(&mut self, objects: &mut Vec<ErasedObject>) -> bool {
        if self.left == 0 {
            return false;
        }
        let step = TRIM_STEP.min(self.left);
        objects.reserve(step);
        let before = objects.len();
        let mut locked = self.central.lock();
        let idle = locked.state.shelf.len();
        let step = step.min(idle.saturating_sub(self.floor));
        locked.state.shelf.take_oldest(step, objects);
        drop(locked);
        let taken = objects.len() - before;
        self.left = match taken {
            0 => 0,
            taken => self.left - taken,
        };
        taken > 0
    }
}

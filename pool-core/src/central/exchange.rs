//! Objects and permits in and out of the shelf, where a fast path does not do.

use std::mem;
use std::sync::Arc;

use super::idle::DueWakes;
use super::queue::FifoQueue;
use super::shelf::Shelf;
use super::waiters::Wake;
use super::{Central, Granted, Locked, Refused, State, Taken, TakenMany};
use crate::config::Backend;
use crate::error::AcquireError;
use crate::local::hit::{self, Own};
use crate::local::{Batch, LocalStack, Missed};
use crate::object::ErasedObject;

impl Central {
    #[cold]
    #[inline(never)]
    pub(super) fn take_slow(
        &self,
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
        // It was not at hand, and may have permits.
        if self.backend == Backend::Heap
            && may_create
            && own.is_some_and(|own| hit::take_permits(own, 1))
        {
            return Taken::Permit(Granted);
        }
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
                    return Taken::Permit(Granted);
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
            return Taken::Permit(Granted);
        }
        // Nothing is in a slot after this, and nothing comes there before the lock is given up.
        locked.ran_dry();
        if let Some(object) = locked.state.shelf.pop() {
            return Taken::Idle(object);
        }
        if may_create && locked.state.permits.try_acquire() {
            return Taken::Permit(Granted);
        }
        Taken::Exhausted
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn put_slow(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let own = self.own_slot();
        let batched = self.backend == Backend::Batched;
        if let Some(own) = own.filter(|_| batched) {
            if hit::push(own, object).is_ok() {
                return Ok(());
            }
            hit::copy_out(own, || Batch::with_capacity(self.batch_size));
        }
        self.grant_or(object, |mut locked, object| {
            if locked.room_for(self.batch_size) == 0 {
                return Err(object);
            }
            let active = own.filter(|own| locked.activate(*own));
            if let Some(own) = active.filter(|_| batched) {
                let given = locked.take_over(own);
                let inside = locked.state.slots.enter(own);
                drop(locked);
                hit::forget_oldest_and_push(inside, given, object);
                return Ok(());
            }
            let pushed = locked.push(object);
            locked.state.shelf.count_visit();
            pushed
        })
    }

    /// Grants an object that is idle now to the waiter whose turn it is, or else has `keep` keep it; gives it back if
    /// it is not wanted.
    #[inline(always)]
    fn grant_or(
        &self,
        object: ErasedObject,
        keep: impl FnOnce(Locked<'_>, ErasedObject) -> Result<(), ErasedObject>,
    ) -> Result<(), ErasedObject> {
        let mut locked = self.lock_with_room(1);
        if locked.wanted(1) == 0 {
            return Err(object);
        }
        match locked.state.waiters.offer(object) {
            Err(object) => keep(locked, object),
            Ok(wake) => {
                drop(locked);
                wake.into_iter().for_each(Wake::wake);
                Ok(())
            }
        }
    }

    /// Brings what the calling thread caches to the shelf; gives how many objects the shelf then lacks to `n`, and
    /// sees to it that they can be kept there. Looks into no other thread's slot.
    pub(crate) fn lacks(&self, n: usize) -> usize {
        let own = self.own_slot();
        let mut locked = self.lock();
        if let Some(own) = own {
            locked.empty(own);
        }
        let missing = n.saturating_sub(locked.state.shelf.len());
        drop(locked);
        if missing > 0 {
            drop(self.lock_with_room(missing));
        }
        missing
    }

    /// [`put`](Self::put) of an object on the shelf, or to a waiter: revokes no slot. Where `max_idle` is near, the
    /// slots in use count as full.
    pub(crate) fn stock(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        self.grant_or(object, |mut locked, object| {
            match locked.room_beside_slots() {
                0 => Err(object),
                _ => locked.push(object),
            }
        })
    }

    /// [`stock`](Self::stock) of an object in the calling thread's slot, if that is active and has room.
    pub(crate) fn stock_own(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let pushed = match self.slots.at_hand() {
            Some(own) if self.backend == Backend::Batched => hit::push(own, object),
            _ => Err(object),
        };
        pushed.or_else(|object| self.stock(object))
    }

    /// An object from the shelf, if one is there.
    pub(crate) fn take_stocked(&self) -> Option<ErasedObject> {
        self.lock().state.shelf.pop()
    }

    /// Sees to it that the calling thread has a slot, active if it may be, with the memory of its stack touched, and
    /// that the shelf has memory for a batch. A slot of permits is filled. Gives how many objects a slot of objects
    /// lacks to a batch; `None` if the calling thread keeps no objects in a slot.
    pub(crate) fn warm(&self) -> Option<usize> {
        let own = self.own_slot();
        let mut locked = self.lock();
        let missing = self.batch_size.saturating_sub(locked.state.shelf.len());
        let needs_memory = !locked.state.shelf.has_memory_for(1);
        (locked.state.shelf).reserve(missing.max(usize::from(needs_memory)));
        let own = own.filter(|own| locked.activate(*own))?;
        match self.backend {
            Backend::Batched => {
                let kept = hit::touch(locked.state.slots.enter(own));
                Some(self.batch_size.saturating_sub(kept))
            }
            Backend::Heap => {
                let kept = hit::count_permits(locked.state.slots.enter(own));
                let missing = self.batch_size.saturating_sub(kept);
                let permits = locked.state.permits.acquire_up_to(missing);
                hit::add_permits(locked.state.slots.enter(own), permits);
                Some(0)
            }
            Backend::Queue | Backend::Mutex => None,
        }
    }

    /// The lock, with a batch or a larger ring at hand in case the shelf needs one for `more` objects: no memory is
    /// asked for under the lock.
    pub(super) fn lock_with_room(&self, more: usize) -> Locked<'_> {
        let locked = self.lock();
        if locked.state.shelf.has_memory_for(more) {
            return locked;
        }
        locked.with_new_room(more)
    }

    /// Takes `n` objects at once: idle ones, and permits for the others. Or none.
    ///
    /// # Errors
    ///
    /// `Exhausted`, as exact as that of [`take`](Self::take); `Closed`.
    pub(crate) fn take_many(&self, n: usize) -> Result<TakenMany, Refused> {
        let taken = |idle: Vec<_>| TakenMany {
            permits: n - idle.len(),
            idle,
        };
        // Before permits are taken, which a panic for want of memory would lose.
        let mut objects = Vec::new();
        let mut own = None;
        match self.backend {
            Backend::Heap => {
                objects.reserve(n);
                let own = self.own_slot();
                if own.is_some_and(|own| hit::take_permits(own, n)) {
                    return Ok(taken(objects));
                }
            }
            Backend::Batched => {
                own = self.own_slot();
                objects = match own.map(|own| hit::try_pop_many(own, n)) {
                    Some(hit::Popped::All(objects)) => return Ok(taken(objects)),
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
            return Err(AcquireError::Closed.into());
        }
        if let Some(own) = own {
            locked.flush(own);
        }
        if locked.take_many(n, &mut objects) {
            return Ok(taken(objects));
        }
        // Nothing is in a slot after this, and nothing comes there before the lock is given up.
        locked.ran_dry();
        if locked.take_many(n, &mut objects) {
            return Ok(taken(objects));
        }
        // Other threads may have pushed before the revocation.
        locked.reserve(objects.len());
        let mut refused = Refused::from(AcquireError::Exhausted);
        locked.put_back(objects.drain(..).rev(), &mut refused.rejected);
        drop(locked);
        self.buffers.give(objects);
        Err(refused)
    }

    /// [`put`](Self::put) of many at once, the last last; gives back the objects that are not wanted.
    pub(crate) fn put_many(&self, mut objects: Vec<ErasedObject>) -> Vec<ErasedObject> {
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
                let inside = self.own_slot().and_then(Own::enter);
                if let (Some(queue), Some(inside)) = (&self.queue, inside) {
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
        let wanted = locked.wanted(objects.len());
        if wanted == 0 {
            return objects;
        }
        let mut not_wanted = objects.split_off(wanted);
        let wakes = locked.state.waiters.offer_many(&mut objects);
        let room = locked.room_for(objects.len());
        not_wanted.extend(objects.drain(room.min(objects.len())..));
        for object in objects.drain(..) {
            not_wanted.extend(locked.push(object).err());
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
    pub(crate) fn acquire_permit(&self) -> Result<Granted, AcquireError> {
        if self.backend == Backend::Heap {
            return match self.take(None, true) {
                Taken::Closed => Err(AcquireError::Closed),
                Taken::Exhausted => Err(AcquireError::Exhausted),
                Taken::Idle(_) | Taken::Permit(_) => Ok(Granted),
            };
        }
        let mut locked = self.lock();
        if locked.state.closed {
            Err(AcquireError::Closed)
        } else if locked.state.permits.try_acquire() {
            Ok(Granted)
        } else {
            Err(AcquireError::Exhausted)
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn return_permit_slow(&self) -> bool {
        let own = match self.backend {
            Backend::Heap => self.own_slot(),
            _ => None,
        };
        // It was not at hand, and may have room.
        if own.is_some_and(hit::return_permit) {
            return false;
        }
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
}

impl Locked<'_> {
    /// The lock, given up and taken again with room for `more` objects.
    ///
    /// Wakes nobody meanwhile: a waker may fill the calling thread's slot, which the caller has prepared for a push.
    #[cold]
    #[inline(never)]
    fn with_new_room(mut self, more: usize) -> Self {
        let central = self.central;
        let mut due = DueWakes::default();
        loop {
            due.append(&mut self.due);
            let queue = match &self.state.shelf {
                Shelf::Queue(queue) => Some(queue.clone()),
                _ => None,
            };
            drop(self);
            let larger = queue.map(|queue| queue.larger(more));
            let spare = match larger {
                Some(_) => None,
                None => Some(Batch::with_capacity(central.batch_size)),
            };
            self = central.lock();
            if let Some(larger) = larger {
                drop(self.replace_queue(larger));
            } else if let (Shelf::Depot(depot, _), Some(spare)) = (&mut self.state.shelf, spare) {
                depot.add_spare(spare);
            }
            if self.state.shelf.has_memory_for(more) {
                due.append(&mut self.due);
                self.due = due;
                return self;
            }
        }
    }

    /// Keeps an object, for which there is [room](Self::room_for); gives it back if a queue is full.
    pub(super) fn push(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        let Err(object) = self.state.shelf.push(object) else {
            return Ok(());
        };
        // Threads inside their slots push meanwhile, so a queue that had room may have none.
        match &self.state.shelf {
            Shelf::Queue(queue) if queue.needs_more_cells(1) => {
                let larger = queue.larger(1);
                drop(self.replace_queue(larger));
                self.state.shelf.push(object)
            }
            _ => Err(object),
        }
    }

    /// Hands batches to the calling thread's stack, which is active and empty; `false` if none is here.
    pub(super) fn hand_over(&mut self, own: Own<'_>) -> bool {
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
    pub(super) fn take_over(&mut self, own: Own<'_>) -> usize {
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
    pub(super) fn refill_permits(&mut self, own: Own<'_>) -> bool {
        let permits = self.state.permits.acquire_up_to(self.central.batch_size);
        if permits == 0 {
            return false;
        }
        self.state.permits.count_created(1);
        hit::add_permits(self.state.slots.enter(own), permits - 1);
        true
    }

    /// Completes `objects` to `n`, by idle ones and permits. On `false` some may have come from a queue; else none.
    pub(super) fn take_many(&mut self, n: usize, objects: &mut Vec<ErasedObject>) -> bool {
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

    /// Puts objects back where they were, the one that was taken last first. While no slot is active, and after
    /// room was [reserved](Self::reserve) for them.
    pub(super) fn put_back(
        &mut self,
        objects: impl Iterator<Item = ErasedObject>,
        rejected: &mut Vec<ErasedObject>,
    ) {
        for object in objects {
            // A queue may have come to its limit meanwhile.
            rejected.extend(self.state.shelf.push_next(object).err());
        }
    }

    /// For how many of `more` objects there is room on the shelf; where that is close, the slots are recalled so
    /// that the count is exact. A queue says it when it is pushed to.
    pub(super) fn room_for(&mut self, more: usize) -> usize {
        let max_idle = self.central.max_idle;
        if self.may_overflow(more, self.state.slots.occupied()) {
            self.recall();
            return self.room_beside_slots();
        }
        match &self.state.shelf {
            Shelf::None => 0,
            Shelf::Stack(stack) => max_idle.saturating_sub(stack.len()),
            Shelf::Queue(_) | Shelf::Depot(..) => usize::MAX,
        }
    }

    /// How many of `n` objects that come back may be kept or granted: none once the pool is closed, and none that are
    /// too many for a bound that was lowered.
    #[inline]
    pub(super) fn wanted(&self, n: usize) -> usize {
        match self.state.closed {
            true => 0,
            false => n.saturating_sub(self.state.permits.surplus()),
        }
    }

    /// For how many objects there is room on the shelf, whatever is in the slots. A queue says it when it is pushed
    /// to.
    fn room_beside_slots(&self) -> usize {
        let cached = match &self.state.shelf {
            Shelf::Depot(..) => self.most_cached(self.state.slots.occupied()),
            Shelf::None | Shelf::Stack(_) => 0,
            Shelf::Queue(_) => return usize::MAX,
        };
        let idle = self.state.shelf.len().saturating_add(cached);
        self.central.max_idle.saturating_sub(idle)
    }

    /// As many objects as the stacks of so many threads hold at most, where `max_idle` is set.
    fn most_cached(&self, threads: usize) -> usize {
        threads.saturating_mul(2 * self.central.batch_size)
    }

    /// Whether `more` objects could take the pool past `max_idle`, if the stacks of so many threads were as full
    /// as they get.
    pub(super) fn may_overflow(&self, more: usize, threads: usize) -> bool {
        let Shelf::Depot(depot, _) = &self.state.shelf else {
            return false;
        };
        let max_idle = self.central.max_idle;
        let cached = self.most_cached(threads);
        max_idle != usize::MAX && depot.len().saturating_add(cached).saturating_add(more) > max_idle
    }

    /// Sees to it that `n` more objects can be kept without asking for memory.
    pub(super) fn reserve(&mut self, n: usize) {
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
    pub(super) fn replace_queue(&mut self, queue: FifoQueue) -> Option<[Arc<FifoQueue>; 2]> {
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
}

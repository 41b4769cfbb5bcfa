//! A slot for each thread, and the centre they share.
//!
//! This is the one mechanism behind everything that is fast and everything that is rare. A thread
//! works in its own [`Slot`] without a lock, an atomic read-modify-write or a fence. Whoever needs
//! the whole picture (an exhausted pool, a waiter, `drain`, `trim`, `close`, the end of a pool)
//! takes the lock of the centre and revokes the slots: one barrier for all of them, then their
//! contents are at the centre and stay there until the centre allows caching again.
//!
//! [`Batched`](super::batched) keeps its caches in slots, [`Queue`](super::queue) uses empty ones to
//! know that no release is under way, [`Heap`](super::heap) counts in them.
#![allow(unsafe_code)] // Slots are reached through raw pointers from thread-locals.

mod slot;
mod thread;

use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::backend::buffers::Buffers;
use crate::error::AcquireError;
use crate::fork::{self, Side};
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, ProcessCounter, barrier, seized};
use crate::trace;
use crate::wait::{Call, Grant, Ticket, Waiters};

pub(crate) use self::slot::{Slot, Word};
pub(crate) use self::thread::PoolId;
use self::thread::{Address, GiveUp};

/// What the threads share, and what each has of it.
pub(crate) trait Centre: Send + Sized + 'static {
    /// The part of the state that a thread keeps in its slot.
    type State: Send;
    /// Counts in a slot that anyone may read.
    type Meter: Default + Send + Sync;

    /// The state of a slot that holds nothing.
    fn empty(&self) -> Self::State;

    /// The bounds of a slot: the word of an empty one, and the address that the word of a full one
    /// has, which is not 0.
    fn bounds(&self, state: &Self::State) -> (Word, usize) {
        let _ = state;
        (std::ptr::null_mut(), 1)
    }

    /// Takes over all that a slot holds, given its word, and leaves it empty.
    fn gather(&mut self, word: Word, state: &mut Self::State, meter: &Self::Meter);

    /// Whether one more thread may keep something in its slot now, when `active` others may.
    fn may_cache(&self, active: usize) -> bool {
        let _ = active;
        true
    }
}

type SlotOf<C> = CachePadded<Slot<<C as Centre>::State, <C as Centre>::Meter>>;

/// The slots of one pool. The number in here is all that a hit needs of it.
pub(crate) struct Slots<C: Centre> {
    /// Never used twice.
    number: PoolId,
    /// Whether the system has the barrier that slots need; if not, all goes through the centre.
    biased: bool,
    /// Revocations, for the pool to tell of when the lock is given up.
    untold: trace::Untold,
    /// Padded: written by every thread that comes here, next to nothing that a hit reads.
    centre: CachePadded<Mutex<Inside<C>>>,
}

struct Inside<C: Centre> {
    /// The slots that belong to a living thread, active or revoked.
    taken: Vec<NonNull<SlotOf<C>>>,
    /// The slots that were given up, for the next threads: many short threads need few slots.
    vacant: Vec<NonNull<SlotOf<C>>>,
    /// How many of `taken` are active.
    active: usize,
    closed: bool,
    /// Revocations that found an active slot, and so paid a barrier.
    revocations: u64,
    waiters: Waiters,
    shared: C,
}

// SAFETY: the pointers are to slots owned by this value, which are `Send` and `Sync` as far as
// `Centre` asks; everything else in here is `Send` by the bounds of `Centre`.
unsafe impl<C: Centre> Send for Inside<C> {}

impl<C: Centre> Inside<C> {
    /// Revokes the calling thread's own slot, which is active and empty.
    fn deactivate(&mut self, slot: &Slot<C::State, C::Meter>) {
        slot.revoke();
        // No barrier: the owner is here, and not inside.
        slot.take_unsettled();
        self.active -= 1;
    }
}

impl<C: Centre> Slots<C> {
    pub(crate) fn new(shared: C) -> Arc<Self> {
        let number = next_number();
        Arc::new(Slots {
            number,
            biased: barrier::available() && number != PoolId::NONE,
            untold: trace::Untold::new(),
            centre: CachePadded::new(Mutex::new(Inside {
                taken: Vec::new(),
                vacant: Vec::new(),
                active: 0,
                closed: false,
                revocations: 0,
                waiters: Waiters::new(),
                shared,
            })),
        })
    }

    /// The number to look a slot up with.
    pub(crate) fn number(&self) -> PoolId {
        self.number
    }

    /// The calling thread's slot, made if it has none; `None` if it can have none.
    #[inline]
    pub(crate) fn own(self: &Arc<Self>) -> Option<&Slot<C::State, C::Meter>> {
        let slot = match thread::recent(self.number) {
            Some(slot) => slot,
            None if self.biased => thread::find_or_make(self.number, || self.take_slot())?,
            None => return None,
        };
        // SAFETY: the address was given under this number, so by this value; it keeps its slots
        // until it is dropped (SLOT-LIVES).
        Some(unsafe { slot.cast::<SlotOf<C>>().as_ref() })
    }

    fn take_slot(self: &Arc<Self>) -> (Address, Arc<dyn GiveUp>) {
        let mut inside = self.centre.lock();
        let slot = match inside.vacant.pop() {
            Some(slot) => slot,
            None => {
                let slot = Slot::new(inside.shared.empty(), C::Meter::default());
                NonNull::from(Box::leak(Box::new(CachePadded::new(slot))))
            }
        };
        inside.taken.push(slot);
        // A thread's end asks for no memory.
        let (taken, vacant) = (inside.taken.len(), inside.vacant.len());
        inside.vacant.reserve(taken.saturating_sub(vacant));
        let slots: Arc<dyn GiveUp> = self.clone();
        (slot.cast(), slots)
    }

    /// The centre, locked.
    pub(crate) fn lock(&self) -> Locked<'_, C> {
        Locked {
            inside: self.centre.lock(),
            untold: &self.untold,
        }
    }

    /// Revocations that nobody has told of yet.
    pub(crate) fn untold(&self) -> &trace::Untold {
        &self.untold
    }
}

/// The calling thread's slot in the pool numbered `number`, if it was used lately: the lookup of a
/// hit, which touches nothing of the pool.
///
/// # Safety
///
/// The number is that of a `Slots<C>` with this `C`, which outlives `'a`; or of none.
#[inline(always)]
pub(crate) unsafe fn recent<'a, C: Centre>(number: PoolId) -> Option<&'a Slot<C::State, C::Meter>> {
    // SAFETY: as in `Slots::own`; the caller names the type and the lifetime.
    thread::recent(number).map(|slot| unsafe { &**slot.cast::<SlotOf<C>>().as_ptr() })
}

impl<C: Centre> GiveUp for Slots<C> {
    fn give_up(&self, address: Address) {
        let mut locked = self.lock();
        let inside = &mut *locked.inside;
        let Some(at) = inside.taken.iter().position(|slot| slot.cast() == address) else {
            return;
        };
        let pointer = inside.taken.swap_remove(at);
        inside.vacant.push(pointer);
        // SAFETY: in one of the lists, so alive (SLOT-LIVES).
        let slot = unsafe { pointer.as_ref() };
        if slot.is_active() {
            let word = slot.own_word();
            slot.with_state(|state| {
                // SAFETY: the calling thread is the owner and is not inside; the lock is held, so
                // no revoker is (BIAS-EXCLUSIVE).
                let state = unsafe { &mut *state };
                inside.shared.gather(word, state, slot.meter());
            });
            inside.deactivate(slot);
            // Nobody waits: a waiter would have revoked the slot.
        }
    }
}

impl<C: Centre> Drop for Slots<C> {
    fn drop(&mut self) {
        let inside = self.centre.get_mut();
        for slot in inside.taken.drain(..).chain(inside.vacant.drain(..)) {
            // SAFETY: made by `Box::leak` in `take_slot`, and in a list, so not freed before. A thread
            // that still has the address finds it only by this value's number, which it can no longer
            // have, or by upgrading its weak reference, which fails (SLOT-LIVES).
            drop(unsafe { Box::from_raw(slot.as_ptr()) });
        }
    }
}

/// The centre under its lock. Who holds one may revoke, and only then.
pub(crate) struct Locked<'a, C: Centre> {
    inside: MutexGuard<'a, Inside<C>>,
    untold: &'a trace::Untold,
}

impl<C: Centre> Locked<'_, C> {
    pub(crate) fn shared(&mut self) -> &mut C {
        &mut self.inside.shared
    }

    /// Who waits at the centre.
    pub(crate) fn waiters(&mut self) -> &mut Waiters {
        &mut self.inside.waiters
    }

    /// How many waits there were.
    pub(crate) fn waits(&self) -> u64 {
        self.inside.waiters.total()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.inside.closed
    }

    pub(crate) fn revocations(&self) -> u64 {
        self.inside.revocations
    }

    /// How many threads may keep something in their slots now.
    pub(crate) fn active(&self) -> usize {
        self.inside.active
    }

    /// Activates the calling thread's slot, if it is not and caching is allowed; whether it is active
    /// now.
    pub(crate) fn activate(&mut self, slot: &Slot<C::State, C::Meter>) -> bool {
        if slot.is_active() {
            return true;
        }
        let inside = &mut *self.inside;
        let allowed =
            !inside.closed && !inside.waiters.any() && inside.shared.may_cache(inside.active);
        if allowed {
            // SAFETY: the calling thread owns the slot and is not inside; the lock is held, so no
            // revoker is (BIAS-EXCLUSIVE).
            let (empty, high) = slot.with_state(|state| inside.shared.bounds(unsafe { &*state }));
            slot.activate(empty, high);
            inside.active += 1;
        }
        allowed
    }

    /// Runs `f` on the state of the calling thread's slot, which is active, and on the centre; the
    /// high bound is set anew after it.
    ///
    /// Like all that runs under the lock, `f` must not run code of the user's.
    pub(crate) fn with_own<R>(
        &mut self,
        slot: &Slot<C::State, C::Meter>,
        f: impl FnOnce(&mut C::State, &mut C) -> R,
    ) -> R {
        debug_assert!(slot.is_active());
        let shared = &mut self.inside.shared;
        slot.with_state(|state| {
            // SAFETY: the calling thread owns the slot and is not inside; the lock is held, so no
            // revoker is (BIAS-EXCLUSIVE).
            let state = unsafe { &mut *state };
            let result = f(state, shared);
            slot.set_high(shared.bounds(state).1);
            result
        })
    }

    /// Enters the calling thread's slot, which is active, and gives the lock up. A revoker that
    /// comes now waits until the slot is left.
    pub(crate) fn enter(self, slot: &Slot<C::State, C::Meter>) -> Word {
        debug_assert!(slot.is_active());
        slot.enter_locked()
    }

    /// Brings what the calling thread's slot holds to the centre.
    ///
    /// The slot stays active, unless the centre would not activate it as things are now.
    pub(crate) fn flush(&mut self, slot: &Slot<C::State, C::Meter>) {
        if !slot.is_active() {
            return;
        }
        let word = slot.own_word();
        let inside = &mut *self.inside;
        let (empty, high) = slot.with_state(|state| {
            // SAFETY: the calling thread owns the slot and is not inside; the lock is held, so no
            // revoker is (BIAS-EXCLUSIVE).
            let state = unsafe { &mut *state };
            inside.shared.gather(word, state, slot.meter());
            inside.shared.bounds(state)
        });
        slot.activate(empty, high);
        if !inside.shared.may_cache(inside.active - 1) {
            inside.deactivate(slot);
        }
    }

    /// Brings what all slots hold to the centre. Until caching is allowed again, and for ever once
    /// the pool is closed, their owners come to the centre for each operation.
    pub(crate) fn revoke_all(&mut self) {
        let inside = &mut *self.inside;
        if inside.active == 0 {
            return; // Those revoked already are empty, and are not looked at again (BIAS-STALE).
        }
        for slot in &inside.taken {
            // SAFETY: in the list, so alive (SLOT-LIVES).
            let slot = unsafe { slot.as_ref() };
            if slot.is_active() {
                slot.revoke();
            }
        }
        barrier::heavy();
        for slot in &inside.taken {
            // SAFETY: as above.
            let slot = unsafe { slot.as_ref() };
            if slot.take_unsettled() {
                let word = slot.settled();
                slot.with_state(|state| {
                    // SAFETY: the owner was seen outside, after the barrier that follows the
                    // revocation, so it does not come in again before it has had the lock
                    // (BIAS-DEKKER, BIAS-EXCLUSIVE). What it may take by a step lies beside the state, and
                    // is left alone (BIAS-STEP).
                    let state = unsafe { &mut *state };
                    // Below an empty one's: the owner has tried, and found nothing.
                    let word = word.max(inside.shared.bounds(state).0);
                    slot.keep_found(word);
                    inside.shared.gather(word, state, slot.meter());
                });
            }
        }
        inside.active = 0;
        inside.revocations += 1;
        self.untold.note(1);
    }

    /// Whether a [step down](Slot::step_down) by `bytes` that the owner tried, and missed, counts all the
    /// same: the word as it was, if who revoked the slot has found the word after it. The owner asks
    /// before all else.
    pub(crate) fn stepped_down(
        &mut self,
        slot: &Slot<C::State, C::Meter>,
        bytes: usize,
    ) -> Option<Word> {
        let word = slot.own_word();
        let found = slot.take_found()?;
        (found == word.wrapping_byte_sub(bytes)).then_some(word)
    }

    /// Takes out the slots that no thread has, for their memory to be freed when the lock is given up.
    pub(crate) fn take_vacant(&mut self) -> Vec<Box<SlotOf<C>>> {
        let vacant = self.inside.vacant.drain(..);
        vacant
            // SAFETY: made by `Box::leak` in `take_slot`. The thread that had it has given it up, and
            // finds it no more (SLOT-LIVES).
            .map(|slot| unsafe { Box::from_raw(slot.as_ptr()) })
            .collect()
    }

    /// Calls `f` with the meter of every slot that may hold something, and how far the address of its
    /// word is above that of an empty one. Exact for a slot whose owner is at rest.
    pub(crate) fn for_each_active(&self, mut f: impl FnMut(usize, &C::Meter)) {
        for slot in &self.inside.taken {
            // SAFETY: in the list, so alive (SLOT-LIVES).
            let slot = unsafe { slot.as_ref() };
            if slot.is_active() {
                f(
                    slot.settled().addr().saturating_sub(slot.low()),
                    slot.meter(),
                );
            }
        }
    }

    /// Closes for good: revokes all, lets nobody cache again, sends away who waits. Gives what those
    /// who waited had been given, and the calls to make when the lock is given up.
    pub(crate) fn close(&mut self) -> (Grant, Vec<Call>) {
        self.inside.closed = true;
        self.revoke_all();
        let mut calls = Vec::new();
        (self.inside.waiters.close(&mut calls), calls)
    }
}

/// What a backend adds to waiting: where idle objects are at its centre.
pub(crate) trait Idle<C: Centre> {
    /// Takes one.
    fn grab(&self, shared: &mut C) -> Option<ErasedObject>;

    /// Keeps one that was granted in vain; gives it back if it may not be kept.
    fn keep(&self, shared: &mut C, node: ErasedObject) -> Result<(), ErasedObject>;

    /// What has a lock of its own, which is taken inside slots.
    fn buffers(&self) -> Option<&Buffers> {
        None
    }
}

impl<C: Centre> Slots<C> {
    /// Waits for `n` objects, in the order of arrival.
    pub(crate) fn wait(
        &self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        n: usize,
        deadline: Option<Instant>,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Grant, AcquireError> {
        let mut centre = self.lock();
        let bell = centre.waiters().take_bell();
        let arrived = centre.arrive(idle, ledger, n, || Call::Thread(bell.clone()));
        let ticket = match arrived {
            Ok(Err(ticket)) => ticket,
            Ok(Ok(grant)) => {
                centre.waiters().put_bell(bell);
                return Ok(grant);
            }
            Err(error) => return Err(error),
        };
        let result = loop {
            let timed_out = bell.wait_until(&mut centre.inside, deadline);
            if let Some(grant) = centre.waiters().take_served(ticket) {
                break Ok(grant);
            }
            if centre.is_closed() {
                break Err(AcquireError::Closed);
            }
            if timed_out {
                break Err(AcquireError::Timeout);
            }
        };
        centre.waiters().put_bell(bell);
        if let Err(AcquireError::Timeout) = result {
            centre.give_up_waiting(idle, ledger, ticket, surplus);
        }
        result
    }

    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    /// Waits for `n` objects as a task does: `ticket` is its place in the queue, once it has one.
    pub(crate) fn poll_wait(
        &self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        n: usize,
        ticket: &mut Option<Ticket>,
        waker: Waker,
    ) -> Poll<Result<Grant, AcquireError>> {
        let mut waker = Some(waker);
        let mut centre = self.lock();
        let Some(known) = *ticket else {
            let call = || Call::Task(waker.take().expect("a place is taken once"));
            let arrived = centre.arrive(idle, ledger, n, call);
            drop(centre);
            return match arrived {
                Ok(Ok(grant)) => Poll::Ready(Ok(grant)),
                Ok(Err(new)) => {
                    *ticket = Some(new);
                    Poll::Pending
                }
                Err(error) => Poll::Ready(Err(error)),
            };
        };
        let ready = match centre.waiters().take_served(known) {
            Some(grant) => Ok(grant),
            None if centre.is_closed() => Err(AcquireError::Closed),
            None => {
                let before = centre
                    .waiters()
                    .call_instead(known, waker.take().map(Call::Task));
                drop(centre);
                // The user's code, as all of a waker is.
                drop(before);
                return Poll::Pending;
            }
        };
        *ticket = None;
        drop(centre);
        Poll::Ready(ready)
    }

    /// Leaves an object's place under the bound to who waits, or else to anyone.
    pub(crate) fn leave_room(&self, ledger: &Ledger) {
        if ledger.is_bounded() {
            // Under the lock, so that nobody takes the place who has come later.
            self.lock().leave_room(ledger);
        } else {
            ledger.leave_room();
        }
    }

    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    /// Leaves the queue, passing on what was granted meanwhile.
    pub(crate) fn cancel_wait(
        &self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        ticket: Ticket,
        surplus: &mut Vec<ErasedObject>,
    ) {
        self.lock().give_up_waiting(idle, ledger, ticket, surplus);
    }

    pub(crate) fn before_fork(&self, idle: &impl Idle<C>) {
        let mut centre = self.lock();
        // Nobody is inside a slot after this, nor comes in.
        centre.revoke_all();
        mem::forget(centre);
        if let Some(buffers) = idle.buffers() {
            fork::seize(buffers.lock_of());
        }
    }

    /// # Safety
    ///
    /// As for [`Fork::after_fork`](crate::fork::Fork::after_fork).
    pub(crate) unsafe fn after_fork(
        &self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        side: Side,
    ) -> Vec<Call> {
        if let Some(buffers) = idle.buffers() {
            // SAFETY: seized in `before_fork`.
            unsafe { fork::release(buffers.lock_of()) };
        }
        let mut calls = Vec::new();
        if side == Side::Child {
            // SAFETY: the lock is held since `before_fork`, without a guard.
            let inside = unsafe { seized::guard(&self.centre) };
            let mut centre = Locked {
                inside,
                untold: &self.untold,
            };
            centre.forget_threads(idle, ledger, &mut calls);
            mem::forget(centre);
        }
        // SAFETY: as above; the guard is gone.
        unsafe { fork::release(&self.centre) };
        calls
    }
}

impl<C: Centre> Locked<'_, C> {
    /// Gets `n` objects at once or a place in the queue.
    fn arrive(
        &mut self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        n: usize,
        call: impl FnOnce() -> Call,
    ) -> Result<Result<Grant, Ticket>, AcquireError> {
        if self.inside.closed {
            return Err(AcquireError::Closed);
        }
        self.revoke_all();
        let Inside {
            waiters, shared, ..
        } = &mut *self.inside;
        Ok(waiters.arrive(n, call, ledger, || idle.grab(shared)))
    }

    /// Takes one out of the queue, and passes on what it had. Gives the lock up.
    fn give_up_waiting(
        mut self,
        idle: &impl Idle<C>,
        ledger: &Ledger,
        ticket: Ticket,
        surplus: &mut Vec<ErasedObject>,
    ) {
        let (grant, call) = self.inside.waiters.leave(ticket);
        let mut calls = Vec::new();
        let admitted = grant.admitted;
        for node in grant.into_nodes() {
            match self.inside.waiters.offer(node) {
                Ok(call) => calls.extend(call),
                Err(node) if self.inside.closed => surplus.push(node),
                Err(node) => surplus.extend(idle.keep(&mut self.inside.shared, node).err()),
            }
        }
        ledger.withdraw(admitted);
        // Even if there was nothing: the one behind may want less.
        self.inside.waiters.offer_room(ledger, &mut calls);
        drop(self);
        calls.into_iter().for_each(Call::ring);
        // The user's code, last.
        drop(call);
    }

    /// Forgets the threads that waited where this process was forked from. What they were given goes to
    /// the tasks that are left, or is idle; an object that may not be kept stays in use for ever.
    fn forget_threads(&mut self, idle: &impl Idle<C>, ledger: &Ledger, calls: &mut Vec<Call>) {
        let Inside {
            waiters, shared, ..
        } = &mut *self.inside;
        for grant in waiters.forget_threads() {
            let admitted = grant.admitted;
            for node in grant.into_nodes() {
                match waiters.offer(node) {
                    Ok(call) => calls.extend(call),
                    Err(node) => _ = idle.keep(shared, node),
                }
            }
            ledger.withdraw(admitted);
        }
        waiters.offer_room(ledger, calls);
    }

    /// Leaves an object's place under the bound to who waits, or else to anyone; gives the lock up,
    /// and calls.
    pub(crate) fn leave_room(mut self, ledger: &Ledger) {
        ledger.leave_room();
        let mut calls = Vec::new();
        self.inside.waiters.offer_room(ledger, &mut calls);
        drop(self);
        calls.into_iter().for_each(Call::ring);
    }
}

/// The next id; of no pool once they are used up, and pools then do without slots.
fn next_number() -> PoolId {
    static NEXT: ProcessCounter = ProcessCounter::new(1);
    PoolId::nth(NEXT.next())
}

/// A count that only one thread writes, and any may read.
#[derive(Default)]
pub(crate) struct OwnedCount(AtomicU64);

impl OwnedCount {
    /// Adds `n`. Owner only: a load and a store, no read-modify-write.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        self.set(self.get().wrapping_add(n));
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        // Acquire: what happened before the count, in other counts too, is seen with it; pairs with
        // `set`.
        self.0.load(Ordering::Acquire)
    }

    #[inline(always)]
    pub(crate) fn set(&self, count: u64) {
        self.0.store(count, Ordering::Release);
    }
}

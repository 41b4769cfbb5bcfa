//! What all handles of one pool point to: the typed face of its backend.
//!
//! Backends move [erased](ErasedObject) objects. Here they go in as an [`Object`] of the pool and come out as
//! one: a backend gives out what it was given, and each once (GIVEN-ONCE).
//!
//! # Life
//!
//! Nothing counts references per operation. `central` holds one reference for every permit, and so for every
//! object alive, and one for all [`Pool`](crate::Pool)s together (LIFE-REFS); releasing the last one frees the
//! pool. An object that is idle is alive, so before the last `Pool` releases its reference it closes
//! the backend and destroys what is idle; from then on every release finds the backend closed, and destroys.
#![allow(unsafe_code)] // Objects get their types back, and the pool's end is counted by hand.

use std::collections::HashSet;
use std::mem;
use std::ptr::NonNull;
use std::sync::Arc;
#[cfg(feature = "async")]
use std::task::{Poll, Waker};
use std::time::Instant;

use crossbeam_utils::CachePadded;

use crate::central::trim::{TrimPolicy, TrimTarget};
use crate::central::{self, Central, Counts, Grant, Granted, Refused, Wake};
#[cfg(feature = "async")]
use crate::central::{IdleWaiterId, WaiterId};
use crate::config::{Backend, Config, ResetOn};
use crate::error::AcquireError;
use crate::fork::{self, Fork, ForkSide};
use crate::handle::Pooled;
use crate::lifecycle::{Lifecycle, Recycle};
use crate::local::{LocalStack, Missed, SlotKey, hit};
use crate::object::{
    Arena, Block, Chunks, ErasedObject, Held, Object, ObjectPool, ObjectWord, Permit, Permits,
    PoolId, Reclaimed, SharedRef, erase_all, release, unerase_all,
};
use crate::observe::holders::{Caller, Holder, Holders, note_timeout};
use crate::observe::trace;
use crate::panics::FirstPanic;
#[cfg(feature = "metrics")]
use crate::sync::AtomicBool;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, Seized};

/// One pool.
// The order is the layout: first what every hit reads and no thread writes.
#[repr(C)]
pub(crate) struct Shared<T, L: Recycle<T> + ?Sized> {
    /// The key with which a hit finds the thread's stack; of no pool, if the backend has none or there is more to
    /// do than a hit does.
    hit_key: SlotKey<LocalStack>,
    pub(crate) fast: Fast<T, L>,
    /// See [`Config::has_hits`].
    has_hits: bool,
    pub(crate) hooks: L::Hooks,
    central: Arc<Central>,
    pub(crate) config: Config,
    arena: Arena<T>,
    /// How many `Pool`s there are.
    refs: CachePadded<AtomicUsize>,
    /// Objects that were not kept because of what they were.
    discarded: AtomicU64,
    /// Who holds what, if that is tracked.
    holders: Option<Box<Holders>>,
    /// Whether the bound was changed since the pool was built.
    #[cfg(feature = "metrics")]
    resized: AtomicBool,
}

/// A pop that missed and is not redeemed yet, if one was tried.
pub(crate) type Miss<'a> = Option<Missed<'a, LocalStack>>;

/// A counted reference of a pool that threads share.
pub(crate) type PoolRef<T, L> = SharedRef<T, Shared<T, L>>;

/// An object of such a pool.
pub(crate) type SharedObject<T, L> = Object<T, Shared<T, L>>;

type AcquireFn<T, L> = fn(&PoolRef<T, L>) -> Option<SharedObject<T, L>>;

/// The fast path of a pool whose objects are not in the threads' stacks. An acquire that it fails for, and in
/// `Batched` each that does not find the slot at hand, goes the common way.
pub(crate) struct Fast<T, L: Recycle<T> + ?Sized> {
    pub(crate) acquire: AcquireFn<T, L>,
    pub(crate) release: fn(SharedObject<T, L>),
}

impl<T, L: Recycle<T> + ?Sized> Fast<T, L> {
    /// Of a pool that creates no objects by itself.
    pub(crate) fn new(config: &Config) -> Self {
        let common = Fast {
            acquire: |_| None,
            release: release::to_any,
        };
        if config.track_holders {
            return Fast {
                release: release::to_tracking,
                ..common
            };
        }
        if config.reset_on == ResetOn::Acquire {
            return common;
        }
        match config.backend {
            Backend::Batched => common,
            Backend::Mutex => Fast {
                acquire: SharedRef::take_stack,
                release: release::to_stack,
            },
            Backend::Queue => Fast {
                acquire: SharedRef::take_queue,
                release: release::to_queue,
            },
            Backend::Heap => Fast {
                release: release::to_nowhere,
                ..common
            },
        }
    }
}

impl<T, L: Lifecycle<T>> Fast<T, L> {
    /// Of a pool that creates objects.
    pub(crate) fn creating(config: &Config) -> Self {
        let fast = Fast::new(config);
        match config.backend {
            Backend::Heap if config.has_hits() => Fast {
                acquire: SharedRef::create,
                ..fast
            },
            _ => fast,
        }
    }
}

/// What came of looking for an object.
pub(crate) enum Taken<T, L: Recycle<T> + ?Sized> {
    /// An object was idle.
    Idle(Object<T, Shared<T, L>>),
    /// None was idle, and the caller may create one.
    Permit(Permit<T, Shared<T, L>>),
    /// None was idle, and none may be created.
    Exhausted,
    /// The pool is closed.
    Closed,
}

/// Idle objects, and permits for the missing ones.
pub(crate) struct TakenMany<T, L: Recycle<T> + ?Sized> {
    pub(crate) idle: Vec<Pooled<T, L>>,
    pub(crate) permits: Permits<T, Shared<T, L>>,
}

impl<T, L: Recycle<T> + ?Sized> Shared<T, L> {
    /// When a used object is reset.
    #[inline(always)]
    pub(crate) fn reset_on(&self) -> ResetOn {
        self.config.reset_on
    }

    /// See [`Config::has_hits`].
    #[inline(always)]
    pub(crate) fn has_hits(&self) -> bool {
        self.has_hits
    }

    /// Notes who holds the objects at these addresses, if that is tracked. They are the caller's, which ends it with
    /// [`end_hold`](ObjectPool::end_hold).
    #[inline]
    pub(crate) fn begin_holds(&self, addresses: impl IntoIterator<Item = usize>, caller: Caller) {
        if let Some(holders) = &self.holders {
            holders.begin(addresses, caller);
        }
    }

    /// [`end_hold`](ObjectPool::end_hold) of many.
    pub(crate) fn end_holds(&self, addresses: impl IntoIterator<Item = usize>) {
        if let Some(holders) = &self.holders {
            holders.end(addresses);
        }
    }

    /// Who holds the objects in use, if that is tracked.
    pub(crate) fn holders(&self) -> Option<Vec<Holder>> {
        self.holders.as_ref().map(|holders| holders.list())
    }

    /// The newest object in the calling thread's slot, if the slot is at hand and has one.
    #[inline(always)]
    pub(crate) fn pop_hit(&self) -> Result<Object<T, Self>, Miss<'_>> {
        let own = self.hit_key.at_hand().ok_or(None)?;
        let erased = hit::pop(own).map_err(Some)?;
        Ok(self.object(erased))
    }

    /// The `n` newest objects in the calling thread's slot, if it has as many.
    #[inline(always)]
    pub(crate) fn pop_many_hit(&self, n: usize) -> Option<Vec<Pooled<T, L>>> {
        let erased = hit::pop_many(self.hit_key.at_hand()?, n)?;
        Some(self.objects(erased))
    }

    /// What the backend gave out or back, with its type.
    #[inline(always)]
    fn object(&self, erased: ErasedObject) -> Object<T, Self> {
        // SAFETY: all that the backend has are objects of this pool, since `put_by` and `put_many` alone put some in;
        // and what it gives out or back it does once (GIVEN-ONCE).
        unsafe { Object::from_erased(erased) }
    }

    /// [`object`](Self::object) of each.
    #[inline(always)]
    fn objects<O: ObjectWord<T, Self>>(&self, erased: Vec<ErasedObject>) -> Vec<O> {
        // SAFETY: as there.
        unsafe { unerase_all(erased) }
    }

    /// Objects to be destroyed.
    fn reclaimed(&self, erased: Vec<ErasedObject>) -> Reclaimed<T, Self> {
        Reclaimed::new(self.objects(erased))
    }

    /// [`put`](Self::put) of an object to the stack of a `Mutex`, if that needs nothing unusual.
    #[inline(always)]
    pub(crate) fn put_stack(&self, object: Object<T, Self>) -> Result<(), Object<T, Self>> {
        self.put_by(object, Central::push_stack)
    }

    /// [`put`](Self::put) of an object to the queue of a `Queue`, if that needs nothing unusual.
    #[inline(always)]
    pub(crate) fn put_queue(&self, object: Object<T, Self>) -> Result<(), Object<T, Self>> {
        self.put_by(object, Central::push_queue)
    }

    /// Keeps an object for the next acquire; gives it back if it is not wanted. Once it is kept, the pool
    /// may be gone (LIFE-TAIL).
    pub(crate) fn put(&self, object: Object<T, Self>) -> Result<(), Object<T, Self>> {
        self.put_by(object, Central::put)
    }

    #[inline(always)]
    fn put_by(
        &self,
        object: Object<T, Self>,
        put: impl FnOnce(&Central, ErasedObject) -> Result<(), ErasedObject>,
    ) -> Result<(), Object<T, Self>> {
        put(&self.central, object.into_erased()).map_err(|erased| self.object(erased))
    }

    /// [`put`](Self::put) of many at once; gives back the objects that are not wanted.
    pub(crate) fn put_many(&self, objects: Vec<Object<T, Self>>) -> Vec<Object<T, Self>> {
        self.objects(self.central.put_many(erase_all(objects)))
    }

    /// Takes out all idle objects.
    pub(crate) fn drain(&self) -> Reclaimed<T, Self> {
        let mut excess = self.central.excess(TrimTarget::AtMost(0));
        self.emit_revocations();
        let mut idle = Vec::with_capacity(excess.len());
        while let Some(mut some) = excess.take_some() {
            idle.append(&mut some);
        }
        self.reclaimed(idle)
    }

    /// Brings what the calling thread keeps to where every thread finds it; gives how many idle objects are missing
    /// there to `n`.
    pub(crate) fn lacks(&self, n: usize) -> usize {
        let missing = self.central.lacks(n);
        self.emit_revocations();
        self.destroy_unwanted(0);
        missing
    }

    /// [`put`](Self::put) where every thread finds it; revokes no slot.
    pub(crate) fn stock(&self, object: Object<T, Self>) -> Result<(), Object<T, Self>> {
        self.put_by(object, Central::stock)
    }

    /// [`stock`](Self::stock) in the calling thread's slot, if that has room.
    pub(crate) fn stock_own(&self, object: Object<T, Self>) -> Result<(), Object<T, Self>> {
        self.put_by(object, Central::stock_own)
    }

    /// An idle object from where every thread finds it; looks into no slot.
    pub(crate) fn take_stocked(&self) -> Option<Object<T, Self>> {
        (self.central.take_stocked()).map(|erased| self.object(erased))
    }

    /// See [`Central::warm`].
    pub(crate) fn warm(&self) -> Option<usize> {
        self.central.warm()
    }

    /// Destroys the idle objects that `target` does not leave, and frees the memory that held nothing else; gives
    /// how many objects.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    pub(crate) fn trim(&self, target: TrimTarget) -> usize {
        let mut panics = FirstPanic::default();
        let n = self.destroy_excess(target, &mut panics);
        self.free_memory(n);
        panics.resume();
        n
    }

    /// Frees the memory that nothing needs after `destroyed` objects were.
    fn free_memory(&self, destroyed: usize) {
        self.central.free_excess_memory(destroyed > 0);
        self.arena.shrink();
    }

    /// Destroys the idle objects that `keep` does not keep; gives how many. Each is looked at once.
    ///
    /// # Panics
    ///
    /// If `keep` or the drop of a `T` does, after all of that.
    pub(crate) fn retain(&self, mut keep: impl FnMut(&mut T) -> bool) -> usize {
        let mut inspection = self.central.inspect();
        self.emit_revocations();
        let mut panics = FirstPanic::default();
        let (mut seen, mut destroyed) = (HashSet::new(), 0);
        let mut kept = Vec::new();
        while let Some(some) = inspection.take_some() {
            for mut object in self.objects::<Object<T, Self>>(some) {
                let first_time = seen.insert((&raw const *object).addr());
                inspection.note(first_time);
                if !first_time || panics.catch(|| keep(&mut object)) == Some(true) {
                    kept.push(object);
                } else {
                    destroyed += 1;
                    panics.catch(|| drop(object));
                }
            }
            if !kept.is_empty() {
                let not_wanted = Reclaimed::new(self.put_many(mem::take(&mut kept)));
                destroyed += not_wanted.len();
                panics.catch(|| drop(not_wanted));
            }
        }
        drop(inspection);
        panics.catch(|| self.destroy_unwanted(0));
        if destroyed > 0 {
            self.free_memory(destroyed);
        }
        panics.resume();
        destroyed
    }

    /// Destroys the idle objects that `target` does not leave, a few at a time; gives how many.
    fn destroy_excess(&self, target: TrimTarget, panics: &mut FirstPanic) -> usize {
        let mut excess = self.central.excess(target);
        self.emit_revocations();
        let mut n = 0;
        while let Some(some) = excess.take_some() {
            n += some.len();
            panics.catch(|| drop(self.reclaimed(some)));
        }
        n
    }

    /// Changes the bound on objects alive, and destroys the idle ones beyond it.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    pub(crate) fn set_capacity(&self, capacity: Option<usize>) {
        // Relaxed, as the load: it says nothing about other memory.
        #[cfg(feature = "metrics")]
        self.resized.store(true, Ordering::Relaxed);
        self.arena.set_capacity(capacity);
        let granted = self.reclaimed(self.central.set_capacity(capacity));
        self.emit_revocations();
        let mut panics = FirstPanic::default();
        if granted.len() > 0 {
            let not_wanted = Reclaimed::new(self.put_many(granted.into_vec()));
            panics.catch(|| drop(not_wanted));
        }
        self.destroy_surplus(0, &mut panics);
        panics.resume();
    }

    /// Destroys the idle objects beyond the bound, but for as many as the caller was `refused` and destroys next.
    fn destroy_surplus(&self, refused: usize, panics: &mut FirstPanic) {
        while let Some(some) = self.central.take_surplus(refused) {
            panics.catch(|| drop(self.reclaimed(some)));
        }
    }

    /// Destroys what threads have handed over to a pool that is closed, or beyond its bound, of which the caller destroys
    /// as many next as it was `refused`.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    #[inline]
    pub(crate) fn destroy_unwanted(&self, refused: usize) {
        if self.central.take_has_unwanted() {
            self.destroy_unwanted_slow(refused);
        }
    }

    #[cold]
    #[inline(never)]
    fn destroy_unwanted_slow(&self, refused: usize) {
        let mut panics = FirstPanic::default();
        if self.is_closed() {
            self.destroy_excess(TrimTarget::AtMost(0), &mut panics);
        } else {
            self.destroy_surplus(refused, &mut panics);
        }
        panics.resume();
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        self.central.capacity()
    }

    /// Whether the bound was changed since the pool was built.
    #[cfg(feature = "metrics")]
    pub(crate) fn was_resized(&self) -> bool {
        self.resized.load(Ordering::Relaxed)
    }

    /// Closes for good, and destroys what is idle; `at_once`, whatever is chosen for recalls, also what is in the
    /// slots.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all idle objects were dropped.
    pub(crate) fn close(&self, at_once: bool) {
        let (granted, was_open) = self.central.close(at_once);
        let granted = self.reclaimed(granted);
        self.emit_revocations();
        let mut panics = FirstPanic::default();
        if was_open {
            trace::closed(&self.config, granted.len() + self.counts().idle);
        }
        panics.catch(|| drop(granted));
        self.destroy_excess(TrimTarget::AtMost(0), &mut panics);
        panics.resume();
    }

    /// Waits until nothing is in use; else says how many objects are.
    pub(crate) fn wait_idle(&self, deadline: Option<Instant>) -> Result<(), usize> {
        let waited = self.central.wait_idle(deadline);
        self.emit_revocations();
        self.destroy_unwanted(0);
        waited
    }

    #[cfg(feature = "async")]
    pub(crate) fn poll_idle(&self, waiter: &mut Option<IdleWaiterId>, waker: &Waker) -> Poll<()> {
        let polled = self.central.poll_idle(waiter, waker);
        self.emit_revocations();
        self.destroy_unwanted(0);
        polled
    }

    #[cfg(feature = "async")]
    pub(crate) fn cancel_idle(&self, waiter: IdleWaiterId) {
        self.central.cancel_idle(waiter);
    }

    /// What the memory of the objects is.
    pub(crate) fn memory(&self) -> Held {
        self.arena.held()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.central.is_closed()
    }

    /// Puts what the calling thread keeps where every thread finds it.
    pub(crate) fn flush(&self) {
        self.central.flush();
        self.destroy_unwanted(0);
    }

    pub(crate) fn counts(&self) -> Counts {
        self.central.counts()
    }

    /// What a policy leaves, if its period is over.
    pub(crate) fn end_period(&self, policy: &TrimPolicy, now: Instant) -> Option<TrimTarget> {
        self.central.end_period(policy, now)
    }

    /// Room for the objects that are about to be created.
    pub(crate) fn reserve_memory(&self, objects: usize) {
        self.arena.reserve(objects);
        self.emit_growth();
    }

    #[inline]
    fn emit_growth(&self) {
        let blocks = self.arena.unreported_blocks();
        trace::grew(&self.config, blocks, Chunks::<T>::block_size());
    }

    /// Emits the revocations that calls to the backend have made. The revocations of a release, which may not touch the
    /// pool after it, are emitted by the next call that looks for an object.
    #[inline]
    fn emit_revocations(&self) {
        trace::revoked(&self.config, self.central.unreported_revocations());
    }

    pub(crate) fn discarded(&self) -> u64 {
        self.discarded.load(Ordering::Relaxed)
    }
}

/// What needs the pool's address, for a permit.
impl<T, L: Recycle<T> + ?Sized> SharedRef<T, Shared<T, L>> {
    /// A pool without objects, and the first reference of it.
    pub(crate) fn new(
        (config, chunks): (Config, Chunks<T>),
        hooks: L::Hooks,
        fast: Fast<T, L>,
    ) -> Self {
        let central = Central::new(&config);
        let arena = Arena::new(&config, chunks);
        let has_hits = config.has_hits();
        let holders = config.track_holders.then(|| Box::new(Holders::new()));
        let shared = Box::new(Shared {
            hit_key: match has_hits {
                true => central.stacks(),
                false => SlotKey::of_no_pool(),
            },
            fast,
            has_hits,
            hooks,
            central,
            config,
            arena,
            refs: CachePadded::new(AtomicUsize::new(1)),
            discarded: AtomicU64::new(0),
            holders,
            #[cfg(feature = "metrics")]
            resized: AtomicBool::new(false),
        });
        let shared = NonNull::from(Box::leak(shared));
        // SAFETY: alive until `free`, which unregisters it; what a fork touches of it is under locks.
        unsafe { fork::register(shared) };
        // SAFETY: leaked just now, with a count of one.
        unsafe { SharedRef::from_counted(shared) }
    }

    /// A permit that the backend gave out.
    #[inline(always)]
    fn permit(&self, _: Granted) -> Permit<T, Shared<T, L>> {
        // SAFETY: given out just now, and once (GIVEN-ONCE).
        unsafe { Permit::new(self.as_ptr()) }
    }

    /// What the backend gave out, with its type.
    #[inline]
    fn taken(&self, taken: central::Taken) -> Taken<T, L> {
        match taken {
            central::Taken::Idle(erased) => Taken::Idle(self.object(erased)),
            central::Taken::Permit(granted) => Taken::Permit(self.permit(granted)),
            central::Taken::Exhausted => Taken::Exhausted,
            central::Taken::Closed => Taken::Closed,
        }
    }

    /// [`taken`](Self::taken) of many.
    fn taken_many(&self, taken: central::TakenMany) -> TakenMany<T, L> {
        TakenMany {
            idle: self.objects(taken.idle),
            // SAFETY: as in `permit`.
            permits: unsafe { Permits::new(self.as_ptr(), taken.permits) },
        }
    }

    /// An idle object from the stack of a `Mutex`.
    fn take_stack(&self) -> Option<Object<T, Shared<T, L>>> {
        (self.central.pop_stack()).map(|erased| self.object(erased))
    }

    /// An idle object from the queue of a `Queue`.
    fn take_queue(&self) -> Option<Object<T, Shared<T, L>>> {
        (self.central.pop_queue()).map(|erased| self.object(erased))
    }

    /// Takes an idle object; else, with `create`, a permit to create one. A pop that missed is redeemed first.
    #[inline]
    pub(crate) fn take(&self, missed: Miss<'_>, create: bool) -> Taken<T, L> {
        let taken = self.taken(self.central.take(missed, create));
        self.emit_revocations();
        self.destroy_unwanted(0);
        taken
    }

    /// Takes `n` objects at once, or none.
    pub(crate) fn take_many(&self, n: usize) -> Result<TakenMany<T, L>, AcquireError> {
        let taken = self.central.take_many(n);
        let taken = taken.map(|taken| self.taken_many(taken));
        self.emit_revocations();
        let taken = taken.map_err(|refused| self.destroy_rejected(refused));
        self.destroy_unwanted(0);
        taken
    }

    /// Destroys what was taken in vain; gives the reason.
    fn destroy_rejected(&self, refused: Refused) -> AcquireError {
        drop(self.reclaimed(refused.rejected));
        refused.error
    }

    /// A permit to create one object, whether or not one is idle.
    pub(crate) fn try_acquire_permit(&self) -> Result<Permit<T, Shared<T, L>>, AcquireError> {
        let acquired = self.central.acquire_permit();
        let permit = acquired.map(|granted| self.permit(granted));
        self.destroy_unwanted(0);
        permit
    }

    /// Waits for `n` objects, idle or permits to create them, in the order of arrival; `take` gives them their types,
    /// before anything else can panic.
    fn wait<R>(
        &self,
        n: usize,
        buffer: Vec<ErasedObject>,
        deadline: Option<Instant>,
        take: impl FnOnce(Grant) -> R,
    ) -> Result<R, AcquireError> {
        trace::waits(&self.config, n);
        let waited = self.central.wait(n, buffer, deadline);
        let waited = waited.map(|grant| (grant.waited, take(grant)));
        self.emit_revocations();
        let waited = waited.map_err(|refused| self.destroy_rejected(refused));
        if let Err(error) = &waited {
            if *error == AcquireError::Timeout {
                note_timeout(self.holders.as_deref());
            }
            self.destroy_unwanted(0);
        }
        let (time, taken) = waited?;
        trace::waited(&self.config, n, time);
        Ok(taken)
    }

    /// Waits for one object.
    pub(crate) fn wait_for_one(
        &self,
        deadline: Option<Instant>,
    ) -> Result<Taken<T, L>, AcquireError> {
        self.wait(1, Vec::new(), deadline, |grant| {
            self.taken(grant.into_one())
        })
    }

    /// Waits for `n` objects together.
    pub(crate) fn wait_for_many(
        &self,
        n: usize,
        deadline: Option<Instant>,
    ) -> Result<TakenMany<T, L>, AcquireError> {
        let buffer = self.central.buffer(n);
        self.wait(n, buffer, deadline, |grant| {
            self.taken_many(grant.into_many())
        })
    }

    /// [`wait`](Self::wait) of a task. `waiter` is its place in the queue.
    #[cfg(feature = "async")]
    fn poll_wait<R>(
        &self,
        n: usize,
        buffer: Vec<ErasedObject>,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
        take: impl FnOnce(Grant) -> R,
    ) -> Poll<Result<R, AcquireError>> {
        let arrives = waiter.is_none();
        let polled = self.central.poll_wait(n, buffer, waiter, waker);
        let polled = polled.map_ok(|grant| (grant.waited, take(grant)));
        self.emit_revocations();
        if arrives && waiter.is_some() {
            trace::waits(&self.config, n);
        }
        match &polled {
            Poll::Ready(Ok((time, _))) => trace::waited(&self.config, n, *time),
            Poll::Ready(Err(_)) => self.destroy_unwanted(0),
            Poll::Pending => {}
        }
        polled.map_ok(|(_, taken)| taken)
    }

    /// [`wait_for_one`](Self::wait_for_one) of a task.
    #[cfg(feature = "async")]
    pub(crate) fn poll_one(
        &self,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
    ) -> Poll<Result<Taken<T, L>, AcquireError>> {
        self.poll_wait(1, Vec::new(), waiter, waker, |grant| {
            self.taken(grant.into_one())
        })
    }

    /// [`wait_for_many`](Self::wait_for_many) of a task.
    #[cfg(feature = "async")]
    pub(crate) fn poll_many(
        &self,
        n: usize,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
    ) -> Poll<Result<TakenMany<T, L>, AcquireError>> {
        let buffer = match waiter {
            None => self.central.buffer(n),
            Some(_) => Vec::new(),
        };
        self.poll_wait(n, buffer, waiter, waker, |grant| {
            self.taken_many(grant.into_many())
        })
    }

    /// Gives a place in the queue up, passing on what was granted meanwhile.
    #[cfg(feature = "async")]
    pub(crate) fn cancel_wait(&self, waiter: WaiterId) {
        drop(self.reclaimed(self.central.cancel_wait(waiter)));
    }
}

impl<T, L: Lifecycle<T>> PoolRef<T, L> {
    /// A new object of a `Heap`, if the thread has a permit at hand.
    fn create(&self) -> Option<Object<T, Shared<T, L>>> {
        let permit = self.permit(self.central.take_permit()?);
        Some(permit.vacancy().create())
    }
}

// SAFETY: a block of the arena is alive until it is given back or the arena is dropped, which is with the
// pool. `central` counts a permit from when it is given out until it is returned, and the `Pool`s as one
// (LIFE-REFS); the pool is freed when it has counted the last one.
unsafe impl<T, L: Recycle<T> + ?Sized> ObjectPool<T> for Shared<T, L> {
    type Lifecycle = L;

    #[inline(always)]
    fn hooks(&self) -> &L::Hooks {
        &self.hooks
    }

    #[inline(always)]
    fn pool_id(&self) -> PoolId {
        self.hit_key.pool()
    }

    fn count_discarded(&self) {
        self.discarded.fetch_add(1, Ordering::Relaxed);
    }

    fn count_remade(&self) {
        self.central.count_replaced();
    }

    #[inline]
    fn end_hold(&self, address: usize) {
        self.end_holds([address]);
    }

    #[inline]
    fn take_block(&self) -> Block<T> {
        let block = self.arena.take();
        self.emit_growth();
        block
    }

    #[inline]
    unsafe fn return_block(&self, block: Block<T>) {
        // SAFETY: by contract.
        unsafe { self.arena.give(block) };
    }

    #[inline]
    unsafe fn return_permit(pool: NonNull<Self>) {
        // SAFETY: the permit is given up here.
        unsafe { give_up(pool, Central::return_permit) };
    }

    #[inline(always)]
    fn release(object: Object<T, Self>) {
        release::release(object);
    }

    fn add_ref(&self) {
        // Relaxed: the caller has one already.
        let refs = self.refs.fetch_add(1, Ordering::Relaxed);
        // As `Arc` has it: far more than memory has room for, unless clones were forgotten.
        if refs > isize::MAX as usize {
            std::process::abort();
        }
    }

    fn try_add_ref(&self) -> bool {
        self.refs
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |refs| {
                (refs > 0).then(|| refs + 1)
            })
            .is_ok()
    }

    unsafe fn release_ref(pool: NonNull<Self>) {
        // SAFETY: by contract the caller has a reference still (LIFE-REFS).
        let shared = unsafe { pool.as_ref() };
        // Release: what was done through this `Pool` happens before the end; the load is its
        // partner.
        if shared.refs.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        shared.refs.load(Ordering::Acquire);
        // Keeps the pool alive while it is closed, and frees it even if the drop of a `T` panics.
        let end = End { pool };
        shared.close(true);
        drop(end);
    }
}

/// Keeps the memory of a pool, and not the pool: its end does not wait for this.
pub(crate) struct WeakRef<T, L: Recycle<T> + ?Sized> {
    /// Counted by `central` as one weak reference (LIFE-REFS).
    pool: NonNull<Shared<T, L>>,
}

impl<T, L: Recycle<T> + ?Sized> WeakRef<T, L> {
    /// One more, of a pool that the caller keeps.
    pub(crate) fn new(shared: &SharedRef<T, Shared<T, L>>) -> Self {
        shared.central.add_weak();
        WeakRef {
            pool: shared.as_ptr(),
        }
    }

    fn shared(&self) -> &Shared<T, L> {
        // SAFETY: a weak reference keeps the pool's memory (LIFE-REFS), and what it lies in is freed with it.
        unsafe { self.pool.as_ref() }
    }

    /// A reference of the pool; `None` once the last of those is gone.
    pub(crate) fn upgrade(&self) -> Option<SharedRef<T, Shared<T, L>>> {
        let counted = self.shared().try_add_ref();
        // SAFETY: counted just now.
        counted.then(|| unsafe { SharedRef::from_counted(self.pool) })
    }

    pub(crate) fn as_ptr(&self) -> NonNull<Shared<T, L>> {
        self.pool
    }
}

impl<T, L: Recycle<T> + ?Sized> Clone for WeakRef<T, L> {
    fn clone(&self) -> Self {
        self.shared().central.add_weak();
        WeakRef { pool: self.pool }
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for WeakRef<T, L> {
    fn drop(&mut self) {
        // SAFETY: the weak reference is given up here.
        unsafe { give_up(self.pool, Central::release_weak) };
    }
}

/// The end of the last `Pool`. Dropped, it releases the `Pool`s' common reference.
struct End<T, L: Recycle<T> + ?Sized> {
    pool: NonNull<Shared<T, L>>,
}

impl<T, L: Recycle<T> + ?Sized> Drop for End<T, L> {
    fn drop(&mut self) {
        // SAFETY: the `Pool`s' reference is given up here.
        unsafe { give_up(self.pool, Central::drop_last_pool) };
    }
}

/// Gives up what keeps a pool's memory, by `by`, which says whether it was the last such; frees the memory then.
///
/// # Safety
///
/// It is the caller's (LIFE-REFS), which does not touch the pool after this.
#[inline]
unsafe fn give_up<T, L: Recycle<T> + ?Sized>(
    pool: NonNull<Shared<T, L>>,
    by: impl FnOnce(&Central) -> bool,
) {
    // SAFETY: by contract alive until `by` gives up what keeps it.
    if by(&unsafe { pool.as_ref() }.central) {
        // SAFETY: that was the last.
        unsafe { free(pool) };
    }
}

/// # Safety
///
/// Nothing keeps the pool any more.
#[cold]
#[inline(never)]
unsafe fn free<T, L: Recycle<T> + ?Sized>(pool: NonNull<Shared<T, L>>) {
    fork::unregister(pool);
    // SAFETY: leaked by `SharedRef::new`, and no reference is left.
    drop(unsafe { Box::from_raw(pool.as_ptr()) });
}

impl<T, L: Recycle<T> + ?Sized> Fork for Shared<T, L> {
    fn before_fork(&self) {
        if let Some(holders) = &self.holders {
            holders.before_fork();
        }
        self.central.before_fork();
        self.arena.before_fork();
    }

    fn after_fork(&self, side: ForkSide, seized: &Seized) {
        self.arena.after_fork(seized);
        self.central.after_fork(side, seized);
        if let Some(holders) = &self.holders {
            holders.after_fork(seized);
        }
    }

    fn serve_in_child(&self) -> Option<Wake> {
        self.central.serve_in_child()
    }
}

//! `Pool`: what a user acquires from.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
#[cfg(feature = "async")]
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

#[cfg(feature = "async")]
use crate::acquire::{Acquire, WaitIdle};
use crate::builder::Builder;
use crate::central::trim::{TrimPolicy, TrimTarget};
#[cfg(feature = "async")]
use crate::central::{IdleWaiterId, WaiterId};
use crate::config::{Backend, Config, ResetOn};
use crate::error::{AcquireError, AttachError, WaitIdleError};
use crate::handle::{Burst, Pooled};
use crate::lifecycle::{Derived, Hooks, Lifecycle};
use crate::object::{Object, Reclaimed, SharedRef};
use crate::poolable::Poolable;
use crate::shared::{Fast, Miss, Shared, Taken, TakenMany};
use crate::stats::Stats;
use crate::trace;

/// A pool of `T`. `Pool` is a handle: cloning it is cheap, and all clones refer to the same pool.
///
/// # Life
///
/// The pool ends when its last `Pool` is dropped, on whatever thread: every idle object is dropped
/// then, also in other threads' caches. Handles that are still out stay valid; each drops its object when it is
/// dropped itself, and the last one frees the memory.
///
/// # Forks
///
/// A child of `fork` has its own copy of the pool, and may use it, whatever other threads of its parent
/// were doing: before the fork every pool is stopped, which waits for calls that are under way to leave its locks
/// and slots. In the child, threads that waited are forgotten, and tasks that wait are served. Objects that the
/// parent's other threads held are in use there for ever, and count under the bound. The user's handlers for a fork
/// (`pthread_atfork`) must not use a pool, and a signal handler must not fork: pools may be locked then.
///
/// # Examples
///
/// ```
/// use pool_core::{Backend, Pool};
///
/// let pool = Pool::<Vec<u8>>::builder()
///     .backend(Backend::Batched)
///     .batch_size(32)
///     .capacity(1_000)
///     .build()?;
///
/// let mut buffer = pool.acquire();
/// buffer.extend_from_slice(b"hello");
/// drop(buffer);
/// assert!(pool.acquire().is_empty());
/// assert_eq!(pool.stats().created, 1);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub struct Pool<T, L: Lifecycle<T> = Derived> {
    shared: SharedRef<T, Shared<T, L>>,
}

// If a hook panics, its object is dropped, and nothing else of the pool can be seen half done.
impl<T, L: Lifecycle<T>> UnwindSafe for Pool<T, L> {}
impl<T, L: Lifecycle<T>> RefUnwindSafe for Pool<T, L> {}

impl<T: Poolable> Pool<T> {
    /// A pool with every choice at its default: [`Backend::Batched`], no bound, nothing made yet.
    #[must_use]
    pub fn new() -> Self {
        Pool::from_config(Config::default(), Derived)
    }

    /// Chooses backend, bound and the rest.
    pub fn builder() -> Builder<T> {
        Builder::new(Derived)
    }
}

impl<T: Poolable> Default for Pool<T> {
    fn default() -> Self {
        Pool::new()
    }
}

impl<T, C: Fn() -> T, R: Fn(&mut T)> Pool<T, Hooks<C, R>> {
    /// Like [`builder`](Pool::builder), for a type that is not [`Poolable`]: `create`
    /// makes a fresh object, `reset` puts a used one back to that state.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::builder_with(|| Vec::<u8>::with_capacity(1500), |buffer| buffer.clear())
    ///     .capacity(64)
    ///     .build()?;
    /// assert!(pool.acquire().capacity() >= 1500);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn builder_with(create: C, reset: R) -> Builder<T, Hooks<C, R>> {
        Builder::new(Hooks::new(create, reset))
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`builder`](Pool::builder), with a custom [`Lifecycle`].
    pub fn builder_for(lifecycle: L) -> Builder<T, L> {
        Builder::new(lifecycle)
    }

    pub(crate) fn from_config(config: Config, lifecycle: L) -> Self {
        let prefill = config.prefill;
        let pool = Pool {
            shared: SharedRef::<T, Shared<T, L>>::new(config, lifecycle),
        };
        pool.reserve(prefill);
        pool
    }

    pub(crate) fn from_shared(shared: SharedRef<T, Shared<T, L>>) -> Self {
        Pool { shared }
    }

    /// Takes an idle object, or makes one; at the bound, waits for one to come back. Waiting threads and tasks are
    /// served first in, first out.
    ///
    /// Costs no lock, no atomic read-modify-write and no fence when the backend is
    /// [`Batched`](Backend::Batched) and the thread's cache has an object; a visit to the depot, under
    /// a lock, once per batch otherwise.
    ///
    /// With [`ResetOn::Acquire`], an idle object found not reusable is made anew in place, so the caller keeps its
    /// turn. An object that was never acquired is not reset.
    ///
    /// # Panics
    ///
    /// If the pool was [closed](Self::close). If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Pooled<T, L> {
        match self.acquire_hit() {
            Ok(object) => object,
            Err(None) => match self.acquire_fast() {
                Some(object) => object,
                None => self.acquire_slow_or_panic(None),
            },
            Err(missed) => self.acquire_slow_or_panic(missed),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn closed(&self) -> ! {
        let name = self
            .name()
            .map_or(String::new(), |name| format!(" {name:?}"));
        panic!("acquire from pool{name}, which is closed; use `try_acquire` where that can happen");
    }

    /// An object by the fast path of the backends that keep none in the threads' stacks.
    // Cold for the layout of a hit; what it calls is not.
    #[cold]
    #[inline(never)]
    fn acquire_fast(&self) -> Option<Pooled<T, L>> {
        // One after the other, since a jump table takes longer.
        let fast = self.shared.fast;
        if fast == Fast::Stack {
            self.acquire_from_stack()
        } else if fast == Fast::Queue {
            self.acquire_from_queue()
        } else if fast == Fast::Create {
            self.acquire_created()
        } else {
            None
        }
    }

    // Each by itself, so that none saves registers for another.
    #[inline(never)]
    fn acquire_from_stack(&self) -> Option<Pooled<T, L>> {
        self.shared.take_stack().map(Pooled::new)
    }

    #[inline(never)]
    fn acquire_from_queue(&self) -> Option<Pooled<T, L>> {
        self.shared.take_queue().map(Pooled::new)
    }

    #[inline(never)]
    fn acquire_created(&self) -> Option<Pooled<T, L>> {
        let permit = self.shared.take_permit()?;
        Some(Pooled::new(permit.vacancy().create()))
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn acquire_slow_or_panic(&self, missed: Miss<'_>) -> Pooled<T, L> {
        match self.acquire_slow(missed, Wait::Forever) {
            Ok(object) => object,
            Err(_) => self.closed(),
        }
    }

    /// Takes an idle object, or makes one if the bound allows. Never waits for one to come back.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if no object is idle anywhere, in the caches of other
    /// threads included, and the bound is reached; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
    #[inline]
    pub fn try_acquire(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::Never),
        }
    }

    /// Takes an idle object. Never makes one, never waits.
    ///
    /// With [`ResetOn::Acquire`], an idle object found not reusable is discarded, and another is looked for. (The other
    /// acquires make it anew in place.)
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if no object is idle anywhere;
    /// [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// With [`ResetOn::Acquire`], if `reset` or `is_reusable` panics. The object is dropped then and its permit
    /// returned.
    #[inline]
    pub fn try_acquire_idle(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::IdleOnly),
        }
    }

    /// As [`acquire`](Self::acquire), waiting no longer than `timeout`.
    ///
    /// An object that comes back just as the time is up is either acquired or passed on, never
    /// lost. A `timeout` beyond what the clock can count waits for ever.
    ///
    /// # Errors
    ///
    /// [`Timeout`](AcquireError::Timeout); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
    #[inline]
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(
                missed,
                Instant::now()
                    .checked_add(timeout)
                    .map_or(Wait::Forever, Wait::Until),
            ),
        }
    }

    /// An object from the calling thread's cache, if one is at hand.
    #[inline(always)]
    fn acquire_hit(&self) -> Result<Pooled<T, L>, Miss<'_>> {
        self.shared.pop_hit().map(Pooled::new)
    }

    #[inline(never)]
    fn acquire_slow(&self, mut missed: Miss<'_>, wait: Wait) -> Result<Pooled<T, L>, AcquireError> {
        loop {
            match self.shared.take(missed.take(), wait != Wait::IdleOnly) {
                Taken::Idle(object) if wait == Wait::IdleOnly => {
                    if let Some(handle) = self.hand_out_reusable(object) {
                        return Ok(handle);
                    }
                }
                Taken::Exhausted => {
                    trace::exhausted(&self.shared.config, 1);
                    let deadline = match wait {
                        Wait::Never | Wait::IdleOnly => return Err(AcquireError::Exhausted),
                        Wait::Until(deadline) => Some(deadline),
                        Wait::Forever => None,
                    };
                    return self.hand_out(self.shared.wait_for_one(deadline)?);
                }
                taken => return self.hand_out(taken),
            }
        }
    }

    /// A handle of what was taken. An idle object that is reset only now and turns out not to be reusable is
    /// made anew in its place, so that its acquirer does not have to start again, behind others that wait.
    fn hand_out(&self, taken: Taken<T, L>) -> Result<Pooled<T, L>, AcquireError> {
        let object = match taken {
            Taken::Idle(object) => match self.shared.reset_on() {
                ResetOn::Release => object,
                ResetOn::Acquire => object.reset_or_remake(),
            },
            Taken::Permit(permit) => permit.vacancy().create(),
            Taken::Exhausted => return Err(AcquireError::Exhausted),
            Taken::Closed => return Err(AcquireError::Closed),
        };
        Ok(Pooled::new(object))
    }

    /// A handle of an object that was idle, for a caller that wants none to be made; `None` if it turns out
    /// not to be reusable.
    fn hand_out_reusable(&self, object: Object<T, Shared<T, L>>) -> Option<Pooled<T, L>> {
        match self.shared.reset_on() {
            ResetOn::Release => Some(object),
            ResetOn::Acquire => object.reset_used(),
        }
        .map(Pooled::new)
    }

    /// Acquires an object as [`acquire`](Self::acquire) does, as a future: at the bound the task waits,
    /// in one queue with threads that wait, and the thread goes on with other tasks.
    ///
    /// The future works with any executor: it needs no timer and no thread. Dropped before it is ready, it leaves
    /// the queue; an object that it had been granted meanwhile is passed on to the next waiter. A future that was
    /// served and is not polled keeps its object, and [`in_use`](Self::in_use) counts it.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// When polled, if a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is
    /// dropped then and its permit returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{pin::pin, task::{Context, Poll, Waker}, future::Future};
    /// use pool_core::Pool;
    ///
    /// async fn greet(pool: &Pool<String>) -> Result<usize, pool_core::AcquireError> {
    ///     let mut line = pool.acquire_async().await?;
    ///     line.push_str("hello");
    ///     Ok(line.len())
    /// }
    /// # let pool = Pool::<String>::builder().capacity(1).build().unwrap();
    /// # let mut greeting = pin!(greet(&pool));
    /// # let ready = greeting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    /// # assert_eq!(ready, Poll::Ready(Ok(5)));
    /// ```
    #[cfg(feature = "async")]
    pub fn acquire_async(&self) -> Acquire<'_, T, L> {
        Acquire::new(self)
    }

    #[cfg(feature = "async")]
    pub(crate) fn poll_acquire(
        &self,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
    ) -> Poll<Result<Pooled<T, L>, AcquireError>> {
        if waiter.is_none() {
            match self.try_acquire() {
                Err(AcquireError::Exhausted) => {}
                done => return Poll::Ready(done),
            }
        }
        self.shared
            .poll_wait(waiter, waker)
            .map(|granted| self.hand_out(granted?))
    }

    #[cfg(feature = "async")]
    pub(crate) fn cancel_acquire(&self, waiter: WaiterId) {
        self.shared.cancel_wait(waiter);
    }

    /// Acquires `n` objects at once: idle objects in one visit to the thread's cache if it has as many, in one
    /// to the depot if not; missing objects are made. At the bound, the call waits until `n` can be had together, in
    /// one queue with the other waiters: while it is first it collects what comes back, so it is not starved, and the
    /// waiters behind it wait until it has all.
    ///
    /// # Panics
    ///
    /// If `n` exceeds the capacity, or the pool was [closed](Self::close). If a hook panics: `create`, or with
    /// [`ResetOn::Acquire`] `reset` or `is_reusable`. Its object is dropped then, and the others go back.
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn acquire_many(&self, n: usize) -> Burst<T, L> {
        match self.acquire_many_hit(n) {
            Some(burst) => burst,
            None => self.acquire_many_or_panic(n),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn acquire_many_or_panic(&self, n: usize) -> Burst<T, L> {
        let capacity = self.capacity().unwrap_or(usize::MAX);
        match n <= capacity.max(1) {
            false => never_to_be_had(n, capacity),
            true => match self.acquire_many_slow(n, Wait::Forever) {
                Ok(burst) => burst,
                // It was lowered since.
                Err(AcquireError::Exhausted) => {
                    never_to_be_had(n, self.capacity().unwrap_or(usize::MAX))
                }
                Err(_) => self.closed(),
            },
        }
    }

    /// `n` objects from the calling thread's cache, if it has as many at hand.
    #[inline(always)]
    fn acquire_many_hit(&self, n: usize) -> Option<Burst<T, L>> {
        self.shared.pop_many_hit(n).map(Burst::new)
    }

    /// Acquires `n` objects at once, or none: as [`acquire_many`](Self::acquire_many), without waiting.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if fewer are idle, all caches included, and the bound
    /// does not allow to make the rest; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. Its object is dropped then,
    /// and the others go back. If `n`, in a pool without a bound, exceeds the address space.
    pub fn try_acquire_many(&self, n: usize) -> Result<Burst<T, L>, AcquireError> {
        if let Some(burst) = self.acquire_many_hit(n) {
            return Ok(burst);
        }
        if self.capacity().is_some_and(|capacity| n > capacity) && !self.is_closed() {
            trace::exhausted(&self.shared.config, n);
            return Err(AcquireError::Exhausted);
        }
        self.acquire_many_slow(n, Wait::Never)
    }

    fn acquire_many_slow(&self, n: usize, wait: Wait) -> Result<Burst<T, L>, AcquireError> {
        if n == 0 {
            // Without a buffer, which an empty burst could not give back.
            return match self.is_closed() {
                true => Err(AcquireError::Closed),
                false => Ok(Burst::new(Vec::new())),
            };
        }
        let taken = self.shared.take_many(n);
        if let Err(AcquireError::Exhausted) = taken {
            trace::exhausted(&self.shared.config, n);
        }
        let TakenMany { idle, permits } = match taken {
            Err(AcquireError::Exhausted) if wait == Wait::Forever => {
                self.shared.wait_for_many(n)?
            }
            taken => taken?,
        };
        let mut burst = Burst::new(idle);
        if self.shared.reset_on() == ResetOn::Acquire {
            burst.reset_all();
        }
        for permit in permits {
            burst.push(Pooled::new(permit.vacancy().create()));
        }
        Ok(burst)
    }

    /// Adopts a value made elsewhere, as if the pool had made it.
    ///
    /// # Errors
    ///
    /// Gives the value back at the bound and on a closed pool.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::builder().capacity(1).build()?;
    /// let name = pool.attach(String::from("first")).unwrap();
    /// let refused = pool.attach(String::from("second")).unwrap_err();
    /// assert_eq!(refused.into_inner(), "second");
    /// # drop(name);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn attach(&self, value: T) -> Result<Pooled<T, L>, AttachError<T>> {
        match self.shared.try_acquire_permit() {
            Ok(permit) => Ok(Pooled::new(permit.vacancy().adopt(value))),
            Err(reason) => Err(AttachError::new(value, reason)),
        }
    }

    /// Makes objects until `n` are idle where any thread finds them, so that the next `n`
    /// acquires make none. Objects in use do not count. Returns how many are idle now: fewer than `n`
    /// only if the bound or `max_idle` does not allow as many, or the pool is closed.
    ///
    /// In a [`Batched`](Backend::Batched) pool the first thread to acquire takes a batch of them into
    /// its cache; for several threads, reserve a batch more for each.
    ///
    /// A [`Heap`](Backend::Heap) pool keeps nothing idle, and makes nothing here.
    ///
    /// # Panics
    ///
    /// If making an object does; objects made before stay. If `n` objects exceed the address space.
    pub fn reserve(&self, n: usize) -> usize {
        let config = &self.shared.config;
        if config.backend == Backend::Heap {
            return 0;
        }
        let n = n.min(config.max_idle.unwrap_or(usize::MAX));
        // Out of the caches, so that they count for everyone.
        self.shared.recall();
        let missing = n.saturating_sub(self.idle());
        let room = self.capacity().map_or(missing, |capacity| {
            missing.min(capacity.saturating_sub(self.shared.counts().live))
        });
        if room > 1 {
            self.shared.reserve_memory(room);
        }
        for _ in 0..missing {
            let Ok(permit) = self.shared.try_acquire_permit() else {
                break;
            };
            let mut object = permit.vacancy().create();
            if config.reset_on == ResetOn::Acquire {
                object.set_never_acquired();
            }
            // Refused, it is destroyed.
            if self.shared.put(object).is_err() {
                break;
            }
        }
        self.shared.flush();
        self.idle()
    }

    /// Puts what the calling thread caches into the depot, where other threads find it: for a
    /// thread that is about to be quiet for long. Costs one visit to the depot.
    pub fn flush(&self) {
        self.shared.flush();
    }

    /// Drops idle objects until at most `keep` are left, the longest idle first (batch by
    /// batch, where the backend has batches). Thread caches are emptied into the depot.
    ///
    /// Memory goes back to the allocator chunk by chunk (see [`grow_by`](Builder::grow_by)): a chunk
    /// stays as long as one object in it does, idle or in use. Costs a walk over the memory of objects
    /// that are no more.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    pub fn trim(&self, keep: usize) {
        self.shared.trim(TrimTarget::AtMost(keep));
    }

    /// Drops objects that were not needed for `age`: [`trim_by`](Self::trim_by) with a policy of just
    /// that, now. Returns how many. To be called more often than each `age`, from a timer of the caller.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    pub fn trim_idle_for(&self, age: Duration) -> usize {
        self.trim_by(&TrimPolicy::idle_for(age), Instant::now())
    }

    /// Trims by a policy: when the period of its age is over, drops as many idle objects as were not needed at any
    /// time in it, and memory as [`trim`](Self::trim) does; else does nothing
    /// but look at `now`. Returns how many objects were dropped.
    ///
    /// A pool has one period, for all callers. The first call begins it, and each that finds it
    /// over begins the next: an object is dropped between one and two ages after it was last needed, if
    /// calls are frequent. What counts is how many are needed at a time, not which: they are dropped as
    /// `trim` drops them, and a first-in-first-out [`Queue`](Backend::Queue) shrinks though each of its
    /// objects is used in turn. What threads have in their caches counts as needed; the end of a period
    /// empties the caches into the depot, as `trim` does, so objects of a quiet thread are found in the
    /// next one.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    pub fn trim_by(&self, policy: &TrimPolicy, now: Instant) -> usize {
        match self.shared.end_period(policy, now) {
            Some(target) => self.shared.trim(target),
            None => 0,
        }
    }

    /// Drops the idle objects for which `keep` says `false`; gives how many. Each object that is idle all the while
    /// is looked at once, wherever it is: threads' caches are emptied into the depot, and stay empty for as long as this
    /// takes.
    ///
    /// Objects that are being looked at count as in use. They are taken out in steps of an eighth of those that are left
    /// (but one at least, and at most 256), so that others can be acquired meanwhile; one that is acquired before its
    /// turn comes is not looked at. With [`ResetOn::Acquire`] an object is not reset yet. `keep` may use
    /// the pool, but must not wait for the very objects that it is looking at. Memory is freed as by
    /// [`trim`](Self::trim).
    ///
    /// An object that was kept is dropped nevertheless, and counted, if the pool was closed meanwhile or is at
    /// `max_idle` by then.
    ///
    /// # Panics
    ///
    /// If `keep` or the drop of a `T` does, after all objects were looked at. The object of a `keep` that panics
    /// is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::builder_with(Vec::<u8>::new, |buffer| buffer.clear()).build()?;
    /// let mut buffers = pool.acquire_many(3);
    /// buffers[0].reserve(1 << 20);
    /// drop(buffers);
    ///
    /// assert_eq!(pool.retain(|buffer| buffer.capacity() < 1 << 16), 1);
    /// assert_eq!(pool.idle(), 2);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn retain(&self, keep: impl FnMut(&mut T) -> bool) -> usize {
        self.shared.retain(keep)
    }

    /// Takes out every object that is idle now, thread caches included. They leave the pool as they
    /// are, without a reset. Objects left in the iterator are dropped with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::builder().prefill(3).build()?;
    /// assert_eq!(pool.drain().count(), 3);
    /// assert_eq!(pool.stats().destroyed, 3);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn drain(&self) -> Drain<'_, T, L> {
        Drain {
            idle: self.shared.drain(),
            _pool: PhantomData,
        }
    }

    /// Closes the pool for good: later acquires fail, waiters are woken with
    /// [`Closed`](AcquireError::Closed), idle objects are dropped now and objects in use when they
    /// come back. Closing again does nothing.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all idle objects were dropped.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Whether the pool was [closed](Self::close).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Waits until no object is in use, wherever the last one comes back; without polling, and no longer than
    /// `timeout`. After [`close`](Self::close), a shutdown.
    ///
    /// In use is what [`in_use`](Self::in_use) counts. Others may acquire meanwhile, and after it: it says that
    /// there was a moment, during the call, at which all were back. While somebody waits for that, every release
    /// takes the central lock, and so does each acquire of a thread that has nothing in its cache.
    ///
    /// A thread that holds an object itself waits for ever, without a `timeout`. A `timeout` beyond what the clock can
    /// count is none.
    ///
    /// # Errors
    ///
    /// [`WaitIdleError`] once the time is up; it says how many are still out.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::new();
    /// let held = pool.acquire();
    ///
    /// pool.close();
    /// let late = pool.wait_idle(Some(Duration::from_millis(1))).unwrap_err();
    /// assert_eq!(late.in_use(), 1);
    ///
    /// std::thread::spawn(move || drop(held));
    /// pool.wait_idle(None)?;
    /// # Ok::<(), pool_core::WaitIdleError>(())
    /// ```
    pub fn wait_idle(&self, timeout: Option<Duration>) -> Result<(), WaitIdleError> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        (self.shared.wait_idle(deadline)).map_err(WaitIdleError::new)
    }

    /// [`wait_idle`](Self::wait_idle) as a future, for any executor. Dropped, it waits no more.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::{pin::pin, task::{Context, Poll, Waker}, future::Future};
    /// # use pool_core::Pool;
    /// async fn shut_down(pool: &Pool<String>) {
    ///     pool.close();
    ///     pool.wait_idle_async().await;
    /// }
    /// # let pool = Pool::<String>::new();
    /// # let ready = pin!(shut_down(&pool)).poll(&mut Context::from_waker(Waker::noop()));
    /// # assert_eq!(ready, Poll::Ready(()));
    /// ```
    #[cfg(feature = "async")]
    pub fn wait_idle_async(&self) -> WaitIdle<'_, T, L> {
        WaitIdle::new(self)
    }

    #[cfg(feature = "async")]
    pub(crate) fn poll_idle(&self, waiter: &mut Option<IdleWaiterId>, waker: &Waker) -> Poll<()> {
        self.shared.poll_idle(waiter, waker)
    }

    #[cfg(feature = "async")]
    pub(crate) fn cancel_idle(&self, waiter: IdleWaiterId) {
        self.shared.cancel_idle(waiter);
    }

    /// The counts of the pool; see [`Stats`]. Takes the central lock for a moment that grows with
    /// the number of threads that use the pool.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let counts = self.shared.counts();
        let (created, live) = (counts.created as usize, counts.live);
        Stats {
            created,
            destroyed: created.saturating_sub(live),
            idle: counts.idle,
            in_use: live.saturating_sub(counts.idle),
            cached: counts.cached,
            exchanges: counts.exchanges as usize,
            revocations: counts.revocations as usize,
            discarded: self.shared.discarded() as usize,
            waits: counts.waits as usize,
            capacity: counts.capacity,
        }
    }

    /// The bound on objects alive, idle ones included; `None` if there is none. Takes the central lock for a
    /// moment.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.capacity()
    }

    /// Changes the [`capacity`](Self::capacity), at once; `None` for no bound.
    ///
    /// With a larger one waiters are served. With a smaller one, even than what is out, idle objects are dropped now,
    /// the longest idle first, and then those that come back, until it holds. Meanwhile nothing is made, waiters wait
    /// on, and each release takes the central lock. After it the pool is as fast as before. While it is lowered some objects
    /// more than needed may be dropped, if several threads give back at the same time.
    ///
    /// A pool with capacity 0 is paused: who acquires waits until it is raised. A wait for several objects at once that are
    /// more than the new capacity ends as asking for them would have: [`acquire_many`](Self::acquire_many) panics.
    ///
    /// The size of batches stays as it was chosen when the pool was built.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::builder().capacity(10).prefill(10).build()?;
    /// let held = pool.acquire_many(6);
    ///
    /// pool.set_capacity(Some(5));
    /// assert_eq!((pool.capacity(), pool.idle(), pool.in_use()), (Some(5), 0, 6));
    /// drop(held);
    /// assert_eq!(pool.idle(), 5);
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    pub fn set_capacity(&self, capacity: Option<usize>) {
        self.shared.set_capacity(capacity);
    }

    /// Objects waiting to be acquired, thread caches included; see [`Stats::idle`].
    #[must_use]
    pub fn idle(&self) -> usize {
        self.shared.counts().idle
    }

    /// Objects out in handles, and objects granted to waiters that have not come for them yet; see
    /// [`Stats::in_use`]. 0 says that every handle was dropped.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.stats().in_use
    }

    /// The backend in use.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.shared.config.backend
    }

    /// The name the pool was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.shared.config.name.as_deref()
    }

    /// The lifecycle that makes and resets the objects.
    #[must_use]
    pub fn lifecycle(&self) -> &L {
        &self.shared.lifecycle
    }
}

/// Panics: a burst of `n` is more than the pool may ever hold.
#[track_caller]
fn never_to_be_had(n: usize, capacity: usize) -> ! {
    panic!(
        "acquire_many({n}) from a pool with capacity {capacity}: it could never be had; ask for less or raise the \
         capacity"
    );
}

/// What to do when no object is idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Fail, without creating one either.
    IdleOnly,
    /// Create one or fail.
    Never,
    /// Create one, or wait for one until then.
    Until(Instant),
    Forever,
}

impl<T, L: Lifecycle<T>> Clone for Pool<T, L> {
    fn clone(&self) -> Self {
        Pool {
            shared: self.shared.clone(),
        }
    }
}

impl<T, L: Lifecycle<T>> fmt::Debug for Pool<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("name", &self.name())
            .field("backend", &self.backend())
            .field("capacity", &self.capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// The objects that were idle, on their way out of the pool; from [`Pool::drain`].
#[must_use = "the objects are dropped with the iterator"]
pub struct Drain<'a, T, L: Lifecycle<T> = Derived> {
    /// Objects left are destroyed with the iterator.
    idle: Reclaimed<T, Shared<T, L>>,
    _pool: PhantomData<&'a Pool<T, L>>,
}

// The objects are reached by value only.
impl<T, L: Lifecycle<T>> UnwindSafe for Drain<'_, T, L> {}
impl<T, L: Lifecycle<T>> RefUnwindSafe for Drain<'_, T, L> {}

impl<T, L: Lifecycle<T>> Iterator for Drain<'_, T, L> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.idle.pop().map(Object::detach)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.idle.len(), Some(self.idle.len()))
    }
}

impl<T, L: Lifecycle<T>> ExactSizeIterator for Drain<'_, T, L> {}
impl<T, L: Lifecycle<T>> std::iter::FusedIterator for Drain<'_, T, L> {}

impl<T, L: Lifecycle<T>> fmt::Debug for Drain<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("len", &self.idle.len())
            .finish_non_exhaustive()
    }
}

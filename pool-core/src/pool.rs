//! `Pool`: what a user acquires from.

use std::fmt;
#[cfg(feature = "async")]
use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
#[cfg(feature = "async")]
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

#[cfg(feature = "async")]
use crate::acquire::{Acquire, WaitIdle, Waiting};
use crate::builder::Builder;
use crate::central::trim::{TrimPolicy, TrimTarget};
#[cfg(feature = "async")]
use crate::central::{IdleWaiterId, WaiterId};
use crate::config::{Backend, Config, ResetOn};
use crate::entry::Entry;
use crate::error::{AcquireError, AttachError, WaitIdleError};
use crate::handle::{Burst, Pooled};
use crate::lifecycle::{Derived, FnHooks, Hooks, Lifecycle, Recycle, WithoutCreate};
use crate::object::{Chunks, Object, Reclaimed, SharedRef};
use crate::observe::holders::{Caller, Holder};
use crate::observe::stats::Stats;
use crate::observe::trace;
use crate::poolable::Poolable;
use crate::shared::{Fast, Miss, Shared, Taken, TakenMany, WeakRef};

/// A pool of `T`. `Pool` is a handle: cloning it is cheap, and all clones refer to the same pool.
///
/// # Life
///
/// The pool ends when its last `Pool` is dropped. Then every idle object is dropped, those in other threads' caches
/// included. Handles stay valid: each drops its object, and the last one frees the memory.
///
/// # Forks
///
/// A child of `fork` has its own copy of the pool and may use it. The fork waits until the parent's other threads have
/// left the pool's locks and slots. In the child, waiting tasks are served, and objects that other threads held are in
/// use for ever. Handlers of `pthread_atfork` must not use a pool, and a signal handler must not fork.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let pool = Pool::<Vec<u8>>::builder().capacity(1_000).build()?;
///
/// let mut buffer = pool.acquire();
/// buffer.extend_from_slice(b"hello");
/// drop(buffer);
/// assert!(pool.acquire().is_empty());
/// assert_eq!(pool.stats().created, 1);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub struct Pool<T, L: Recycle<T> + ?Sized = Derived> {
    shared: SharedRef<T, Shared<T, L>>,
}

// If a hook panics, its object is dropped, and nothing else of the pool can be seen half done.
impl<T, L: Recycle<T> + ?Sized> UnwindSafe for Pool<T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for Pool<T, L> {}

impl<T: Poolable> Pool<T> {
    /// A pool with default settings: [`Backend::Batched`], no bound, and no object created yet.
    #[must_use]
    pub fn new() -> Self {
        let config = Config::default();
        let fast = Fast::creating(&config);
        Pool::from_config((config, Chunks::new()), Derived, fast)
    }

    /// Starts to configure a pool: its backend, its bound and more.
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
    /// Like [`builder`](Pool::builder), for a type that is not [`Poolable`]. `create` makes a fresh object, and `reset`
    /// returns a used one to that state.
    ///
    /// The two closures are a part of the pool's type. For a `static` or a field, see [`FnPool`].
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

/// A pool of a type that is not [`Poolable`], whose own type can be written down.
///
/// The type of a closure has no name. Functions, and closures that capture nothing, become `fn` pointers:
///
/// ```
/// use pool_core::FnPool;
/// use std::sync::LazyLock;
///
/// static BUFFERS: LazyLock<FnPool<Vec<u8>>> = LazyLock::new(|| {
///     let builder = FnPool::<Vec<u8>>::builder_fn(|| Vec::with_capacity(1500), Vec::clear);
///     builder.capacity(64).build().expect("the settings agree")
/// });
/// assert!(BUFFERS.acquire().capacity() >= 1500);
/// ```
///
/// A hook that captures something goes into a box. It then costs a virtual call, as an `fn` pointer does:
///
/// ```
/// use pool_core::{Hooks, Lifecycle, Pool};
///
/// type Buffers = Pool<Vec<u8>, Box<dyn Lifecycle<Vec<u8>> + Send + Sync>>;
///
/// fn buffers(size: usize) -> Result<Buffers, pool_core::BuildError> {
///     let hooks = Hooks::new(move || Vec::with_capacity(size), Vec::clear);
///     Buffers::builder_for(Box::new(hooks)).build()
/// }
/// assert!(buffers(1500)?.acquire().capacity() >= 1500);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub type FnPool<T> = Pool<T, FnHooks<T>>;

/// A handle of a [`FnPool`], for a field or an argument.
pub type FnPooled<T> = Pooled<T, FnHooks<T>>;

impl<T> FnPool<T> {
    /// Like [`builder_with`](Pool::builder_with), for functions or for closures that capture nothing: see [`FnPool`].
    pub fn builder_fn(create: fn() -> T, reset: fn(&mut T)) -> Builder<T, FnHooks<T>> {
        Pool::builder_with(create, reset)
    }
}

impl<T, R: Fn(&mut T)> Pool<T, WithoutCreate<R>> {
    /// Like [`builder`](Pool::builder), for a pool that creates no objects itself. It has [`entry`](Self::entry) and
    /// its variants, and no `acquire`. `reset` returns a used object to the state that its next user expects.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<Vec<u8>, _>::builder_without_create(|buffer| buffer.clear()).build()?;
    /// let buffer = pool.entry()?.or_insert_with(|| Vec::with_capacity(1500));
    /// assert!(buffer.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder_without_create(reset: R) -> Builder<T, WithoutCreate<R>> {
        Builder::new(reset)
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`builder`](Pool::builder), with a custom [`Lifecycle`].
    pub fn builder_for(lifecycle: L) -> Builder<T, L> {
        Builder::new(lifecycle)
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    pub(crate) fn from_config(
        config: (Config, Chunks<T>),
        hooks: L::Hooks,
        fast: Fast<T, L>,
    ) -> Self {
        Pool {
            shared: SharedRef::<T, Shared<T, L>>::new(config, hooks, fast),
        }
    }

    pub(crate) fn from_shared(shared: SharedRef<T, Shared<T, L>>) -> Self {
        Pool { shared }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Takes an idle object, or creates one. At the bound, the thread waits until an object is released. Waiting
    /// threads and tasks are served first in, first out.
    ///
    /// With [`Batched`](Backend::Batched), a hit in the thread's cache costs no lock, no atomic read-modify-write and
    /// no fence. Once per batch the thread visits the depot, under a lock.
    ///
    /// With [`ResetOn::Acquire`], an idle object that turns out not to be reusable is created anew in place, so the
    /// caller keeps its turn. An object that was never acquired is not reset.
    ///
    /// # Panics
    ///
    /// If the pool was [closed](Self::close), or its [queue of waiters is full](Builder::max_waiting). If a hook
    /// panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. Then the object is dropped, and another
    /// may be created in its place.
    #[must_use = "an object that is not used goes back to the pool at once"]
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Pooled<T, L> {
        match self.acquire_hit() {
            Ok(object) => object,
            Err(missed) => self.acquire_slow_or_panic(missed),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&self, call: &str, error: AcquireError) -> ! {
        let pool = self
            .name()
            .map_or("a pool".into(), |name| format!("pool {name:?}"));
        let reason = match error {
            AcquireError::Closed => "which is closed",
            _ => "whose queue of waiters is full (`max_waiting`)",
        };
        panic!(
            "{call} from {pool}, {reason}: use `try_{call}` or `{call}_timeout`, which return an error instead"
        );
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn acquire_slow_or_panic(&self, missed: Miss<'_>) -> Pooled<T, L> {
        match self.entry_slow(missed, Wait::Forever, Location::caller()) {
            Ok(entry) => entry.or_create(),
            Err(error) => self.refuse("acquire", error),
        }
    }

    /// Takes an idle object, or creates one if the bound allows. Never waits.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if the bound is reached and no object is idle anywhere, the caches of
    /// other threads included; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics, as in [`acquire`](Self::acquire).
    #[inline]
    #[track_caller]
    pub fn try_acquire(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::Never, Location::caller()),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Takes an idle object. Never creates one, and never waits.
    ///
    /// With [`ResetOn::Acquire`], an idle object that turns out not to be reusable is discarded, and the search goes
    /// on. (The other acquires create it anew in place.)
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if no object is idle anywhere; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// With [`ResetOn::Acquire`], if `reset` or `is_reusable` panics.
    #[inline]
    #[track_caller]
    pub fn try_acquire_idle(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.shared.pop_hit() {
            Ok(object) => Ok(Pooled::new(object)),
            Err(missed) => self.try_acquire_idle_slow(missed, Location::caller()),
        }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`acquire`](Self::acquire), but waits no longer than `timeout`.
    ///
    /// An object that is released just as the time is up is either acquired or passed on, and never lost. A `timeout`
    /// beyond the range of the clock waits for ever.
    ///
    /// # Errors
    ///
    /// [`Timeout`](AcquireError::Timeout); [`Saturated`](AcquireError::Saturated); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics, as in [`acquire`](Self::acquire).
    #[inline]
    #[track_caller]
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::at_most(timeout), Location::caller()),
        }
    }

    #[inline(always)]
    fn acquire_hit(&self) -> Result<Pooled<T, L>, Miss<'_>> {
        let object = match self.shared.pop_hit() {
            Err(None) => (self.shared.fast.acquire)(&self.shared).ok_or(None),
            popped => popped,
        };
        object.map(Pooled::new)
    }

    #[inline(never)]
    fn acquire_slow(
        &self,
        missed: Miss<'_>,
        wait: Wait,
        caller: Caller,
    ) -> Result<Pooled<T, L>, AcquireError> {
        self.entry_slow(missed, wait, caller).map(Entry::or_create)
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Returns an idle object, or a vacant entry that the caller fills with an object. At the bound, the thread waits
    /// for either as [`acquire`](Pool::acquire) does, in the same queue.
    ///
    /// With [`ResetOn::Acquire`], an idle object that turns out not to be reusable is dropped, and its vacant entry is
    /// returned.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed); [`Saturated`](AcquireError::Saturated).
    ///
    /// # Panics
    ///
    /// With [`ResetOn::Acquire`], if `reset` or `is_reusable` panics.
    #[track_caller]
    pub fn entry(&self) -> Result<Entry<T, L>, AcquireError> {
        self.entry_for(Location::caller())
    }

    /// Like [`entry`](Self::entry), but never waits.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted), as exact as that of [`try_acquire`](Pool::try_acquire);
    /// [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// As [`entry`](Self::entry).
    #[track_caller]
    pub fn try_entry(&self) -> Result<Entry<T, L>, AcquireError> {
        self.entry_with(Wait::Never, Location::caller())
    }

    /// Like [`entry`](Self::entry), but waits no longer than `timeout`. (The time in which the caller creates the
    /// object does not count.)
    ///
    /// # Errors
    ///
    /// [`Timeout`](AcquireError::Timeout); [`Saturated`](AcquireError::Saturated); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// As [`entry`](Self::entry).
    #[track_caller]
    pub fn entry_timeout(&self, timeout: Duration) -> Result<Entry<T, L>, AcquireError> {
        self.entry_with(Wait::at_most(timeout), Location::caller())
    }

    pub(crate) fn entry_for(&self, caller: Caller) -> Result<Entry<T, L>, AcquireError> {
        self.entry_with(Wait::Forever, caller)
    }

    fn entry_with(&self, wait: Wait, caller: Caller) -> Result<Entry<T, L>, AcquireError> {
        match self.shared.pop_hit() {
            Ok(object) => Ok(Entry::Idle(Pooled::new(object))),
            Err(missed) => self.entry_slow(missed, wait, caller),
        }
    }

    /// Like [`entry`](Self::entry), as a future: see [`acquire_async`](Pool::acquire_async).
    ///
    /// Requires feature `async`.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed); [`Saturated`](AcquireError::Saturated).
    ///
    /// # Panics
    ///
    /// When polled, as [`entry`](Self::entry).
    #[cfg(feature = "async")]
    #[track_caller]
    pub fn entry_async(&self) -> impl Future<Output = Result<Entry<T, L>, AcquireError>> {
        Waiting::new(self, Location::caller())
    }

    /// An object, or a place for one, as `wait` says.
    #[inline(never)]
    fn entry_slow(
        &self,
        missed: Miss<'_>,
        wait: Wait,
        caller: Caller,
    ) -> Result<Entry<T, L>, AcquireError> {
        match self.shared.take(missed, true) {
            Taken::Exhausted => {
                trace::exhausted(&self.shared.config, 1);
                let deadline = match wait {
                    Wait::Never => return Err(AcquireError::Exhausted),
                    Wait::Until(deadline) => Some(deadline),
                    Wait::Forever => None,
                };
                self.entry_of(self.shared.wait_for_one(deadline)?, caller)
            }
            taken => self.entry_of(taken, caller),
        }
    }

    /// The entry of what was taken. An idle object that is reset only now and turns out not to be reusable leaves
    /// its place, so that its acquirer does not have to start again, behind others that wait.
    #[inline(always)]
    fn entry_of(&self, taken: Taken<T, L>, caller: Caller) -> Result<Entry<T, L>, AcquireError> {
        match taken {
            Taken::Exhausted => Err(AcquireError::Exhausted),
            Taken::Closed => Err(AcquireError::Closed),
            Taken::Idle(object) if self.shared.has_hits() => Ok(Entry::Idle(Pooled::new(object))),
            Taken::Permit(permit) if self.shared.has_hits() => Ok(Entry::vacant(permit)),
            Taken::Idle(object) => Ok(self.noted(
                match self.shared.reset_on() {
                    ResetOn::Release => Entry::Idle(Pooled::new(object)),
                    ResetOn::Acquire => Entry::reset(object),
                },
                caller,
            )),
            Taken::Permit(permit) => Ok(self.noted(Entry::vacant(permit), caller)),
        }
    }

    #[cold]
    #[inline(never)]
    fn noted(&self, entry: Entry<T, L>, caller: Caller) -> Entry<T, L> {
        self.shared.begin_holds([entry.address()], caller);
        entry
    }

    fn try_acquire_idle_slow(
        &self,
        mut missed: Miss<'_>,
        caller: Caller,
    ) -> Result<Pooled<T, L>, AcquireError> {
        loop {
            match self.shared.take(missed.take(), false) {
                Taken::Idle(object) => {
                    if let Some(handle) = self.hand_out_reusable(object, caller) {
                        return Ok(handle);
                    }
                }
                Taken::Closed => return Err(AcquireError::Closed),
                Taken::Permit(_) | Taken::Exhausted => {
                    trace::exhausted(&self.shared.config, 1);
                    return Err(AcquireError::Exhausted);
                }
            }
        }
    }

    /// `None` if the object turns out not to be reusable.
    fn hand_out_reusable(
        &self,
        object: Object<T, Shared<T, L>>,
        caller: Caller,
    ) -> Option<Pooled<T, L>> {
        let object = match self.shared.reset_on() {
            ResetOn::Release => object,
            ResetOn::Acquire => object.reset_used()?,
        };
        self.shared.begin_holds([object.address()], caller);
        Some(Pooled::new(object))
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`acquire`](Self::acquire), as a future. At the bound the task waits, in the same queue as waiting threads,
    /// and its thread can run other tasks.
    ///
    /// Requires feature `async`.
    ///
    /// The future works with any executor. If it is dropped before it is ready, it leaves the queue, and an object that
    /// it was granted goes to the next waiter. A future that is not polled keeps such an object, and
    /// [`in_use`](Self::in_use) counts it.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed); [`Saturated`](AcquireError::Saturated).
    ///
    /// # Panics
    ///
    /// When polled, if a hook panics, as in [`acquire`](Self::acquire).
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
    #[track_caller]
    pub fn acquire_async(&self) -> Acquire<'_, T, L> {
        Acquire::new(self, Location::caller())
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    #[cfg(feature = "async")]
    pub(crate) fn poll_entry(
        &self,
        waiter: &mut Option<WaiterId>,
        waker: &Waker,
        caller: Caller,
    ) -> Poll<Result<Entry<T, L>, AcquireError>> {
        if waiter.is_none() {
            match self.entry_with(Wait::Never, caller) {
                Err(AcquireError::Exhausted) => {}
                done => return Poll::Ready(done),
            }
        }
        self.shared
            .poll_one(waiter, waker)
            .map(|granted| self.entry_of(granted?, caller))
    }

    #[cfg(feature = "async")]
    pub(crate) fn cancel_wait(&self, waiter: WaiterId) {
        self.shared.cancel_wait(waiter);
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Acquires `n` objects at once. It takes idle objects in one visit to the thread's cache, or to the depot if the
    /// cache has too few, and creates the missing ones.
    ///
    /// At the bound, the call waits until all `n` objects are available, in the same queue as other waiters. The head
    /// of the queue collects released objects, so the call does not starve. The waiters behind it wait until it has
    /// all.
    ///
    /// # Panics
    ///
    /// If `n` exceeds the capacity, and as [`acquire`](Self::acquire). If a hook panics, the other objects return to the
    /// pool.
    #[must_use = "objects that are not used go back to the pool at once"]
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
            true => match self.acquire_many_slow(n, Wait::Forever, Location::caller()) {
                Ok(burst) => burst,
                // It was lowered since.
                Err(AcquireError::Exhausted) => {
                    never_to_be_had(n, self.capacity().unwrap_or(usize::MAX))
                }
                Err(error) => self.refuse("acquire_many", error),
            },
        }
    }

    #[inline(always)]
    fn acquire_many_hit(&self, n: usize) -> Option<Burst<T, L>> {
        self.shared.pop_many_hit(n).map(Burst::new)
    }

    /// Like [`acquire_many`](Self::acquire_many), but never waits: acquires all `n` objects or none.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if fewer are idle, all caches included, and the bound does not allow the
    /// pool to create the rest; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics, as in [`acquire_many`](Self::acquire_many). If `n`, without a bound, exceeds the address space.
    #[track_caller]
    pub fn try_acquire_many(&self, n: usize) -> Result<Burst<T, L>, AcquireError> {
        self.try_acquire_many_for(n, Location::caller())
    }

    fn try_acquire_many_for(&self, n: usize, caller: Caller) -> Result<Burst<T, L>, AcquireError> {
        match self.acquire_many_hit(n) {
            Some(burst) => Ok(burst),
            None => self.acquire_many_within_capacity(n, Wait::Never, caller),
        }
    }

    /// Like [`acquire_many`](Self::acquire_many), but waits no longer than `timeout`. Acquires all `n` objects or none:
    /// if the time is up, the objects collected so far go to the next waiter.
    ///
    /// # Errors
    ///
    /// [`Timeout`](AcquireError::Timeout); [`Exhausted`](AcquireError::Exhausted) at once if `n` exceeds the capacity;
    /// [`Saturated`](AcquireError::Saturated); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// As [`try_acquire_many`](Self::try_acquire_many).
    #[track_caller]
    pub fn acquire_many_timeout(
        &self,
        n: usize,
        timeout: Duration,
    ) -> Result<Burst<T, L>, AcquireError> {
        match self.acquire_many_hit(n) {
            Some(burst) => Ok(burst),
            None => {
                let wait = Wait::at_most(timeout);
                self.acquire_many_within_capacity(n, wait, Location::caller())
            }
        }
    }

    /// Like [`acquire_many`](Self::acquire_many), as a future: see [`acquire_async`](Self::acquire_async). Tasks that
    /// acquire several objects one after the other can deadlock. This call cannot.
    ///
    /// Requires feature `async`.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) at once if `n` exceeds the capacity;
    /// [`Saturated`](AcquireError::Saturated); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// When polled, as [`try_acquire_many`](Self::try_acquire_many).
    #[cfg(feature = "async")]
    #[track_caller]
    pub fn acquire_many_async(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<Burst<T, L>, AcquireError>> {
        let caller = Location::caller();
        async move {
            match self.try_acquire_many_for(n, caller) {
                Err(AcquireError::Exhausted) if !self.exceeds_capacity(n) => {}
                done => return done,
            }
            let mut waiting = Waiting::new(self, caller);
            let taken = poll_fn(|cx| {
                let waiter = &mut waiting.waiter;
                self.shared.poll_many(n, waiter, cx.waker())
            });
            self.burst_of(taken.await?, caller)
        }
    }

    fn exceeds_capacity(&self, n: usize) -> bool {
        self.capacity().is_some_and(|capacity| n > capacity)
    }

    fn acquire_many_within_capacity(
        &self,
        n: usize,
        wait: Wait,
        caller: Caller,
    ) -> Result<Burst<T, L>, AcquireError> {
        if self.exceeds_capacity(n) && !self.is_closed() {
            trace::exhausted(&self.shared.config, n);
            return Err(AcquireError::Exhausted);
        }
        self.acquire_many_slow(n, wait, caller)
    }

    fn acquire_many_slow(
        &self,
        n: usize,
        wait: Wait,
        caller: Caller,
    ) -> Result<Burst<T, L>, AcquireError> {
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
        let taken = match (taken, wait) {
            (Err(AcquireError::Exhausted), Wait::Forever) => self.shared.wait_for_many(n, None)?,
            (Err(AcquireError::Exhausted), Wait::Until(deadline)) => {
                self.shared.wait_for_many(n, Some(deadline))?
            }
            (taken, _) => taken?,
        };
        self.burst_of(taken, caller)
    }

    fn burst_of(
        &self,
        taken: TakenMany<T, L>,
        caller: Caller,
    ) -> Result<Burst<T, L>, AcquireError> {
        let TakenMany { idle, permits } = taken;
        let mut burst = Burst::new(idle);
        if self.shared.reset_on() == ResetOn::Acquire {
            burst.reset_all();
        }
        self.shared
            .begin_holds(burst.iter().map(Pooled::address), caller);
        for permit in permits {
            let vacancy = permit.vacancy();
            self.shared.begin_holds([vacancy.address()], caller);
            burst.push(Pooled::new(vacancy.create()));
        }
        Ok(burst)
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Adds a value that was created elsewhere, as if the pool had created it.
    ///
    /// # Errors
    ///
    /// At the bound and on a closed pool. The error contains the value.
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
    #[track_caller]
    pub fn attach(&self, value: T) -> Result<Pooled<T, L>, AttachError<T>> {
        match self.shared.try_acquire_permit() {
            Ok(permit) => {
                let vacancy = permit.vacancy();
                self.shared
                    .begin_holds([vacancy.address()], Location::caller());
                Ok(Pooled::new(vacancy.adopt(value)))
            }
            Err(reason) => Err(AttachError::new(value, reason)),
        }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Creates objects until `n` are idle where every thread finds them, so that the next `n` acquires create none.
    /// Objects in the caches of other threads do not count, and stay there: this interrupts no thread, unless a
    /// [`Queue`](Backend::Queue) has to grow. Each thread that acquires takes a batch into its cache, so reserve one
    /// more batch for each. A [`Heap`](Backend::Heap) pool keeps nothing idle, so this creates nothing.
    ///
    /// Returns how many objects are idle now, all caches included: fewer than `n` only if the bound or `max_idle` does
    /// not allow `n` (a cache in use counts as full), or the pool is closed. [`trim(usize::MAX)`](Self::trim) moves
    /// cached objects to the depot.
    ///
    /// # Panics
    ///
    /// If creating an object panics. Objects created before stay. If `n` objects exceed the address space.
    pub fn reserve(&self, n: usize) -> usize {
        let config = &self.shared.config;
        if config.backend == Backend::Heap {
            return 0;
        }
        let missing = self
            .shared
            .lacks(n.min(config.max_idle.unwrap_or(usize::MAX)));
        let room = self.capacity().map_or(missing, |capacity| {
            missing.min(capacity.saturating_sub(self.shared.counts().live))
        });
        if room > 1 {
            self.shared.reserve_memory(room);
        }
        for _ in 0..missing {
            // Refused, it is destroyed.
            let Some(object) = self.make_idle() else {
                break;
            };
            if self.shared.stock(object).is_err() {
                break;
            }
        }
        self.shared.flush();
        self.idle()
    }

    /// A new object, as an idle one is; `None` if the bound is reached or the pool closed.
    fn make_idle(&self) -> Option<Object<T, Shared<T, L>>> {
        let permit = self.shared.try_acquire_permit().ok()?;
        let mut object = permit.vacancy().create();
        if self.shared.reset_on() == ResetOn::Acquire {
            object.set_never_acquired();
        }
        Some(object)
    }

    /// Prepares the calling thread before its first message. Afterwards, while the thread holds up to a batch of
    /// objects at a time, its acquires and drops allocate no memory and touch none for the first time.
    ///
    /// The call fills the thread's cache with a batch of objects from the depot or new ones, as far as the bound and
    /// `max_idle` allow. If the backend has no thread caches, it [reserves](Self::reserve) a batch. It interrupts no
    /// thread. A second call costs a visit to the central lock.
    ///
    /// # Panics
    ///
    /// If creating an object panics. Objects created before stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<Vec<u8>>::new();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         pool.warm();
    ///         let made = pool.stats().created;
    ///         let first = pool.acquire(); // a hit
    ///         assert_eq!(pool.stats().created, made);
    ///         # drop(first);
    ///     });
    /// });
    /// ```
    pub fn warm(&self) {
        let Some(missing) = self.shared.warm() else {
            self.reserve(self.shared.config.batch_size);
            return;
        };
        for _ in 0..missing {
            let Some(object) = self.shared.take_stocked().or_else(|| self.make_idle()) else {
                break;
            };
            if self.shared.stock_own(object).is_err() {
                break;
            }
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Moves the objects in the calling thread's cache to the depot, where every thread finds them. Call it before the
    /// thread goes quiet. Costs one visit to the depot.
    pub fn flush(&self) {
        self.shared.flush();
    }

    /// Drops idle objects until at most `keep` are left, the longest idle first (batch by batch, if the backend has
    /// batches). Thread caches are emptied into the depot.
    ///
    /// Memory returns to the allocator by the chunk (see [`grow_by`](Builder::grow_by)). A chunk stays while one object
    /// in it is alive, idle or in use. Costs a walk over the memory of dropped objects.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` panics. All of them are dropped first.
    pub fn trim(&self, keep: usize) {
        self.shared.trim(TrimTarget::AtMost(keep));
    }

    /// Drops objects that were not needed for `age`, and returns how many: [`trim_by`](Self::trim_by) with
    /// [`TrimPolicy::idle_for(age)`](TrimPolicy::idle_for) and the time now.
    ///
    /// # Panics
    ///
    /// As [`trim`](Self::trim).
    pub fn trim_idle_for(&self, age: Duration) -> usize {
        self.trim_by(&TrimPolicy::idle_for(age), Instant::now())
    }

    /// [Trims](Self::trim) by a policy, and returns how many objects were dropped. A call does nothing until the period,
    /// as long as the policy's age, is over. Then it drops as many idle objects as were not needed at any time in the
    /// period. Call it from a timer, more often than once per age.
    ///
    /// A pool has one period, for all callers. The first call begins it, and each call that finds it over begins the
    /// next. So an object is dropped between one and two ages after it was last needed. The pool counts how many objects
    /// are needed, not which, so a [`Queue`](Backend::Queue) shrinks although each of its objects is used in turn.
    /// Objects in thread caches count as needed, until the end of a period empties the caches into the depot.
    ///
    /// # Panics
    ///
    /// As [`trim`](Self::trim).
    pub fn trim_by(&self, policy: &TrimPolicy, now: Instant) -> usize {
        match self.shared.end_period(policy, now) {
            Some(target) => self.shared.trim(target),
            None => 0,
        }
    }

    /// Drops the idle objects for which `keep` returns `false`, and returns how many. `keep` sees each object once,
    /// unless it is acquired before its turn. Thread caches stay empty until the call returns.
    ///
    /// The call takes out an eighth of the remaining objects at a time, but at least 1 and at most 256, so that others
    /// can be acquired meanwhile. Those taken out count as in use. With [`ResetOn::Acquire`], `keep` sees objects before
    /// their reset. `keep` may use the pool, but must not wait for objects that the call has taken out.
    ///
    /// If the pool is closed meanwhile, or reaches `max_idle`, an object for which `keep` returned `true` is dropped
    /// and counted too.
    ///
    /// # Panics
    ///
    /// If `keep` or the drop of a `T` panics, after all objects were visited. An object whose `keep` panics is dropped.
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

    /// Removes every idle object, thread caches included, and returns them without a reset. Objects left in the
    /// iterator are dropped with it.
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

    /// Closes the pool for good. Later acquires fail, and waiters get [`Closed`](AcquireError::Closed). Idle objects
    /// are dropped now, and objects in use when they are released; their handles stay valid until then. Closing again
    /// does nothing.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` panics. All idle objects are dropped first.
    pub fn close(&self) {
        self.shared.close(false);
    }

    /// Whether the pool was [closed](Self::close).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Waits until no object is [in use](Self::in_use), without polling, and no longer than `timeout`. `None` waits for
    /// ever. After [`close`](Self::close) this completes a shutdown.
    ///
    /// Unless the pool is closed, other threads may acquire meanwhile: the call returns if there was a moment at which no
    /// object was in use. During the wait every release takes the central lock.
    ///
    /// # Errors
    ///
    /// [`WaitIdleError`] at the timeout. It says how many objects are still in use.
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

    /// Like [`wait_idle`](Self::wait_idle), as a future for any executor. It has no timeout: use the executor's, and
    /// then [`in_use`](Self::in_use) says how many objects are still in use. A dropped future leaves nothing behind.
    ///
    /// Requires feature `async`.
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

    /// Returns a handle that does not keep the pool open, as [`Arc::downgrade`](std::sync::Arc::downgrade) does. Use it
    /// for a timer that trims the pool, for a registry, or in an object that refers to its own pool. Takes the central
    /// lock for a moment.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::new();
    /// let weak = pool.downgrade();
    /// assert!(weak.upgrade().is_some_and(|again| again.ptr_eq(&pool)));
    /// drop(pool);
    /// assert!(weak.upgrade().is_none());
    /// ```
    #[must_use]
    pub fn downgrade(&self) -> WeakPool<T, L> {
        WeakPool {
            shared: WeakRef::new(&self.shared),
        }
    }

    /// Whether both handles refer to the same pool.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.shared.as_ptr() == other.shared.as_ptr()
    }

    /// The counts of the pool; see [`Stats`]. Takes the central lock, for a time that grows with the number of threads
    /// that use the pool.
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
            peak_live: counts.peak_live,
            waits: counts.waits as usize,
            capacity: counts.capacity,
            waiting: counts.waiting,
            wait_time: counts.wait_time,
            saturated: counts.saturated as usize,
            ..Stats::of_memory(self.shared.memory())
        }
    }

    /// Where and when each object in use was acquired, the oldest first. Empty unless the pool
    /// [tracks its holders](Builder::track_holders).
    ///
    /// The list has each object that a handle owns, each [vacant entry](crate::VacantEntry), and each object that is
    /// being created. The location is that of the call that acquired the object or created the future. An object whose
    /// handle was forgotten stays in the list for ever. Takes a lock and allocates a list.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::Pool;
    ///
    /// let pool = Pool::<String>::builder().track_holders(true).build()?;
    /// let (first, second) = (pool.acquire(), pool.acquire());
    /// let holders = pool.holders();
    /// assert!(holders[0].since <= holders[1].since);
    /// assert!(holders[0].location.column() < holders[1].location.column());
    /// drop((first, second));
    /// assert!(pool.holders().is_empty());
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        self.shared.holders().unwrap_or_default()
    }

    /// The bound on live objects, idle ones included; `None` if there is none. Takes the central lock for a moment.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.capacity()
    }

    /// Changes the [`capacity`](Self::capacity) at once. `None` removes the bound.
    ///
    /// A larger capacity serves waiters. With a smaller one, idle objects are dropped now, the longest idle first, and
    /// released objects too until the capacity holds. Until then no object is created, waiters go on waiting, and each
    /// release takes the central lock. If several threads release at the same time, a few more objects than necessary
    /// may be dropped.
    ///
    /// Capacity 0 pauses the pool: an acquire waits until the capacity is raised. A waiting call for several objects,
    /// more than the new capacity, ends at once: [`acquire_many`](Self::acquire_many) panics, and its variants return
    /// an error.
    ///
    /// The batch size stays as it was when the pool was built.
    ///
    /// # Panics
    ///
    /// As [`trim`](Self::trim).
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

    /// The number of idle objects, thread caches included; see [`Stats::idle`].
    #[must_use]
    pub fn idle(&self) -> usize {
        self.shared.counts().idle
    }

    /// The number of objects in use: those that handles own, and those granted to waiters that have not taken them yet;
    /// see [`Stats::in_use`]. 0 means that every handle was dropped.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.stats().in_use
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn was_resized(&self) -> bool {
        self.shared.was_resized()
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
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// The lifecycle that creates and resets the objects.
    #[must_use]
    pub fn lifecycle(&self) -> &L {
        &self.shared.hooks
    }
}

#[track_caller]
fn never_to_be_had(n: usize, capacity: usize) -> ! {
    panic!("acquire_many({n}) exceeds capacity {capacity}: ask for fewer or raise the capacity");
}

/// What to do when no object is idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Never,
    Until(Instant),
    Forever,
}

impl Wait {
    fn at_most(timeout: Duration) -> Self {
        Instant::now()
            .checked_add(timeout)
            .map_or(Wait::Forever, Wait::Until)
    }
}

impl<T, L: Recycle<T> + ?Sized> Clone for Pool<T, L> {
    fn clone(&self) -> Self {
        Pool {
            shared: self.shared.clone(),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for Pool<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holders = self.shared.holders().filter(|_| f.alternate());
        let mut shown = f.debug_struct("Pool");
        shown
            .field("name", &self.name())
            .field("backend", &self.backend())
            .field("capacity", &self.capacity())
            .field("stats", &self.stats());
        if let Some(holders) = holders {
            shown.field("holders", &holders);
        }
        shown.finish_non_exhaustive()
    }
}

/// A handle that does not keep its pool open. [`Pool::downgrade`] returns one.
///
/// The pool ends when its last [`Pool`] is dropped, but the memory of the pool itself stays until the last `WeakPool`
/// is dropped. Cloning and dropping a `WeakPool` takes the central lock for a moment.
pub struct WeakPool<T, L: Recycle<T> + ?Sized = Derived> {
    shared: WeakRef<T, L>,
}

impl<T, L: Recycle<T> + ?Sized> UnwindSafe for WeakPool<T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for WeakPool<T, L> {}

impl<T, L: Recycle<T> + ?Sized> WeakPool<T, L> {
    /// The pool. `None` once its last [`Pool`] has been dropped.
    #[must_use]
    pub fn upgrade(&self) -> Option<Pool<T, L>> {
        self.shared.upgrade().map(Pool::from_shared)
    }

    /// Whether both are handles of one pool.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.shared.as_ptr() == other.shared.as_ptr()
    }
}

impl<T, L: Recycle<T> + ?Sized> Clone for WeakPool<T, L> {
    fn clone(&self) -> Self {
        WeakPool {
            shared: self.shared.clone(),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for WeakPool<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakPool").finish_non_exhaustive()
    }
}

/// The objects that were idle, on their way out of the pool; from [`Pool::drain`].
#[must_use = "the objects are dropped with the iterator"]
pub struct Drain<'a, T, L: Recycle<T> + ?Sized = Derived> {
    /// Objects left are destroyed with the iterator.
    idle: Reclaimed<T, Shared<T, L>>,
    _pool: PhantomData<&'a Pool<T, L>>,
}

// The objects are reached by value only.
impl<T, L: Recycle<T> + ?Sized> UnwindSafe for Drain<'_, T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for Drain<'_, T, L> {}

impl<T, L: Recycle<T> + ?Sized> Iterator for Drain<'_, T, L> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.idle.pop().map(Object::detach)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.idle.len(), Some(self.idle.len()))
    }
}

impl<T, L: Recycle<T> + ?Sized> ExactSizeIterator for Drain<'_, T, L> {}
impl<T, L: Recycle<T> + ?Sized> std::iter::FusedIterator for Drain<'_, T, L> {}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for Drain<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain")
            .field("len", &self.idle.len())
            .finish_non_exhaustive()
    }
}

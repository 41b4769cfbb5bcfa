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
pub struct Pool<T, L: Recycle<T> + ?Sized = Derived> {
    shared: SharedRef<T, Shared<T, L>>,
}

// If a hook panics, its object is dropped, and nothing else of the pool can be seen half done.
impl<T, L: Recycle<T> + ?Sized> UnwindSafe for Pool<T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for Pool<T, L> {}

impl<T: Poolable> Pool<T> {
    /// A pool with every choice at its default: [`Backend::Batched`], no bound, nothing made yet.
    #[must_use]
    pub fn new() -> Self {
        let config = Config::default();
        let fast = Fast::creating(&config);
        Pool::from_config((config, Chunks::new()), Derived, fast)
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
    /// makes a fresh object, `reset` puts a used one back to that state. For a pool whose type has to be written down,
    /// in a `static` or a field, see [`FnPool`].
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
/// The lifecycle is a part of a pool's type, and closures have no name. Functions, and closures that capture nothing,
/// become `fn` pointers, which have one:
///
/// ```
/// use pool_core::FnPool;
/// use std::sync::LazyLock;
///
/// static BUFFERS: LazyLock<FnPool<Vec<u8>>> = LazyLock::new(|| {
///     let builder = FnPool::<Vec<u8>>::builder_fn(|| Vec::with_capacity(1500), Vec::clear);
///     builder.capacity(64).build().expect("the choices agree")
/// });
///
/// struct Server {
///     lines: FnPool<String>,
/// }
///
/// let server = Server {
///     lines: FnPool::<String>::builder_fn(String::new, String::clear).build()?,
/// };
/// assert!(BUFFERS.acquire().capacity() >= 1500 && server.lines.acquire().is_empty());
/// # Ok::<(), pool_core::BuildError>(())
/// ```
///
/// A hook that captures goes into a box, at the price of a virtual call, as that of a pointer is:
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
///
/// ```
/// use pool_core::{FnPool, FnPooled};
///
/// struct Request {
///     body: FnPooled<String>,
/// }
///
/// let bodies = FnPool::<String>::builder_fn(String::new, String::clear).build()?;
/// assert!(Request { body: bodies.acquire() }.body.is_empty());
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub type FnPooled<T> = Pooled<T, FnHooks<T>>;

impl<T> FnPool<T> {
    /// Like [`builder_with`](Pool::builder_with), of functions or of closures that capture nothing, without a cast: see
    /// [`FnPool`].
    pub fn builder_fn(create: fn() -> T, reset: fn(&mut T)) -> Builder<T, FnHooks<T>> {
        Pool::builder_with(create, reset)
    }
}

impl<T, R: Fn(&mut T)> Pool<T, WithoutCreate<R>> {
    /// Like [`builder`](Pool::builder), for a pool that makes no objects itself: it has [`entry`](Self::entry) and
    /// its like, and no `acquire`. `reset` puts a used object back to the state that its next user expects.
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
    /// If the pool was [closed](Self::close), or has [as many waiters as it may](Builder::max_waiting). If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
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
    fn refuse(&self, error: AcquireError) -> ! {
        let name = self
            .name()
            .map_or(String::new(), |name| format!(" {name:?}"));
        let reason = match error {
            AcquireError::Closed => "which is closed; use `try_acquire`",
            _ => "whose queue of waiters is full; use `acquire_timeout`",
        };
        panic!("acquire from pool{name}, {reason} where that can happen");
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn acquire_slow_or_panic(&self, missed: Miss<'_>) -> Pooled<T, L> {
        match self.entry_slow(missed, Wait::Forever, Location::caller()) {
            Ok(entry) => entry.or_create(),
            Err(error) => self.refuse(error),
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
    #[track_caller]
    pub fn try_acquire(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::Never, Location::caller()),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
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
    #[track_caller]
    pub fn try_acquire_idle(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.shared.pop_hit() {
            Ok(object) => Ok(Pooled::new(object)),
            Err(missed) => self.try_acquire_idle_slow(missed, Location::caller()),
        }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// As [`acquire`](Self::acquire), waiting no longer than `timeout`.
    ///
    /// An object that comes back just as the time is up is either acquired or passed on, never
    /// lost. A `timeout` beyond what the clock can count waits for ever.
    ///
    /// # Errors
    ///
    /// [`Timeout`](AcquireError::Timeout); [`Saturated`](AcquireError::Saturated); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
    #[inline]
    #[track_caller]
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Pooled<T, L>, AcquireError> {
        match self.acquire_hit() {
            Ok(object) => Ok(object),
            Err(missed) => self.acquire_slow(missed, Wait::at_most(timeout), Location::caller()),
        }
    }

    /// An object by the backend's fast path: mostly from the calling thread's cache.
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
    /// An idle object, or a place for one that the caller makes: at the bound, waits for either as
    /// [`acquire`](Pool::acquire) does, in the same queue.
    ///
    /// With [`ResetOn::Acquire`], an idle object found not reusable is dropped, and its place is what is returned.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed); [`Saturated`](AcquireError::Saturated).
    ///
    /// # Panics
    ///
    /// With [`ResetOn::Acquire`], if `reset` or `is_reusable` panics. The object is dropped then and its permit
    /// returned.
    #[track_caller]
    pub fn entry(&self) -> Result<Entry<T, L>, AcquireError> {
        self.entry_for(Location::caller())
    }

    /// As [`entry`](Self::entry), without waiting.
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

    /// As [`entry`](Self::entry), waiting no longer than `timeout`. (What the caller takes to make the object does
    /// not count.)
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

    /// [`entry`](Self::entry) that was asked for elsewhere.
    pub(crate) fn entry_for(&self, caller: Caller) -> Result<Entry<T, L>, AcquireError> {
        self.entry_with(Wait::Forever, caller)
    }

    fn entry_with(&self, wait: Wait, caller: Caller) -> Result<Entry<T, L>, AcquireError> {
        match self.shared.pop_hit() {
            Ok(object) => Ok(Entry::Idle(Pooled::new(object))),
            Err(missed) => self.entry_slow(missed, wait, caller),
        }
    }

    /// As [`entry`](Self::entry), as a future: see [`acquire_async`](Pool::acquire_async).
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

    /// Notes who holds an entry, if that is tracked.
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

    /// A handle of an object that was idle, for a caller that wants none to be made; `None` if it turns out
    /// not to be reusable.
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
    /// Acquires an object as [`acquire`](Self::acquire) does, as a future: at the bound the task waits,
    /// in one queue with threads that wait, and the thread goes on with other tasks.
    ///
    /// Requires feature `async`.
    ///
    /// The future works with any executor: it needs no timer and no thread. Dropped before it is ready, it leaves
    /// the queue; an object that it had been granted meanwhile is passed on to the next waiter. A future that was
    /// served and is not polled keeps its object, and [`in_use`](Self::in_use) counts it.
    ///
    /// # Errors
    ///
    /// [`Closed`](AcquireError::Closed); [`Saturated`](AcquireError::Saturated).
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
    /// Acquires `n` objects at once: idle objects in one visit to the thread's cache if it has as many, in one
    /// to the depot if not; missing objects are made. At the bound, the call waits until `n` can be had together, in
    /// one queue with the other waiters: while it is first it collects what comes back, so it is not starved, and the
    /// waiters behind it wait until it has all.
    ///
    /// # Panics
    ///
    /// If `n` exceeds the capacity, the pool was [closed](Self::close), or has [as many
    /// waiters as it may](Builder::max_waiting). If a hook panics: `create`, or with
    /// [`ResetOn::Acquire`] `reset` or `is_reusable`. Its object is dropped then, and the others go back.
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
                Err(error) => self.refuse(error),
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

    /// As [`acquire_many`](Self::acquire_many), waiting no longer than `timeout`. All or nothing: what was collected
    /// when the time is up goes to the next waiter.
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

    /// As [`acquire_many`](Self::acquire_many), as a future: see [`acquire_async`](Self::acquire_async). Tasks that
    /// need several objects get them so, and not one after the other, while they could wait for each other.
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
    /// Makes objects until `n` are idle where any thread finds them, so that the next `n`
    /// acquires make none. Objects in use do not count, nor do those in the caches of other threads, which are
    /// left alone: this interrupts no thread. (But a [`Queue`](Backend::Queue) that has to grow for them does, once.)
    ///
    /// Returns how many are idle now, all caches included: fewer than `n` only if the bound or `max_idle` does
    /// not allow as many, or the pool is closed. Where the bound leaves no room because other threads cache the
    /// objects, it makes none, and those stay where they are; [`trim(usize::MAX)`](Self::trim) brings them to where any
    /// thread finds them. Where `max_idle` is near, a cache in use counts as full.
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

    /// Readies the calling thread: after this its acquires and drops, of up to a batch of objects held at a time,
    /// ask for no memory and touch none for the first time. For a thread that is about to take its first message.
    ///
    /// The thread has its cache then, with a batch of objects in it, taken from where any thread finds them or made,
    /// as far as the bound and `max_idle` allow. Where threads have no cache of objects, as many are idle for all
    /// (at least: see [`reserve`](Self::reserve)). A [`Heap`](Backend::Heap) pool still asks the allocator for each
    /// object. Interrupts no thread. To call it again costs a visit to the central lock.
    ///
    /// # Panics
    ///
    /// If making an object does; objects made before stay.
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
        self.shared.close(false);
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

    /// A handle that does not keep the pool open, as [`Arc::downgrade`](std::sync::Arc::downgrade) gives: for a timer
    /// that trims it, a registry, or an object that knows its pool. Takes the central lock for a moment.
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

    /// Whether both are handles of one pool.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.shared.as_ptr() == other.shared.as_ptr()
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
            peak_live: counts.peak_live,
            waits: counts.waits as usize,
            capacity: counts.capacity,
            waiting: counts.waiting,
            wait_time: counts.wait_time,
            saturated: counts.saturated as usize,
            ..Stats::of_memory(self.shared.memory())
        }
    }

    /// Where each object in use was acquired, and when: the oldest first. Empty, unless the pool
    /// [tracks its holders](Builder::track_holders).
    ///
    /// An object in use is one in a handle, however the handle was passed on or shared, and a [place](crate::VacantEntry)
    /// or a `create` for one; the place is that of the call that acquired it, of a future that of the call that made the
    /// future. An object that was forgotten with its handle is in it for ever; one that was detached or leaked is not.
    /// Takes a lock and allocates a list.
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
    /// The lifecycle that makes and resets the objects.
    #[must_use]
    pub fn lifecycle(&self) -> &L {
        &self.shared.hooks
    }
}

/// Panics: a burst of `n` is more than the pool may ever hold.
#[track_caller]
fn never_to_be_had(n: usize, capacity: usize) -> ! {
    panic!(
        "acquire_many({n}) from a pool with capacity {capacity}: there can never be so many; ask for fewer or raise the \
         capacity"
    );
}

/// What to do when no object is idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Create one or fail.
    Never,
    /// Create one, or wait for one until then.
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

/// A handle of a pool that does not keep it open; from [`Pool::downgrade`]. The pool ends with its last [`Pool`] all
/// the same; the memory of the pool itself stays until the last `WeakPool` is gone. Cloning and dropping one takes the
/// central lock for a moment.
pub struct WeakPool<T, L: Recycle<T> + ?Sized = Derived> {
    shared: WeakRef<T, L>,
}

impl<T, L: Recycle<T> + ?Sized> UnwindSafe for WeakPool<T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for WeakPool<T, L> {}

impl<T, L: Recycle<T> + ?Sized> WeakPool<T, L> {
    /// The pool; `None` once its last [`Pool`] is gone.
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

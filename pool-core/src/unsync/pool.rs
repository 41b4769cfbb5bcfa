//! `Pool`: what a user acquires from.

use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
#[cfg(feature = "std")]
use std::time::Instant;

use super::shared::{Drained, Shared};
use super::{Builder, Burst, Entry, Pooled};
#[cfg(feature = "std")]
use crate::central::trim::TrimPolicy;
use crate::config::{Config, ResetOn};
use crate::error::{AcquireError, AttachError};
use crate::lifecycle::{Derived, FnHooks, Hooks, Lifecycle, Recycle};
use crate::object::{Chunks, ObjectPool, SharedRef};
use crate::observe::stats::Stats;
use crate::observe::trace;
use crate::poolable::Poolable;

/// A pool of `T` for one thread. `Pool` is a handle, like `Rc`, and ends as [`pool_core::Pool`](crate::Pool) does.
///
/// # Examples
///
/// ```compile_fail,E0277
/// let pool = pool_core::unsync::Pool::<String>::new();
/// std::thread::spawn(move || drop(pool)); // cannot be sent between threads safely
/// ```
pub struct Pool<T, L: Recycle<T> + ?Sized = Derived> {
    shared: SharedRef<T, Shared<T, L>>,
}

// A hook that panics loses its object, and nothing else of the pool can be seen half done.
impl<T, L: Recycle<T> + ?Sized> UnwindSafe for Pool<T, L> {}
impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for Pool<T, L> {}

impl<T: Poolable> Pool<T> {
    /// A pool with default settings: no bound, and no object created yet.
    #[must_use]
    pub fn new() -> Self {
        Pool::from_config((Config::default(), Chunks::new()), Derived)
    }

    /// Starts to configure a pool.
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
    /// Like [`builder`](Pool::builder), for a type that is not [`Poolable`]. See [`FnPool`] for a type that has a name.
    pub fn builder_with(create: C, reset: R) -> Builder<T, Hooks<C, R>> {
        Builder::new(Hooks::new(create, reset))
    }
}

/// A pool for one thread whose type can be written down, as [`pool_core::FnPool`](crate::FnPool).
pub type FnPool<T> = Pool<T, FnHooks<T>>;

/// A handle of a [`FnPool`].
pub type FnPooled<T> = Pooled<T, FnHooks<T>>;

impl<T> FnPool<T> {
    /// Like [`builder_with`](Pool::builder_with), for functions or for closures that capture nothing.
    pub fn builder_fn(create: fn() -> T, reset: fn(&mut T)) -> Builder<T, FnHooks<T>> {
        Pool::builder_with(create, reset)
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`builder`](Pool::builder), with a custom [`Lifecycle`].
    pub fn builder_for(lifecycle: L) -> Builder<T, L> {
        Builder::new(lifecycle)
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    pub(super) fn from_config((config, chunks): (Config, Chunks<T>), hooks: L::Hooks) -> Self {
        Pool {
            shared: SharedRef::<T, Shared<T, L>>::new(config, chunks, hooks),
        }
    }

    pub(super) fn from_shared(shared: SharedRef<T, Shared<T, L>>) -> Self {
        Pool { shared }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Takes an idle object, or creates one.
    ///
    /// # Panics
    ///
    /// At the bound, since no other thread can release an object; if the pool was closed. If a hook panics: `create`, or
    /// with [`ResetOn::Acquire`] `reset` or `is_reusable`. Then the object is dropped, and another may be created in its
    /// place.
    #[must_use = "an object that is not used goes back to the pool at once"]
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Pooled<T, L> {
        match self.try_acquire() {
            Ok(object) => object,
            Err(error) => self.refuse(format_args!("acquire"), "try_acquire", error),
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> Result<Pooled<T, L>, AcquireError> {
        self.try_entry_slow().map(Entry::or_create)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&self, call: fmt::Arguments<'_>, instead: &str, error: AcquireError) -> ! {
        let pool = self
            .name()
            .map_or("a pool".into(), |name| format!("pool {name:?}"));
        let (in_use, capacity) = (self.in_use(), self.capacity().unwrap_or(usize::MAX));
        match error {
            AcquireError::Closed => panic!(
                "{call} from {pool}, which is closed: use `{instead}`, which returns an error instead"
            ),
            _ => panic!(
                "{call} from {pool} with {in_use} of {capacity} objects in use: drop a handle, raise the capacity, or \
                 use `{instead}`, which returns an error instead"
            ),
        }
    }

    /// Takes an idle object, or creates one if the bound allows.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics, as in [`acquire`](Self::acquire).
    #[inline]
    pub fn try_acquire(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.take_idle() {
            Some(object) => Ok(object),
            None => self.make(),
        }
    }

    /// Acquires `n` objects at once: idle ones first, then new ones.
    ///
    /// # Panics
    ///
    /// As [`acquire`](Self::acquire). If a hook panics, the other objects return to the pool.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::unsync::Pool;
    ///
    /// let pool = Pool::<Vec<u8>>::new();
    /// let mut frames = pool.acquire_many(32);
    /// for (i, frame) in frames.iter_mut().enumerate() {
    ///     frame.push(i as u8);
    /// }
    /// drop(frames);
    /// assert_eq!(pool.idle(), 32);
    /// ```
    #[must_use = "objects that are not used go back to the pool at once"]
    #[track_caller]
    pub fn acquire_many(&self, n: usize) -> Burst<T, L> {
        match self.try_acquire_many(n) {
            Ok(burst) => burst,
            Err(error) => self.refuse(format_args!("acquire_many({n})"), "try_acquire_many", error),
        }
    }

    /// Acquires `n` objects at once, or none.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) if fewer are idle and the bound does not allow the rest;
    /// [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics, as in [`acquire_many`](Self::acquire_many). If `n`, without a bound, exceeds the address space.
    pub fn try_acquire_many(&self, n: usize) -> Result<Burst<T, L>, AcquireError> {
        if self.is_closed() {
            return Err(AcquireError::Closed);
        }
        if n > self.shared.available() {
            trace::exhausted(&self.shared.config, n);
            return Err(AcquireError::Exhausted);
        }
        if n == 0 {
            // Without the array, which an empty burst could not give back.
            return Ok(Burst::new(Vec::new()));
        }
        let mut burst = Burst::new(self.shared.take_buffer(n));
        for _ in 0..n {
            burst.push(self.try_acquire()?);
        }
        Ok(burst)
    }

    /// The lifecycle that creates and resets the objects.
    #[must_use]
    pub fn lifecycle(&self) -> &L {
        self.shared.hooks()
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Takes an idle object. Never creates one.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted); [`Closed`](AcquireError::Closed).
    #[inline]
    pub fn try_acquire_idle(&self) -> Result<Pooled<T, L>, AcquireError> {
        self.take_idle()
            .or_else(|| self.shared.pop_slow().map(Pooled::new))
            .or_else(|| self.take_reusable())
            .ok_or_else(|| self.nothing_idle())
    }

    #[cold]
    #[inline(never)]
    fn nothing_idle(&self) -> AcquireError {
        let error = match self.is_closed() {
            true => AcquireError::Closed,
            false => AcquireError::Exhausted,
        };
        self.tell(error);
        error
    }

    fn tell(&self, error: AcquireError) {
        if error == AcquireError::Exhausted {
            trace::exhausted(&self.shared.config, 1);
        }
    }

    #[inline(always)]
    fn take_idle(&self) -> Option<Pooled<T, L>> {
        self.shared.pop().map(Pooled::new)
    }

    /// With [`ResetOn::Acquire`]: the first idle object that is reusable.
    fn take_reusable(&self) -> Option<Pooled<T, L>> {
        loop {
            if let Some(object) = self.shared.pop_to_reset()?.reset_used() {
                return Some(Pooled::new(object));
            }
        }
    }

    /// Returns an idle object, or a vacant entry that the caller fills; as [`pool_core::Pool::try_entry`](crate::Pool::try_entry).
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted) at the bound; [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// With [`ResetOn::Acquire`], if `reset` or `is_reusable` panics.
    pub fn try_entry(&self) -> Result<Entry<T, L>, AcquireError> {
        match self.take_idle() {
            Some(object) => Ok(Entry::Idle(object)),
            None => self.try_entry_slow(),
        }
    }

    #[cold]
    #[inline(never)]
    fn try_entry_slow(&self) -> Result<Entry<T, L>, AcquireError> {
        if let Some(object) = self.shared.pop_slow() {
            return Ok(Entry::Idle(Pooled::new(object)));
        }
        if let Some(object) = self.shared.pop_to_reset() {
            return Ok(Entry::reset(object));
        }
        let permit = self.shared.try_acquire_permit();
        permit
            .map(Entry::vacant)
            .inspect_err(|&error| self.tell(error))
    }

    pub(super) fn keep_buffer(&self, buffer: Vec<Pooled<T, L>>) {
        self.shared.keep_buffer(buffer);
    }

    /// Adds a value that was created elsewhere, as if the pool had created it.
    ///
    /// # Errors
    ///
    /// At the bound and on a closed pool. The error contains the value.
    pub fn attach(&self, value: T) -> Result<Pooled<T, L>, AttachError<T>> {
        match self.shared.try_acquire_permit() {
            Ok(permit) => Ok(Pooled::new(permit.vacancy().adopt(value))),
            Err(reason) => Err(AttachError::new(value, reason)),
        }
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Creates objects until `n` are idle. Returns how many are idle now: fewer than `n` only if the bound or `max_idle`
    /// does not allow `n`, or the pool is closed.
    ///
    /// # Panics
    ///
    /// If creating an object panics. Objects created before stay.
    pub fn reserve(&self, n: usize) -> usize {
        let n = n.min(self.shared.config.max_idle.unwrap_or(usize::MAX));
        // Counted once: what hooks take meanwhile is theirs.
        for _ in self.idle()..n {
            let Ok(permit) = self.shared.try_acquire_permit() else {
                break;
            };
            let mut object = permit.vacancy().create();
            if self.shared.config.reset_on == ResetOn::Acquire {
                object.set_never_acquired();
            }
            self.shared.put(object);
        }
        self.idle()
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Drops idle objects until at most `keep` are left, the longest idle first, and frees chunks without objects.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` panics. All of them are dropped first.
    pub fn trim(&self, keep: usize) {
        self.shared.trim(self.idle().saturating_sub(keep));
    }

    /// [Trims](Self::trim) by a policy, as [`pool_core::Pool::trim_by`](crate::Pool::trim_by), and returns how many objects
    /// were dropped. An acquire takes longer only when fewer objects are left idle than before in the period.
    ///
    /// # Panics
    ///
    /// As [`trim`](Self::trim).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use pool_core::{TrimPolicy, unsync::Pool};
    ///
    /// let pool = Pool::<Vec<u8>>::new();
    /// let policy = TrimPolicy::idle_for(Duration::from_secs(60)).min_idle(100);
    /// drop(pool.acquire_many(1_000)); // a burst
    ///
    /// let start = Instant::now();
    /// pool.trim_by(&policy, start); // a period begins, in which little is needed
    /// drop(pool.acquire_many(200));
    /// assert_eq!(pool.trim_by(&policy, start + Duration::from_secs(61)), 800);
    /// ```
    #[cfg(feature = "std")]
    pub fn trim_by(&self, policy: &TrimPolicy, now: Instant) -> usize {
        self.shared.trim_by(policy, now)
    }

    /// Drops the idle objects for which `f` returns `false`, and returns how many. `f` sees the longest idle first, and
    /// the others keep their order.
    ///
    /// `f` may use the same pool. Objects are taken out 256 at a time, and count as in use meanwhile.
    ///
    /// # Panics
    ///
    /// If `f` or the drop of a `T` panics. Its object is dropped, and objects that `f` has not seen stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::unsync::Pool;
    ///
    /// let pool = Pool::<Vec<u8>>::new();
    /// let mut large = pool.acquire_many(3);
    /// large[1].reserve(1 << 20);
    /// drop(large);
    /// assert_eq!(pool.retain(|buffer| buffer.capacity() <= 1500), 1);
    /// assert_eq!(pool.idle(), 2);
    /// ```
    pub fn retain(&self, f: impl FnMut(&mut T) -> bool) -> usize {
        self.shared.retain(f)
    }

    /// Removes every idle object and returns them without a reset.
    pub fn drain(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        Drained::new(self.shared.take_oldest(usize::MAX))
    }

    /// Closes the pool for good. Later acquires fail. Idle objects are dropped now, and objects in use when they are
    /// released. Closing again does nothing.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` panics. All idle objects are dropped first.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Whether the pool was [closed](Self::close).
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.closed.get()
    }

    /// The counts of the pool; those about threads are 0.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let shared = &self.shared;
        let (created, live, idle) = (shared.created.get(), shared.live.get(), shared.idle());
        Stats {
            created,
            destroyed: created - live,
            idle,
            in_use: live - idle,
            discarded: shared.discarded.get(),
            capacity: self.capacity(),
            peak_live: shared.peak_live.get(),
            ..Stats::of_memory(shared.memory())
        }
    }

    /// The bound on live objects, idle ones included; `None` if there is none.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.config.capacity
    }

    /// The number of idle objects.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.shared.idle()
    }

    /// The number of objects that handles own.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.stats().in_use
    }

    /// The name the pool was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.shared.config.name.as_deref()
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
        f.debug_struct("Pool")
            .field("name", &self.name())
            .field("capacity", &self.capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

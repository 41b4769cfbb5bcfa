//! `Pool`: what a user acquires from.

use alloc::string::String;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::shared::{Drained, Shared};
use super::{Builder, Pooled};
use crate::config::{Config, ResetOn};
use crate::error::{AcquireError, AttachError};
use crate::lifecycle::{Derived, Hooks, Lifecycle};
use crate::object::{Object, SharedRef};
use crate::poolable::Poolable;
use crate::stats::Stats;
use crate::trace;

/// A pool of `T` for one thread. A cheap clone, like `Rc`: all clones are one pool.
///
/// Ends as [`pool_core::Pool`](crate::Pool) does: idle objects are dropped with the last `Pool`, those
/// in use with their handles.
///
/// # Examples
///
/// ```compile_fail,E0277
/// let pool = pool_core::unsync::Pool::<String>::new();
/// std::thread::spawn(move || drop(pool)); // cannot be sent between threads safely
/// ```
pub struct Pool<T, L: Lifecycle<T> = Derived> {
    shared: SharedRef<T, Shared<T, L>>,
}

// A hook that panics loses its object, and nothing else of the pool can be seen half done.
impl<T, L: Lifecycle<T>> UnwindSafe for Pool<T, L> {}
impl<T, L: Lifecycle<T>> RefUnwindSafe for Pool<T, L> {}

impl<T: Poolable> Pool<T> {
    /// A pool with every choice at its default: no bound, nothing made yet.
    #[must_use]
    pub fn new() -> Self {
        Pool::from_config(Config::default(), Derived)
    }

    /// Chooses bound and the rest.
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
    /// Chooses as [`builder`](Pool::builder) does, for a type that is not [`Poolable`].
    pub fn builder_with(create: C, reset: R) -> Builder<T, Hooks<C, R>> {
        Builder::new(Hooks::new(create, reset))
    }
}

impl<T, L: Lifecycle<T>> Pool<T, L> {
    /// Like [`builder`](Pool::builder), with a custom [`Lifecycle`].
    pub fn builder_for(lifecycle: L) -> Builder<T, L> {
        Builder::new(lifecycle)
    }

    pub(super) fn from_config(config: Config, lifecycle: L) -> Self {
        let prefill = config.prefill;
        let pool = Pool {
            shared: SharedRef::<T, Shared<T, L>>::new(config, lifecycle),
        };
        pool.reserve(prefill);
        pool
    }

    pub(super) fn from_shared(shared: SharedRef<T, Shared<T, L>>) -> Self {
        Pool { shared }
    }

    /// Takes an idle object, or makes one.
    ///
    /// # Panics
    ///
    /// At the bound, since no other thread could give an object back meanwhile; on a pool that was
    /// closed. If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped
    /// then and its permit returned.
    #[inline]
    #[track_caller]
    pub fn acquire(&self) -> Pooled<T, L> {
        match self.try_acquire() {
            Ok(object) => object,
            Err(error) => self.refuse(error),
        }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refuse(&self, error: AcquireError) -> ! {
        let name = self
            .name()
            .map_or(String::new(), |name| alloc::format!(" {name:?}"));
        panic!("acquire from pool{name}: {error}; use `try_acquire` where that can happen");
    }

    /// Takes an idle object, or makes one if the bound allows.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted); [`Closed`](AcquireError::Closed).
    ///
    /// # Panics
    ///
    /// If a hook panics: `create`, or with [`ResetOn::Acquire`] `reset` or `is_reusable`. The object is dropped then and its
    /// permit returned.
    #[inline]
    pub fn try_acquire(&self) -> Result<Pooled<T, L>, AcquireError> {
        match self.take_idle() {
            Some(object) => Ok(object),
            None => self.make(),
        }
    }

    /// Takes an idle object. Never makes one.
    ///
    /// # Errors
    ///
    /// [`Exhausted`](AcquireError::Exhausted); [`Closed`](AcquireError::Closed).
    #[inline]
    pub fn try_acquire_idle(&self) -> Result<Pooled<T, L>, AcquireError> {
        self.take_idle()
            .or_else(|| self.take_reusable())
            .ok_or_else(|| self.nothing_idle())
    }

    #[cold]
    #[inline(never)]
    fn nothing_idle(&self) -> AcquireError {
        let error = if self.shared.closed.get() {
            AcquireError::Closed
        } else {
            AcquireError::Exhausted
        };
        self.tell(error);
        error
    }

    /// Emits that an acquire failed.
    fn tell(&self, error: AcquireError) {
        if error == AcquireError::Exhausted {
            trace::exhausted(&self.shared.config, 1);
        }
    }

    #[inline(always)]
    fn take_idle(&self) -> Option<Pooled<T, L>> {
        self.shared.pop().map(Pooled::new)
    }

    /// An idle object that is reset only now. An object found not reusable is discarded, and the next one is tried.
    fn take_reusable(&self) -> Option<Pooled<T, L>> {
        loop {
            if let Some(object) = self.shared.pop_to_reset()?.reset_used() {
                return Some(Pooled::new(object));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> Result<Pooled<T, L>, AcquireError> {
        let object = match self.shared.pop_to_reset() {
            Some(object) => object.reset_or_remake(),
            None => self.create().inspect_err(|&error| self.tell(error))?,
        };
        Ok(Pooled::new(object))
    }

    fn create(&self) -> Result<Object<T, Shared<T, L>>, AcquireError> {
        Ok(self.shared.try_acquire_permit()?.vacancy().create())
    }

    /// Adopts a value made elsewhere, as if the pool had made it.
    ///
    /// # Errors
    ///
    /// Gives the value back at the bound and on a closed pool.
    pub fn attach(&self, value: T) -> Result<Pooled<T, L>, AttachError<T>> {
        match self.shared.try_acquire_permit() {
            Ok(permit) => Ok(Pooled::new(permit.vacancy().adopt(value))),
            Err(reason) => Err(AttachError::new(value, reason)),
        }
    }

    /// Makes objects until `n` are idle; objects in use do not count. Returns how many are idle now:
    /// fewer than `n` only if the bound or `max_idle` does not allow as many, or the pool is closed.
    ///
    /// # Panics
    ///
    /// If making an object does; objects made before stay.
    pub fn reserve(&self, n: usize) -> usize {
        let n = n.min(self.shared.config.max_idle.unwrap_or(usize::MAX));
        // Counted once: what hooks take meanwhile is theirs.
        for _ in self.idle()..n {
            let Ok(mut object) = self.create() else {
                break;
            };
            if self.shared.config.reset_on == ResetOn::Acquire {
                object.set_never_acquired();
            }
            self.shared.put(object);
        }
        self.idle()
    }

    /// Drops idle objects until at most `keep` are left, the longest idle first, and frees
    /// the chunks of memory that hold no object any more.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    pub fn trim(&self, keep: usize) {
        self.shared.trim(keep);
    }

    /// Takes out every object that is idle now, as they are.
    pub fn drain(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        Drained::new(self.shared.reclaim(0))
    }

    /// Closes the pool for good: later acquires fail, idle objects are dropped now and objects in
    /// use when they come back. Closing again does nothing.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all idle objects were dropped.
    pub fn close(&self) {
        self.shared.close();
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
            ..Stats::default()
        }
    }

    /// The bound on objects alive, idle ones included; `None` if there is none.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.shared.config.capacity
    }

    /// Objects waiting to be acquired.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.shared.idle()
    }

    /// Objects out in handles.
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
            .field("capacity", &self.capacity())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

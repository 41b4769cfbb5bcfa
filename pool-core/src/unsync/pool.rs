//! The front door.
#![allow(unsafe_code)] // The pool is reached through a raw pointer, since its end is counted by hand.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use super::inner::{Inner, InnerPtr};
use super::{Builder, Pooled};
use crate::arena::Node;
use crate::config::Config;
use crate::error::{AcquireError, AttachError};
use crate::lifecycle::{Derived, Hooks, Lifecycle};
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
    inner: InnerPtr<T, L>,
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
    /// Chooses as [`builder`](Pool::builder) does, for a lifecycle of the caller's.
    pub fn builder_for(lifecycle: L) -> Builder<T, L> {
        Builder::new(lifecycle)
    }

    pub(super) fn from_config(config: Config, lifecycle: L) -> Self {
        let prefill = config.prefill;
        let pool = Pool {
            inner: Inner::new(config, lifecycle),
        };
        pool.reserve(prefill);
        pool
    }

    /// # Safety
    ///
    /// `inner` is alive.
    pub(super) unsafe fn upgrade(inner: InnerPtr<T, L>) -> Option<Self> {
        // SAFETY: by contract.
        let pools = unsafe { &inner.as_ref().pools };
        if pools.get() == 0 {
            return None;
        }
        pools.set(pools.get() + 1);
        Some(Pool { inner })
    }

    #[inline(always)]
    fn inner(&self) -> &Inner<T, L> {
        // SAFETY: a `Pool` keeps its pool alive (LIFE-REFS).
        unsafe { self.inner.as_ref() }
    }

    /// Takes an idle object, or makes one.
    ///
    /// # Panics
    ///
    /// At the bound, since nobody else could give an object back meanwhile; on a pool that was
    /// closed; if making the object panics.
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
    /// If making the object does.
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
            .or_else(|| self.take_unwiped())
            .ok_or_else(|| self.nothing_idle())
    }

    #[cold]
    #[inline(never)]
    fn nothing_idle(&self) -> AcquireError {
        let error = if self.inner().closed.get() {
            AcquireError::Closed
        } else {
            AcquireError::Exhausted
        };
        self.tell(error);
        error
    }

    /// Tells of an acquire that failed.
    fn tell(&self, error: AcquireError) {
        if error == AcquireError::Exhausted {
            trace::exhausted(&self.inner().config, 1);
        }
    }

    #[inline(always)]
    fn take_idle(&self) -> Option<Pooled<T, L>> {
        let node = self.inner().pop()?;
        // SAFETY: it was idle in this pool and is the caller's now.
        Some(unsafe { Pooled::new(node) })
    }

    /// An idle object that is wiped only now.
    fn take_unwiped(&self) -> Option<Pooled<T, L>> {
        loop {
            let node = self.inner().pop_unwiped()?;
            // SAFETY: it was idle in this pool and is the caller's now.
            if unsafe { Inner::wipe(self.inner, node) } {
                // SAFETY: as above.
                return Some(unsafe { Pooled::new(node) });
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> Result<Pooled<T, L>, AcquireError> {
        if let Some(object) = self.take_unwiped() {
            return Ok(object);
        }
        self.inner()
            .admit()
            .inspect_err(|&error| self.tell(error))?;
        let node = self.create();
        // SAFETY: made just now.
        Ok(unsafe { Pooled::new(node) })
    }

    fn create(&self) -> NonNull<Node<T>> {
        // SAFETY: held by this `Pool`; callers were admitted.
        unsafe { Inner::fill(self.inner, L::create_in) }
    }

    /// Adopts a value made elsewhere, as if the pool had made it.
    ///
    /// # Errors
    ///
    /// Gives the value back at the bound and on a closed pool.
    pub fn attach(&self, value: T) -> Result<Pooled<T, L>, AttachError<T>> {
        if let Err(reason) = self.inner().admit() {
            return Err(AttachError::new(value, reason));
        }
        // SAFETY: held by this `Pool`, and admitted.
        let node = unsafe { Inner::fill(self.inner, |_, place| place.write(value)) };
        // SAFETY: adopted just now.
        Ok(unsafe { Pooled::new(node) })
    }

    /// Sees to it that `n` objects are idle; those in use do not count. Gives how many are idle now:
    /// fewer than `n` only if the bound or `max_idle` stands in the way, or the pool is closed.
    ///
    /// # Panics
    ///
    /// If making an object does; those made before stay.
    pub fn reserve(&self, n: usize) -> usize {
        let n = n.min(self.inner().config.max_idle.unwrap_or(usize::MAX));
        // Counted once: what hooks take meanwhile is theirs.
        for _ in self.idle()..n {
            if self.inner().admit().is_err() {
                break;
            }
            let node = self.create();
            // SAFETY: made just now, and kept since fewer are idle than may be.
            unsafe { Inner::put(self.inner, node) };
        }
        self.idle()
    }

    /// Drops idle objects until at most `keep` are left, those that were idle longest first, and frees
    /// the chunks of memory that hold no object any more.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of them were dropped.
    pub fn trim(&self, keep: usize) {
        // SAFETY: this `Pool` holds it.
        unsafe { Inner::trim(self.inner, keep) };
    }

    /// Takes out every object that is idle now, as they are.
    pub fn drain(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        let idle = self.inner().gather(0);
        let handles: Vec<_> = idle
            .into_iter()
            // SAFETY: it was idle in this pool and is nobody's now.
            .map(|node| unsafe { Inner::<T, L>::detach(self.inner, node) })
            .collect();
        handles.into_iter()
    }

    /// Closes the pool for good: later acquires fail, idle objects are dropped now and objects in
    /// use when they come back. Closing again does nothing.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all idle objects were dropped.
    pub fn close(&self) {
        // SAFETY: this `Pool` holds it.
        unsafe { Inner::close(self.inner) };
    }

    /// The counts of the pool; those about threads are 0.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let inner = self.inner();
        let (created, live, idle) = (inner.created.get(), inner.live.get(), inner.idle());
        Stats {
            created,
            destroyed: created - live,
            idle,
            in_use: live - idle,
            discarded: inner.discarded.get(),
            ..Stats::default()
        }
    }

    /// The bound on objects alive, idle ones included; `None` if there is none.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.inner().config.capacity
    }

    /// Objects waiting to be acquired.
    #[must_use]
    pub fn idle(&self) -> usize {
        self.inner().idle()
    }

    /// Objects out in handles.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.stats().in_use
    }

    /// The name the pool was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.inner().config.name.as_deref()
    }
}

impl<T, L: Lifecycle<T>> Clone for Pool<T, L> {
    fn clone(&self) -> Self {
        let pools = &self.inner().pools;
        // Forgotten clones could come to this.
        pools.set(pools.get().checked_add(1).expect("too many `Pool`s"));
        Pool { inner: self.inner }
    }
}

impl<T, L: Lifecycle<T>> Drop for Pool<T, L> {
    fn drop(&mut self) {
        // SAFETY: this `Pool` is given up.
        unsafe { Inner::let_go(self.inner) };
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

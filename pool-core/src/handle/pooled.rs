//! One object, one word.
#![allow(unsafe_code)] // Handles of what foreign code passed through are made again.

use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::SharedPooled;
use super::own::own_object;
use crate::lifecycle::{Derived, Recycle};
use crate::object::{Acquired, Object};
use crate::pool::Pool;
use crate::shared::Shared;

/// A handle that owns an object of a pool. Dropping the handle returns the object to the pool.
///
/// The handle is one word with a niche, so an `Option<Pooled<T>>` is one word too. It borrows nothing. It may be sent
/// to another thread if `T` may. It may outlive the pool: then its drop destroys the object. As with `Box`, the
/// operations of the handle are associated functions, such as `Pooled::detach(handle)`, so that they hide no method of
/// `T`.
///
/// The drop resets the object (or the next acquire does: [`ResetOn`](crate::ResetOn)) and drops it if it is not reusable.
/// If the reset panics, the panic propagates out of the drop, unless the thread is already unwinding.
///
/// Forgetting a handle, as with `mem::forget`, leaks the object: it counts as in use for ever.
///
/// # Examples
///
/// ```
/// use pool_core::{Pool, Pooled};
///
/// let pool = Pool::<Vec<u8>>::new();
/// let mut buffer = pool.acquire();
/// buffer.extend_from_slice(b"hello");
/// let sent = std::thread::spawn(move || buffer.len());
/// assert_eq!(sent.join().unwrap(), 5);
/// assert_eq!(pool.idle(), 1);
/// assert_eq!(size_of::<Option<Pooled<Vec<u8>>>>(), size_of::<usize>());
/// ```
// One word, as the erased objects in slots are (HANDLE-WORD).
//
// Invariant in `T`, other than `Box`: the object outlives the handle in the pool, so it must not be replaced by
// a value that lives less long.
#[repr(transparent)]
pub struct Pooled<T, L: Recycle<T> + ?Sized = Derived> {
    acquired: Acquired<T, Shared<T, L>>,
}

own_object!(pub(crate) Pooled, "pool_core");

impl<T, L: Recycle<T> + ?Sized> Pooled<T, L> {
    /// Converts the handle into one that can be cloned, for one message to many consumers. Allocates nothing.
    #[must_use]
    pub fn into_shared(this: Self) -> SharedPooled<T, L> {
        SharedPooled::new(Self::into_object(this))
    }

    /// The pool that the object returns to. `None` once the last [`Pool`] has been dropped. Costs an atomic increment.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Pool, Pooled};
    ///
    /// let pool = Pool::<String>::new();
    /// let name = pool.acquire();
    /// let another = Pooled::pool(&name).map(|pool| pool.acquire());
    /// assert!(another.is_some());
    /// drop((pool, another));
    /// assert!(Pooled::pool(&name).is_none());
    /// ```
    #[must_use]
    pub fn pool(this: &Self) -> Option<Pool<T, L>>
    where
        T: Send,
    {
        this.acquired.object().shared_ref().map(Pool::from_shared)
    }
}

impl<T, L: Recycle<T> + ?Sized> Pooled<T, L> {
    pub(crate) fn address(this: &Self) -> usize {
        this.acquired.object().address()
    }
}

impl<T, L: Recycle<T> + ?Sized> Deref for Pooled<T, L> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.acquired
    }
}

impl<T, L: Recycle<T> + ?Sized> DerefMut for Pooled<T, L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.acquired
    }
}

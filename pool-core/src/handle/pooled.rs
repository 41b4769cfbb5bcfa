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

/// An object of a pool, given back when this is dropped.
///
/// One word, with a niche, so an `Option<Pooled<T>>` is one word too. Owned: it borrows nothing,
/// may be sent to another thread if `T` may, and may outlive the pool; the object is destroyed then when
/// the handle is dropped. As with `Box`, its own operations are associated functions, so that they hide no method
/// of `T`: `Pooled::detach(handle)`.
///
/// Dropping resets the object (unless the pool has [`ResetOn::Acquire`](crate::ResetOn)), asks
/// whether it is reusable, and keeps or drops it. A panic of the reset goes on through the drop,
/// unless the thread is unwinding already.
///
/// Forgetting a handle leaks the object: it counts as in use for ever.
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
    /// Turns the handle into a handle that can be cloned: for one message to many consumers. Allocates
    /// nothing.
    #[must_use]
    pub fn into_shared(this: Self) -> SharedPooled<T, L> {
        SharedPooled::new(Self::into_object(this))
    }

    /// The pool that the object goes back to; `None` once the last [`Pool`] is gone.
    ///
    /// Costs an atomic increment, as cloning a `Pool` does.
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

//! One object, one word.
#![allow(unsafe_code)] // Handles of what foreign code passed through are made again.

use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::SharedPooled;
use super::forward::forward_to_object;
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

// As for `Box`.
impl<T: UnwindSafe, L: Recycle<T> + ?Sized> UnwindSafe for Pooled<T, L> {}
impl<T: RefUnwindSafe, L: Recycle<T> + ?Sized> RefUnwindSafe for Pooled<T, L> {}
// Moving the handle does not move the object. (The object is never pinned by it: a reset gets `&mut
// T`, so there is no `Pin<Pooled<T>>` of a `T` that is not `Unpin`.)
impl<T, L: Recycle<T> + ?Sized> Unpin for Pooled<T, L> {}

impl<T, L: Recycle<T> + ?Sized> Pooled<T, L> {
    #[inline(always)]
    pub(crate) fn new(object: Object<T, Shared<T, L>>) -> Self {
        Pooled {
            acquired: Acquired::new(object),
        }
    }

    #[inline(always)]
    pub(super) fn into_object(this: Self) -> Object<T, Shared<T, L>> {
        this.acquired.into_object()
    }

    /// Takes the object out of the pool: moves it to the caller, as it is. Its memory is used for
    /// the next object that the pool makes, its place under the bound is free at once.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Pool, Pooled};
    ///
    /// let pool = Pool::<String>::builder().capacity(1).build()?;
    /// let mut name = pool.acquire();
    /// name.push_str("kept");
    /// let name: String = Pooled::detach(name);
    /// assert_eq!(name, "kept");
    /// assert!(pool.try_acquire().is_ok());
    /// # Ok::<(), pool_core::BuildError>(())
    /// ```
    #[must_use = "an object that is to be dropped is discarded with `Pooled::discard`"]
    pub fn detach(this: Self) -> T {
        Self::into_object(this).detach()
    }

    /// Drops the object instead of giving it back, without a reset: for an object that is known to be
    /// broken. Counts as [`discarded`](crate::Stats::discarded).
    ///
    /// # Panics
    ///
    /// If the drop of `T` does; the place under the bound is given back all the same.
    pub fn discard(this: Self) {
        Self::into_object(this).discard();
    }

    /// Turns the handle into a handle that can be cloned: for one message to many consumers. Allocates
    /// nothing.
    #[must_use]
    pub fn into_shared(this: Self) -> SharedPooled<T, L> {
        SharedPooled::new(this.acquired)
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

    /// Gives the address of the object, and with it the duty to make a handle of it again with
    /// [`from_raw`](Self::from_raw): for passing an object through foreign code.
    #[must_use = "the object is leaked unless a handle is made of it again"]
    pub fn into_raw(this: Self) -> *mut T {
        Self::into_object(this).into_raw()
    }

    /// Makes a handle again of what [`into_raw`](Self::into_raw) gave.
    ///
    /// # Safety
    ///
    /// `object` came from `into_raw` of a `Pooled` with the same `T` and `L`, and this is called
    /// once for it: two handles of one object would both give it back.
    #[must_use]
    pub unsafe fn from_raw(object: *mut T) -> Self {
        // SAFETY: by contract given up by `into_raw`, and taken up once.
        Self::new(unsafe { Object::from_raw(object) })
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

forward_to_object!(Pooled, mutable);

//! One object, one word, one thread.
#![allow(unsafe_code)] // Handles of what foreign code passed through are made again.

use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::Pool;
use super::shared::Shared;
use crate::handle::own::own_object;
use crate::lifecycle::{Derived, Recycle};
use crate::object::{Acquired, Object};

/// An object of a pool for one thread, given back when this is dropped. As
/// [`pool_core::Pooled`](crate::Pooled), but stays on its thread.
///
/// # Examples
///
/// ```compile_fail,E0277
/// let pool = pool_core::unsync::Pool::<String>::new();
/// let name = pool.acquire();
/// std::thread::spawn(move || drop(name)); // cannot be sent between threads safely
/// ```
// Invariant in `T`, as `pool_core::Pooled` is. Neither `Send` nor `Sync`, as a raw pointer is not.
pub struct Pooled<T, L: Recycle<T> + ?Sized = Derived> {
    acquired: Acquired<T, Shared<T, L>>,
}

own_object!(pub(super) Pooled, "pool_core::unsync");

impl<T, L: Recycle<T> + ?Sized> Pooled<T, L> {
    /// The pool that the object goes back to; `None` once the last [`Pool`] is gone.
    #[must_use]
    pub fn pool(this: &Self) -> Option<Pool<T, L>> {
        this.acquired.object().shared_ref().map(Pool::from_shared)
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

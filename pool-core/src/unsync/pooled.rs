//! One object, one word, one thread.

use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::Pool;
use super::shared::Shared;
use crate::handle::forward::forward_to_object;
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

impl<T: UnwindSafe, L: Recycle<T> + ?Sized> UnwindSafe for Pooled<T, L> {}
impl<T: RefUnwindSafe, L: Recycle<T> + ?Sized> RefUnwindSafe for Pooled<T, L> {}
impl<T, L: Recycle<T> + ?Sized> Unpin for Pooled<T, L> {}

impl<T, L: Recycle<T> + ?Sized> Pooled<T, L> {
    #[inline(always)]
    pub(super) fn new(object: Object<T, Shared<T, L>>) -> Self {
        Pooled {
            acquired: Acquired::new(object),
        }
    }

    /// Takes the object out of the pool, as it is.
    #[must_use = "an object that is to be dropped is discarded with `Pooled::discard`"]
    pub fn detach(this: Self) -> T {
        this.acquired.into_object().detach()
    }

    /// Drops the object instead of giving it back, without a reset.
    ///
    /// # Panics
    ///
    /// If the drop of `T` does.
    pub fn discard(this: Self) {
        this.acquired.into_object().discard();
    }

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

forward_to_object!(Pooled, mutable);

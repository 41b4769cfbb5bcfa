//! A counted reference of a pool: what a `Pool` is.
#![allow(unsafe_code)] // The pool is reached through a raw pointer, since its end is counted by hand.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use super::ObjectPool;

/// A counted reference of a pool. A clone adds one to the count; the last one dropped closes the pool, which
/// is freed when its last object is gone too (LIFE-REFS).
pub(crate) struct SharedRef<T, P: ObjectPool<T>> {
    pool: NonNull<P>,
    _of: PhantomData<fn() -> T>,
}

impl<T, P: ObjectPool<T>> SharedRef<T, P> {
    /// # Safety
    ///
    /// The pool is a leaked box, and has counted this reference, which is the caller's.
    pub(crate) unsafe fn from_counted(pool: NonNull<P>) -> Self {
        SharedRef {
            pool,
            _of: PhantomData,
        }
    }

    /// The address of the pool, through which it can be freed.
    pub(crate) fn as_ptr(&self) -> NonNull<P> {
        self.pool
    }
}

impl<T, P: ObjectPool<T>> Clone for SharedRef<T, P> {
    fn clone(&self) -> Self {
        self.add_ref();
        // SAFETY: counted just now.
        unsafe { Self::from_counted(self.pool) }
    }
}

impl<T, P: ObjectPool<T>> Drop for SharedRef<T, P> {
    fn drop(&mut self) {
        // SAFETY: this reference is given up.
        unsafe { P::release_ref(self.pool) };
    }
}

impl<T, P: ObjectPool<T>> Deref for SharedRef<T, P> {
    type Target = P;

    #[inline(always)]
    fn deref(&self) -> &P {
        // SAFETY: a reference keeps its pool alive (LIFE-REFS).
        unsafe { self.pool.as_ref() }
    }
}

//! Many objects at once.
#![allow(unsafe_code)] // The array is taken out of a burst that ends.

use std::mem::ManuallyDrop;

use super::Pooled;
use super::slice::slice_of_handles;
use crate::lifecycle::{Derived, Lifecycle, Recycle};
use crate::object::release::release_many;

/// Objects that were acquired together, and return in one visit to the thread's cache; from
/// [`Pool::acquire_many`](crate::Pool::acquire_many).
///
/// A slice of handles. Handles can be taken out one by one, and handles of any pool come in; each returns to its own
/// pool. The pool reuses the array of handles, so a burst allocates nothing in steady state.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let pool = Pool::<Vec<u8>>::new();
/// let mut frames = pool.acquire_many(32);
/// for (i, frame) in frames.iter_mut().enumerate() {
///     frame.push(i as u8);
/// }
/// assert_eq!(frames[31][..], [31]);
/// drop(frames);
/// assert_eq!(pool.idle(), 32);
/// ```
pub struct Burst<T, L: Recycle<T> + ?Sized = Derived> {
    /// Taken out once. (With `mem::take` the drop of the empty array would cost each burst a call.)
    handles: ManuallyDrop<Vec<Pooled<T, L>>>,
}

impl<T, L: Recycle<T> + ?Sized> Burst<T, L> {
    #[inline(always)]
    pub(crate) fn new(handles: Vec<Pooled<T, L>>) -> Self {
        Burst {
            handles: ManuallyDrop::new(handles),
        }
    }

    fn into_handles(self) -> Vec<Pooled<T, L>> {
        let mut burst = ManuallyDrop::new(self);
        // SAFETY: the burst is neither dropped nor used again.
        unsafe { ManuallyDrop::take(&mut burst.handles) }
    }
}

impl<T, L: Lifecycle<T>> Burst<T, L> {
    /// Resets each object, for a pool that resets on acquire. If a hook panics, the other objects return to the pool.
    pub(crate) fn reset_all(&mut self) {
        for at in 0..self.handles.len() {
            let object = Pooled::into_object(self.handles.swap_remove(at));
            self.handles.push(Pooled::new(object.reset_or_remake()));
            let last = self.handles.len() - 1;
            self.handles.swap(at, last);
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for Burst<T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the burst is not used after its drop.
        release_many(unsafe { ManuallyDrop::take(&mut self.handles) });
    }
}

slice_of_handles!(Burst, "pool_core");

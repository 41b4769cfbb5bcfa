//! Many objects at once.
#![allow(unsafe_code)] // The array is taken out of a burst that ends.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::{fmt, vec};

use super::Pooled;
use crate::lifecycle::{Derived, Lifecycle, Recycle};
use crate::object::release::release_many;

/// Objects of one pool, acquired together and given back together, in one visit to the thread's
/// cache each way; from [`Pool::acquire_many`](crate::Pool::acquire_many).
///
/// A slice of handles. Iterated by value, it gives the handles away one by one, and each goes back on
/// its own. The array they lie in is the pool's and is used again, so a burst allocates nothing in
/// steady state.
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
    /// Taken out once, when the burst is dropped or taken apart. (With `mem::take` a drop of the empty array
    /// that is left would cost each burst a call.)
    handles: ManuallyDrop<Vec<Pooled<T, L>>>,
}

impl<T, L: Recycle<T> + ?Sized> Burst<T, L> {
    #[inline(always)]
    pub(crate) fn new(handles: Vec<Pooled<T, L>>) -> Self {
        Burst {
            handles: ManuallyDrop::new(handles),
        }
    }

    pub(crate) fn push(&mut self, handle: Pooled<T, L>) {
        self.handles.push(handle);
    }
}

impl<T, L: Lifecycle<T>> Burst<T, L> {
    /// Resets each object, for a pool that resets on acquire; an object that is not reusable is
    /// made anew in its place.
    ///
    /// # Panics
    ///
    /// If a hook does. Its object is destroyed, the others go back.
    pub(crate) fn reset_all(&mut self) {
        for at in 0..self.handles.len() {
            let object = Pooled::into_object(self.handles.swap_remove(at));
            self.handles.push(Pooled::new(object.reset_or_remake()));
            let last = self.handles.len() - 1;
            self.handles.swap(at, last);
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Burst<T, L> {
    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there are none: of a burst of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for Burst<T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the burst is not used after its drop.
        release_many(unsafe { ManuallyDrop::take(&mut self.handles) });
    }
}

impl<T, L: Recycle<T> + ?Sized> Deref for Burst<T, L> {
    type Target = [Pooled<T, L>];

    fn deref(&self) -> &[Pooled<T, L>] {
        &self.handles
    }
}

impl<T, L: Recycle<T> + ?Sized> DerefMut for Burst<T, L> {
    fn deref_mut(&mut self) -> &mut [Pooled<T, L>] {
        &mut self.handles
    }
}

impl<T, L: Recycle<T> + ?Sized> IntoIterator for Burst<T, L> {
    type Item = Pooled<T, L>;
    type IntoIter = vec::IntoIter<Pooled<T, L>>;

    /// The handles, one by one; the array is freed with the iterator.
    fn into_iter(self) -> Self::IntoIter {
        let mut burst = ManuallyDrop::new(self);
        // SAFETY: the burst is neither dropped nor used again.
        unsafe { ManuallyDrop::take(&mut burst.handles) }.into_iter()
    }
}

impl<'a, T, L: Recycle<T> + ?Sized> IntoIterator for &'a Burst<T, L> {
    type Item = &'a Pooled<T, L>;
    type IntoIter = std::slice::Iter<'a, Pooled<T, L>>;

    fn into_iter(self) -> Self::IntoIter {
        self.handles.iter()
    }
}

impl<'a, T, L: Recycle<T> + ?Sized> IntoIterator for &'a mut Burst<T, L> {
    type Item = &'a mut Pooled<T, L>;
    type IntoIter = std::slice::IterMut<'a, Pooled<T, L>>;

    fn into_iter(self) -> Self::IntoIter {
        self.handles.iter_mut()
    }
}

impl<T: fmt::Debug, L: Recycle<T> + ?Sized> fmt::Debug for Burst<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

//! A place to make an object in, and the proof that it was made.
//!
//! A pool calls `init_in` with a [`Place`] and gets a [`Ready`] back; nobody else needs either,
//! except who writes `init_in` by hand. Both are safe: a `Ready` exists only where a value does,
//! and owns it until the pool takes it over.
#![allow(unsafe_code)] // Raw access to memory that is not yet a `T`.

use core::fmt;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Memory for one `T`, not yet a `T`.
///
/// Turned into a [`Ready`] by writing a value.
///
/// # Examples
///
/// ```
/// use std::mem::MaybeUninit;
/// use pool_core::Place;
///
/// let mut memory = MaybeUninit::uninit();
/// let ready = Place::new(&mut memory).write(7_u32);
/// assert_eq!(*ready, 7);
/// ```
pub struct Place<'a, T> {
    memory: &'a mut MaybeUninit<T>,
}

impl<'a, T> Place<'a, T> {
    /// A place in `memory`. What `memory` held is forgotten, not dropped.
    #[inline]
    pub fn new(memory: &'a mut MaybeUninit<T>) -> Self {
        Place { memory }
    }

    /// Moves `value` in.
    #[inline]
    pub fn write(self, value: T) -> Ready<'a, T> {
        self.memory.write(value);
        // SAFETY: written just above.
        unsafe { self.assume_init() }
    }

    /// The address, for writing through.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.memory.as_mut_ptr()
    }

    /// Declares that the place holds a value now.
    ///
    /// # Safety
    ///
    /// A valid `T` has been written through [`as_mut_ptr`](Self::as_mut_ptr).
    #[inline]
    pub unsafe fn assume_init(self) -> Ready<'a, T> {
        Ready {
            value: NonNull::from(self.memory).cast(),
            _owns: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Place<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

/// A value that stands in a [`Place`]. Owns the value: dropping a `Ready` drops it.
pub struct Ready<'a, T> {
    value: NonNull<T>,
    _owns: PhantomData<(&'a mut MaybeUninit<T>, T)>,
}

impl<T> Ready<'_, T> {
    /// Hands the value over to whoever owns the memory, and says where it stands.
    #[inline]
    pub(crate) fn into_ptr(self) -> NonNull<T> {
        let value = self.value;
        mem::forget(self);
        value
    }
}

// SAFETY: a `Ready` is a `T` owned in borrowed memory; moving one moves a `T`.
unsafe impl<T: Send> Send for Ready<'_, T> {}
// SAFETY: sharing one shares a `&T`.
unsafe impl<T: Sync> Sync for Ready<'_, T> {}

impl<T> Deref for Ready<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a `Ready` exists only where a value does.
        unsafe { self.value.as_ref() }
    }
}

impl<T> DerefMut for Ready<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; the borrow of the memory is exclusive.
        unsafe { self.value.as_mut() }
    }
}

impl<T> Drop for Ready<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a `Ready` owns its value, and `into_ptr` forgets the `Ready` that gave it away.
        unsafe { self.value.drop_in_place() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Ready<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ready").field(&**self).finish()
    }
}

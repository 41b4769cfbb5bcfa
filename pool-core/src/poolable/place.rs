//! A place to make an object in, and the proof that it was made: for an `init_in` that is written by hand. A [`Ready`]
//! exists only where a value does, and owns it until the pool takes it over.
#![allow(unsafe_code)] // Raw access to memory that is not yet a `T`.

use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// Uninitialized memory for one `T`. Writing a value returns a [`Ready`].
pub struct Place<'a, T> {
    memory: &'a mut MaybeUninit<T>,
}

impl<'a, T> Place<'a, T> {
    /// A place in `memory`. A value that `memory` held is forgotten.
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

    /// The address, to write through.
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

impl<'a, T> Place<'a, T> {
    /// Calls `make` to put a value here, and checks that the [`Ready`] it returns is of this place, which the type of
    /// `make` does not say.
    ///
    /// # Panics
    ///
    /// If the [`Ready`] is of another place.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use pool_core::{Place, Poolable};
    ///
    /// let mut memory = MaybeUninit::uninit();
    /// let ready = Place::new(&mut memory).fill_with(<[u8; 64]>::init_in);
    /// assert_eq!(*ready, [0; 64]);
    /// ```
    #[inline]
    pub fn fill_with(self, make: impl FnOnce(Place<'a, T>) -> Ready<'a, T>) -> Ready<'a, T> {
        let here = NonNull::from(&mut *self.memory).cast();
        let ready = make(self);
        if ready.value == here {
            return ready;
        }
        if size_of::<T>() != 0 {
            misplaced();
        }
        // A value without bytes is wherever its owner says it is.
        mem::forget(ready);
        Ready {
            value: here,
            _owns: PhantomData,
        }
    }

    /// Calls `make` to build a value in a new box.
    ///
    /// # Panics
    ///
    /// As [`fill_with`](Self::fill_with).
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Place, Poolable};
    ///
    /// let page: Box<[u8; 4096]> = Place::boxed(Poolable::init_in);
    /// assert!(page.iter().all(|&byte| byte == 0));
    /// ```
    #[inline]
    pub fn boxed(make: impl FnOnce(Place<'_, T>) -> Ready<'_, T>) -> Box<T> {
        let mut memory = Box::<T>::new_uninit();
        mem::forget(Place::new(&mut memory).fill_with(make));
        // SAFETY: `fill_with` returned, so a value stands in `memory`; the `Ready` that owned it is
        // forgotten, so the box is its only owner.
        unsafe { memory.assume_init() }
    }
}

impl<'a, T, const N: usize> Place<'a, [T; N]> {
    /// Calls `make` to put a value in each element's place, first to last. If it panics, the elements made before are
    /// dropped.
    ///
    /// # Panics
    ///
    /// If a [`Ready`] is of another place than the one given.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    /// use pool_core::Place;
    ///
    /// let mut memory = MaybeUninit::uninit();
    /// let mut next = 0;
    /// let ready = Place::new(&mut memory).write_each(|place| {
    ///     next += 1;
    ///     place.write(next)
    /// });
    /// assert_eq!(*ready, [1, 2, 3]);
    /// ```
    #[inline]
    pub fn write_each(
        self,
        mut make: impl FnMut(Place<'_, T>) -> Ready<'_, T>,
    ) -> Ready<'a, [T; N]> {
        let elements = self.memory.as_mut_ptr().cast::<T>();
        let mut made = MadeElements { elements, count: 0 };
        for index in 0..N {
            let element = elements.wrapping_add(index);
            // SAFETY: an element's share of the borrowed memory, lent to one call of `make`;
            // no code uses the whole until the loop has ended.
            let memory = unsafe { &mut *element.cast::<MaybeUninit<T>>() };
            mem::forget(Place::new(memory).fill_with(&mut make));
            made.count = index + 1;
        }
        mem::forget(made);
        Ready {
            value: NonNull::from(self.memory).cast(),
            _owns: PhantomData,
        }
    }
}

/// The first `count` elements of an array; drops them when making stops early.
struct MadeElements<T> {
    elements: *mut T,
    count: usize,
}

impl<T> Drop for MadeElements<T> {
    fn drop(&mut self) {
        let made = core::ptr::slice_from_raw_parts_mut(self.elements, self.count);
        // SAFETY: `write_each` counts an element once its `Ready` is forgotten, so the first
        // `count` elements hold values that have no other owner.
        unsafe { made.drop_in_place() }
    }
}

#[cold]
#[inline(never)]
fn misplaced() -> ! {
    panic!("`init_in` returned a `Ready` that stands in another place than the one it was given")
}

impl<T> fmt::Debug for Place<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

/// A value in a [`Place`]. Dropping a `Ready` drops its value.
pub struct Ready<'a, T> {
    value: NonNull<T>,
    _owns: PhantomData<(&'a mut MaybeUninit<T>, T)>,
}

impl<T> Ready<'_, T> {
    /// Hands the value over to the owner of the memory.
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

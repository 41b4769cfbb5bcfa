//! The form in which idle objects lie in slots and shelves: pointers, whatever their type.
#![allow(unsafe_code)] // Types are left out and put back.

use core::ptr::NonNull;
use std::mem::ManuallyDrop;

use super::block::Block;
use super::{Acquired, Object, ObjectPool};
use crate::handle::Pooled;
use crate::lifecycle::Recycle;
use crate::shared::Shared;
use crate::sync::{AtomicPtr, Ordering};

/// An idle object, whatever its type: all that backends know.
///
/// Made of an [`Object`] by [`into_erased`](Object::into_erased), whose ownership it stands for. A copy stands
/// for the same ownership, so of all copies one is made an object again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ErasedObject(NonNull<()>);

// SAFETY: an address. The code that makes an object of it again answers for its thread; the pool that an
// `ErasedObject` travels in is `Send` and `Sync` only as far as `T` is `Send`.
unsafe impl Send for ErasedObject {}
// SAFETY: as above; a shared `ErasedObject` can only be copied.
unsafe impl Sync for ErasedObject {}

impl ErasedObject {
    /// An address that is no object, for a test of what moves them.
    #[cfg(test)]
    pub(crate) fn dangling(address: usize) -> Self {
        ErasedObject(NonNull::new(std::ptr::without_provenance_mut(address)).unwrap())
    }
}

/// Room for one object, which another thread may take. The thread that puts one and the thread that takes it
/// agree by other means on when it is there.
pub(crate) struct ObjectCell(AtomicPtr<()>);

impl ObjectCell {
    pub(crate) fn new() -> Self {
        ObjectCell(AtomicPtr::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    pub(crate) fn put(&self, object: ErasedObject) {
        // Relaxed, as below: the order is that of what the threads agree by.
        self.0.store(object.0.as_ptr(), Ordering::Relaxed);
    }

    /// The object that was put last.
    ///
    /// # Panics
    ///
    /// If none was.
    #[inline(always)]
    pub(crate) fn take(&self) -> ErasedObject {
        let object = NonNull::new(self.0.load(Ordering::Relaxed));
        ErasedObject(object.expect("an object is put before it is taken"))
    }
}

impl<T, P: ObjectPool<T>> Object<T, P> {
    /// Leaves the type out.
    #[inline(always)]
    pub(crate) fn into_erased(self) -> ErasedObject {
        ErasedObject(self.into_block().value().cast())
    }

    /// Puts the type back.
    ///
    /// # Safety
    ///
    /// `erased` came from [`into_erased`](Self::into_erased) of an object of the same types, and this is
    /// called for one copy of it.
    #[inline(always)]
    pub(crate) unsafe fn from_erased(erased: ErasedObject) -> Self {
        // SAFETY: by contract from `Block::value` (BLOCK-ADDRESS).
        let block = unsafe { Block::from_value(erased.0.cast()) };
        // SAFETY: by contract an object that was given up, and is taken up once.
        unsafe { Self::from_block(block) }
    }
}

/// What owns an object and is one pointer to it, as [`ErasedObject`] is: a vector of one can be taken for a
/// vector of the other (HANDLE-WORD).
///
/// # Safety
///
/// The type is `repr(transparent)` over an [`Object<T, P>`](Object), and owns it.
pub(crate) unsafe trait ObjectWord<T, P>: Sized {
    const IS_A_WORD: () = assert!(
        size_of::<Self>() == size_of::<ErasedObject>()
            && align_of::<Self>() == align_of::<ErasedObject>()
    );
}

// SAFETY: it is one.
unsafe impl<T, P: ObjectPool<T>> ObjectWord<T, P> for Object<T, P> {}
// SAFETY: `repr(transparent)` over `ManuallyDrop`, which is over the object.
unsafe impl<T, P: ObjectPool<T>> ObjectWord<T, P> for Acquired<T, P> {}
// SAFETY: `repr(transparent)` over `Acquired`.
unsafe impl<T, L: Recycle<T> + ?Sized> ObjectWord<T, Shared<T, L>> for Pooled<T, L> {}

/// [`Object::into_erased`] of each, in the same memory.
#[inline(always)]
pub(crate) fn erase_all<T, P, O: ObjectWord<T, P>>(objects: Vec<O>) -> Vec<ErasedObject> {
    let () = O::IS_A_WORD;
    let mut objects = ManuallyDrop::new(objects);
    let (start, len, capacity) = (objects.as_mut_ptr(), objects.len(), objects.capacity());
    // SAFETY: the parts of a vector, of what is one word (HANDLE-WORD).
    unsafe { Vec::from_raw_parts(start.cast(), len, capacity) }
}

/// [`Object::from_erased`] of each, in the same memory.
///
/// # Safety
///
/// As for `from_erased`, for each.
#[inline(always)]
pub(crate) unsafe fn unerase_all<T, P, O: ObjectWord<T, P>>(objects: Vec<ErasedObject>) -> Vec<O> {
    let () = O::IS_A_WORD;
    let mut objects = ManuallyDrop::new(objects);
    let (start, len, capacity) = (objects.as_mut_ptr(), objects.len(), objects.capacity());
    // SAFETY: the parts of a vector, of what is one word (HANDLE-WORD), and by contract each owns its object.
    unsafe { Vec::from_raw_parts(start.cast(), len, capacity) }
}

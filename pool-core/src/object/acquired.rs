//! Objects in use: owned by one handle, or counted by many. Dropped, they are released.
#![allow(unsafe_code)] // The object is taken out of its handle when that is dropped.

#[cfg(feature = "std")]
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

#[cfg(feature = "std")]
use super::Block;
use super::{Object, ObjectPool};
#[cfg(feature = "std")]
use crate::sync::{AtomicU32, Ordering};

/// An object in use. Dropped, it is released: reset, validated, and kept or destroyed.
#[repr(transparent)]
pub(crate) struct Acquired<T, P: ObjectPool<T>> {
    /// Taken out once, when this is dropped or taken apart.
    object: ManuallyDrop<Object<T, P>>,
}

impl<T, P: ObjectPool<T>> Acquired<T, P> {
    #[inline(always)]
    pub(crate) fn new(object: Object<T, P>) -> Self {
        Acquired {
            object: ManuallyDrop::new(object),
        }
    }

    #[inline(always)]
    pub(crate) fn into_object(self) -> Object<T, P> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: this is neither dropped nor used again.
        unsafe { ManuallyDrop::take(&mut this.object) }
    }

    #[inline(always)]
    pub(crate) fn object(&self) -> &Object<T, P> {
        &self.object
    }
}

impl<T, P: ObjectPool<T>> Drop for Acquired<T, P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is not used after its drop.
        P::release(unsafe { ManuallyDrop::take(&mut self.object) });
    }
}

impl<T, P: ObjectPool<T>> Deref for Acquired<T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T, P: ObjectPool<T>> DerefMut for Acquired<T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

/// One of the handles of an object in use that can have many. The last to be dropped releases it.
#[cfg(feature = "std")]
pub(crate) struct RefCounted<T, P: ObjectPool<T>> {
    /// The block of the object, which all handles own together. Its `extra_refs` counts the handles beyond
    /// one.
    block: Block<T>,
    _pool: PhantomData<(T, P)>,
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> RefCounted<T, P> {
    pub(crate) fn new(object: Acquired<T, P>) -> Self {
        RefCounted {
            block: object.into_object().into_block(),
            _pool: PhantomData,
        }
    }

    fn extra_refs(&self) -> &AtomicU32 {
        self.block.extra_refs()
    }

    /// How many handles there are.
    pub(crate) fn refs(&self) -> usize {
        self.extra_refs().load(Ordering::Relaxed) as usize + 1
    }

    pub(crate) fn ptr_eq(&self, other: &Self) -> bool {
        self.block.value() == other.block.value()
    }

    /// Whether no other handle can reach the object, now or later: another could only come of a clone of
    /// this one.
    fn is_unique(&self) -> bool {
        // Acquire: what the others did with the object happens before what this one does; pairs
        // with the Release of their drops.
        self.extra_refs().load(Ordering::Acquire) == 0
    }

    /// The object, to be changed, if this is its only handle.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        // SAFETY: the only handle, borrowed mutably, so no other thread can reach the object.
        self.is_unique()
            .then(|| unsafe { self.block.value().as_mut() })
    }

    /// The only handle, as one that owns the object alone; itself if there are others.
    pub(crate) fn try_unwrap(self) -> Result<Acquired<T, P>, Self> {
        if !self.is_unique() {
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the only handle, which is neither dropped nor used again.
        Ok(unsafe { this.take() })
    }

    /// The object.
    ///
    /// # Safety
    ///
    /// This is the only handle left, and is not used again.
    unsafe fn take(&self) -> Acquired<T, P> {
        // SAFETY: by contract.
        let block = unsafe { self.block.duplicate() };
        // SAFETY: the block came from an object, which by contract is the caller's alone.
        Acquired::new(unsafe { Object::from_block(block) })
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Clone for RefCounted<T, P> {
    fn clone(&self) -> Self {
        // Relaxed: the caller has a handle, so the count cannot reach its end meanwhile.
        let extra = self.extra_refs().fetch_add(1, Ordering::Relaxed);
        // As `Arc` has it: far more handles than there is use for, unless they were forgotten.
        if extra > i32::MAX as u32 {
            std::process::abort();
        }
        RefCounted {
            // SAFETY: counted just now; handles share the block.
            block: unsafe { self.block.duplicate() },
            _pool: PhantomData,
        }
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Drop for RefCounted<T, P> {
    fn drop(&mut self) {
        // Release: what was done through this handle happens before the object goes back; the
        // load of the last one is the partner.
        if self.extra_refs().fetch_sub(1, Ordering::Release) != 0 {
            return;
        }
        self.extra_refs().load(Ordering::Acquire);
        // The count went below its end; no other thread sees it.
        self.extra_refs().store(0, Ordering::Relaxed);
        // SAFETY: the last handle, which is not used after its drop.
        drop(unsafe { self.take() });
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Deref for RefCounted<T, P> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: alive while there is a handle; only shared references are made while there may be
        // others.
        unsafe { self.block.value().as_ref() }
    }
}

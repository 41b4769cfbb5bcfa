//! Objects in use: owned by one handle, or counted by many. Dropped, they are released.
#![allow(unsafe_code)] // The object is taken out of its handle when that is dropped.

use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

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

    /// The object, which is not to come back by a release.
    pub(crate) fn take_out(self) -> Object<T, P> {
        let object = self.into_object();
        object.pool().end_hold(object.address());
        object
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
    /// The object, which all handles own together. Only shared references to it are made while there may be more
    /// than one; the last handle takes it out. Its `extra_refs` counts the handles beyond one.
    object: ManuallyDrop<Object<T, P>>,
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> RefCounted<T, P> {
    pub(crate) fn new(object: Object<T, P>) -> Self {
        RefCounted {
            object: ManuallyDrop::new(object),
        }
    }

    pub(crate) fn object(&self) -> &Object<T, P> {
        &self.object
    }

    fn extra_refs(&self) -> &AtomicU32 {
        self.object.block().extra_refs()
    }

    /// How many handles there are.
    pub(crate) fn refs(&self) -> usize {
        self.extra_refs().load(Ordering::Relaxed) as usize + 1
    }

    /// Whether no other handle can reach the object, now or later: another could only come of a clone of
    /// this one.
    pub(crate) fn is_unique(&self) -> bool {
        // Acquire: what the others did with the object happens before what this one does; pairs
        // with the Release of their drops.
        self.extra_refs().load(Ordering::Acquire) == 0
    }

    /// The object, to be changed, if this is its only handle.
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.is_unique().then(|| &mut **self.object)
    }

    /// The only handle, as the object; itself if there are others.
    pub(crate) fn try_unwrap(self) -> Result<Object<T, P>, Self> {
        if !self.is_unique() {
            return Err(self);
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the only handle, which is neither dropped nor used again.
        Ok(unsafe { ManuallyDrop::take(&mut this.object) })
    }

    /// The address of the object, which goes with this handle.
    pub(crate) fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).object.as_ptr()
    }

    /// # Safety
    ///
    /// `value` came from [`into_raw`](Self::into_raw) of a handle of the same types, and this is called once for
    /// each time that it did.
    pub(crate) unsafe fn from_raw(value: *mut T) -> Self {
        // SAFETY: by contract one of the handles that own the object together, counted still.
        Self::new(unsafe { Object::from_raw(value) })
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
        // SAFETY: one handle more of those that own the object together, counted just now.
        unsafe { Self::from_raw(self.object.as_ptr()) }
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
        drop(Acquired::new(unsafe {
            ManuallyDrop::take(&mut self.object)
        }));
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Deref for RefCounted<T, P> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.object
    }
}

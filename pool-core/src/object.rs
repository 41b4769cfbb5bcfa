//! Temporary.
#![allow(dead_code)]
pub(crate) use crate::arena::{NO_POOL, NodePtr as ErasedObject, Number as PoolId};
#[cfg(feature = "std")]
pub(crate) use cell::ObjectCell;

#[cfg(feature = "std")]
mod cell {
    #![allow(unsafe_code)] // A pointer becomes an object again.

    use std::ptr;

    use super::ErasedObject;
    use crate::sync::{AtomicPtr, Ordering};

    /// Room for one object that another thread may find there. It says nothing about when: the thread that
    /// puts and the one that takes agree on that.
    pub(crate) struct ObjectCell(AtomicPtr<()>);

    impl ObjectCell {
        pub(crate) fn new() -> Self {
            ObjectCell(AtomicPtr::new(ptr::null_mut()))
        }

        #[inline(always)]
        pub(crate) fn put(&self, object: ErasedObject) {
            self.0.store(object.as_ptr(), Ordering::Relaxed);
        }

        /// The object that was put last.
        ///
        /// # Panics
        ///
        /// If none was.
        #[inline(always)]
        pub(crate) fn take(&self) -> ErasedObject {
            let object = self.0.load(Ordering::Relaxed);
            assert!(!object.is_null(), "an object is put before it is taken");
            // SAFETY: from `put`.
            unsafe { ErasedObject::from_ptr(object) }
        }
    }
}

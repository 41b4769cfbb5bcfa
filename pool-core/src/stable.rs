//! Handles for crates that keep a reference to what a handle derefs to beside the handle.
#![allow(unsafe_code)] // What the traits ask for is promised.

#[cfg(feature = "std")]
use stable_deref_trait::CloneStableDeref;
use stable_deref_trait::StableDeref;

use crate::lifecycle::Lifecycle;
use crate::unsync;
#[cfg(feature = "std")]
use crate::{Pooled, SharedPooled};

// SAFETY: an object stays where it is while there is a handle of it (BLOCK-LIVES), and a handle holds a raw pointer
// to it, so that a move of the handle ends no borrow of the object.
#[cfg(feature = "std")]
unsafe impl<T, L: Lifecycle<T>> StableDeref for Pooled<T, L> {}
// SAFETY: as above.
#[cfg(feature = "std")]
unsafe impl<T, L: Lifecycle<T>> StableDeref for SharedPooled<T, L> {}
// SAFETY: a clone is a handle of the same object.
#[cfg(feature = "std")]
unsafe impl<T, L: Lifecycle<T>> CloneStableDeref for SharedPooled<T, L> {}
// SAFETY: as above.
unsafe impl<T, L: Lifecycle<T>> StableDeref for unsync::Pooled<T, L> {}

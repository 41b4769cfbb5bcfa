//! Why nothing here goes to another thread, said by the compiler.
//!
//! The raw pointers in the types would do, and the compiler would name each of them.
#![allow(unsafe_code)] // Impls that never apply.

use core::marker::PhantomData;

use super::{Pool, Pooled};
use crate::lifecycle::Lifecycle;

/// What no type is. (Asked of another type than the one that is sent: the compiler would say its own words of that.)
#[diagnostic::on_unimplemented(
    message = "`unsync::Pool` and its handles cannot be sent to another thread or shared with one",
    label = "stays on its thread",
    note = "use `pool_core::Pool`, which has the same methods, where objects go from thread to thread"
)]
trait LeavesItsThread {}

// SAFETY: of these, none applies: no type is `LeavesItsThread`.
#[doc(hidden)]
unsafe impl<T, L: Lifecycle<T>> Send for Pool<T, L> where PhantomData<Self>: LeavesItsThread {}
// SAFETY: as above.
#[doc(hidden)]
unsafe impl<T, L: Lifecycle<T>> Sync for Pool<T, L> where PhantomData<Self>: LeavesItsThread {}
// SAFETY: as above.
#[doc(hidden)]
unsafe impl<T, L: Lifecycle<T>> Send for Pooled<T, L> where PhantomData<Self>: LeavesItsThread {}
// SAFETY: as above.
#[doc(hidden)]
unsafe impl<T, L: Lifecycle<T>> Sync for Pooled<T, L> where PhantomData<Self>: LeavesItsThread {}

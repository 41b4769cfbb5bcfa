//! The only way back: reset the object, judge it, keep it or destroy it.
//!
//! What a hook may do is settled here. It runs before the object can be seen by anyone else, under
//! no lock and inside no slot, so it may use the same pool. If it panics, the object is destroyed,
//! its place is given back and the panic goes on.
#![allow(unsafe_code)] // Objects are owned through raw pointers.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::thread;

use crate::arena::{Node, NodePtr};
use crate::backend::{Store, batched};
use crate::config::ResetOn;
use crate::inner::{Inner, InnerPtr};
use crate::lifecycle::Lifecycle;

/// The pool that the object in `node` belongs to.
///
/// # Safety
///
/// `node` holds an object of a pool of `T` and `L`.
#[inline(always)]
pub(crate) unsafe fn pool_of<T, L>(node: NonNull<Node<T>>) -> InnerPtr<T, L> {
    // SAFETY: alive, as its object is.
    let pool = unsafe { Node::pool(node) };
    // SAFETY: set to the pool's address when the object was made.
    unsafe { NonNull::new_unchecked(pool.cast_mut().cast()) }
}

/// Gives an object back.
///
/// # Panics
///
/// If a hook does; not while the thread unwinds already.
///
/// # Safety
///
/// `node` holds an object of a pool of `T` and `L`, the caller's alone, who gives it up.
#[inline(always)]
pub(crate) unsafe fn release<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    // SAFETY: the object keeps the pool alive (LIFE-REFS).
    let (reset_on, number) = unsafe { ((*inner.as_ptr()).reset_on, (*inner.as_ptr()).cache_number) };
    if reset_on == ResetOn::Release {
        if thread::panicking() {
            // SAFETY: by contract.
            return unsafe { release_unwinding(inner, node) };
        }
        // SAFETY: by contract.
        if !unsafe { wipe(inner, node) } {
            return;
        }
    }
    // SAFETY: the pool is alive, so its number is that of its backend.
    if !unsafe { batched::push_hit(number, NodePtr::from_node(node)) } {
        // SAFETY: by contract.
        unsafe { put_back(inner, node) };
    }
}

/// Keeps an object that is fit to be kept, or destroys it if the backend does not want it.
///
/// # Safety
///
/// As for [`release`].
#[inline(never)]
unsafe fn put_back<T, L: Lifecycle<T>>(inner: InnerPtr<T, L>, node: NonNull<Node<T>>) {
    // SAFETY: the object keeps the pool alive until it is put.
    let store = unsafe { &(*inner.as_ptr()).store };
    if store.put(NodePtr::from_node(node)).is_err() {
        // SAFETY: it is still the caller's.
        unsafe { Inner::destroy(inner, node) };
    }
}

/// Resets and judges an object. `false`: it was not fit to be kept, and is destroyed.
///
/// # Panics
///
/// If a hook does; the object is destroyed then.
///
/// # Safety
///
/// As for [`release`].
#[inline(always)]
pub(crate) unsafe fn wipe<T, L: Lifecycle<T>>(
    inner: InnerPtr<T, L>,
    node: NonNull<Node<T>>,
) -> bool {
    let unfit = Unfit { inner, node };
    // SAFETY: the object keeps the pool alive (LIFE-REFS).
    let lifecycle = unsafe { &(*inner.as_ptr()).lifecycle };
    // SAFETY: the object is the caller's alone.
    let object = unsafe { Node::value(node).as_mut() };
    lifecycle.reset(object);
    let reusable = lifecycle.is_reusable(object);
    if reusable {
        mem::forget(unfit);
    }
    reusable
}

/// An object that is destroyed when this is dropped, as it is when a hook panics.
struct Unfit<T, L: Lifecycle<T>> {
    inner: InnerPtr<T, L>,
    node: NonNull<Node<T>>,
}

impl<T, L: Lifecycle<T>> Drop for Unfit<T, L> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: the object is the holder's, who gives it up.
        unsafe { Inner::discard(self.inner, self.node) };
    }
}

/// As [`release`], in a thread that unwinds: a hook that panics now is caught, since a second panic
/// would abort.
///
/// # Safety
///
/// As for [`release`].
#[cold]
#[inline(never)]
unsafe fn release_unwinding<T, L: Lifecycle<T>>(inner: InnerPtr<T, L>, node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let kept = catch_unwind(AssertUnwindSafe(|| unsafe { wipe(inner, node) }));
    if kept.unwrap_or(false) {
        // SAFETY: by contract; it was not destroyed.
        unsafe { put_back(inner, node) };
    }
}

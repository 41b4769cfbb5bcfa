//! One object, one word, one thread.
#![allow(unsafe_code)] // The word is a raw pointer to the object's node.

use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use super::Pool;
use super::inner::{Inner, pool_of};
use crate::arena::Node;
use crate::handle::forward::forward_to_object;
use crate::lifecycle::{Derived, Lifecycle};

/// An object of a pool for one thread, given back when this is dropped. As
/// [`pool_core::Pooled`](crate::Pooled), but stays on its thread.
///
/// # Examples
///
/// ```compile_fail,E0277
/// let pool = pool_core::unsync::Pool::<String>::new();
/// let name = pool.acquire();
/// std::thread::spawn(move || drop(name)); // cannot be sent between threads safely
/// ```
pub struct Pooled<T, L: Lifecycle<T> = Derived> {
    /// A node that holds an object of an unsync pool of `T` and `L`, this handle's alone. Invariant
    /// in `T`, as `pool_core::Pooled` is. Neither `Send` nor `Sync`, as a raw pointer is not.
    node: NonNull<Node<T>>,
    _owns: PhantomData<(T, Pool<T, L>)>,
}

impl<T: UnwindSafe, L: Lifecycle<T>> UnwindSafe for Pooled<T, L> {}
impl<T: RefUnwindSafe, L: Lifecycle<T>> RefUnwindSafe for Pooled<T, L> {}
impl<T, L: Lifecycle<T>> Unpin for Pooled<T, L> {}

impl<T, L: Lifecycle<T>> Pooled<T, L> {
    /// # Safety
    ///
    /// `node` holds an object of an unsync pool of `T` and `L`, which the caller gives up.
    #[inline(always)]
    pub(super) unsafe fn new(node: NonNull<Node<T>>) -> Self {
        Pooled {
            node,
            _owns: PhantomData,
        }
    }

    fn into_node(this: Self) -> NonNull<Node<T>> {
        let node = this.node;
        mem::forget(this);
        node
    }

    /// Takes the object out of the pool, as it is.
    #[must_use = "an object that is to be dropped is discarded with `Pooled::discard`"]
    pub fn detach(this: Self) -> T {
        let node = Self::into_node(this);
        // SAFETY: the node holds the handle's object.
        let pool = unsafe { pool_of::<T, L>(node) };
        // SAFETY: the handle's object, which it gave up.
        unsafe { Inner::detach(pool, node) }
    }

    /// Drops the object instead of giving it back, without a reset.
    ///
    /// # Panics
    ///
    /// If the drop of `T` does.
    pub fn discard(this: Self) {
        let node = Self::into_node(this);
        // SAFETY: the node holds the handle's object.
        let pool = unsafe { pool_of::<T, L>(node) };
        // SAFETY: the handle's object, which it gave up.
        unsafe { Inner::discard(pool, node) };
    }

    /// The pool that the object goes back to; `None` once the last [`Pool`] is gone.
    #[must_use]
    pub fn pool(this: &Self) -> Option<Pool<T, L>> {
        // SAFETY: the node holds the handle's object.
        let pool = unsafe { pool_of(this.node) };
        // SAFETY: the handle's object keeps the pool alive.
        unsafe { Pool::upgrade(pool) }
    }
}

impl<T, L: Lifecycle<T>> Drop for Pooled<T, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the node holds the handle's object.
        let inner = unsafe { pool_of::<T, L>(self.node) };
        // SAFETY: the object keeps the pool alive.
        if unsafe { (*inner.as_ptr()).keeps_wiped() } {
            // SAFETY: the handle's object.
            if !unsafe { Inner::wipe(inner, self.node) } {
                return;
            }
            // SAFETY: the handle's object, which it gives up here, once.
            unsafe { Inner::put(inner, self.node) };
        } else {
            // SAFETY: the handle's object, which it gives up here, once.
            unsafe { Inner::release_slow(inner, self.node) };
        }
    }
}

impl<T, L: Lifecycle<T>> Deref for Pooled<T, L> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        let value = Node::value(self.node);
        // SAFETY: the handle's object, borrowed as the handle is.
        unsafe { value.as_ref() }
    }
}

impl<T, L: Lifecycle<T>> DerefMut for Pooled<T, L> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        let mut value = Node::value(self.node);
        // SAFETY: the handle's object, borrowed as the handle is.
        unsafe { value.as_mut() }
    }
}

forward_to_object!(Pooled, mutable);

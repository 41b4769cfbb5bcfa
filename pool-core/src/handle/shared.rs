//! One object, many handles.
#![allow(unsafe_code)] // The handles share a raw pointer to the object's node.

use std::marker::PhantomData;
use std::mem;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::process;
use std::ptr::NonNull;

use super::Pooled;
use super::forward::forward_to_object;
use crate::arena::Node;
use crate::lifecycle::{Derived, Lifecycle};
use crate::pool::Pool;
use crate::sync::{AtomicU32, Ordering};

/// An object of a pool with many owners, given back when the last of them is dropped: for one
/// message to many consumers. To [`Pooled`] as `Arc` is to `Box`.
///
/// One word, with a niche. The count lies beside the object, so sharing allocates nothing; a clone
/// and a drop cost one atomic operation each.
///
/// # Examples
///
/// ```
/// use pool_core::{Pool, Pooled, SharedPooled};
///
/// let pool = Pool::<String>::new();
/// let mut quote = pool.acquire();
/// quote.push_str("AMZN 3379.09");
/// let quote: SharedPooled<String> = Pooled::into_shared(quote);
///
/// let consumers: Vec<_> = (0..3)
///     .map(|_| {
///         let quote = quote.clone();
///         std::thread::spawn(move || quote.len())
///     })
///     .collect();
/// drop(quote);
/// for consumer in consumers {
///     assert_eq!(consumer.join().unwrap(), 12);
/// }
/// assert_eq!(pool.in_use(), 0);
/// ```
pub struct SharedPooled<T, L: Lifecycle<T> = Derived> {
    /// A node that holds an object of a pool of `T` and `L`. Its `sharers` counts the handles of it
    /// beyond one.
    node: NonNull<Node<T>>,
    /// As for [`Pooled`].
    _owns: PhantomData<(T, Pool<T, L>)>,
}

// SAFETY: as for `Arc`: a handle shares the object (`T: Sync`), and the last one takes it back
// wherever it is dropped (`T: Send`); the lifecycle as for `Pooled`.
unsafe impl<T: Send + Sync, L: Lifecycle<T> + Send + Sync> Send for SharedPooled<T, L> {}
// SAFETY: as above; a shared handle can be cloned.
unsafe impl<T: Send + Sync, L: Lifecycle<T> + Send + Sync> Sync for SharedPooled<T, L> {}

// As for `Arc`.
impl<T: RefUnwindSafe, L: Lifecycle<T>> UnwindSafe for SharedPooled<T, L> {}
impl<T: RefUnwindSafe, L: Lifecycle<T>> RefUnwindSafe for SharedPooled<T, L> {}
impl<T, L: Lifecycle<T>> Unpin for SharedPooled<T, L> {}

impl<T, L: Lifecycle<T>> SharedPooled<T, L> {
    pub(super) fn new(handle: Pooled<T, L>) -> Self {
        SharedPooled {
            node: Pooled::into_node(handle),
            _owns: PhantomData,
        }
    }

    fn sharers(&self) -> &AtomicU32 {
        // SAFETY: alive, as its object is, while there is a handle.
        unsafe { Node::sharers(self.node) }
    }

    /// How many handles there are. May have changed by the time it is looked at, unless it is 1.
    #[must_use]
    pub fn handles(this: &Self) -> usize {
        this.sharers().load(Ordering::Relaxed) as usize + 1
    }

    /// Whether both are handles of one object.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.node == other.node
    }

    /// The object, to be changed, if this is its only handle.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if !this.is_alone() {
            return None;
        }
        let mut value = Node::value(this.node);
        // SAFETY: the only handle, borrowed mutably, so nobody else can reach the object.
        Some(unsafe { value.as_mut() })
    }

    /// The only handle, as one that owns the object alone.
    ///
    /// # Errors
    ///
    /// Gives the handle back if there are others.
    pub fn try_unwrap(this: Self) -> Result<Pooled<T, L>, Self> {
        if !this.is_alone() {
            return Err(this);
        }
        let node = this.node;
        mem::forget(this);
        // SAFETY: the only handle's object, which it gave up.
        Ok(unsafe { Pooled::new(node) })
    }

    /// Whether no other handle can reach the object, now or later: another could only come of a
    /// clone of this one.
    fn is_alone(&self) -> bool {
        // Acquire: what the others did with the object happens before what this one does; pairs
        // with the Release of their drops.
        self.sharers().load(Ordering::Acquire) == 0
    }
}

impl<T, L: Lifecycle<T>> Clone for SharedPooled<T, L> {
    /// One more handle of the same object.
    fn clone(&self) -> Self {
        // Relaxed: the caller has a handle, so the count cannot reach its end meanwhile.
        let sharers = self.sharers().fetch_add(1, Ordering::Relaxed);
        // As `Arc` has it: far more handles than there is use for, unless they were forgotten.
        if sharers > i32::MAX as u32 {
            process::abort();
        }
        SharedPooled {
            node: self.node,
            _owns: PhantomData,
        }
    }
}

impl<T, L: Lifecycle<T>> Drop for SharedPooled<T, L> {
    fn drop(&mut self) {
        // Release: what was done through this handle happens before the object goes back; the
        // load of the last one is the partner.
        if self.sharers().fetch_sub(1, Ordering::Release) != 0 {
            return;
        }
        self.sharers().load(Ordering::Acquire);
        // The count went below its end; nobody else sees it.
        self.sharers().store(0, Ordering::Relaxed);
        // SAFETY: the last handle's object, given up here.
        drop(unsafe { Pooled::<T, L>::new(self.node) });
    }
}

impl<T, L: Lifecycle<T>> Deref for SharedPooled<T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        let value = Node::value(self.node);
        // SAFETY: only shared references are made while there may be other handles.
        unsafe { value.as_ref() }
    }
}

impl<T, L: Lifecycle<T>> From<Pooled<T, L>> for SharedPooled<T, L> {
    fn from(handle: Pooled<T, L>) -> Self {
        Pooled::into_shared(handle)
    }
}

forward_to_object!(SharedPooled);

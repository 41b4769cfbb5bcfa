//! One object, many handles.

use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::Pooled;
use super::forward::forward_to_object;
use crate::lifecycle::{Derived, Recycle};
use crate::object::{Acquired, RefCounted};
use crate::shared::Shared;

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
pub struct SharedPooled<T, L: Recycle<T> + ?Sized = Derived> {
    counted: RefCounted<T, Shared<T, L>>,
}

// As for `Arc`.
impl<T: RefUnwindSafe, L: Recycle<T> + ?Sized> UnwindSafe for SharedPooled<T, L> {}
impl<T: RefUnwindSafe, L: Recycle<T> + ?Sized> RefUnwindSafe for SharedPooled<T, L> {}
impl<T, L: Recycle<T> + ?Sized> Unpin for SharedPooled<T, L> {}

impl<T, L: Recycle<T> + ?Sized> SharedPooled<T, L> {
    pub(super) fn new(object: Acquired<T, Shared<T, L>>) -> Self {
        SharedPooled {
            counted: RefCounted::new(object),
        }
    }

    /// How many handles there are. May have changed by the time it is looked at, unless it is 1.
    #[must_use]
    pub fn handles(this: &Self) -> usize {
        this.counted.refs()
    }

    /// Whether both are handles of one object.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.counted.ptr_eq(&other.counted)
    }

    /// The object, to be changed, if this is its only handle.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.counted.get_mut()
    }

    /// The only handle, as one that owns the object alone.
    ///
    /// # Errors
    ///
    /// Gives the handle back if there are others.
    pub fn try_unwrap(this: Self) -> Result<Pooled<T, L>, Self> {
        match this.counted.try_unwrap() {
            Ok(acquired) => Ok(Pooled::new(acquired.into_object())),
            Err(counted) => Err(SharedPooled { counted }),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Clone for SharedPooled<T, L> {
    /// One more handle of the same object.
    fn clone(&self) -> Self {
        SharedPooled {
            counted: self.counted.clone(),
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Deref for SharedPooled<T, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.counted
    }
}

impl<T, L: Recycle<T> + ?Sized> From<Pooled<T, L>> for SharedPooled<T, L> {
    fn from(handle: Pooled<T, L>) -> Self {
        Pooled::into_shared(handle)
    }
}

forward_to_object!(SharedPooled);

//! One object, many handles.
#![allow(unsafe_code)] // Handles of what foreign code passed through are made again.

use std::ops::Deref;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::Pooled;
use super::forward::forward_to_object;
use crate::entry::Entry;
use crate::lifecycle::{Derived, Recycle};
use crate::object::{Object, RefCounted};
use crate::pool::Pool;
use crate::shared::Shared;

/// A handle that shares an object, for one message to many consumers: to [`Pooled`] as `Arc` is to `Box`. The object is
/// released when its last handle is dropped.
///
/// One word, with a niche. Sharing allocates nothing. A clone and a drop cost an atomic operation each.
///
/// # Examples
///
/// ```
/// use pool_core::{Pool, Pooled, SharedPooled};
///
/// let pool = Pool::<String>::new();
/// let mut quote = pool.acquire();
/// quote.push_str("AMZN");
/// let quote: SharedPooled<String> = Pooled::into_shared(quote);
///
/// let consumer = std::thread::spawn({
///     let quote = quote.clone();
///     move || quote.len()
/// });
/// drop(quote);
/// assert_eq!(consumer.join().unwrap(), 4);
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
    pub(super) fn new(object: Object<T, Shared<T, L>>) -> Self {
        SharedPooled {
            counted: RefCounted::new(object),
        }
    }

    /// The number of handles. Unless it is 1, it may have changed already.
    #[must_use]
    pub fn handles(this: &Self) -> usize {
        this.counted.refs()
    }

    /// The address of the object, the same for all its handles.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.counted.object().as_ptr()
    }

    /// Whether both handles share one object.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::ptr::addr_eq(Self::as_ptr(this), Self::as_ptr(other))
    }

    /// As [`Pooled::pool`].
    #[must_use]
    pub fn pool(this: &Self) -> Option<Pool<T, L>>
    where
        T: Send,
    {
        this.counted.object().shared_ref().map(Pool::from_shared)
    }

    /// A mutable reference to the object, if this is its only handle.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.counted.get_mut()
    }

    /// A mutable reference to the object if this is its only handle, else to a copy, whose only handle this becomes. The
    /// copy is an [entry](Pool::entry) of the same pool. An idle object is filled by
    /// [`clone_from`](Clone::clone_from), so a `Vec` or `String` uses the memory that it has.
    ///
    /// # Panics
    ///
    /// If there are other handles, and the pool is closed or its last [`Pool`] gone. If `clone`, `clone_from` or a hook
    /// panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use pool_core::{Pool, Pooled, SharedPooled};
    ///
    /// let pool = Pool::<String>::new();
    /// let mut quote = pool.acquire();
    /// quote.push_str("AMZN");
    /// let mut quote = Pooled::into_shared(quote);
    /// let seen = quote.clone();
    /// SharedPooled::make_mut(&mut quote).push_str(" 3379.09"); // a copy
    /// assert_eq!((seen.as_str(), quote.as_str()), ("AMZN", "AMZN 3379.09"));
    /// ```
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone + Send,
    {
        if !this.counted.is_unique() {
            let caller = Location::caller();
            let copy = match Self::pool(this).and_then(|pool| pool.entry_for(caller).ok()) {
                Some(Entry::Idle(mut copy)) => {
                    copy.clone_from(&**this);
                    copy
                }
                Some(Entry::Vacant(vacant)) => vacant.insert(T::clone(this)),
                None => panic!(
                    "make_mut of an object with other handles, whose pool is closed or gone: there is nowhere to put a copy; \
                     keep a `Pool`, or use `get_mut`"
                ),
            };
            *this = Pooled::into_shared(copy);
        }
        match Self::get_mut(this) {
            Some(object) => object,
            None => unreachable!("it has one handle, which is borrowed"),
        }
    }

    /// Converts the only handle into a [`Pooled`].
    ///
    /// # Errors
    ///
    /// The handle, if there are others.
    pub fn try_unwrap(this: Self) -> Result<Pooled<T, L>, Self> {
        match this.counted.try_unwrap() {
            Ok(object) => Ok(Pooled::new(object)),
            Err(counted) => Err(SharedPooled { counted }),
        }
    }

    /// As [`Pooled::into_raw`]. The handle counts meanwhile.
    #[must_use = "the object is leaked unless a handle is made of it again"]
    pub fn into_raw(this: Self) -> *const T {
        this.counted.into_raw()
    }

    /// Converts what [`into_raw`](Self::into_raw) returned back into a handle.
    ///
    /// # Safety
    ///
    /// `object` came from `into_raw` of a `SharedPooled` with the same `T` and `L`, and this is called once for each
    /// such call.
    #[must_use]
    pub unsafe fn from_raw(object: *const T) -> Self {
        SharedPooled {
            // SAFETY: by contract.
            counted: unsafe { RefCounted::from_raw(object.cast_mut()) },
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

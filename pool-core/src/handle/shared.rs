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
    pub(super) fn new(object: Object<T, Shared<T, L>>) -> Self {
        SharedPooled {
            counted: RefCounted::new(object),
        }
    }

    /// How many handles there are. May have changed by the time it is looked at, unless it is 1.
    #[must_use]
    pub fn handles(this: &Self) -> usize {
        this.counted.refs()
    }

    /// The address of the object, the same for all handles of it. May be read through while there is a handle.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        this.counted.object().as_ptr()
    }

    /// Whether both are handles of one object.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        std::ptr::addr_eq(Self::as_ptr(this), Self::as_ptr(other))
    }

    /// The pool that the object goes back to; `None` once the last [`Pool`] is gone.
    ///
    /// Costs an atomic increment, as cloning a `Pool` does.
    #[must_use]
    pub fn pool(this: &Self) -> Option<Pool<T, L>>
    where
        T: Send,
    {
        this.counted.object().shared_ref().map(Pool::from_shared)
    }

    /// The object, to be changed, if this is its only handle.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        this.counted.get_mut()
    }

    /// The object, to be changed: the very one if this is its only handle, else a copy. The copy is an object that
    /// is an [entry](Pool::entry) of the same pool and, if it was idle, filled by [`clone_from`](Clone::clone_from), so a `Vec` or
    /// `String` uses the memory that it has; this becomes its only handle, and the others keep the first object.
    ///
    /// # Panics
    ///
    /// If there are other handles, and the pool is closed or its last [`Pool`] gone: there is nowhere to put a copy
    /// then. ([`get_mut`](Self::get_mut) never panics.) If `clone` or `clone_from` panics, or a hook.
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
    /// SharedPooled::make_mut(&mut quote).push_str(" bid"); // the same copy
    /// assert_eq!((seen.as_str(), quote.as_str()), ("AMZN", "AMZN 3379.09 bid"));
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

    /// The only handle, as one that owns the object alone.
    ///
    /// # Errors
    ///
    /// Gives the handle back if there are others.
    pub fn try_unwrap(this: Self) -> Result<Pooled<T, L>, Self> {
        match this.counted.try_unwrap() {
            Ok(object) => Ok(Pooled::new(object)),
            Err(counted) => Err(SharedPooled { counted }),
        }
    }

    /// Gives the address of the object, and with it the duty to make a handle of it again with
    /// [`from_raw`](Self::from_raw): for passing a handle through foreign code. The handle counts meanwhile.
    #[must_use = "the object is leaked unless a handle is made of it again"]
    pub fn into_raw(this: Self) -> *const T {
        this.counted.into_raw()
    }

    /// Makes a handle again of what [`into_raw`](Self::into_raw) gave.
    ///
    /// # Safety
    ///
    /// `object` came from `into_raw` of a `SharedPooled` with the same `T` and `L`, and this is called once for each
    /// time that it did. (What [`Pooled::into_raw`] gave goes to [`Pooled::from_raw`].)
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

//! Owners of one object: `Option`, `Box`, the counted ones, `Cow`.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::rc::{self, Rc};
use alloc::sync::{self, Arc};

use crate::poolable::{Place, Poolable};

/// Nothing is asked of `T`: what the option holds is dropped.
impl<T> Poolable for Option<T> {
    #[inline]
    fn init() -> Self {
        None
    }

    #[inline]
    fn reset(&mut self) {
        *self = None;
    }
}

/// Made and reset on the heap: `T` may be larger than the stack.
impl<T: Poolable> Poolable for Box<T> {
    #[inline]
    fn init() -> Self {
        Place::boxed(T::init_in)
    }

    #[inline]
    fn reset(&mut self) {
        (**self).reset();
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        (**self).is_reusable()
    }
}

/// A `T` up to this size crosses the stack on its way to a counted allocation. A larger one is
/// made in a box of its own and copied from there.
const SMALL: usize = 1024;

#[inline]
fn counted<T: Poolable, P: From<T> + From<Box<T>>>() -> P {
    if size_of::<T>() <= SMALL {
        counted_small::<T, P>()
    } else {
        P::from(Box::<T>::init())
    }
}

/// Apart from [`counted`], so that an unoptimised one has no room for a large `T` in its frame.
#[inline]
fn counted_small<T: Poolable, P: From<T>>() -> P {
    P::from(T::init())
}

macro_rules! counted {
    ($($strong:ident, $weak:ty;)*) => {$(
        /// Reset in place if no other handle, not even a weak one, sees the object; or else
        /// replaced by a fresh one, and the others keep theirs.
        impl<T: Poolable> Poolable for $strong<T> {
            #[inline]
            fn init() -> Self {
                counted()
            }

            #[inline]
            fn reset(&mut self) {
                match Self::get_mut(self) {
                    Some(object) => object.reset(),
                    None => *self = counted(),
                }
            }

            #[inline]
            fn is_reusable(&self) -> bool {
                (**self).is_reusable()
            }
        }

        impl<T> Poolable for $weak {
            #[inline]
            fn init() -> Self {
                Self::new()
            }

            #[inline]
            fn reset(&mut self) {
                *self = Self::new();
            }
        }
    )*};
}

counted! {
    Rc, rc::Weak<T>;
    Arc, sync::Weak<T>;
}

/// Their length is part of the allocation, so an empty one cannot keep it.
macro_rules! emptied {
    ($($({$($generics:tt)*})? $type:ty;)*) => {$(
        impl$(<$($generics)*>)? Poolable for $type {
            #[inline]
            fn init() -> Self {
                Self::default()
            }

            #[inline]
            fn reset(&mut self) {
                if !self.is_empty() {
                    *self = Self::default();
                }
            }
        }
    )*};
}

emptied! {
    CString;
    Box<str>;
    Rc<str>;
    Arc<str>;
    {T} Box<[T]>;
    {T} Rc<[T]>;
    {T} Arc<[T]>;
}

/// Fresh is owned, so that a buffer once grown can stay.
impl<B: ?Sized + ToOwned<Owned: Poolable>> Poolable for Cow<'_, B> {
    #[inline]
    fn init() -> Self {
        Cow::Owned(B::Owned::init())
    }

    #[inline]
    fn reset(&mut self) {
        match self {
            Cow::Owned(owned) => owned.reset(),
            Cow::Borrowed(_) => *self = Self::init(),
        }
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        match self {
            Cow::Owned(owned) => owned.is_reusable(),
            Cow::Borrowed(_) => true,
        }
    }
}

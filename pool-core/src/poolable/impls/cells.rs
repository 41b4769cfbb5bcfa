//! Interior mutability. Reset has the cell to itself and reaches in without borrowing or locking, with one exception: a
//! guard that was leaked leaves no borrow behind but leaves the cell in use, which only an attempt can tell.

use core::cell::{Cell, OnceCell, RefCell};
#[cfg(feature = "std")]
use std::sync::{Mutex, OnceLock, RwLock};

use crate::poolable::Poolable;

/// Always worth keeping: a shared `Cell` lends out nothing that could be asked.
impl<T: Poolable> Poolable for Cell<T> {
    #[inline]
    fn init() -> Self {
        Cell::new(T::init())
    }

    #[inline]
    fn reset(&mut self) {
        self.get_mut().reset();
    }
}

/// One left borrowed by a leaked guard is replaced.
impl<T: Poolable> Poolable for RefCell<T> {
    #[inline]
    fn init() -> Self {
        RefCell::new(T::init())
    }

    #[inline]
    fn reset(&mut self) {
        if self.try_borrow_mut().is_ok() {
            self.get_mut().reset();
        } else {
            *self = Self::init();
        }
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        self.try_borrow().is_ok_and(|object| object.is_reusable())
    }
}

#[cfg(feature = "std")]
macro_rules! locks {
    ($($lock:ident $try_write:ident $try_read:ident;)*) => {$(
        /// Poison is cleared. One left locked by a leaked guard is replaced.
        impl<T: Poolable> Poolable for $lock<T> {
            #[inline]
            fn init() -> Self {
                $lock::new(T::init())
            }

            #[inline]
            fn reset(&mut self) {
                self.clear_poison();
                let free = self.$try_write().is_ok();
                match self.get_mut() {
                    Ok(object) if free => object.reset(),
                    _ => *self = Self::init(),
                }
            }

            #[inline]
            fn is_reusable(&self) -> bool {
                self.$try_read().is_ok_and(|object| object.is_reusable())
            }
        }
    )*};
}

#[cfg(feature = "std")]
locks! {
    Mutex try_lock try_lock;
    RwLock try_write try_read;
}

macro_rules! once {
    ($($cell:ident)*) => {$(
        /// Nothing is asked of `T`: what was set is dropped.
        impl<T> Poolable for $cell<T> {
            #[inline]
            fn init() -> Self {
                $cell::new()
            }

            #[inline]
            fn reset(&mut self) {
                *self = $cell::new();
            }
        }
    )*};
}

once!(OnceCell);
#[cfg(feature = "std")]
once!(OnceLock);

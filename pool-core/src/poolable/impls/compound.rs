//! Things made of parts: fresh when every part is, reset part by part, worth keeping when every part is.

use core::array;
use core::cmp::Reverse;
use core::num::{Saturating, Wrapping};
use core::ops::{Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};
#[cfg(feature = "std")]
use std::io::Cursor;

use crate::poolable::{Place, Poolable, Ready};

/// Made element by element in place: an array may be larger than the stack.
impl<T: Poolable, const N: usize> Poolable for [T; N] {
    #[inline]
    fn init() -> Self {
        array::from_fn(|_| T::init())
    }

    #[inline]
    fn reset(&mut self) {
        self.iter_mut().for_each(T::reset);
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        self.iter().all(T::is_reusable)
    }

    #[inline]
    fn init_in(place: Place<'_, Self>) -> Ready<'_, Self> {
        place.write_each(T::init_in)
    }
}

macro_rules! tuples {
    ($($($part:ident . $index:tt)+;)*) => {$(
        impl<$($part: Poolable),+> Poolable for ($($part,)+) {
            #[inline]
            fn init() -> Self {
                ($($part::init(),)+)
            }

            #[inline]
            fn reset(&mut self) {
                $(self.$index.reset();)+
            }

            #[inline]
            fn is_reusable(&self) -> bool {
                $(self.$index.is_reusable())&&+
            }
        }
    )*};
}

tuples! {
    A.0;
    A.0 B.1;
    A.0 B.1 C.2;
    A.0 B.1 C.2 D.3;
    A.0 B.1 C.2 D.3 E.4;
    A.0 B.1 C.2 D.3 E.4 F.5;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9 K.10;
    A.0 B.1 C.2 D.3 E.4 F.5 G.6 H.7 I.8 J.9 K.10 L.11;
}

macro_rules! wrappers {
    ($($name:ident { $($field:tt),+ };)*) => {$(
        impl<T: Poolable> Poolable for $name<T> {
            #[inline]
            fn init() -> Self {
                $name { $($field: T::init()),+ }
            }

            #[inline]
            fn reset(&mut self) {
                $(self.$field.reset();)+
            }

            #[inline]
            fn is_reusable(&self) -> bool {
                $(self.$field.is_reusable())&&+
            }
        }
    )*};
}

wrappers! {
    Wrapping { 0 };
    Saturating { 0 };
    Reverse { 0 };
    Range { start, end };
    RangeFrom { start };
    RangeTo { end };
    RangeToInclusive { end };
}

/// Assigned, since its bounds cannot be reached; that also clears what iterating has used up.
impl<T: Poolable> Poolable for RangeInclusive<T> {
    #[inline]
    fn init() -> Self {
        T::init()..=T::init()
    }

    #[inline]
    fn reset(&mut self) {
        *self = Self::init();
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        self.start().is_reusable() && self.end().is_reusable()
    }
}

#[cfg(feature = "std")]
impl<T: Poolable> Poolable for Cursor<T> {
    #[inline]
    fn init() -> Self {
        Cursor::new(T::init())
    }

    #[inline]
    fn reset(&mut self) {
        self.get_mut().reset();
        self.set_position(0);
    }

    #[inline]
    fn is_reusable(&self) -> bool {
        self.get_ref().is_reusable()
    }
}

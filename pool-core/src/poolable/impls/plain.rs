//! Plain values: reset assigns the fresh one. Atomics are plain too, for their exclusive owner.

use core::marker::{PhantomData, PhantomPinned};
use core::ops::RangeFull;
use core::ptr;
use core::sync::atomic;
use core::time::Duration;

use crate::poolable::Poolable;

macro_rules! plain {
    ($($({$($generics:tt)*})? $type:ty = $fresh:expr;)*) => {$(
        impl$(<$($generics)*>)? Poolable for $type {
            #[inline]
            fn init() -> Self {
                $fresh
            }

            #[inline]
            fn reset(&mut self) {
                *self = $fresh;
            }
        }
    )*};
}

plain! {
    u8 = 0;
    u16 = 0;
    u32 = 0;
    u64 = 0;
    u128 = 0;
    usize = 0;
    i8 = 0;
    i16 = 0;
    i32 = 0;
    i64 = 0;
    i128 = 0;
    isize = 0;
    f32 = 0.0;
    f64 = 0.0;
    bool = false;
    char = '\0';
    () = ();
    Duration = Duration::ZERO;
    RangeFull = RangeFull;
    PhantomPinned = PhantomPinned;
    {T: ?Sized} PhantomData<T> = PhantomData;
    {'a} &'a str = "";
    {'a, T} &'a [T] = &[];
    {'a, T} &'a mut [T] = &mut [];
}

macro_rules! atomics {
    ($($width:literal: $($({$($generics:tt)*})? $type:ty = $fresh:expr),*;)*) => {$($(
        #[cfg(target_has_atomic = $width)]
        impl$(<$($generics)*>)? Poolable for $type {
            #[inline]
            fn init() -> Self {
                Self::new($fresh)
            }

            #[inline]
            fn reset(&mut self) {
                *self.get_mut() = $fresh;
            }
        }
    )*)*};
}

atomics! {
    "8": atomic::AtomicBool = false, atomic::AtomicU8 = 0, atomic::AtomicI8 = 0;
    "16": atomic::AtomicU16 = 0, atomic::AtomicI16 = 0;
    "32": atomic::AtomicU32 = 0, atomic::AtomicI32 = 0;
    "64": atomic::AtomicU64 = 0, atomic::AtomicI64 = 0;
    "ptr": atomic::AtomicUsize = 0, atomic::AtomicIsize = 0;
    "ptr": {T} atomic::AtomicPtr<T> = ptr::null_mut();
}

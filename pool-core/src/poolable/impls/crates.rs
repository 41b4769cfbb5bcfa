//! Types of other crates, each behind the feature named after its crate. A reset collection is empty and keeps
//! its memory, and the memory of one that grows can be bounded.

#[cfg(feature = "arrayvec")]
mod of_arrayvec {
    use arrayvec::{ArrayString, ArrayVec};

    use crate::poolable::Poolable;

    cleared! {
        {T, const N: usize} ArrayVec<T, N>;
        {const N: usize} ArrayString<N>;
    }
}

#[cfg(feature = "bytes")]
mod of_bytes {
    use bytes::{Bytes, BytesMut};

    use crate::poolable::{MaxCapacity, Poolable};

    // An empty part of a buffer would still hold the whole.
    plain! {
        Bytes = Bytes::new();
    }

    cleared! {
        BytesMut;
    }

    /// Capacity in bytes. What was split off or advanced over counts, unless a part of it is still in use.
    impl MaxCapacity for BytesMut {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            let beyond = max.saturating_add(1).saturating_sub(self.len());
            if self.capacity() > max || self.try_reclaim(beyond) {
                // Bytes that are there may need more than `max`: then nothing is beyond what they need.
                let mut smaller = BytesMut::with_capacity(max.max(self.len()));
                smaller.extend_from_slice(self);
                *self = smaller;
            }
        }

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear();
            self.extend_from_slice(&value);
        }
    }
}

#[cfg(feature = "chrono")]
mod of_chrono {
    use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};

    use crate::poolable::Poolable;

    plain! {
        NaiveDate = Self::default();
        NaiveDateTime = Self::default();
        NaiveTime = Self::default();
        TimeDelta = Self::zero();
    }

    /// In `Utc`, in a `FixedOffset`, and in `Local` where the program has it.
    impl<Tz: TimeZone> Poolable for DateTime<Tz>
    where
        Self: Default,
    {
        #[inline]
        fn init() -> Self {
            Self::default()
        }

        #[inline]
        fn reset(&mut self) {
            *self = Self::default();
        }
    }
}

/// What maps and sets of other crates do as those of std.
#[cfg(any(feature = "hashbrown", feature = "indexmap"))]
macro_rules! limited_tables {
    ($({$($generics:tt)*} $type:ty;)*) => {$(
        impl<$($generics)*> MaxCapacity for $type {
            limit_by_shrinking!();

            #[inline]
            fn refill(&mut self, value: Self) {
                self.clear();
                self.extend(value);
            }
        }
    )*};
}

#[cfg(feature = "hashbrown")]
mod of_hashbrown {
    use core::hash::{BuildHasher, Hash};

    use hashbrown::{HashMap, HashSet};

    use crate::poolable::{MaxCapacity, Poolable};

    cleared! {
        {K, V, S: Default} HashMap<K, V, S>;
        {T, S: Default} HashSet<T, S>;
    }

    limited_tables! {
        {K: Eq + Hash, V, S: BuildHasher} HashMap<K, V, S>;
        {T: Eq + Hash, S: BuildHasher} HashSet<T, S>;
    }
}

#[cfg(feature = "heapless")]
mod of_heapless {
    use heapless::binary_heap::Kind;
    use heapless::{
        BinaryHeap, Deque, HistoryBuf, IndexMap, IndexSet, LenType, LinearMap, String, Vec,
    };

    use crate::poolable::Poolable;

    cleared! {
        {T, const N: usize, L: LenType} Vec<T, N, L>;
        {const N: usize, L: LenType} String<N, L>;
        {T, const N: usize} Deque<T, N>;
        {T, const N: usize} HistoryBuf<T, N>;
        {T: Ord, K: Kind, const N: usize} BinaryHeap<T, K, N>;
        {K: Eq, V, const N: usize} LinearMap<K, V, N>;
        {K, V, S: Default, const N: usize} IndexMap<K, V, S, N>;
        {T, S: Default, const N: usize} IndexSet<T, S, N>;
    }
}

#[cfg(feature = "indexmap")]
mod of_indexmap {
    use core::hash::{BuildHasher, Hash};

    use indexmap::{IndexMap, IndexSet};

    use crate::poolable::{MaxCapacity, Poolable};

    cleared! {
        {K, V, S: Default} IndexMap<K, V, S>;
        {T, S: Default} IndexSet<T, S>;
    }

    limited_tables! {
        {K: Eq + Hash, V, S: BuildHasher} IndexMap<K, V, S>;
        {T: Eq + Hash, S: BuildHasher} IndexSet<T, S>;
    }
}

#[cfg(feature = "rust_decimal")]
mod of_rust_decimal {
    use rust_decimal::Decimal;

    use crate::poolable::Poolable;

    plain! {
        Decimal = Decimal::ZERO;
    }
}

#[cfg(feature = "smallvec")]
mod of_smallvec {
    use smallvec::{Array, SmallVec};

    use crate::poolable::{MaxCapacity, Poolable};

    cleared! {
        {A: Array} SmallVec<A>;
    }

    /// No less than what is inline.
    impl<A: Array> MaxCapacity for SmallVec<A> {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            if self.spilled() && self.capacity() > max {
                // `grow` sets the capacity, also to less.
                self.grow(max.max(self.len()));
            }
        }

        #[inline]
        fn refill(&mut self, mut value: Self) {
            self.clear();
            self.append(&mut value);
        }
    }
}

#[cfg(feature = "uuid")]
mod of_uuid {
    use uuid::Uuid;

    use crate::poolable::Poolable;

    plain! {
        Uuid = Uuid::nil();
    }
}

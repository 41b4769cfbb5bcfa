//! Types of other crates: what was filled is fresh after a reset, in the memory that it had, and
//! `max_capacity` bounds what grows. A test for each crate.

use pool_core::Poolable;

/// Resets a filled `value` and compares it with a fresh one.
#[track_caller]
fn assert_resets<T: Poolable + PartialEq + std::fmt::Debug>(mut value: T) {
    assert_ne!(value, T::init(), "nothing to reset");
    value.reset();
    assert_eq!(value, T::init());
    assert!(value.is_reusable());
}

/// Derives a struct with one field, as users do, fills it, and resets it under a bound and without one:
/// memory stays where it is, up to the bound.
#[cfg(all(
    feature = "derive",
    any(
        feature = "bytes",
        feature = "hashbrown",
        feature = "indexmap",
        feature = "smallvec"
    )
))]
macro_rules! assert_grows {
    ($type:ty, $element:expr) => {{
        fn some(range: std::ops::Range<u32>) -> impl Iterator<Item = <$type as IntoIterator>::Item> {
            range.map($element)
        }

        #[derive(Poolable)]
        struct Message {
            kept: $type,
            #[poolable(max_capacity = 100)]
            bounded: $type,
            #[poolable(default = { let mut value = <$type>::init(); value.extend(some(0..3)); value }, max_capacity = 100)]
            refilled: $type,
        }

        let mut message = Message::init();
        assert_eq!(message.refilled.len(), 3);
        for many in [50, 1_000] {
            message.kept.extend(some(0..many));
            message.bounded.extend(some(0..many));
            message.refilled.extend(some(3..many));
            let kept = message.kept.capacity();
            message.reset();
            assert!(message.kept.is_empty() && message.bounded.is_empty());
            assert_eq!(message.kept.capacity(), kept);
            assert_eq!(message.refilled.len(), 3);
            for capacity in [message.bounded.capacity(), message.refilled.capacity()] {
                // Hash tables come in steps.
                assert!((50..=200).contains(&capacity), "{capacity}");
            }
        }
        // What is there stays, even where it is more than the bound.
        message.bounded.extend(some(0..1_000));
        pool_core::MaxCapacity::limit_capacity(&mut message.bounded, 10);
        assert_eq!(message.bounded.len(), 1_000);
    }};
}

#[cfg(feature = "arrayvec")]
#[test]
fn arrayvec() {
    use arrayvec::{ArrayString, ArrayVec};

    assert_resets(ArrayVec::<u8, 4>::from([1, 2, 3, 4]));
    assert_resets(ArrayString::<4>::from("AMZN").unwrap());
}

#[cfg(feature = "bytes")]
#[test]
fn bytes() {
    use bytes::{Buf, Bytes, BytesMut};
    use pool_core::MaxCapacity;

    assert_resets(Bytes::from_static(b"8=FIX.4.4"));
    assert_resets(BytesMut::from(&b"8=FIX.4.4"[..]));

    // Nothing empty holds a buffer of others.
    let whole = Bytes::from(vec![0; 1_000]);
    let mut part = whole.slice(..10);
    part.reset();
    assert!(whole.is_unique());

    #[cfg(feature = "derive")]
    assert_grows!(BytesMut, |n| n.to_le_bytes()[0]);

    // A buffer that was read to its end is as large as before.
    let mut read = BytesMut::from(&[0; 10_000][..]);
    read.advance(9_999);
    assert!(read.capacity() < 100);
    read.limit_capacity(100);
    assert_eq!(read, [0][..]);
    assert!(!read.try_reclaim(1_000), "the memory is still there");

    // One that is shared with what was split off cannot be made smaller, and is not copied.
    let mut shared = BytesMut::from(&[0; 10_000][..]);
    let frozen = shared.split_to(9_990).freeze();
    let rest = shared.as_ptr();
    shared.limit_capacity(100);
    assert_eq!((shared.as_ptr(), shared.len()), (rest, 10));
    drop(frozen);
}

#[cfg(feature = "chrono")]
#[test]
fn chrono() {
    use chrono::{DateTime, FixedOffset, NaiveDate, TimeDelta};

    let date = NaiveDate::from_ymd_opt(2012, 6, 21).unwrap();
    let time = date.and_hms_opt(9, 30, 0).unwrap();
    assert_resets(date);
    assert_resets(time);
    assert_resets(time.time());
    assert_resets(time.and_utc());
    assert_resets(TimeDelta::milliseconds(250));

    let mut there: DateTime<FixedOffset> =
        DateTime::parse_from_rfc3339("2012-06-21T09:30:00+02:00").unwrap();
    there.reset();
    assert_eq!(
        (there.timestamp(), there.offset().local_minus_utc()),
        (0, 0)
    );
}

#[cfg(feature = "hashbrown")]
#[test]
fn hashbrown() {
    use hashbrown::{HashMap, HashSet};
    use std::hash::RandomState;

    type Map = HashMap<u32, u32, RandomState>;
    type Set = HashSet<u32, RandomState>;
    assert_resets(Map::from_iter([(1, 2)]));
    assert_resets(Set::from_iter([1]));
    #[cfg(feature = "derive")]
    {
        assert_grows!(Map, |n| (n, n));
        assert_grows!(Set, |n| n);
    }
}

#[cfg(feature = "heapless")]
#[test]
fn heapless() {
    use heapless::binary_heap::Max;
    use heapless::index_map::FnvIndexMap;
    use heapless::index_set::FnvIndexSet;
    use heapless::{BinaryHeap, Deque, HistoryBuf, LinearMap, String, Vec};

    assert_resets(Vec::<u8, 4>::from_slice(&[1, 2]).unwrap());
    assert_resets(Vec::<u8, 4, u8>::from_slice(&[1, 2]).unwrap());
    assert_resets(String::<4>::try_from("AMZN").unwrap());
    assert_resets(FnvIndexMap::<u8, u8, 4>::from_iter([(1, 2)]));
    assert_resets(FnvIndexSet::<u8, 4>::from_iter([1]));
    assert_resets(LinearMap::<u8, u8, 4>::from_iter([(1, 2)]));

    let mut heap = BinaryHeap::<u8, Max, 4>::init();
    heap.push(1).unwrap();
    heap.reset();
    assert!(heap.is_empty());

    let mut deque = Deque::<u8, 4>::init();
    deque.push_back(1).unwrap();
    deque.reset();
    assert!(deque.is_empty());

    let mut history = HistoryBuf::<u8, 4>::init();
    history.write(1);
    history.reset();
    assert_eq!(history.recent(), None);
}

#[cfg(feature = "indexmap")]
#[test]
fn indexmap() {
    use std::hash::RandomState;

    type Map = indexmap::IndexMap<u32, u32, RandomState>;
    type Set = indexmap::IndexSet<u32, RandomState>;
    assert_resets(Map::from_iter([(1, 2)]));
    assert_resets(Set::from_iter([1]));
    #[cfg(feature = "derive")]
    {
        assert_grows!(Map, |n| (n, n));
        assert_grows!(Set, |n| n);
    }
}

#[cfg(feature = "rust_decimal")]
#[test]
fn rust_decimal() {
    assert_resets(rust_decimal::Decimal::new(5_857_800, 4));
}

#[cfg(feature = "smallvec")]
#[test]
fn smallvec() {
    use pool_core::MaxCapacity;
    use smallvec::SmallVec;

    type Legs = SmallVec<[u32; 4]>;
    assert_resets(Legs::from_slice(&[1, 2]));
    assert_resets(Legs::from_slice(&[1, 2, 3, 4, 5]));
    #[cfg(feature = "derive")]
    assert_grows!(Legs, |n| n);

    // Back inline, where what is allowed is there.
    let mut legs = Legs::from_elem(7, 1_000);
    legs.reset();
    legs.limit_capacity(3);
    assert!(!legs.spilled());
    assert_eq!(legs.capacity(), 4);
}

#[cfg(feature = "uuid")]
#[test]
fn uuid() {
    assert_resets(uuid::Uuid::from_u128(7));
}

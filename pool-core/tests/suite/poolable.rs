//! What `Poolable` promises, kept by every type of `std` that has it: whatever was written, after
//! `reset` the value is a fresh one, and the memory worth keeping is still there.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CString, OsString};
use std::fmt::Debug;
use std::hash::BuildHasher;
use std::io::Cursor;
use std::marker::{PhantomData, PhantomPinned};
use std::mem::{self, MaybeUninit};
use std::num::{Saturating, Wrapping};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::rc::{self, Rc};
use std::sync::atomic::*;
use std::sync::{self, Arc, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::Duration;

use pool_core::{Place, Poolable, poolable};
use proptest::prelude::*;

/// A reset `value`, a made one, and one made in place look alike. They are compared as `Debug`
/// shows them: that needs no `PartialEq`, tells `-0.0` from `0.0`, and shows a lock's poison.
#[track_caller]
fn assert_resets<T: Poolable + Debug>(mut value: T) {
    value.reset();
    let fresh = T::init();
    assert_eq!(format!("{value:?}"), format!("{fresh:?}"));
    assert!(value.is_reusable());

    let mut memory = MaybeUninit::uninit();
    let made = T::init_in(Place::new(&mut memory));
    assert_eq!(format!("{:?}", *made), format!("{fresh:?}"));
}

/// Fresh is what `Default` gives.
#[track_caller]
fn assert_default<T: Poolable + Default + Debug>() {
    assert_eq!(format!("{:?}", T::init()), format!("{:?}", T::default()));
}

/// A property per kind: any value, reset, is a fresh one.
macro_rules! any_value_resets {
    ($($name:ident: $($type:ty),+;)*) => {
        proptest! {$(
            #[test]
            fn $name(values in ($(any::<$type>(),)+)) {
                reset_each!(values; $($type),+);
            }
        )*}
    };
}

/// Takes a tuple apart, and resets every part.
macro_rules! reset_each {
    ($values:ident; $($type:ty),+) => {
        reset_each!(@ $values; $($type),+; 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $values:ident; $type:ty $(, $rest:ty)*; $index:tt $($more:tt)*) => {
        assert_resets::<$type>($values.$index);
        reset_each!(@ $values; $($rest),*; $($more)*)
    };
    (@ $values:ident; ; $($more:tt)*) => {};
}

any_value_resets! {
    unsigned: u8, u16, u32, u64, u128, usize;
    signed: i8, i16, i32, i64, i128, isize;
    other_scalars: f32, f64, bool, char, ();
    text: String, OsString, PathBuf, CString;
    sequences: Vec<u8>, VecDeque<u16>, LinkedList<u32>, BinaryHeap<i64>;
    maps: HashMap<u8, u32>, BTreeMap<char, bool>;
    sets: HashSet<u32>, BTreeSet<char>;
    options: Option<u64>, Option<Option<String>>, Option<Vec<u8>>;
    boxes: Box<u64>, Box<String>, Box<Box<Vec<u8>>>, Box<[u8; 32]>;
    counted: Rc<u64>, Rc<Vec<u8>>, Arc<u64>, Arc<String>;
    unsized_boxes: Box<[u8]>, Box<str>, Rc<[u8]>, Rc<str>, Arc<[u8]>, Arc<str>;
    arrays: [u8; 32], [String; 3], [[i16; 4]; 4], [(bool, Vec<u8>); 2];
    small_tuples: (u8,), (u8, String), (u8, Vec<u8>, Option<u8>), (i8, f64, char, [u8; 2]);
    cells: Cell<u64>, RefCell<Vec<u8>>, Cell<bool>, RefCell<(u8, String)>;
    locks: Mutex<Vec<u8>>, Mutex<u64>;
    times: Duration;
    number_wrappers: Wrapping<u32>, Wrapping<i8>;
    ranges: Range<u32>, RangeFrom<i8>, RangeTo<u64>, RangeInclusive<u32>, RangeToInclusive<char>;
    empty_types: PhantomData<u8>, RangeFull;
}

proptest! {
    #[test]
    fn kinds_proptest_does_not_know(mut number: u32, text: String, bytes: Vec<u8>, position: u64) {
        assert_resets(Saturating(number));
        assert_resets(Reverse(text.clone()));
        assert_resets(PhantomPinned);
        assert_resets(PhantomData::<dyn Fn()>);
        assert_resets(RwLock::new(bytes.clone()));
        assert_resets(OnceCell::from(text.clone()));
        assert_resets(OnceLock::from(text.clone()));
        assert_resets(&*text);
        assert_resets(&*bytes);
        assert_resets(&mut *bytes.clone());
        assert_resets(Cow::Borrowed(&*text));
        assert_resets(Cow::<[u8]>::Owned(bytes.clone()));
        assert_resets(AtomicPtr::new(&raw mut number));
        let mut cursor = Cursor::new(bytes);
        cursor.set_position(position);
        assert_resets(cursor);
    }

    /// Collections inside collections: what a message usually is.
    #[test]
    fn nested(message in prop::collection::hash_map(
        any::<u8>(),
        prop::collection::btree_map(any::<u16>(), prop::collection::vec(".{0,4}", 0..3), 0..3),
        0..4,
    )) {
        assert_resets(vec![message.clone()]);
        assert_resets([message.clone(), message.clone()]);
        assert_resets((7, Box::new(message.clone()), Mutex::new(Some(message.clone()))));
        assert_resets(RefCell::new(HashMap::from([(1, message.clone())])));
        assert_resets(Arc::new(message));
    }

    #[test]
    fn atomics(byte: u8, short: u16, word: u32, long: u64, size: usize, flag: bool) {
        assert_resets(AtomicBool::new(flag));
        assert_resets((AtomicU8::new(byte), AtomicI8::new(byte as i8)));
        assert_resets((AtomicU16::new(short), AtomicI16::new(short as i16)));
        assert_resets((AtomicU32::new(word), AtomicI32::new(word as i32)));
        assert_resets((AtomicU64::new(long), AtomicI64::new(long as i64)));
        assert_resets((AtomicUsize::new(size), AtomicIsize::new(size as isize)));
    }

    #[test]
    fn long_tuples(byte: u8, text: String, list: Vec<u8>) {
        let (b, t, l) = (byte, text, list);
        assert_resets((b, t.clone(), l.clone(), b, b));
        assert_resets((b, t.clone(), l.clone(), b, b, b));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone()));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone(), b));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone(), b, l.clone()));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone(), b, l.clone(), b));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone(), b, l.clone(), b, b));
        assert_resets((b, t.clone(), l.clone(), b, b, b, t.clone(), b, l.clone(), b, b, t));
    }

    /// Iterating leaves its mark in a `RangeInclusive`, even where the bounds look unused.
    #[test]
    fn an_exhausted_range(start: u8, length in 0_u8..4, steps in 0_usize..6) {
        let mut range = start..=start.saturating_add(length);
        let _ = range.by_ref().take(steps).count();
        assert_resets(range);
    }

    #[test]
    fn capacity_stays(bytes: Vec<u8>, text: String) {
        macro_rules! assert_kept {
            ($($collection:expr),+ $(,)?) => {$(
                let mut collection = $collection;
                let before = collection.capacity();
                collection.reset();
                assert_eq!(collection.capacity(), before);
            )+};
        }
        assert_kept!(
            text.clone(),
            OsString::from(&text),
            PathBuf::from(&text),
            bytes.clone(),
            VecDeque::from(bytes.clone()),
            BinaryHeap::from(bytes.clone()),
            HashSet::<u8>::from_iter(bytes.iter().copied()),
            HashMap::<u8, u8>::from_iter(bytes.iter().map(|&b| (b, b))),
        );
    }

    /// Through everything that resets its inside in place, down to the buffer itself.
    #[test]
    fn buffers_stay_through_wrappers(bytes in prop::collection::vec(any::<u8>(), 1..64)) {
        let buffer = bytes.as_ptr();
        let mut value = (Box::new([Mutex::new(RefCell::new(Reverse(bytes)))]), 7);
        value.reset();
        let (boxed, _) = value;
        let [mutex] = *boxed;
        let Reverse(bytes) = mutex.into_inner().unwrap().into_inner();
        assert_eq!(bytes.as_ptr(), buffer);
    }

    /// An array made in place: a panic on the way drops what was there, once, and no more.
    #[test]
    fn a_panic_while_an_array_is_made(at in 0_usize..8) {
        fn assert_dropped_once(at: usize, make: impl FnOnce()) {
            Fragile::break_at(at);
            panic::catch_unwind(AssertUnwindSafe(make)).unwrap_err();
            let mut dropped = DROPPED.take();
            dropped.sort_unstable();
            assert_eq!(dropped, (0..at).collect::<Vec<_>>());
        }
        let mut memory = MaybeUninit::uninit();
        let place = Place::new(&mut memory);
        assert_dropped_once(at, || mem::forget(<[Fragile; 8]>::init()));
        assert_dropped_once(at, || mem::forget(<[Fragile; 8]>::init_in(place)));
        assert_dropped_once(at, || mem::forget(Box::<[Fragile; 8]>::init()));
        assert_dropped_once(at, || mem::forget(Box::<[[Fragile; 2]; 4]>::init()));
    }
}

thread_local! {
    /// The number of the next [`Fragile`], and the one that panics.
    static NEXT: Cell<usize> = const { Cell::new(0) };
    static LAST: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The numbers of those dropped.
    static DROPPED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Knows its number, breaks on demand while it is made, and says when it is dropped.
struct Fragile(usize);

impl Fragile {
    fn break_at(number: usize) {
        NEXT.set(0);
        LAST.set(number);
        DROPPED.take();
    }
}

impl Poolable for Fragile {
    fn init() -> Self {
        let number = NEXT.get();
        // Without the hook of `panic!`, which would fill the output.
        if number == LAST.get() {
            panic::resume_unwind(Box::new("broken on demand"));
        }
        NEXT.set(number + 1);
        Fragile(number)
    }

    fn reset(&mut self) {}
}

impl Drop for Fragile {
    fn drop(&mut self) {
        DROPPED.with_borrow_mut(|dropped| dropped.push(self.0));
    }
}

#[test]
fn an_array_made_in_place_is_dropped_once() {
    let mut memory = MaybeUninit::uninit();
    Fragile::break_at(usize::MAX);
    let ready = <[[Fragile; 2]; 3]>::init_in(Place::new(&mut memory));
    assert_eq!(ready[2][1].0, 5);
    assert!(DROPPED.take().is_empty());
    drop(ready);
    assert_eq!(DROPPED.take(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn arrays_of_nothing() {
    assert_resets([(); 5]);
    assert_resets::<[String; 0]>([]);
    assert_resets(Box::new([[0_u8; 0]; 3]));
}

/// In place means written, not assumed: memory starts out dirty.
#[test]
fn dirty_memory_is_overwritten() {
    let mut memory = MaybeUninit::new([0xAA_u8; 1000]);
    let ready = Poolable::init_in(Place::new(&mut memory));
    assert_eq!(*ready, [0_u8; 1000]);
}

#[test]
fn fresh_is_the_default() {
    macro_rules! check {
        ($($type:ty),+ $(,)?) => {
            $(assert_default::<$type>();)+
        };
    }
    check!(
        u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char, (),
        AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, AtomicI8, AtomicI16, AtomicI32,
        AtomicI64, AtomicIsize, AtomicBool, AtomicPtr<u8>, &str, &[u8], &mut [u8], Duration,
        RangeFull, PhantomData<u8>, PhantomPinned, String, OsString,
        PathBuf, CString, Vec<u8>, VecDeque<u8>, LinkedList<u8>, BinaryHeap<u8>,
        HashMap<u8, u8>, HashSet<u8>, BTreeMap<u8, u8>, BTreeSet<u8>, Option<u8>, Box<u8>,
        Box<str>, Box<[u8]>, Rc<u8>, Rc<str>, Rc<[u8]>, Arc<u8>, Arc<str>, Arc<[u8]>,
        rc::Weak<u8>, sync::Weak<u8>, Cow<'_, str>, [u8; 4], (u8, String), Wrapping<u8>,
        Saturating<u8>, Reverse<u8>, Range<u8>, Cursor<Vec<u8>>, Cell<u8>, RefCell<u8>, Mutex<u8>,
        RwLock<u8>, OnceCell<u8>, OnceLock<u8>,
    );
}

/// What a collection or an option held is dropped by the reset, not by the next user.
#[test]
fn what_was_held_is_dropped() {
    let held = Rc::new(0);
    macro_rules! check {
        ($($value:expr),+ $(,)?) => {$(
            let mut value = $value;
            assert_eq!(Rc::strong_count(&held), 2);
            value.reset();
            assert_eq!(Rc::strong_count(&held), 1);
        )+};
    }
    let own = || Rc::clone(&held);
    check!(
        vec![own()],
        VecDeque::from([own()]),
        LinkedList::from([own()]),
        BinaryHeap::from([Reverse(own())]),
        HashMap::<_, _>::from([(0, own())]),
        BTreeMap::from([(0, own())]),
        BTreeSet::from([own()]),
        Some(own()),
        [(0, Some(own()))],
        Box::new(Some(own())),
        Box::<[_]>::from([own()]),
        Rc::<[_]>::from([own()]),
        Cow::Owned::<[_]>(vec![own()]),
        Mutex::new(Some(own())),
        OnceCell::from(own()),
        OnceLock::from(own()),
    );
}

/// Says of itself whether it is worth keeping.
#[derive(Debug, Clone)]
struct Judged(bool);

impl Poolable for Judged {
    fn init() -> Self {
        Judged(true)
    }

    fn reset(&mut self) {}

    fn is_reusable(&self) -> bool {
        self.0
    }
}

#[test]
fn one_part_not_worth_keeping_condemns_the_whole() {
    fn wrapped(good: bool) -> Vec<bool> {
        let part = || Judged(good);
        macro_rules! judge {
            ($($value:expr),+ $(,)?) => {
                vec![$($value.is_reusable()),+]
            };
        }
        judge!(
            Box::new(part()),
            Rc::new(part()),
            Arc::new(part()),
            [Judged(true), part(), Judged(true)],
            (part(),),
            (0, part(), 0),
            Wrapping(part()),
            Saturating(part()),
            Reverse(part()),
            Judged(true)..part(),
            part()..Judged(true),
            part()..,
            ..part(),
            ..=part(),
            Judged(true)..=part(),
            part()..=Judged(true),
            Cursor::new(part()),
            RefCell::new(part()),
            Mutex::new(part()),
            RwLock::new(part()),
            Box::new([(Mutex::new(part()), 0)]),
            Cow::<Judged>::Owned(part()),
        )
    }
    assert!(wrapped(true).iter().all(|&verdict| verdict));
    assert!(wrapped(false).iter().all(|&verdict| !verdict));
    // What is dropped on reset has no say.
    assert!(Some(Judged(false)).is_reusable());
    assert!(vec![Judged(false)].is_reusable());
    assert!(Cow::Borrowed(&Judged(false)).is_reusable());
}

#[test]
fn boxes_keep_their_allocation() {
    let mut boxed = Box::new(7);
    let before = &raw const *boxed;
    boxed.reset();
    assert_eq!((*boxed, &raw const *boxed), (0, before));
}

#[test]
fn counted_objects_are_reset_in_place_only_when_nobody_else_sees_them() {
    macro_rules! check {
        ($($strong:ident)*) => {$(
            let mut alone = $strong::new(String::from("mine"));
            let before = $strong::as_ptr(&alone);
            alone.reset();
            assert_eq!((alone.as_str(), $strong::as_ptr(&alone)), ("", before));

            let mut shared = $strong::new(String::from("ours"));
            let other = $strong::clone(&shared);
            shared.reset();
            assert_eq!((shared.as_str(), other.as_str()), ("", "ours"));

            // The previous user must not reach the next one's object.
            let mut watched = $strong::new(String::from("watched"));
            let watcher = $strong::downgrade(&watched);
            watched.reset();
            assert!(watched.is_empty() && watcher.upgrade().is_none());

            let mut watcher = $strong::downgrade(&watched);
            watcher.reset();
            assert!(watcher.upgrade().is_none());
        )*};
    }
    check!(Rc Arc);
}

#[test]
fn cows_keep_an_owned_buffer() {
    let mut cow: Cow<'_, str> = Cow::Owned(String::from("owned"));
    let capacity = cow.to_mut().capacity();
    cow.reset();
    assert!(matches!(&cow, Cow::Owned(text) if text.is_empty() && text.capacity() == capacity));

    let mut cow = Cow::Borrowed("borrowed");
    cow.reset();
    assert!(matches!(cow, Cow::Owned(text) if text.is_empty()));
}

#[test]
fn maps_keep_their_hasher() {
    #[derive(Default)]
    struct Seeded(u64);

    impl BuildHasher for Seeded {
        type Hasher = DefaultHasher;

        fn build_hasher(&self) -> DefaultHasher {
            DefaultHasher::new()
        }
    }

    let mut map = HashMap::with_hasher(Seeded(7));
    map.insert(1, 1);
    map.reset();
    assert_eq!((map.len(), map.hasher().0), (0, 7));

    let mut set = HashSet::with_hasher(Seeded(7));
    set.insert(1);
    set.reset();
    assert_eq!((set.len(), set.hasher().0), (0, 7));
}

#[test]
fn poisoned_locks_are_usable_again() {
    let mut mutex = Mutex::new(vec![1]);
    let mut rwlock = RwLock::new(vec![1]);
    thread::scope(|scope| {
        let poisoner = scope.spawn(|| {
            let _guards = (mutex.lock(), rwlock.write());
            panic::resume_unwind(Box::new("poison"));
        });
        poisoner.join().unwrap_err();
    });
    assert!(mutex.is_poisoned() && rwlock.is_poisoned());

    mutex.reset();
    rwlock.reset();
    assert!(mutex.is_reusable() && rwlock.is_reusable());
    // Usable, empty, and with the memory they had.
    assert!(matches!(&*mutex.lock().unwrap(), list if list.is_empty() && list.capacity() > 0));
    assert!(matches!(&*rwlock.write().unwrap(), list if list.is_empty() && list.capacity() > 0));
}

/// A guard that was leaked holds nothing back from `&mut`, but would from the next user.
#[test]
fn leaked_guards_are_forgotten() {
    let mut cell = RefCell::new(1);
    mem::forget(cell.borrow_mut());
    let mut lent = RefCell::new(1);
    mem::forget(lent.borrow());
    let mut mutex = Mutex::new(1);
    mem::forget(mutex.lock());
    let mut read = RwLock::new(1);
    mem::forget(read.read());
    let mut written = RwLock::new(1);
    mem::forget(written.write());

    cell.reset();
    lent.reset();
    mutex.reset();
    read.reset();
    written.reset();
    assert_eq!(*cell.try_borrow_mut().unwrap(), 0);
    assert_eq!(*lent.try_borrow_mut().unwrap(), 0);
    assert_eq!(*mutex.try_lock().unwrap(), 0);
    assert_eq!(*read.try_write().unwrap(), 0);
    assert_eq!(*written.try_write().unwrap(), 0);
}

/// Twice the stack: built, reset and judged where it lives.
#[test]
fn objects_larger_than_the_stack() {
    const SIZE: usize = 4 << 20;

    fn small_stack(test: fn()) {
        let thread = thread::Builder::new().stack_size(2 << 20);
        thread.spawn(test).unwrap().join().unwrap();
    }

    small_stack(|| {
        let mut memory = Box::new_uninit();
        let mut ready = <[u8; SIZE]>::init_in(Place::new(&mut memory));
        ready[SIZE - 1] = 1;
        ready.reset();
        assert!(ready.iter().all(|&byte| byte == 0));
    });
    small_stack(|| {
        let mut boxed = Box::<[u8; SIZE]>::init();
        boxed[SIZE - 1] = 1;
        boxed.reset();
        assert!(boxed.is_reusable() && boxed.iter().all(|&byte| byte == 0));
    });
    small_stack(|| {
        let mut boxed = Box::<[[(u32, Option<u32>); 512]; SIZE / 512 / 12]>::init();
        boxed[SIZE / 512 / 12 - 1][511].1 = Some(1);
        boxed.reset();
        assert!(boxed.as_flattened().iter().all(|part| *part == (0, None)));
    });
    small_stack(|| {
        let mut counted = Arc::<[u8; SIZE]>::init();
        let other = Arc::clone(&counted);
        counted.reset();
        assert!(!Arc::ptr_eq(&counted, &other));
        assert!(counted.iter().all(|&byte| byte == 0));
    });
    small_stack(|| {
        let nested = Mutex::<Option<Box<[u8; SIZE]>>>::init();
        *nested.lock().unwrap() = Some(Poolable::init());
        assert!(
            nested
                .lock()
                .unwrap()
                .as_ref()
                .is_some_and(|boxed| boxed[SIZE - 1] == 0)
        );
    });
}

/// What a collection of borrows for one message is made of, and what it goes back to.
#[test]
fn a_recycled_vec_has_the_memory_of_the_used_one() {
    let kept: Vec<(u32, &'static [u8])> = Vec::with_capacity(33);
    let memory = kept.as_ptr().addr();
    let mut fields: Vec<(u32, &[u8])> = poolable::recycle(kept);
    assert_eq!((fields.as_ptr().addr(), fields.capacity()), (memory, 33));

    let message = vec![1, 2, 3];
    fields.extend((1..).zip(message.chunks(1)));
    assert_eq!(fields.len(), 3);
    let kept: Vec<(u32, &'static [u8])> = poolable::recycle(fields);
    drop(message);
    assert!(kept.is_empty());
    assert_eq!((kept.as_ptr().addr(), kept.capacity()), (memory, 33));

    // Nothing of no memory.
    assert_eq!(poolable::recycle::<&str, &str>(Vec::new()).capacity(), 0);
}

#[test]
fn recycling_drops_what_was_there() {
    let owned = Rc::new(());
    let used = vec![Rc::clone(&owned); 5];
    let fresh: Vec<Rc<()>> = poolable::recycle(used);
    assert_eq!((Rc::strong_count(&owned), fresh.capacity()), (1, 5));
}

//! A handle is what a `Box` is wherever that can be: each trait that `Box<T>` has for a sized `T` in
//! stable Rust, and what the handles do about it. A "yes" is compared below, method by method.
//!
//! | `Box<T>` is | `Pooled`, `unsync::Pooled` | `SharedPooled` |
//! | --- | --- | --- |
//! | `Deref` | yes | yes |
//! | `DerefMut` | yes | no: others have it too; `get_mut` while there are none |
//! | `Borrow` | yes | yes |
//! | `BorrowMut` | yes | no, as `DerefMut` |
//! | `AsRef<T>`, `AsMut<T>` | no: what `T` has of them (`handles.rs`), which is what a `Vec<u8>` is passed for | the same, no `AsMut` |
//! | `Debug`, `Display`, `Pointer` | yes | yes |
//! | `PartialEq`, `Eq`, `PartialOrd`, `Ord`, `Hash` | yes | yes |
//! | `Error` | yes | yes |
//! | `Hasher` | yes | no, it changes its object |
//! | `Iterator`, `DoubleEndedIterator`, `ExactSizeIterator`, `FusedIterator` | yes, but for `last`, which takes the object | no, as `Hasher` |
//! | `Future`, of one that is `Unpin` | yes | no, as `Hasher` |
//! | `Read`, `BufRead`, `Seek`, `Write` | yes | no, as `Hasher` |
//! | `AsFd`, `AsRawFd`, and `AsHandle`, `AsSocket` | yes | yes |
//! | `Unpin`, whatever `T` is | yes | yes |
//! | `Send`, `Sync`, `UnwindSafe` as `T` is | yes (`types.rs`) | as `Arc` (there) |
//! | `Drop` | gives the object back | the last one does |
//! | `Fn`, `FnMut`, `FnOnce`, `AsyncFn`… | a call derefs; as a bound, no: only `std` may implement them | the same |
//! | `Clone` | no: would acquire, which can fail; `SharedPooled` is cloned, and is the same object | yes, of the handle |
//! | `Default`, `From<T>` | no: there is no pool to take from; `Pool::acquire`, `Pool::attach` | no |
//! | `into_pin`, `From<Box<T>> for Pin<Box<T>>` | `into_pin`, of a `T` that is `Unpin`: the pool has `&mut T` when it resets | no |
//! | `leak`, `into_raw`, `from_raw`, `as_ptr` | yes (`handles.rs`) | yes, but for `leak` |
//! | conversions between `Box`es of slices, strings, arrays, `dyn Any`, `dyn Error`; `FromIterator`; `IntoIterator` | no: an object of a pool is sized, and stays in its node | no |
//! | `CoerceUnsized`, `DispatchFromDyn`, `Allocator`, `Coroutine` | not in stable Rust | the same |
//!
//! Beyond `Box`: `Extend`, `fmt::Write`, and `Serialize` with the feature `serde`.

use std::borrow::{Borrow, BorrowMut};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::error::Error;
use std::fmt::{self, Debug, Display, Pointer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, IoSlice, IoSliceMut, Read, Seek, SeekFrom};
use std::iter::FusedIterator;
use std::marker::PhantomPinned;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pool_core::{Hooks, Pool, Pooled, SharedPooled, unsync};

thread_local! {
    /// The methods of a [`Spy`] that were called.
    static CALLED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn called(method: &'static str) {
    CALLED.with_borrow_mut(|called| called.push(method));
}

/// What `f` calls of a `Spy`, in order.
fn calls(f: impl FnOnce()) -> Vec<&'static str> {
    CALLED.take();
    f();
    CALLED.take()
}

/// An object that has its own of every method there is, and says which was called.
struct Spy;

type SpyHooks = Hooks<fn() -> Spy, fn(&mut Spy)>;

/// Each kind of handle that has its object alone, beside a `Box`.
fn boxed_and_pooled() -> (
    Box<Spy>,
    Pooled<Spy, SpyHooks>,
    unsync::Pooled<Spy, SpyHooks>,
) {
    let create: fn() -> Spy = || Spy;
    let reset: fn(&mut Spy) = |_| {};
    let pool = Pool::builder_with(create, reset).build().unwrap();
    let alone = unsync::Pool::builder_with(create, reset).build().unwrap();
    (Box::new(Spy), pool.acquire(), alone.acquire())
}

/// Has `$drive` drive all of them, and asserts that the same methods were reached: `$expected`.
macro_rules! same {
    ($drive:ident, [$($expected:literal),* $(,)?]) => {{
        let expected = vec![$($expected),*];
        let (mut boxed, mut pooled, mut alone) = boxed_and_pooled();
        assert_eq!(calls(|| $drive(&mut boxed)), expected);
        assert_eq!(calls(|| $drive(&mut pooled)), expected);
        assert_eq!(calls(|| $drive(&mut alone)), expected);
    }};
}

/// As [`same!`], for what a handle needs no more than a shared reference for.
macro_rules! same_shared {
    ($drive:ident, [$($expected:literal),* $(,)?]) => {{
        same!($drive, [$($expected),*]);
        let (_, pooled, _) = boxed_and_pooled();
        let mut shared = Pooled::into_shared(pooled);
        assert_eq!(calls(|| $drive(&mut shared)), vec![$($expected),*]);
    }};
}

/// Implements methods that say their names, and give what is given.
macro_rules! spy {
    ($($method:ident($($self:tt)+) $(-> $Result:ty = $result:expr)?;)*) => {
        $(fn $method($($self)+) $(-> $Result)? {
            called(stringify!($method));
            $($result)?
        })*
    };
}

impl Iterator for Spy {
    type Item = u8;

    spy! {
        next(&mut self) -> Option<u8> = None;
        size_hint(&self) -> (usize, Option<usize>) = (3, Some(3));
        nth(&mut self, _n: usize) -> Option<u8> = None;
    }
}

impl DoubleEndedIterator for Spy {
    spy! {
        next_back(&mut self) -> Option<u8> = None;
        nth_back(&mut self, _n: usize) -> Option<u8> = None;
    }
}

impl ExactSizeIterator for Spy {
    spy! {
        len(&self) -> usize = 3;
    }
}

impl FusedIterator for Spy {}

#[test]
fn iterators() {
    fn drive<I: DoubleEndedIterator<Item = u8> + ExactSizeIterator + FusedIterator>(spy: &mut I) {
        spy.next();
        assert_eq!(spy.size_hint(), (3, Some(3)));
        spy.nth(1);
        spy.next_back();
        spy.nth_back(1);
        assert_eq!(spy.len(), 3);
    }
    same!(
        drive,
        ["next", "size_hint", "nth", "next_back", "nth_back", "len"]
    );
}

impl Hasher for Spy {
    spy! {
        finish(&self) -> u64 = 7;
        write(&mut self, _bytes: &[u8]);
        write_u8(&mut self, _number: u8);
        write_u16(&mut self, _number: u16);
        write_u32(&mut self, _number: u32);
        write_u64(&mut self, _number: u64);
        write_u128(&mut self, _number: u128);
        write_usize(&mut self, _number: usize);
        write_i8(&mut self, _number: i8);
        write_i16(&mut self, _number: i16);
        write_i32(&mut self, _number: i32);
        write_i64(&mut self, _number: i64);
        write_i128(&mut self, _number: i128);
        write_isize(&mut self, _number: isize);
    }
}

#[test]
fn hashers() {
    fn drive<H: Hasher>(spy: &mut H) {
        spy.write(b"bytes");
        (1_u8, 1_u16, 1_u32, 1_u64, 1_u128, 1_usize).hash(spy);
        (1_i8, 1_i16, 1_i32, 1_i64, 1_i128, 1_isize).hash(spy);
        assert_eq!(spy.finish(), 7);
    }
    same!(
        drive,
        [
            "write",
            "write_u8",
            "write_u16",
            "write_u32",
            "write_u64",
            "write_u128",
            "write_usize",
            "write_i8",
            "write_i16",
            "write_i32",
            "write_i64",
            "write_i128",
            "write_isize",
            "finish",
        ]
    );
}

impl Read for Spy {
    spy! {
        read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> = Ok(0);
        read_vectored(&mut self, _buffers: &mut [IoSliceMut<'_>]) -> io::Result<usize> = Ok(0);
        read_to_end(&mut self, _buffer: &mut Vec<u8>) -> io::Result<usize> = Ok(0);
        read_to_string(&mut self, _buffer: &mut String) -> io::Result<usize> = Ok(0);
        read_exact(&mut self, _buffer: &mut [u8]) -> io::Result<()> = Ok(());
    }
}

impl BufRead for Spy {
    spy! {
        fill_buf(&mut self) -> io::Result<&[u8]> = Ok(&[]);
        consume(&mut self, _n: usize);
        read_until(&mut self, _byte: u8, _buffer: &mut Vec<u8>) -> io::Result<usize> = Ok(0);
        skip_until(&mut self, _byte: u8) -> io::Result<usize> = Ok(0);
        read_line(&mut self, _buffer: &mut String) -> io::Result<usize> = Ok(0);
    }
}

#[test]
fn readers() {
    fn drive<R: BufRead>(spy: &mut R) {
        let (mut bytes, mut text) = (Vec::new(), String::new());
        assert_eq!(spy.read(&mut []).unwrap(), 0);
        assert_eq!(spy.read_vectored(&mut []).unwrap(), 0);
        spy.read_to_end(&mut bytes).unwrap();
        spy.read_to_string(&mut text).unwrap();
        spy.read_exact(&mut [0]).unwrap();
        assert!(spy.fill_buf().unwrap().is_empty());
        spy.consume(0);
        spy.read_until(0, &mut bytes).unwrap();
        spy.skip_until(0).unwrap();
        spy.read_line(&mut text).unwrap();
    }
    same!(
        drive,
        [
            "read",
            "read_vectored",
            "read_to_end",
            "read_to_string",
            "read_exact",
            "fill_buf",
            "consume",
            "read_until",
            "skip_until",
            "read_line",
        ]
    );
}

impl Seek for Spy {
    spy! {
        seek(&mut self, _to: SeekFrom) -> io::Result<u64> = Ok(0);
        rewind(&mut self) -> io::Result<()> = Ok(());
        stream_position(&mut self) -> io::Result<u64> = Ok(0);
        seek_relative(&mut self, _offset: i64) -> io::Result<()> = Ok(());
    }
}

#[test]
fn seekers() {
    fn drive<S: Seek>(spy: &mut S) {
        spy.seek(SeekFrom::Start(0)).unwrap();
        spy.rewind().unwrap();
        spy.stream_position().unwrap();
        spy.seek_relative(1).unwrap();
    }
    same!(
        drive,
        ["seek", "rewind", "stream_position", "seek_relative"]
    );
}

impl io::Write for Spy {
    spy! {
        write(&mut self, _buffer: &[u8]) -> io::Result<usize> = Ok(0);
        write_vectored(&mut self, _buffers: &[IoSlice<'_>]) -> io::Result<usize> = Ok(0);
        flush(&mut self) -> io::Result<()> = Ok(());
        write_all(&mut self, _buffer: &[u8]) -> io::Result<()> = Ok(());
        write_fmt(&mut self, _args: fmt::Arguments<'_>) -> io::Result<()> = Ok(());
    }
}

#[test]
fn writers() {
    fn drive<W: io::Write>(spy: &mut W) {
        assert_eq!(spy.write(b"x").unwrap(), 0);
        assert_eq!(spy.write_vectored(&[]).unwrap(), 0);
        spy.flush().unwrap();
        spy.write_all(b"x").unwrap();
        write!(spy, "x").unwrap();
    }
    same!(
        drive,
        ["write", "write_vectored", "flush", "write_all", "write_fmt"]
    );
}

impl Future for Spy {
    type Output = ();

    spy! {
        poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> = Poll::Ready(());
    }
}

#[test]
fn futures() {
    fn drive<F: Future<Output = ()> + Unpin>(spy: &mut F) {
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(Pin::new(spy).poll(&mut cx), Poll::Ready(()));
    }
    same!(drive, ["poll"]);
}

#[expect(clippy::partialeq_ne_impl, reason = "says that it was called")]
impl PartialEq for Spy {
    spy! {
        eq(&self, _other: &Self) -> bool = true;
        ne(&self, _other: &Self) -> bool = false;
    }
}

impl Eq for Spy {}

#[expect(
    clippy::non_canonical_partial_ord_impl,
    reason = "says that it was called"
)]
impl PartialOrd for Spy {
    spy! {
        partial_cmp(&self, _other: &Self) -> Option<Ordering> = Some(Ordering::Equal);
        lt(&self, _other: &Self) -> bool = false;
        le(&self, _other: &Self) -> bool = true;
        gt(&self, _other: &Self) -> bool = false;
        ge(&self, _other: &Self) -> bool = true;
    }
}

impl Ord for Spy {
    spy! {
        cmp(&self, _other: &Self) -> Ordering = Ordering::Equal;
    }
}

impl Hash for Spy {
    fn hash<H: Hasher>(&self, _state: &mut H) {
        called("hash");
    }
}

#[test]
fn comparisons() {
    fn drive<T: Ord + Hash>(spy: &mut T) {
        let spy = &*spy;
        assert!(spy.eq(spy));
        assert!(!spy.ne(spy));
        assert_eq!(spy.partial_cmp(spy), Some(Ordering::Equal));
        assert!(!spy.lt(spy));
        assert!(spy.le(spy));
        assert!(!spy.gt(spy));
        assert!(spy.ge(spy));
        assert_eq!(spy.cmp(spy), Ordering::Equal);
        spy.hash(&mut DefaultHasher::new());
    }
    same_shared!(
        drive,
        [
            "eq",
            "ne",
            "partial_cmp",
            "lt",
            "le",
            "gt",
            "ge",
            "cmp",
            "hash"
        ]
    );
}

impl Debug for Spy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        called("debug");
        f.pad("spy")
    }
}

impl Display for Spy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        called("display");
        f.pad("spy")
    }
}

impl Error for Spy {
    spy! {
        source(&self) -> Option<&(dyn Error + 'static)> = None;
        cause(&self) -> Option<&dyn Error> = None;
    }
}

#[test]
fn errors_and_their_text() {
    #[expect(deprecated, reason = "as long as std has it")]
    fn drive<E: Error>(spy: &mut E) {
        assert_eq!(format!("{spy:>5?}|{spy:<5}|"), "  spy|spy  |");
        assert!(spy.source().is_none());
        assert!(spy.cause().is_none());
    }
    same_shared!(drive, ["debug", "display", "source", "cause"]);
}

/// The ways to the object itself.
fn views<H>(handle: &H) -> bool
where
    H: Deref<Target = Spy> + Borrow<Spy> + Pointer,
{
    let spy: *const Spy = &**handle;
    std::ptr::eq(spy, handle.borrow()) && format!("{spy:p}") == format!("{:p}", *handle)
}

/// The ways to change it.
fn views_mut<H>(handle: &mut H) -> bool
where
    H: DerefMut<Target = Spy> + BorrowMut<Spy>,
{
    let spy: *const Spy = &raw mut **handle;
    std::ptr::eq(spy, handle.borrow_mut())
}

#[test]
fn one_object_by_every_way() {
    let (mut boxed, mut pooled, mut alone) = boxed_and_pooled();
    assert!(views(&boxed) && views(&pooled) && views(&alone));
    assert!(views_mut(&mut boxed) && views_mut(&mut pooled) && views_mut(&mut alone));
    assert!(views(&Pooled::into_shared(pooled)));
}

// The handle may be moved, whatever its object is: that stays where it is.
const _: fn() = || {
    fn movable<H: Unpin>() {}
    type Hook = Hooks<fn() -> PhantomPinned, fn(&mut PhantomPinned)>;
    movable::<Box<PhantomPinned>>();
    movable::<Pooled<PhantomPinned, Hook>>();
    movable::<SharedPooled<PhantomPinned, Hook>>();
    movable::<unsync::Pooled<PhantomPinned, Hook>>();
};

impl fmt::Write for Spy {
    spy! {
        write_str(&mut self, _s: &str) -> fmt::Result = Ok(());
        write_char(&mut self, _c: char) -> fmt::Result = Ok(());
        write_fmt(&mut self, _args: fmt::Arguments<'_>) -> fmt::Result = Ok(());
    }
}

/// What handles have beyond `Box`, which derefs to a writer of text but is none.
#[test]
fn writers_of_text() {
    fn drive<W: fmt::Write>(spy: &mut W) {
        spy.write_str("x").unwrap();
        spy.write_char('x').unwrap();
        write!(spy, "x").unwrap();
    }
    let expected = vec!["write_str", "write_char", "write_fmt"];
    let (_, mut pooled, mut alone) = boxed_and_pooled();
    assert_eq!(calls(|| drive(&mut pooled)), expected);
    assert_eq!(calls(|| drive(&mut alone)), expected);
}

/// The same.
#[test]
fn collections_are_extended() {
    fn extend(bytes: &mut impl Extend<u8>) {
        bytes.extend([1, 2]);
    }
    let mut bytes = Pool::<Vec<u8>>::new().acquire();
    extend(&mut bytes);
    assert_eq!(*bytes, [1, 2]);
    let mut bytes = unsync::Pool::<Vec<u8>>::new().acquire();
    extend(&mut bytes);
    assert_eq!(*bytes, [1, 2]);
}

#[test]
fn a_call_derefs() {
    let pool = Pool::builder_with(|| |x: u8| x + 1, |_| {})
        .build()
        .unwrap();
    let add = pool.acquire();
    assert_eq!(add(1), 2);
}

#[test]
fn in_a_map_an_object_is_found_by_what_it_is() {
    let pool = Pool::<String>::new();
    let mut key = pool.acquire();
    key.push_str("AMZN");
    let sizes = std::collections::HashMap::from([(key, 100)]);
    // By `Borrow`, which promises that handle and object hash and compare alike.
    let symbol: &String = &String::from("AMZN");
    assert_eq!(sizes.get(symbol), Some(&100));
}

#[cfg(unix)]
#[test]
fn files() {
    use std::os::fd::{AsFd, AsRawFd, RawFd};

    fn number(file: &(impl AsFd + AsRawFd)) -> RawFd {
        assert_eq!(file.as_fd().as_raw_fd(), file.as_raw_fd());
        file.as_raw_fd()
    }
    let pool = Pool::builder_with(io::stdin, |_| {}).build().unwrap();
    let stdin = pool.acquire();
    assert_eq!(number(&stdin), number(&Box::new(io::stdin())));
    assert_eq!(number(&Pooled::into_shared(stdin)), number(&io::stdin()));
    let pool = unsync::Pool::builder_with(io::stdin, |_| {})
        .build()
        .unwrap();
    assert_eq!(number(&pool.acquire()), number(&io::stdin()));
}

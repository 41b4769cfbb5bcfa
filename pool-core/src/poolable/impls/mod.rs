//! What *fresh* means for the types of `std`, and for those that messages are often made of.
//!
//! Where a type has a [`Default`], that is its fresh value. Reset comes back to it and keeps what memory it can:
//!
//! | type | fresh | reset | [`is_reusable`] |
//! | --- | --- | --- | --- |
//! | integers, floats, `bool`, `char`, `()` | `0`, `0.0`, `false`, `'\0'`, `()` | assigned | `true` |
//! | `&str`, `&[T]`, `&mut [T]` | empty | assigned | `true` |
//! | [`Duration`], [`PhantomData`], [`PhantomPinned`], [`RangeFull`] | their default | assigned | `true` |
//! | atomics | `0`, `false`, null | assigned, without an atomic operation | `true` |
//! | [`String`], [`OsString`], [`PathBuf`] | empty | cleared, capacity stays | `true` |
//! | [`Vec`], [`VecDeque`], [`BinaryHeap`] | empty | cleared, capacity stays | `true` |
//! | [`HashMap`], [`HashSet`] | empty | cleared, capacity and hasher stay | `true` |
//! | [`BTreeMap`], [`BTreeSet`], [`LinkedList`] | empty | cleared; their nodes are freed | `true` |
//! | [`Option`] | `None` | what it held is dropped | `true` |
//! | [`Box<T>`] | a fresh `T`, made in place | reset in place, the allocation stays | asked of `T` |
//! | [`Rc<T>`], [`Arc<T>`] | a fresh `T` | in place if nobody shares it, or else replaced | asked of `T` |
//! | [`rc::Weak`], [`sync::Weak`] | dangling | assigned | `true` |
//! | `Box`, `Rc` and `Arc` of `str` and `[T]`, [`CString`] | empty | freed, unless already empty | `true` |
//! | [`Cow`] | owned and fresh | owned: reset in place; borrowed: replaced | asked of what is owned |
//! | arrays of any length | every element fresh, made in place | every element reset | asked of every element |
//! | tuples of up to 12 | every part fresh | every part reset | asked of every part |
//! | [`Wrapping`], [`Saturating`], [`Reverse`] | a fresh `T` inside | reset inside | asked of `T` |
//! | [`Range`], [`RangeFrom`], [`RangeTo`], [`RangeToInclusive`] | every bound fresh | every bound reset | asked of every bound |
//! | [`RangeInclusive`] | both bounds fresh, so *one* value: `0..=0` | assigned | asked of both bounds |
//! | [`Cursor`] | a fresh `T` at position 0 | reset and rewound | asked of `T` |
//! | [`Cell`] | a fresh `T` | reset inside | `true`: nothing in a `Cell` can be asked |
//! | [`RefCell`] | a fresh `T` | reset inside | asked of `T` |
//! | [`Mutex`], [`RwLock`] | a fresh `T`, not poisoned | reset inside, poison cleared | asked of `T` |
//! | [`OnceCell`], [`OnceLock`] | not set | what was set is dropped | `true` |
//!
//! With a feature named after the crate, the types of that crate. Fresh is empty or what is said here, and
//! [`is_reusable`] is `true`. [`MaxCapacity`] means that the field word `max_capacity` works:
//!
//! | feature | types | fresh | reset | [`MaxCapacity`] |
//! | --- | --- | --- | --- | --- |
//! | `arrayvec` | `ArrayVec`, `ArrayString` | empty | cleared | |
//! | `bytes` | `BytesMut` | empty | cleared, capacity stays | in bytes |
//! | | `Bytes` | empty | its share of the buffer is released | |
//! | `chrono` | `DateTime`, `NaiveDate`, `NaiveTime`, `NaiveDateTime` | 1970-01-01, 0:00 | assigned | |
//! | | `TimeDelta` | zero | assigned | |
//! | `hashbrown` | `HashMap`, `HashSet` | empty | cleared, capacity and hasher stay | yes |
//! | `heapless` | `Vec`, `String`, `Deque`, `BinaryHeap`, `HistoryBuf`, `IndexMap`, `IndexSet`, `LinearMap` | empty | cleared | |
//! | `indexmap` | `IndexMap`, `IndexSet` | empty | cleared, capacity and hasher stay | yes |
//! | `rust_decimal` | `Decimal` | zero | assigned | |
//! | `smallvec` | `SmallVec` | empty | cleared, a spilled one keeps its capacity | no less than is inline |
//! | `uuid` | `Uuid` | nil | assigned | |
//!
//! A collection is emptied whatever it holds, so it asks nothing of its elements: nested collections go with their
//! memory, and only the outermost buffer stays. An array, by contrast, keeps its elements and resets each. The same
//! line runs between `Option<T>`, which drops its `T`, and `Box<T>`, which keeps it.
//!
//! # What a reset costs
//!
//! Clearing a `HashMap` or a `HashSet` touches its whole table, so one that has grown for a single
//! large message is slow for all that follow. The derive's `max_capacity = n` gives such memory
//! back. `Mutex` and `RwLock` are locked once, uncontended, by `reset`, and once more by
//! `is_reusable`: a guard that was leaked would otherwise leave the next user a lock that nobody
//! can open. Such a lock, or a `RefCell` left borrowed in the same way, is replaced by a fresh one.
//!
//! # What is missing, and what to do
//!
//! A type without a natural fresh value is left out: `NonZero`, `Instant`, `SystemTime`, network
//! addresses, `Ordering`, `Result`, function and raw pointers. A derived field of such a type says
//! what fresh is with `#[poolable(default = expr)]`.
//!
//! A large array belongs in a `Box`, which builds it on the heap without a copy on the stack.
//! `Option`, tuples, cells and locks cannot see into their own layout and move the `T` they are
//! given, so for a large one write `Mutex<Box<[u8; N]>>`.
//!
//! [`is_reusable`]: super::Poolable::is_reusable
//! [`Arc<T>`]: std::sync::Arc
//! [`BTreeMap`]: std::collections::BTreeMap
//! [`BTreeSet`]: std::collections::BTreeSet
//! [`BinaryHeap`]: std::collections::BinaryHeap
//! [`Box<T>`]: Box
//! [`CString`]: std::ffi::CString
//! [`Cell`]: core::cell::Cell
//! [`Cow`]: std::borrow::Cow
//! [`Cursor`]: std::io::Cursor
//! [`Duration`]: core::time::Duration
//! [`HashMap`]: std::collections::HashMap
//! [`HashSet`]: std::collections::HashSet
//! [`LinkedList`]: std::collections::LinkedList
//! [`MaxCapacity`]: super::MaxCapacity
//! [`Mutex`]: std::sync::Mutex
//! [`OnceCell`]: core::cell::OnceCell
//! [`OnceLock`]: std::sync::OnceLock
//! [`OsString`]: std::ffi::OsString
//! [`PathBuf`]: std::path::PathBuf
//! [`PhantomData`]: core::marker::PhantomData
//! [`PhantomPinned`]: core::marker::PhantomPinned
//! [`RangeFrom`]: core::ops::RangeFrom
//! [`RangeFull`]: core::ops::RangeFull
//! [`RangeInclusive`]: core::ops::RangeInclusive
//! [`RangeToInclusive`]: core::ops::RangeToInclusive
//! [`RangeTo`]: core::ops::RangeTo
//! [`Range`]: core::ops::Range
//! [`Rc<T>`]: std::rc::Rc
//! [`RefCell`]: core::cell::RefCell
//! [`Reverse`]: core::cmp::Reverse
//! [`RwLock`]: std::sync::RwLock
//! [`Saturating`]: core::num::Saturating
//! [`VecDeque`]: std::collections::VecDeque
//! [`Wrapping`]: core::num::Wrapping
//! [`rc::Weak`]: std::rc::Weak
//! [`sync::Weak`]: std::sync::Weak

mod cells;
#[macro_use]
mod collections;
mod compound;
mod owners;
#[macro_use]
mod plain;
// After the macros that it uses.
mod crates;

//! Growable things: cleared, and what they allocated stays where `clear` keeps it. Nothing is asked
//! of the elements, which are dropped.

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::collections::{HashMap, HashSet};
#[cfg(feature = "std")]
use std::ffi::OsString;
#[cfg(feature = "std")]
use std::path::PathBuf;

use crate::poolable::Poolable;

macro_rules! cleared {
    ($($({$($generics:tt)*})? $type:ty;)*) => {$(
        impl$(<$($generics)*>)? Poolable for $type {
            #[inline]
            fn init() -> Self {
                Self::default()
            }

            #[inline]
            fn reset(&mut self) {
                self.clear();
            }
        }
    )*};
}

cleared! {
    String;
    {T} Vec<T>;
    {T} VecDeque<T>;
    {T} LinkedList<T>;
    {T: Ord} BinaryHeap<T>;
    {K, V} BTreeMap<K, V>;
    {T} BTreeSet<T>;
}

#[cfg(feature = "std")]
cleared! {
    OsString;
    PathBuf;
    // The hasher stays too: a new one would have to be seeded, and keys are gone anyway.
    {K, V, S: Default} HashMap<K, V, S>;
    {T, S: Default} HashSet<T, S>;
}

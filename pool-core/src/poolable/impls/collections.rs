//! Growable things: cleared, and what they allocated stays where `clear` keeps it. Nothing is asked
//! of the elements, which are dropped.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::OsString;
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
    OsString;
    PathBuf;
    {T} Vec<T>;
    {T} VecDeque<T>;
    {T} LinkedList<T>;
    {T: Ord} BinaryHeap<T>;
    {K, V} BTreeMap<K, V>;
    {T} BTreeSet<T>;
    // The hasher stays too: a new one would have to be seeded, and keys are gone anyway.
    {K, V, S: Default} HashMap<K, V, S>;
    {T, S: Default} HashSet<T, S>;
}

//! For every shape of type, whatever was written: after a reset the object equals a fresh one but
//! for its skipped fields, and its collections have the memory they had, up to `max_capacity`.
#![cfg(all(feature = "derive", not(loom)))]

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Debug;

use pool_core::{Place, Poolable};
use proptest::collection::{btree_map, hash_map, hash_set, vec, vec_deque};
use proptest::option;
use proptest::prelude::*;

/// What the properties ask of a shape, besides being `Poolable`.
trait Shape: Poolable + PartialEq + Debug {
    /// The capacity of each collection that is cleared, and what it is limited to.
    fn capacities(&self) -> Vec<(usize, usize)>;

    /// Gives a fresh object what reset must leave alone.
    fn copy_skipped(&self, _fresh: &mut Self) {}
}

fn check<T: Shape>(mut object: T) {
    let before = object.capacities();
    let mut fresh = T::init();
    object.copy_skipped(&mut fresh);

    object.reset();
    assert_eq!(object, fresh);
    assert!(object.is_reusable());
    let after = object.capacities();
    for (&(before, limit), &(after, _)) in before.iter().zip(&after) {
        assert_eq!(
            after,
            before.min(limit),
            "{before} elements, at most {limit}"
        );
    }

    // A second reset finds nothing to do.
    object.reset();
    assert_eq!(object, fresh);
    assert_eq!(object.capacities(), after);

    // Made in place is made the same.
    let mut in_place = Place::boxed(T::init_in);
    fresh.copy_skipped(&mut in_place);
    assert_eq!(*in_place, fresh);
}

const ANY: usize = usize::MAX;

#[derive(Poolable, PartialEq, Debug)]
struct Named {
    number: i64,
    flag: bool,
    letter: char,
    text: String,
    #[poolable(max_capacity = 20)]
    bytes: Vec<u8>,
    #[poolable(default, max_capacity = 20)]
    queue: VecDeque<u8>,
    #[poolable(default = "fresh".to_owned(), max_capacity = 20)]
    label: String,
    tree: BTreeMap<u8, String>,
    set: HashSet<u8>,
    maybe: Option<Vec<u8>>,
    #[poolable(default = 40)]
    forty: u8,
    #[poolable(default)]
    unit: Side,
    #[poolable(reset = |lanes| lanes.fill(0))]
    lanes: [u32; 4],
    #[poolable(skip)]
    kept: u64,
    #[poolable(skip, init = vec![1])]
    cache: Vec<u8>,
}

#[derive(PartialEq, Debug, Default, Clone, Copy)]
enum Side {
    #[default]
    Buy,
    Sell,
}

impl Shape for Named {
    fn capacities(&self) -> Vec<(usize, usize)> {
        vec![
            (self.text.capacity(), ANY),
            (self.bytes.capacity(), 20),
            (self.queue.capacity(), 20),
            // The least that a string grows to.
            (self.label.capacity().max(8), 20),
            (self.set.capacity(), ANY),
        ]
    }

    fn copy_skipped(&self, fresh: &mut Self) {
        fresh.kept = self.kept;
        fresh.cache.clone_from(&self.cache);
    }
}

fn named() -> impl Strategy<Value = Named> {
    let numbers = (
        any::<i64>(),
        any::<bool>(),
        any::<char>(),
        any::<u8>(),
        any::<[u32; 4]>(),
    );
    let texts = (".{0,30}", ".{0,30}", option::of(vec(any::<u8>(), 0..9)));
    let lists = (
        vec(any::<u8>(), 0..60),
        vec_deque(any::<u8>(), 0..60),
        hash_set(any::<u8>(), 0..60),
    );
    let tree = btree_map(any::<u8>(), ".{0,3}", 0..9);
    let skipped = (any::<u64>(), vec(any::<u8>(), 0..9));
    (numbers, texts, lists, tree, skipped).prop_map(|(numbers, texts, lists, tree, skipped)| {
        let (number, flag, letter, forty, lanes) = numbers;
        let (text, label, maybe) = texts;
        let (bytes, queue, set) = lists;
        let (kept, cache) = skipped;
        let unit = if flag { Side::Sell } else { Side::Buy };
        Named {
            number,
            flag,
            letter,
            text,
            bytes,
            queue,
            label,
            tree,
            set,
            maybe,
            forty,
            unit,
            lanes,
            kept,
            cache,
        }
    })
}

#[derive(Poolable, PartialEq, Debug)]
struct Tuple(
    Named,
    #[poolable(default = -1)] i32,
    #[poolable(max_capacity = 7)] Vec<Option<u8>>,
    (u8, [bool; 3]),
);

impl Shape for Tuple {
    fn capacities(&self) -> Vec<(usize, usize)> {
        let mut all = self.0.capacities();
        all.push((self.2.capacity(), 7));
        all
    }

    fn copy_skipped(&self, fresh: &mut Self) {
        self.0.copy_skipped(&mut fresh.0);
    }
}

#[derive(Poolable, PartialEq, Debug, Clone)]
enum State {
    Named {
        text: String,
    },
    #[poolable(initial)]
    Fresh {
        #[poolable(max_capacity = 10)]
        list: Vec<u8>,
        #[poolable(default = 9)]
        nine: u8,
        #[poolable(skip, init = 5)]
        kept: u16,
    },
    Tuple(u8, HashMap<u8, u8>),
    Unit,
}

impl Shape for State {
    fn capacities(&self) -> Vec<(usize, usize)> {
        match self {
            State::Fresh { list, .. } => vec![(list.capacity(), 10)],
            _ => Vec::new(),
        }
    }

    fn copy_skipped(&self, fresh: &mut Self) {
        if let (State::Fresh { kept, .. }, State::Fresh { kept: fresh, .. }) = (self, fresh) {
            *fresh = *kept;
        }
    }
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        ".{0,9}".prop_map(|text| State::Named { text }),
        (vec(any::<u8>(), 0..30), any::<u8>(), any::<u16>())
            .prop_map(|(list, nine, kept)| State::Fresh { list, nine, kept }),
        (any::<u8>(), hash_map(any::<u8>(), any::<u8>(), 0..9))
            .prop_map(|(a, b)| State::Tuple(a, b)),
        Just(State::Unit),
    ]
}

#[derive(Poolable, PartialEq, Debug)]
enum TupleState {
    Other(u8),
    #[poolable(initial)]
    Fresh(Vec<u8>, #[poolable(default = 'x')] char),
}

impl Shape for TupleState {
    fn capacities(&self) -> Vec<(usize, usize)> {
        match self {
            TupleState::Fresh(list, _) => vec![(list.capacity(), ANY)],
            TupleState::Other(_) => Vec::new(),
        }
    }
}

#[derive(Poolable, PartialEq, Debug, Clone)]
#[poolable(in_place)]
enum InPlace {
    #[poolable(initial)]
    Unit,
    Named {
        text: String,
        #[poolable(max_capacity = 10)]
        list: Vec<u8>,
        #[poolable(default = 9)]
        nine: u8,
    },
    Tuple(u8, HashMap<u8, u8>),
}

impl Shape for InPlace {
    fn capacities(&self) -> Vec<(usize, usize)> {
        match self {
            InPlace::Unit => Vec::new(),
            InPlace::Named { text, list, .. } => {
                vec![(text.capacity(), ANY), (list.capacity(), 10)]
            }
            InPlace::Tuple(_, map) => vec![(map.capacity(), ANY)],
        }
    }

    /// The variant is what reset leaves alone.
    fn copy_skipped(&self, fresh: &mut Self) {
        *fresh = match self {
            InPlace::Unit => InPlace::Unit,
            InPlace::Named { .. } => InPlace::Named {
                text: String::new(),
                list: Vec::new(),
                nine: 9,
            },
            InPlace::Tuple(..) => InPlace::Tuple(0, HashMap::new()),
        };
    }
}

#[derive(Poolable, PartialEq, Debug)]
struct Generic<'a, T, const N: usize> {
    items: [T; N],
    list: Vec<T>,
    #[poolable(default = "none")]
    name: &'a str,
    next: Option<Box<Generic<'a, T, N>>>,
}

impl<T: Poolable + PartialEq + Debug, const N: usize> Shape for Generic<'_, T, N> {
    fn capacities(&self) -> Vec<(usize, usize)> {
        vec![(self.list.capacity(), ANY)]
    }
}

#[derive(Poolable, PartialEq, Debug)]
struct Unit;

impl Shape for Unit {
    fn capacities(&self) -> Vec<(usize, usize)> {
        Vec::new()
    }
}

#[test]
fn unit_structs() {
    check(Unit);
}

proptest! {
    #[test]
    fn named_structs(object in named()) {
        check(object);
    }

    #[test]
    fn tuple_structs(
        inner in named(),
        number in any::<i32>(),
        list in vec(any::<Option<u8>>(), 0..20),
        pair in any::<(u8, [bool; 3])>(),
    ) {
        check(Tuple(inner, number, list, pair));
    }

    #[test]
    fn enums(object in state()) {
        check(object);
    }

    #[test]
    fn enums_with_a_fresh_tuple(object in prop_oneof![
        any::<u8>().prop_map(TupleState::Other),
        (vec(any::<u8>(), 0..30), any::<char>()).prop_map(|(a, b)| TupleState::Fresh(a, b)),
    ]) {
        check(object);
    }

    #[test]
    fn enums_in_place(object in prop_oneof![
        Just(InPlace::Unit),
        (".{0,9}", vec(any::<u8>(), 0..30), any::<u8>())
            .prop_map(|(text, list, nine)| InPlace::Named { text, list, nine }),
        (any::<u8>(), hash_map(any::<u8>(), any::<u8>(), 0..9))
            .prop_map(|(a, b)| InPlace::Tuple(a, b)),
    ]) {
        check(object);
    }

    #[test]
    fn generic_structs(items in any::<[u16; 3]>(), list in vec(any::<u16>(), 0..30), name in ".{0,5}") {
        let next = Generic { items, list: list.clone(), name: &name, next: None };
        check(Generic { items, list, name: &name, next: Some(Box::new(next)) });
    }

    /// An enum in a struct in an enum: each is reset by its own rule.
    #[test]
    fn nested(state in state(), numbers in vec(any::<u8>(), 0..9)) {
        #[derive(Poolable, PartialEq, Debug)]
        struct Middle {
            state: State,
            #[poolable(max_capacity = 3)]
            numbers: Vec<u8>,
        }

        #[derive(Poolable, PartialEq, Debug)]
        enum Outer {
            #[poolable(initial)]
            Fresh(Middle),
        }

        impl Shape for Outer {
            fn capacities(&self) -> Vec<(usize, usize)> {
                let Outer::Fresh(middle) = self;
                let mut all = middle.state.capacities();
                all.insert(0, (middle.numbers.capacity(), 3));
                all
            }

            fn copy_skipped(&self, fresh: &mut Self) {
                let (Outer::Fresh(middle), Outer::Fresh(fresh)) = (self, fresh);
                middle.state.copy_skipped(&mut fresh.state);
            }
        }

        check(Outer::Fresh(Middle { state, numbers }));
    }
}

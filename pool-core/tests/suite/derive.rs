//! What `#[derive(Poolable)]` does on each shape of type, word by word.
#![cfg(feature = "derive")]

use std::cell::{Cell, RefCell};
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::fmt::Debug;
use std::io::Cursor;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;

use pool_core::{MaxCapacity, Place, Poolable};

/// Both ways to make one must agree.
fn fresh<T: Poolable + PartialEq + Debug>() -> T {
    let by_value = T::init();
    let mut memory = MaybeUninit::uninit();
    let in_place = Place::new(&mut memory).fill_with(T::init_in);
    assert_eq!(*in_place, by_value);
    by_value
}

#[derive(Poolable, Debug, PartialEq)]
struct Named {
    id: u64,
    bytes: Vec<u8>,
    next: Option<Box<Named>>,
}

#[test]
fn named_struct() {
    let mut object = fresh::<Named>();
    object.id = 7;
    object.bytes.extend_from_slice(&[1; 100]);
    object.next = Some(Box::new(Named::init()));
    object.reset();
    assert_eq!(object, Named::init());
    assert!(object.bytes.capacity() >= 100, "the allocation stays");
}

#[derive(Poolable, Debug, PartialEq)]
struct Tuple(
    u8,
    #[poolable(default = "none".to_owned())] String,
    (char, bool),
);

#[test]
fn tuple_struct() {
    let mut object = fresh::<Tuple>();
    assert_eq!(object.1, "none");
    object.0 = 1;
    object.1.push('!');
    object.2 = ('x', true);
    object.reset();
    assert_eq!(object, Tuple::init());
}

#[derive(Poolable, Debug, PartialEq)]
struct Unit;

#[derive(Poolable, Debug, PartialEq)]
struct Empty {}

#[derive(Poolable, Debug, PartialEq)]
struct EmptyTuple();

#[test]
fn structs_without_fields() {
    fresh::<Unit>().reset();
    fresh::<Empty>().reset();
    fresh::<EmptyTuple>().reset();
}

#[derive(Poolable, Debug, PartialEq)]
#[allow(dead_code)]
enum State {
    Done(u32),
    #[poolable(initial)]
    Reading {
        buffer: Vec<u8>,
        #[poolable(default = 1)]
        attempt: u32,
    },
    Failed,
}

#[test]
fn enum_in_its_initial_variant_keeps_allocations() {
    let mut object = fresh::<State>();
    let State::Reading { buffer, attempt } = &mut object else {
        panic!("{object:?} is not fresh");
    };
    buffer.extend_from_slice(&[0; 64]);
    *attempt = 9;
    let data = buffer.as_ptr();
    object.reset();
    assert_eq!(object, State::init());
    let State::Reading { buffer, .. } = &object else {
        panic!("{object:?} is not fresh");
    };
    assert_eq!(buffer.as_ptr(), data);
    assert!(buffer.capacity() >= 64);
}

#[test]
fn enum_in_another_variant_becomes_fresh() {
    for mut object in [State::Done(3), State::Failed] {
        object.reset();
        assert_eq!(object, State::init());
    }
}

#[derive(Poolable, Debug, PartialEq)]
#[poolable(in_place)]
enum InPlace<T, const N: usize>
where
    T: Clone,
{
    Text(String, Vec<T>),
    #[poolable(initial)]
    Order {
        #[poolable(init = Vec::with_capacity(8))]
        legs: Vec<T>,
        #[poolable(default = 100)]
        size: u32,
    },
    Frame {
        #[poolable(max_capacity = 16)]
        bytes: Vec<u8>,
        #[poolable(default = [7; N])]
        key: [u8; N],
        #[poolable(reset = |hops| *hops = 64)]
        hops: u8,
        #[poolable(skip)]
        uses: u32,
        /// Not `Poolable`, and never made.
        #[poolable(reset = std::num::NonZero::clone)]
        session: std::num::NonZero<u64>,
    },
    Empty {},
    Nothing(),
    Heartbeat,
}

impl<T: Clone, const N: usize> InPlace<T, N> {
    fn texts(capacity: usize) -> Self {
        InPlace::Text("x".repeat(capacity), Vec::with_capacity(capacity))
    }
}

#[test]
fn enum_in_place_keeps_the_variant_and_its_buffers() {
    type Message = InPlace<std::rc::Rc<u8>, 2>;

    let mut object = fresh::<Message>();
    let InPlace::Order { legs, size } = &mut object else {
        panic!("{object:?} is not fresh");
    };
    assert!(legs.capacity() >= 8);
    (*legs, *size) = (Vec::with_capacity(64), 3);
    object.reset();
    assert_eq!(object, Message::init());
    assert!(matches!(&object, InPlace::Order { legs, .. } if legs.capacity() == 64));

    let mut object = Message::texts(50);
    object.reset();
    assert_eq!(object, InPlace::Text(String::new(), Vec::new()));
    let InPlace::Text(text, list) = &object else {
        unreachable!("it was compared");
    };
    assert_eq!((text.capacity(), list.capacity()), (50, 50));

    let session = std::num::NonZero::new(9).unwrap();
    let mut object = Message::Frame {
        bytes: vec![1; 100],
        key: [1, 2],
        hops: 3,
        uses: 4,
        session,
    };
    object.reset();
    let emptied = Message::Frame {
        bytes: Vec::new(),
        key: [7; 2],
        hops: 64,
        uses: 4,
        session,
    };
    assert_eq!(object, emptied);
    assert!(matches!(&object, InPlace::Frame { bytes, .. } if bytes.capacity() == 16));

    for mut object in [Message::Empty {}, Message::Nothing(), Message::Heartbeat] {
        let before = format!("{object:?}");
        object.reset();
        assert_eq!(format!("{object:?}"), before);
    }
}

/// Not worth keeping once it was large.
#[derive(Debug, Default, PartialEq)]
struct Small(u32);

impl Poolable for Small {
    fn init() -> Self {
        Small(0)
    }
    fn reset(&mut self) {}
    fn is_reusable(&self) -> bool {
        self.0 < 10
    }
}

#[derive(Poolable, Debug, PartialEq)]
#[poolable(in_place, reusable = |object: &Asked| !matches!(object, Asked::Bad))]
enum Asked {
    #[poolable(initial)]
    One(Small),
    Two(Small, Small),
    Skipped(#[poolable(skip)] Small),
    Bad,
}

#[test]
fn enum_in_place_asks_the_fields_of_its_variant() {
    for (object, reusable) in [
        (Asked::One(Small(1)), true),
        (Asked::One(Small(10)), false),
        (Asked::Two(Small(1), Small(1)), true),
        (Asked::Two(Small(1), Small(10)), false),
        (Asked::Skipped(Small(10)), true),
        (Asked::Bad, false),
    ] {
        assert_eq!(object.is_reusable(), reusable, "{object:?}");
    }
}

#[test]
fn a_pool_of_enums_in_place_serves_emptied_ones() {
    let pool = pool_core::Pool::<InPlace<u8, 1>>::new();
    let mut message = pool.acquire();
    *message = InPlace::texts(1_000);
    drop(message);
    let message = pool.acquire();
    assert!(
        matches!(&*message, InPlace::Text(text, _) if text.is_empty() && text.capacity() == 1_000)
    );
}

#[derive(Poolable, Debug, PartialEq)]
enum Lonely {
    #[poolable(initial)]
    Only(u8),
}

#[derive(Poolable, Debug, PartialEq)]
#[allow(dead_code)]
enum Light {
    Red,
    #[poolable(initial)]
    Off,
}

#[test]
fn enums_of_one_variant_and_of_units() {
    let mut object = fresh::<Lonely>();
    let Lonely::Only(n) = &mut object;
    *n = 4;
    object.reset();
    assert_eq!(object, Lonely::Only(0));

    let mut light = Light::Red;
    light.reset();
    assert_eq!(light, fresh());
    assert_eq!(light, Light::Off);
}

#[derive(Poolable, Debug, PartialEq)]
struct Words {
    #[poolable(default)]
    by_default: Option<&'static str>,
    #[poolable(default = 100)]
    by_expr: u32,
    #[poolable(init = Vec::with_capacity(32))]
    made: Vec<u8>,
    #[poolable(reset = |field| *field += 1)]
    counted: u32,
    #[poolable(reset = zero)]
    slice: [u8; 4],
    #[poolable(init = 5, reset = Words::to_five)]
    both: u8,
    #[poolable(default = 2, reset = |field| *field = 3)]
    default_and_reset: u8,
    #[poolable(skip)]
    kept: u64,
    #[poolable(skip, init = 11)]
    kept_init: u64,
    #[poolable(skip, default = 12)]
    kept_default: u64,
}

// Takes a slice and not an array: a path is called as a call is written, coercions and all.
fn zero(bytes: &mut [u8]) {
    bytes.fill(0);
}

impl Words {
    fn to_five(field: &mut u8) -> bool {
        *field = 5;
        true
    }
}

#[test]
fn every_field_word() {
    let mut object = Words::init();
    assert_eq!((object.by_default, object.by_expr), (None, 100));
    assert_eq!(object.made.capacity(), 32);
    assert_eq!((object.both, object.default_and_reset), (5, 2));
    assert_eq!(
        (object.kept, object.kept_init, object.kept_default),
        (0, 11, 12)
    );
    object = Words {
        by_default: Some("x"),
        by_expr: 1,
        made: vec![1; 50],
        counted: 1,
        slice: [9; 4],
        both: 1,
        default_and_reset: 1,
        kept: 1,
        kept_init: 1,
        kept_default: 1,
    };
    object.reset();
    assert_eq!((object.by_default, object.by_expr), (None, 100));
    assert_eq!((object.made.len(), object.made.capacity()), (0, 50));
    assert_eq!((object.counted, object.slice), (2, [0; 4]));
    assert_eq!((object.both, object.default_and_reset), (5, 3));
    assert_eq!(
        (object.kept, object.kept_init, object.kept_default),
        (1, 1, 1)
    );
}

#[derive(Poolable)]
struct Bounded {
    #[poolable(max_capacity = 16)]
    plain: Vec<u8>,
    #[poolable(max_capacity = Bounded::MAX)]
    text: String,
    #[poolable(default, max_capacity = 16)]
    default: VecDeque<u8>,
    #[poolable(default = vec![1, 2, 3], max_capacity = 16)]
    expr: Vec<u8>,
    #[poolable(init = HashMap::with_capacity(8), max_capacity = 16)]
    map: HashMap<u8, u8>,
    #[poolable(reset = |v| v.truncate(1), max_capacity = 16)]
    called: Vec<u8>,
    #[poolable(reset = Vec::clear, max_capacity = 16)]
    called_by_path: Vec<u8>,
    #[poolable(max_capacity = 16)]
    each: [Vec<u8>; 2],
}

impl Bounded {
    const MAX: usize = 16;

    fn filled(n: u8) -> Self {
        let mut object = Bounded::init();
        for i in 0..n {
            object.plain.push(i);
            object.text.push('x');
            object.default.push_back(i);
            object.expr.push(i);
            object.map.insert(i, i);
            object.called.push(i);
            object.called_by_path.push(i);
            object.each[1].push(i);
        }
        object
    }

    fn capacities(&self) -> [usize; 8] {
        [
            self.plain.capacity(),
            self.text.capacity(),
            self.default.capacity(),
            self.expr.capacity(),
            self.map.capacity(),
            self.called.capacity(),
            self.called_by_path.capacity(),
            self.each[1].capacity(),
        ]
    }

    fn assert_fresh(&self) {
        assert!(self.plain.is_empty() && self.text.is_empty() && self.default.is_empty());
        assert!(self.map.is_empty() && self.called_by_path.is_empty() && self.each[1].is_empty());
        assert_eq!(self.expr, [1, 2, 3]);
        assert!(self.called.len() <= 1);
    }
}

#[test]
fn max_capacity_gives_back_what_is_beyond() {
    let mut object = Bounded::filled(200);
    object.reset();
    object.assert_fresh();
    let table = HashMap::<u8, u8>::with_capacity(16).capacity();
    assert_eq!(object.capacities(), [16, 16, 16, 16, table, 16, 16, 16]);
}

#[test]
fn max_capacity_keeps_what_is_within() {
    let mut object = Bounded::filled(10);
    let before = object.capacities();
    object.reset();
    object.assert_fresh();
    assert_eq!(object.capacities(), before);
}

#[derive(Poolable)]
#[poolable(reset_with = Self::note, reusable = is_small)]
struct Hooked {
    bytes: Vec<u8>,
    #[poolable(skip)]
    seen_empty: bool,
}

impl Hooked {
    // The fields are reset by then.
    fn note(&mut self) {
        self.seen_empty = self.bytes.is_empty();
    }
}

fn is_small(object: &Hooked) -> bool {
    object.bytes.capacity() < 100
}

#[derive(Poolable)]
#[poolable(reset_with = |object| object.0 += 1, reusable = |object| object.0 < 3)]
struct HookedByClosures(#[poolable(skip)] u8);

/// Not reusable when its field is not.
#[derive(Poolable)]
struct Outer {
    hooked: Hooked,
}

#[derive(Poolable)]
#[poolable(reusable = Self::judge)]
enum Judged {
    #[poolable(initial)]
    Fresh(Hooked, u8),
    Other,
}

impl Judged {
    fn judge(&self) -> bool {
        matches!(self, Judged::Fresh(_, 0))
    }
}

#[test]
fn hook_and_judge() {
    let mut object = Outer::init();
    object.hooked.bytes.push(1);
    object.reset();
    assert!(object.hooked.seen_empty);
    assert!(object.is_reusable());
    object.hooked.bytes.reserve(1000);
    object.reset();
    assert!(!object.is_reusable());

    let mut object = HookedByClosures::init();
    object.reset();
    assert!(object.is_reusable());
    object.reset();
    object.reset();
    assert!(!object.is_reusable());

    assert!(Judged::init().is_reusable());
    assert!(!Judged::Other.is_reusable());
    let mut object = Judged::init();
    if let Judged::Fresh(hooked, _) = &mut object {
        hooked.bytes.reserve(1000);
    }
    assert!(!object.is_reusable());
}

/// Implements nothing at all.
#[derive(Debug, PartialEq)]
struct Foreign;

trait Carrier {
    type Load;
}

impl Carrier for Foreign {
    type Load = u16;
}

#[derive(Poolable, Debug, PartialEq)]
struct Generic<'a, T, C: Carrier, const N: usize = 4, D = u8>
where
    D: Copy,
{
    maybe: Option<T>,
    list: Vec<T>,
    marker: PhantomData<T>,
    load: C::Load,
    qualified: <C as Carrier>::Load,
    bytes: [u8; N],
    #[poolable(default = "")]
    text: &'a str,
    #[poolable(skip, init = None)]
    skipped: Option<(T, C)>,
    #[poolable(default)]
    default: D,
}

#[test]
fn generics_ask_only_for_what_fields_need() {
    // Neither `Foreign` nor `char` as a `D` of its own is asked for `Poolable`.
    let mut object = fresh::<Generic<'_, Foreign, Foreign, 4, char>>();
    object.list.push(Foreign);
    object.load = 3;
    object.bytes = [1; 4];
    object.text = "x";
    object.reset();
    assert_eq!(object, Generic::init());
}

#[derive(Poolable, Debug, PartialEq)]
struct Node<T> {
    value: T,
    next: Option<Box<Node<T>>>,
    children: Vec<Self>,
}

#[test]
fn recursive_types() {
    let mut object = fresh::<Node<u8>>();
    object.children.push(Node::init());
    object.next = Some(Box::new(Node::init()));
    object.reset();
    assert_eq!(object, Node::init());
}

struct Cache<T>(T);

impl<T: Clone + Default> Poolable for Cache<T> {
    fn init() -> Self {
        Cache(T::default())
    }
    fn reset(&mut self) {
        self.0 = T::default().clone();
    }
}

#[derive(Poolable)]
#[poolable(bound = "T: Clone + Default")]
struct Explicit<T> {
    cache: Cache<T>,
}

#[test]
fn bound_replaces_the_inferred_ones() {
    fn poolable_if_default<T: Clone + Default>() -> Explicit<T> {
        Explicit::init()
    }
    assert_eq!(poolable_if_default::<u8>().cache.0, 0);
}

#[derive(Poolable)]
struct Numbered {
    #[poolable(init = { static NEXT: AtomicU64 = AtomicU64::new(0); NEXT.fetch_add(1, Ordering::Relaxed) }, skip)]
    number: u64,
}

#[test]
fn an_expression_with_a_static_has_one() {
    assert_eq!(Numbered::init().number, 0);
    assert_eq!(Place::boxed(Numbered::init_in).number, 1);
    assert_eq!(Numbered::init().number, 2);
}

#[derive(Poolable)]
#[repr(C, packed(2))]
struct Packed {
    tag: u8,
    #[poolable(default = 7)]
    wide: u64,
    #[poolable(skip)]
    name: String,
    pairs: [(u16, i8); 3],
}

#[test]
fn packed_structs_are_assigned() {
    let mut object = *Place::boxed(Packed::init_in);
    object.tag = 1;
    object.wide = 1;
    object.name = "kept".to_owned();
    object.pairs[1] = (1, 2);
    object.reset();
    assert_eq!(
        (object.tag, { object.wide }, object.pairs),
        (0, 7, [(0, 0); 3])
    );
    let name = object.name;
    assert_eq!(name, "kept");
}

thread_local! {
    static ALIVE: Cell<i32> = const { Cell::new(0) };
    static FUSE: Cell<i32> = const { Cell::new(0) };
}

/// Counts those alive. The one made when the fuse has burnt down panics instead.
struct Fused;

impl Poolable for Fused {
    fn init() -> Self {
        FUSE.set(FUSE.get() - 1);
        assert!(FUSE.get() >= 0, "burnt down");
        ALIVE.set(ALIVE.get() + 1);
        Fused
    }
    fn reset(&mut self) {}
}

impl Drop for Fused {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

#[derive(Poolable)]
struct Bomb {
    _first: Fused,
    _inner: InnerBomb,
    #[poolable(init = Fused::init())]
    _last: Fused,
}

#[derive(Poolable)]
struct InnerBomb(Fused, [Fused; 3], Box<Fused>);

#[test]
fn a_panic_drops_the_fields_made_before() {
    const FIELDS: i32 = 7;
    for fuse in 0..FIELDS {
        for in_place in [false, true] {
            FUSE.set(fuse);
            let result = catch_unwind(AssertUnwindSafe(|| {
                if in_place {
                    drop(Place::boxed(Bomb::init_in));
                } else {
                    drop(Bomb::init());
                }
            }));
            assert!(result.is_err());
            assert_eq!(ALIVE.get(), 0, "fuse {fuse}, in place: {in_place}");
        }
    }
    FUSE.set(FIELDS);
    let bomb = Place::boxed(Bomb::init_in);
    assert_eq!(ALIVE.get(), FIELDS);
    drop(bomb);
    assert_eq!(ALIVE.get(), 0);
}

const HUGE: usize = 4 << 20;

#[derive(Poolable)]
struct Huge {
    before: u64,
    bytes: [u8; HUGE],
    inner: HugeInner,
}

#[derive(Poolable)]
struct HugeInner(Vec<u8>, [u64; HUGE / 8]);

#[test]
fn larger_than_the_stack() {
    let work = || {
        let mut object = Place::boxed(Huge::init_in);
        object.before = 1;
        object.bytes[HUGE - 1] = 1;
        object.inner.1[7] = 1;
        object.reset();
        assert_eq!(object.before, 0);
        assert_eq!(object.bytes[HUGE - 1], 0);
        assert_eq!(object.inner.1[7], 0);
    };
    let thread = thread::Builder::new().stack_size(2 << 20);
    thread.spawn(work).unwrap().join().unwrap();
}

/// Returns a `Ready` of a place of its own.
struct Impostor(#[allow(dead_code)] u64);

impl Poolable for Impostor {
    fn init() -> Self {
        Impostor(0)
    }
    fn reset(&mut self) {}
    fn init_in(_place: Place<'_, Self>) -> pool_core::Ready<'_, Self> {
        Place::new(Box::leak(Box::new(MaybeUninit::uninit()))).write(Impostor(0))
    }
}

#[derive(Poolable)]
struct Tricked {
    _first: Box<u8>,
    _impostor: Impostor,
}

#[test]
#[should_panic(expected = "in another place")]
fn a_value_made_elsewhere_is_noticed() {
    drop(Place::boxed(Tricked::init_in));
}

/// Whatever collection, or owner of one, `value` is: it is limited, and refilled.
fn limit_and_refill<C: MaxCapacity + Clone + PartialEq + Debug>(
    mut grown: C,
    fresh: &C,
    capacity: impl Fn(&C) -> usize,
) {
    let before = capacity(&grown);
    assert!(before >= 100);
    grown.limit_capacity(before);
    assert_eq!(
        capacity(&grown),
        before,
        "within the limit, nothing is given back"
    );
    grown.refill(fresh.clone());
    assert_eq!(&grown, fresh);
    assert_eq!(capacity(&grown), before, "refilled in place");
    grown.limit_capacity(10);
    assert_eq!(&grown, fresh, "the contents stay");
    assert!((1..=14).contains(&capacity(&grown)), "{}", capacity(&grown));
}

#[test]
fn collections_of_std_have_a_max_capacity() {
    let many = || 0..100_u8;
    let text = || "x".repeat(100);
    limit_and_refill(many().collect(), &vec![1], Vec::capacity);
    limit_and_refill(many().collect(), &VecDeque::from([1]), VecDeque::capacity);
    limit_and_refill(many().collect(), &HashSet::from([1]), HashSet::capacity);
    limit_and_refill(
        many().map(|n| (n, n)).collect(),
        &HashMap::from([(1, 2)]),
        HashMap::capacity,
    );
    limit_and_refill(text(), &"a".to_owned(), String::capacity);
    limit_and_refill(text().into(), &OsString::from("a"), OsString::capacity);
    limit_and_refill(text().into(), &PathBuf::from("a"), PathBuf::capacity);
    limit_and_refill(Box::new(text()), &Box::new("a".to_owned()), |owner| {
        owner.capacity()
    });
    limit_and_refill(
        [text(), text()],
        &["a".to_owned(), "b".to_owned()],
        |owner| owner[1].capacity(),
    );
    limit_and_refill(
        RefCell::new(text()),
        &RefCell::new("a".to_owned()),
        |owner| owner.borrow().capacity(),
    );
    let cursor = |bytes, position| {
        let mut cursor = Cursor::new(bytes);
        cursor.set_position(position);
        cursor
    };
    limit_and_refill(cursor(many().collect(), 9), &cursor(vec![1], 1), |owner| {
        owner.get_ref().capacity()
    });

    let mut heap = BinaryHeap::from_iter(many());
    heap.refill(BinaryHeap::from([1]));
    assert!(heap.len() == 1 && heap.capacity() >= 100);
    heap.limit_capacity(10);
    assert_eq!(heap.capacity(), 10);
}

#[test]
fn locks_have_a_max_capacity_even_when_poisoned() {
    let mut mutex = Mutex::new(vec![0_u8; 100]);
    let mut lock = RwLock::new(vec![0_u8; 100]);
    let poison = || {
        let _mutex = mutex.lock();
        let _lock = lock.write();
        panic!("poison them");
    };
    assert!(catch_unwind(AssertUnwindSafe(poison)).is_err());
    mutex.limit_capacity(100);
    lock.limit_capacity(100);
    mutex.refill(Mutex::new(vec![1]));
    lock.refill(RwLock::new(vec![1]));
    assert_eq!(mutex.lock().unwrap().capacity(), 100);
    assert_eq!(lock.read().unwrap().capacity(), 100);
    mutex.limit_capacity(10);
    lock.limit_capacity(10);
    assert_eq!(mutex.into_inner().unwrap().capacity(), 10);
    assert_eq!(lock.into_inner().unwrap().capacity(), 10);
}

#[derive(Debug, PartialEq, Default)]
struct Ring {
    items: Vec<u8>,
}

impl Poolable for Ring {
    fn init() -> Self {
        Ring::default()
    }
    fn reset(&mut self) {
        self.items.clear();
    }
}

impl MaxCapacity for Ring {
    fn limit_capacity(&mut self, max: usize) {
        self.items.shrink_to(max);
    }
}

#[derive(Poolable)]
struct WithRing<R> {
    #[poolable(max_capacity = 4)]
    ring: R,
    #[poolable(default, max_capacity = 4)]
    default_ring: Ring,
}

#[test]
fn containers_of_the_users_join_max_capacity() {
    let mut object = WithRing::<Ring>::init();
    object.ring.items.extend(0..100);
    object.default_ring.items.extend(0..100);
    object.reset();
    assert!(object.ring.items.is_empty() && object.ring.items.capacity() == 4);
    assert_eq!(object.default_ring, Ring::default());
}

/// A parameter has to be `Poolable` where it is made by that or reset by that, and not where neither.
#[test]
fn half_a_field_by_its_type_asks_the_type() {
    #[derive(Poolable)]
    struct Halves<T, U, V> {
        #[poolable(init = T::init())]
        made: T,
        #[poolable(skip)]
        left: U,
        #[poolable(init = None, skip)]
        neither: Option<V>,
    }

    struct Foreign;

    let mut halves = Halves::<u8, u8, Foreign>::init();
    assert!(halves.neither.is_none());
    (halves.made, halves.left, halves.neither) = (1, 2, Some(Foreign));
    halves.reset();
    assert_eq!((halves.made, halves.left), (0, 2));
    assert!(halves.neither.is_some());
}

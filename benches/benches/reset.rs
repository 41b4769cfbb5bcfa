//! What it costs to wipe an object instead of making it anew: the derived reset beside one by hand,
//! objects that own buffers, which a pool keeps and an allocator frees, and messages of many kinds.

mod support;

use std::hint::black_box;
use std::ops::DerefMut;

use criterion::{Criterion, criterion_group, criterion_main};
use pool_bench::pattern::resetting;
use pool_bench::payload::{Parcel, Wide};
use pool_bench::team::{Team, Work};
use pool_core::{Backend, Pool, Poolable, unsync};

use support::{group, grouped, row};

const BYTES: [usize; 3] = [64, 1_024, 16_384];

fn of_plain_fields(criterion: &mut Criterion) {
    let mut group = group(criterion, "reset", 1);
    for (name, reset) in [
        ("derived", (|| resetting(Wide::reset)) as fn() -> Work),
        ("by hand", || resetting(Wide::reset_by_hand)),
        ("no reset: made anew", || {
            resetting(|wide| *wide = Wide::init())
        }),
    ] {
        row(&mut group, name, "1 KiB", || Team::new(1, move |_| reset()));
    }
}

fn of_buffers(criterion: &mut Criterion) {
    let mut group = group(criterion, "reset, buffers kept", 1);
    for bytes in BYTES {
        let column = format!("{} bytes", grouped(bytes));
        for backend in Backend::ALL {
            row(&mut group, backend.name(), &column, || {
                let pool = Pool::<Parcel>::builder().backend(backend).build();
                let pool = pool.expect("every backend goes with the defaults");
                Team::new(1, move |_| {
                    let pool = pool.clone();
                    filling(move || pool.acquire(), bytes)
                })
            });
        }
        row(&mut group, "unsync", &column, || {
            Team::new(1, move |_| {
                let pool = unsync::Pool::<Parcel>::new();
                filling(move || pool.acquire(), bytes)
            })
        });
        row(&mut group, "no pool: Box", &column, || {
            Team::new(1, move |_| filling(|| Box::new(Parcel::init()), bytes))
        });
    }
}

/// Takes an object, fills its buffers and lets it go, over and over.
fn filling<H: DerefMut<Target = Parcel>>(
    mut take: impl FnMut() -> H + 'static,
    bytes: usize,
) -> Work {
    let text = "x".repeat(bytes);
    Box::new(move |turns| {
        for _ in 0..turns {
            let mut parcel = take();
            parcel.fill(black_box(&text));
            black_box(&mut *parcel);
        }
    })
}

/// Messages of three kinds, all of which own buffers: how they can be pooled.
fn of_kinds(criterion: &mut Criterion) {
    let mut group = group(criterion, "reset, messages of three kinds", 1);
    for (column, run) in [("in turn", 1), ("in runs of 100", 100)] {
        row(&mut group, "one struct", column, || {
            Team::new(1, move |_| {
                let pool = Pool::<AllKinds>::new();
                sending(run, move |kind, text| {
                    black_box(&mut *pool.acquire()).fill(kind, text);
                })
            })
        });
        row(&mut group, "a pool a kind", column, || {
            Team::new(1, move |_| {
                let orders = Pool::<Order>::new();
                let notes = Pool::<Note>::new();
                let frames = Pool::<Frame>::new();
                sending(run, move |kind, text| match kind {
                    Kind::Order => black_box(&mut *orders.acquire()).fill(text),
                    Kind::Note => black_box::<&mut Note>(&mut notes.acquire())
                        .0
                        .push_str(text),
                    Kind::Frame => black_box::<&mut Frame>(&mut frames.acquire())
                        .0
                        .extend_from_slice(text.as_bytes()),
                })
            })
        });
        row(&mut group, "enum, in_place", column, || {
            Team::new(1, move |_| {
                let pool = Pool::<InPlace>::new();
                sending(run, move |kind, text| {
                    black_box(&mut *pool.acquire()).fill(kind, text);
                })
            })
        });
        row(&mut group, "enum, back to initial", column, || {
            Team::new(1, move |_| {
                let pool = Pool::<ToInitial>::new();
                sending(run, move |kind, text| {
                    black_box(&mut *pool.acquire()).fill(kind, text);
                })
            })
        });
        row(&mut group, "no pool: Box of an enum", column, || {
            Team::new(1, move |_| {
                sending(run, move |kind, text| {
                    black_box(&mut *Box::new(ToInitial::init())).fill(kind, text);
                })
            })
        });
    }
}

/// Has messages sent, of the next kind after so many of one.
fn sending(run: usize, mut send: impl FnMut(Kind, &str) + 'static) -> Work {
    let text = "x".repeat(64);
    let mut sent = 0;
    Box::new(move |turns| {
        for _ in 0..turns {
            let kind = [Kind::Order, Kind::Note, Kind::Frame][sent / run % 3];
            send(black_box(kind), black_box(&text));
            sent += 1;
        }
    })
}

#[derive(Clone, Copy)]
enum Kind {
    Order,
    Note,
    Frame,
}

#[derive(Poolable)]
struct Order {
    symbol: String,
    legs: Vec<u64>,
}

impl Order {
    fn fill(&mut self, text: &str) {
        self.symbol.push_str(text);
        self.legs.extend([1, 2]);
    }
}

#[derive(Poolable)]
struct Note(String);

#[derive(Poolable)]
struct Frame(Vec<u8>);

/// Every message has the buffers of all kinds.
#[derive(Poolable)]
struct AllKinds {
    #[poolable(default = Kind::Order)]
    kind: Kind,
    order: Order,
    note: Note,
    frame: Frame,
}

impl AllKinds {
    fn fill(&mut self, kind: Kind, text: &str) {
        self.kind = kind;
        match kind {
            Kind::Order => self.order.fill(text),
            Kind::Note => self.note.0.push_str(text),
            Kind::Frame => self.frame.0.extend_from_slice(text.as_bytes()),
        }
    }
}

/// An enum of the kinds, which uses the buffers of the variant that is there.
macro_rules! enum_of_kinds {
    ($(#[$word:meta])* $name:ident) => {
        #[derive(Poolable)]
        $(#[$word])*
        enum $name {
            #[poolable(initial)]
            Order(Order),
            Note(Note),
            Frame(Frame),
        }

        impl $name {
            fn fill(&mut self, kind: Kind, text: &str) {
                match (kind, &mut *self) {
                    (Kind::Order, Self::Order(order)) => order.fill(text),
                    (Kind::Note, Self::Note(note)) => note.0.push_str(text),
                    (Kind::Frame, Self::Frame(frame)) => frame.0.extend_from_slice(text.as_bytes()),
                    _ => {
                        *self = match kind {
                            Kind::Order => Self::Order(Order::init()),
                            Kind::Note => Self::Note(Note::init()),
                            Kind::Frame => Self::Frame(Frame::init()),
                        };
                        self.fill(kind, text);
                    }
                }
            }
        }
    };
}

enum_of_kinds!(
    #[poolable(in_place)]
    InPlace
);
enum_of_kinds!(ToInitial);

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = of_plain_fields, of_buffers, of_kinds
}
criterion_main!(benches);

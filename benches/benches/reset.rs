//! What it costs to wipe an object instead of making it anew: the derived reset beside one by hand,
//! and objects that own buffers, which a pool keeps and an allocator frees.

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

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = of_plain_fields, of_buffers
}
criterion_main!(benches);

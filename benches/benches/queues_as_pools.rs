//! Every thread takes a burst from the shared pool onto a stack of its own, works for a while, and
//! gives all back, the last first. The workload that JCTools measures queues with, as pools: a
//! queue's price does not amortise in bursts, and a lock's grows once there is time to go to sleep.
//!
//! All objects are made before; nothing ever runs empty. The figures are nanoseconds a burst, the
//! work included, as they were published.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use pool_bench::by_hand::{ByHand, LockedVec, Ring, Segments};
use pool_bench::contender::{BareVec, Contender, Pooled};
use pool_bench::pattern::{at_once_with_work, in_bursts_with_work, room_for};
use pool_bench::team::{Team, Work};
use pool_core::Backend;

use support::{Group, group, row, threads_column};

const THREADS: [usize; 3] = [1, 2, 3];
const BURSTS: [usize; 3] = [1, 10, 100];
const TOKENS: [u64; 3] = [0, 10, 100];

/// Objects in each pool, and the most it may have.
const CAPACITY: usize = Ring::ROOM;

/// What the threads of a row do.
#[derive(Clone, Copy)]
struct Case {
    threads: usize,
    burst: usize,
    tokens: u64,
}

fn queues_as_pools(criterion: &mut Criterion) {
    for threads in THREADS {
        let name = format!("queues_as_pools, {}", threads_column(threads));
        // A burst is one: what is shown is what a burst takes.
        let mut group = group(criterion, &name, 1);
        for burst in BURSTS {
            for tokens in TOKENS {
                let case = Case {
                    threads,
                    burst,
                    tokens,
                };
                contenders(&mut group, case);
            }
        }
    }
}

fn contenders(group: &mut Group<'_>, case: Case) {
    for backend in Backend::ALL {
        let make =
            || Pooled::with(|pool| pool.backend(backend).capacity(CAPACITY).prefill(CAPACITY));
        shared(group, backend.name(), case, make, one_by_one);
        let name = format!("{backend}, acquire_many");
        shared(group, &name, case, make, at_once);
    }
    let locked = || ByHand::<LockedVec>::filled(CAPACITY);
    shared(group, "Mutex<Vec>", case, locked, one_by_one);
    let segments = || ByHand::<Segments>::filled(CAPACITY);
    shared(group, "SegQueue", case, segments, one_by_one);
    let ring = || ByHand::<Ring>::filled(CAPACITY);
    shared(group, "ArrayQueue", case, ring, one_by_one);
    // After its first burst it has exactly as many as a burst takes.
    row(group, "no pool: a Vec each", &column(case), || {
        Team::new(case.threads, move |_| one_by_one(BareVec::default(), case))
    });
}

fn column(case: Case) -> String {
    format!("burst {}, work {}", case.burst, case.tokens)
}

fn shared<C: Contender + Clone + Send + Sync + 'static>(
    group: &mut Group<'_>,
    name: &str,
    case: Case,
    make: impl Fn() -> C,
    work: fn(C, Case) -> Work,
) {
    row(group, name, &column(case), || {
        let contender = make();
        Team::new(case.threads, move |_| work(contender.clone(), case))
    });
}

fn one_by_one<C: Contender + 'static>(mut contender: C, case: Case) -> Work {
    let mut held = room_for(case.burst);
    Box::new(move |turns| {
        in_bursts_with_work(&mut contender, &mut held, case.burst, case.tokens, turns);
    })
}

fn at_once(mut pool: Pooled, case: Case) -> Work {
    Box::new(move |turns| at_once_with_work(&mut pool, case.burst, case.tokens, turns))
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = queues_as_pools
}
criterion_main!(benches);

//! The shapes of the stress tests that allocators are measured with, over objects of one size: those of xmalloc-test
//! (Lever and Boreham), larson (Larson and Krishnan), mstress (Leijen) and cache-scratch (Berger), as mimalloc-bench
//! collects them.
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::alloc::System;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use criterion::Criterion;
use mimalloc::MiMalloc;
use pool_bench::by_hand::{ByHand, LockedVec, Ring};
use pool_bench::contender::{Allocator, Contender};
use pool_bench::payload::{Message, touch};
use pool_bench::team::Team;
use tikv_jemallocator::Jemalloc;

use crate::forwarding::Forwarding;
use crate::support::{Group, group, objects_each, threads_column};
use crate::{Workload, peer, pools};

const THREADS: [usize; 3] = [1, 2, 8];

pub(crate) fn allocators(criterion: &mut Criterion) {
    // Threads that only allocate send batches of 4,096 to as many that only free, in a queue of 100.
    let mut xmalloc = group(criterion, "peers, xmalloc-test", 1);
    for threads in [1, 4] {
        let (batch, room) = (4_096, 100);
        objects_each(&mut xmalloc, threads * batch);
        rows(
            &mut xmalloc,
            &Forwarding {
                writers: threads,
                readers: threads,
                batch,
                room,
            },
        );
    }
    drop(xmalloc);
    let mut larson = group(criterion, "peers, larson", 1);
    for threads in THREADS {
        rows(&mut larson, &Larson(threads));
    }
    drop(larson);
    let mut mstress = group(criterion, "peers, mstress", 1);
    for threads in THREADS {
        rows(&mut mstress, &Mstress(threads));
    }
    drop(mstress);
    let mut scratch = group(criterion, "peers, cache-scratch", 1);
    for threads in THREADS {
        rows(&mut scratch, &CacheScratch(threads));
    }
}

fn rows(group: &mut Group<'_>, workload: &impl Workload<Message>) {
    pools(group, workload);
    peer(group, workload, "Mutex<Vec>", ByHand::<LockedVec>::default);
    peer(group, workload, "ArrayQueue", ByHand::<Ring>::default);
    peer(group, workload, "system malloc", || Allocator(&System));
    peer(group, workload, "jemalloc", || Allocator(&Jemalloc));
    peer(group, workload, "mimalloc", || Allocator(&MiMalloc));
}

/// larson: each thread has a window of objects and replaces random ones, and another goes on with its window after a
/// while, so that objects come back on other threads than they went out. (There, a new thread each time.)
struct Larson(usize);

impl Larson {
    /// Objects in a thread's window.
    const WINDOW: usize = 5_000;

    /// How many a thread replaces before it goes on to the next window.
    const ROUND: usize = 50_000;
}

impl Workload<Message> for Larson {
    fn column(&self) -> String {
        threads_column(self.0)
    }

    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<Message, Handle: Send> + Clone + Send + Sync + 'static,
    {
        let (threads, contender) = (self.0, make());
        let windows = tables::<C>(threads, Self::WINDOW);
        Team::new(threads, move |index| {
            let (mut contender, windows) = (contender.clone(), windows.clone());
            let mut window = index;
            for place in lock(&windows[index]).iter_mut() {
                *place = Some(contender.acquire());
            }
            let mut random = Random::new(index);
            Box::new(move |turns| {
                for done in (0..turns).step_by(Self::ROUND) {
                    let mut objects = lock(&windows[window]);
                    let turns = Self::ROUND.min(turns - done);
                    replace(&mut contender, &mut objects, &mut random, turns);
                    window = (window + 1) % threads;
                }
            })
        })
    }
}

#[inline(never)]
fn replace<C: Contender>(
    contender: &mut C,
    objects: &mut [Option<C::Handle>],
    random: &mut Random,
    turns: usize,
) {
    for turn in 0..turns {
        let place = &mut objects[random.below(Larson::WINDOW)];
        if let Some(handle) = place.take() {
            contender.release(handle);
        }
        *place = Some(acquired(contender, turn));
    }
}

/// mstress: lifetimes are random, some a thousand times as long as others, and objects change threads by a table that
/// all share.
struct Mstress(usize);

impl Mstress {
    /// Places of a thread, and of all together.
    const PLACES: usize = 1_000;
}

impl Workload<Message> for Mstress {
    fn column(&self) -> String {
        threads_column(self.0)
    }

    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<Message, Handle: Send> + Clone + Send + Sync + 'static,
    {
        let (transfer, contender) = (tables::<C>(Self::PLACES, 1), make());
        Team::new(self.0, move |index| {
            let (mut contender, transfer) = (contender.clone(), transfer.clone());
            let mut own: Vec<_> = (0..Self::PLACES).map(|_| None).collect();
            let mut random = Random::new(index);
            Box::new(move |turns| migrate(&mut contender, &mut own, &transfer, &mut random, turns))
        })
    }
}

/// A turn fills a place that is empty; a full one it empties, or exchanges what is there with what a common place has.
#[inline(never)]
fn migrate<C: Contender>(
    contender: &mut C,
    own: &mut [Option<C::Handle>],
    transfer: &[Table<C>],
    random: &mut Random,
    turns: usize,
) {
    for turn in 0..turns {
        // The product of two: places far up come up seldom.
        let at = random.below(Mstress::PLACES) * random.below(Mstress::PLACES) / Mstress::PLACES;
        let exchanged = random.below(100) < 27;
        match own[at].take() {
            None => own[at] = Some(acquired(contender, turn)),
            Some(handle) if exchanged => {
                let mut common = lock(&transfer[random.below(Mstress::PLACES)]);
                own[at] = common[0].replace(handle);
            }
            Some(handle) => contender.release(handle),
        }
    }
}

/// cache-scratch: each thread releases an object that one thread acquired for all, and then acquires one, writes all
/// of it a hundred times and releases it, over and over: what was handed out together may share a line for ever.
struct CacheScratch(usize);

impl Workload<Message> for CacheScratch {
    fn column(&self) -> String {
        threads_column(self.0)
    }

    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<Message, Handle: Send> + Clone + Send + Sync + 'static,
    {
        let mut contender = make();
        let given = Mutex::new((0..self.0).map(|_| contender.acquire()).collect::<Vec<_>>());
        let contender = Mutex::new(contender);
        Team::new(self.0, move |_| {
            let mut contender = contender
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let given = given.lock().unwrap_or_else(PoisonError::into_inner).pop();
            contender.release(given.expect("as many as threads"));
            Box::new(move |turns| scratch(&mut contender, turns))
        })
    }
}

#[inline(never)]
fn scratch<C: Contender>(contender: &mut C, turns: usize) {
    for turn in 0..turns {
        let mut handle = acquired(contender, turn);
        let object = C::object(&mut handle);
        for written in 0..100 {
            // SAFETY: the object of a handle is valid for writes.
            unsafe {
                object.write(Message {
                    id: written,
                    body: [written; 7],
                });
            };
            std::hint::black_box(object);
        }
        contender.release(handle);
    }
}

#[inline(always)]
fn acquired<C: Contender>(contender: &mut C, turn: usize) -> C::Handle {
    let mut handle = contender.acquire();
    // SAFETY: the object of a handle is valid for writes.
    unsafe { touch(C::object(&mut handle), turn as u64) };
    handle
}

/// Places for objects, that threads use one after the other.
type Table<C> = Mutex<Box<[Option<<C as Contender>::Handle>]>>;

fn tables<C: Contender>(tables: usize, places: usize) -> Arc<[Table<C>]> {
    let table = |_| Mutex::new((0..places).map(|_| None).collect());
    (0..tables).map(table).collect()
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers that look random, the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: usize) -> Self {
        Random(0x9E37_79B9_7F4A_7C15 ^ seed as u64)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }
}

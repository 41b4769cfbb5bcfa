//! The workloads that lockfree-object-pool publishes in its `benches`: vectors with room for 16 KiB, which a reset
//! leaves as they are.
#![allow(unsafe_code)] // The contract of payloads.

use std::sync::{Arc, Barrier, Mutex, PoisonError};

use criterion::Criterion;
use pool_bench::clock::{Span, measure};
use pool_bench::contender::{Contender, Unsync};
use pool_bench::payload::{Payload, touch};
use pool_bench::team::Team;
use pool_core::Poolable;

use crate::forwarding::Forwarding;
use crate::support::{group, objects_each, row, threads_column};
use crate::{Workload, pools};

/// A vector as theirs.
#[derive(Clone)]
struct Buffer(Vec<u8>);

impl Poolable for Buffer {
    fn init() -> Self {
        Buffer(Vec::with_capacity(16 * 1024))
    }

    fn reset(&mut self) {}
}

impl Payload for Buffer {
    const OWNS: bool = true;

    unsafe fn touch(_: *mut Self, _: u64) {}

    unsafe fn read(buffer: *const Self) -> u64 {
        // SAFETY: by contract.
        unsafe { (*buffer).0.len() as u64 }
    }
}

/// What is timed of a round. In each, threads share a new pool, and every one acquires objects, holds all, and
/// releases them.
#[derive(Clone, Copy, PartialEq)]
enum Timed {
    /// The acquires, all of which create.
    Allocation,
    /// The acquires after twice as many objects were acquired and released.
    Reuse,
    /// The releases.
    Free,
}

/// The most that a thread holds: as many as their reuse takes.
const HELD: usize = 8_192;

struct Holding {
    timed: Timed,
    threads: usize,
}

/// Allocation and free on one thread and on five, reuse on one.
pub(crate) fn holding(criterion: &mut Criterion) {
    for (name, timed, teams) in [
        ("peers, allocation", Timed::Allocation, &[1, 5][..]),
        ("peers, reuse", Timed::Reuse, &[1]),
        ("peers, free", Timed::Free, &[1, 5]),
    ] {
        let mut group = group(criterion, name, 1);
        for &threads in teams {
            pools(&mut group, &Holding { timed, threads });
        }
        row(&mut group, "unsync", &threads_column(1), || {
            Team::timed(1, move |_| {
                Box::new(move |turns| rounds(timed, turns, Unsync::<Buffer>::default, || ()))
            })
        });
    }
}

/// One thread or five send objects to one or five others. (Their queue has no bound, so that how many objects there
/// are depends on who is faster; here it has room for 1,024.)
pub(crate) fn forwarding(criterion: &mut Criterion) {
    let mut group = group(criterion, "peers, forwarding", 1);
    for (writers, readers) in [(1, 1), (1, 5), (5, 1), (5, 5)] {
        objects_each(&mut group, writers);
        let (batch, room) = (1, 1_024);
        pools::<Buffer>(
            &mut group,
            &Forwarding {
                writers,
                readers,
                batch,
                room,
            },
        );
    }
}

impl Workload<Buffer> for Holding {
    fn column(&self) -> String {
        threads_column(self.threads)
    }

    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<Buffer, Handle: Send> + Clone + Send + Sync + 'static,
    {
        let timed = self.timed;
        let together = Arc::new(Barrier::new(self.threads));
        let newest = Arc::new(Mutex::new(make()));
        let make = Arc::new(make);
        Team::timed(self.threads, move |_| {
            let (together, newest, make) = (together.clone(), newest.clone(), make.clone());
            let all = together.clone();
            // One thread makes what all get a clone of.
            let share = move || {
                let newest = || newest.lock().unwrap_or_else(PoisonError::into_inner);
                if together.wait().is_leader() {
                    *newest() = make();
                }
                together.wait();
                newest().clone()
            };
            Box::new(move |turns| rounds(timed, turns, &share, || _ = all.wait()))
        })
    }
}

/// Rounds until `turns` objects were acquired; `together` waits until every thread is about to be timed.
fn rounds<C: Contender<Buffer>>(
    timed: Timed,
    turns: usize,
    make: impl Fn() -> C,
    together: impl Fn(),
) -> Span {
    let rounds = (0..turns).step_by(HELD).map(|done| {
        let n = HELD.min(turns - done);
        let (mut contender, mut held) = (make(), Vec::with_capacity(2 * n));
        if timed == Timed::Reuse {
            acquire_all(&mut contender, &mut held, 2 * n);
            release_all(&mut contender, &mut held);
        }
        together();
        let acquired = measure(|| acquire_all(&mut contender, &mut held, n));
        together();
        let released = measure(|| release_all(&mut contender, &mut held));
        if timed == Timed::Free {
            released
        } else {
            acquired
        }
    });
    rounds.reduce(Span::and).expect("one turn at least")
}

#[inline(never)]
fn acquire_all<C: Contender<Buffer>>(contender: &mut C, held: &mut Vec<C::Handle>, n: usize) {
    for _ in 0..n {
        let mut handle = contender.acquire();
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(C::object(&mut handle), 0) };
        held.push(handle);
    }
}

#[inline(never)]
fn release_all<C: Contender<Buffer>>(contender: &mut C, held: &mut Vec<C::Handle>) {
    for handle in held.drain(..) {
        contender.release(handle);
    }
}

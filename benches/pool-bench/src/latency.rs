//! How long single operations take: in the case itself, while another thread keeps house, with more
//! threads than cores, and at each place where an operation has more to do than a hit: the exchange
//! of a batch, growth, a revocation, the bound. Called by `main`; the times come from `watch`.
//!
//! The places beyond the case are set up so that every operation timed is of the kind named; the
//! counts of the pool confirm it.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pool_bench::duel::{Spread, cores};
use pool_bench::payload::Payload;
use pool_bench::pipeline::wait_a_turn;
use pool_bench::team::Team;
use pool_core::Stats;
use quanta::Clock;

use crate::case::{Case, Entrant, Kind, Plan};
use crate::growth;
use crate::lane::{Shared, crew, for_objects, pool};
use crate::results::{Events, Latency, Operation, Percentiles, Place, Series};
use crate::watch::{Budget, Stopwatch, Times, Watch, no_times, timed};

/// Time that a stretch of operations takes, about, for each thread that a core has to serve.
const STRETCH: Duration = Duration::from_millis(10);

/// Time between two rounds of housekeeping.
const ROUND: Duration = Duration::from_micros(200);

/// Everything, in a share of the time.
pub(crate) fn latency(plan: &Plan, budget: &Budget, share: f64) -> Latency {
    let clock = &Clock::new();
    let mut alone = no_times();
    for _ in budget.rounds(share * 0.1, 1) {
        for _ in 0..1000 {
            alone.saturating_record(timed(clock, || ()).1);
        }
    }
    let mut entrants = plan.one_of_each();
    entrants.retain(|entrant| entrant.kind != Kind::Words);
    let mut tended = entrants.clone();
    let batched = entrants
        .iter()
        .filter(|entrant| entrant.kind == Kind::Batched);
    tended.extend(batched.map(|&entrant| Entrant {
        cooperates: true,
        ..entrant
    }));
    let crowd = plan.case.with_threads(crowd(plan.case));
    let crowded = if crowd.threads > plan.case.threads {
        &entrants[..]
    } else {
        &[]
    };

    let mut series = Vec::new();
    for (place, case, entrants, part) in [
        (Place::Steady, plan.case, &entrants[..], 0.3),
        (Place::Housekeeping, plan.case, &tended, 0.2),
        (Place::Crowded, crowd, crowded, 0.2),
    ] {
        let run = |&entrant| Run::warm(place, case, entrant, clock);
        let mut runs: Vec<_> = entrants.iter().map(run).collect();
        for _ in budget.rounds(share * part, 1) {
            runs.iter_mut().for_each(Run::stretch);
        }
        series.extend(runs.into_iter().flat_map(Run::series));
    }
    for &entrant in &entrants {
        let share = share * 0.2 / (2 * entrants.len() + 4) as f64;
        let site = Site {
            case: plan.case,
            entrant,
            clock,
            budget,
            share,
        };
        series.extend(growth(&site));
        if entrant.kind == Kind::Batched {
            series.extend(for_objects!(plan.case, exchanges(&site)));
            series.extend(for_objects!(plan.case, revocations(&site)));
        }
        if entrant.kind.backend().is_some() {
            series.extend(for_objects!(plan.case, refusals(&site)));
        }
    }
    Latency {
        clock: Percentiles::of(&alone),
        reading_ns: reading(clock),
        series,
    }
}

/// Threads twice the cores, or the case's if they are more; as many as the pattern and the capacity
/// allow.
fn crowd(case: Case) -> usize {
    let twice = 2 * cores();
    match case.capacity {
        Some(capacity) if capacity < twice * case.burst => case.threads,
        _ => case.threads.max(twice),
    }
}

/// What one reading of the clock takes, in nanoseconds: the median of many runs of readings, since
/// the clock may count in steps that are longer.
fn reading(clock: &Clock) -> f64 {
    const READINGS: u32 = 1000;
    let run = || {
        let start = Instant::now();
        for _ in 0..READINGS {
            black_box(clock.raw());
        }
        start.elapsed().as_nanos() as f64 / f64::from(READINGS)
    };
    let mut runs: Vec<_> = std::iter::repeat_with(run).take(101).collect();
    Spread::of(&mut runs).median
}

/// A contender in the loop of the case, each of its operations timed.
struct Run {
    place: Place,
    case: Case,
    entrant: Entrant,
    team: Team,
    shared: Shared,
    watch: Stopwatch,
    turns: usize,
    before: Option<Stats>,
    preempted: u64,
    slept: u64,
}

impl Run {
    /// Lets it run until its stretches are as long as they shall be, and forgets these times.
    fn warm(place: Place, case: Case, entrant: Entrant, clock: &Clock) -> Self {
        let watch = Stopwatch::new(clock);
        let crew = crew(case, entrant, &watch);
        let mut team = Team::new(case.threads, crew.work);
        let enough = STRETCH * case.threads.div_ceil(cores()) as u32;
        let mut turns = 1;
        // The shorter of two, since one may have been disturbed.
        while team.run(turns).wall.min(team.run(turns).wall) < enough {
            turns *= 2;
        }
        watch.take();
        let before = crew.shared.as_ref().map(|pool| pool.stats());
        let (preempted, slept) = (0, 0);
        let shared = crew.shared;
        Run {
            place,
            case,
            entrant,
            team,
            shared,
            watch,
            turns,
            before,
            preempted,
            slept,
        }
    }

    fn stretch(&mut self) {
        let (reserve, keep) = (self.case.in_use(), self.case.prefill(self.entrant));
        let tend = || {
            if let Some(pool) = &self.shared {
                pool.keep_house(reserve, keep);
            }
        };
        let stretch = match self.place {
            Place::Housekeeping => tended(tend, || self.team.run(self.turns)),
            _ => self.team.run(self.turns),
        };
        self.preempted += stretch.preempted;
        self.slept += stretch.slept;
    }

    fn series(self) -> [Series; 2] {
        let counted = self.before.zip(self.shared);
        let counted = counted.map(|(before, pool)| Events::between(&before, &pool.stats()));
        let (preempted, slept) = (self.preempted, self.slept);
        let events = Events {
            preempted,
            slept,
            ..counted.unwrap_or_default()
        };
        let operations = [Operation::Acquire, Operation::Release].into_iter();
        let mut times = operations.zip(self.watch.take());
        std::array::from_fn(|_| {
            let (operation, times) = times.next().expect("there are two");
            Series {
                place: self.place,
                operation,
                entrant: self.entrant,
                threads: self.case.threads,
                ns: Percentiles::of(&times),
                events,
            }
        })
    }
}

/// Runs `work` while another thread calls `tend` again and again.
fn tended<R>(tend: impl Fn() + Sync, work: impl FnOnce() -> R) -> R {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The flag says nothing but that it is over.
            while !over.load(Ordering::Relaxed) {
                tend();
                thread::sleep(ROUND);
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

impl Events {
    /// What a pool counted between two looks.
    fn between(before: &Stats, after: &Stats) -> Self {
        let since = |before: usize, after: usize| Some(after.saturating_sub(before) as u64);
        Events {
            created: since(before.created, after.created),
            exchanges: since(before.exchanges, after.exchanges),
            revocations: since(before.revocations, after.revocations),
            ..Events::default()
        }
    }
}

/// A place where every operation has more to do than a hit.
struct Site<'a> {
    case: Case,
    entrant: Entrant,
    clock: &'a Clock,
    budget: &'a Budget,
    share: f64,
}

impl Site<'_> {
    fn rounds(&self) -> impl Iterator<Item = usize> {
        self.budget.rounds(self.share, 1)
    }

    fn series<const N: usize>(
        &self,
        place: Place,
        threads: usize,
        times: [(Operation, Times); N],
        events: Events,
    ) -> [Series; N] {
        times.map(|(operation, times)| {
            let ns = Percentiles::of(&times);
            Series {
                place,
                operation,
                entrant: self.entrant,
                threads,
                ns,
                events,
            }
        })
    }
}

/// Acquires from a pool in which nothing is idle, and which no thread has used.
fn growth(site: &Site<'_>) -> [Series; 1] {
    let mut watch = Stopwatch::new(site.clock);
    for _ in site.rounds() {
        growth::bursts(site.case, site.entrant, &mut watch);
    }
    watch.report();
    let [acquire, _] = watch.take();
    site.series(
        Place::Growth,
        1,
        [(Operation::Acquire, acquire)],
        Events::default(),
    )
}

/// Acquires with an empty cache, and releases with a full one.
fn exchanges<T: Payload>(site: &Site<'_>) -> [Series; 2] {
    let full = site.entrant.cached(1);
    let pool = pool::<T>(site.entrant, 2 * full, None);
    let (mut acquire, mut release) = (no_times(), no_times());
    let mut held = Vec::with_capacity(full + 1);
    let visited = |before: usize| pool.stats().exchanges > before;
    let first = pool.stats();
    for _ in site.rounds() {
        pool.flush();
        let before = pool.stats().exchanges;
        let (handle, nanos) = timed(site.clock, || pool.acquire());
        if visited(before) {
            acquire.saturating_record(nanos);
        }
        held.push(handle);
        held.extend(std::iter::repeat_with(|| pool.acquire()).take(full));
        // The cache has the rest of the last batch; room is made for all but one.
        pool.flush();
        let last = held.pop();
        held.clear();
        let before = pool.stats().exchanges;
        let ((), nanos) = timed(site.clock, || drop(last));
        if visited(before) {
            release.saturating_record(nanos);
        }
    }
    let times = [(Operation::Acquire, acquire), (Operation::Release, release)];
    site.series(
        Place::Exchange,
        1,
        times,
        Events::between(&first, &pool.stats()),
    )
}

/// The first acquire and the first release after another thread has revoked the caches, and what that
/// took the other thread.
fn revocations<T: Payload>(site: &Site<'_>) -> [Series; 3] {
    let pool = pool::<T>(site.entrant, 4, None);
    let (mut acquire, mut release) = (no_times(), no_times());
    // Even: the owner's turn; odd: the other's; LAST: it is over.
    const LAST: usize = usize::MAX;
    let turn = AtomicUsize::new(0);
    let wait_while = |parity: usize| {
        let mut waited = 0;
        loop {
            let now = turn.load(Ordering::Acquire);
            if now == LAST || now % 2 != parity {
                return now;
            }
            wait_a_turn(&mut waited);
        }
    };
    let first = pool.stats();
    let trim = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut trim = no_times();
            while wait_while(0) != LAST {
                let ((), nanos) = timed(site.clock, || pool.trim(usize::MAX));
                trim.saturating_record(nanos);
                turn.fetch_add(1, Ordering::Release);
            }
            trim
        });
        let revoke = || {
            turn.fetch_add(1, Ordering::Release);
            wait_while(1);
        };
        for _ in site.rounds() {
            drop(pool.acquire());
            revoke();
            let (handle, nanos) = timed(site.clock, || pool.acquire());
            acquire.saturating_record(nanos);
            revoke();
            let ((), nanos) = timed(site.clock, || drop(handle));
            release.saturating_record(nanos);
        }
        turn.store(LAST, Ordering::Release);
        other.join().expect("the other thread trims, no more")
    });
    let times = [
        (Operation::Acquire, acquire),
        (Operation::Release, release),
        (Operation::Trim, trim),
    ];
    site.series(
        Place::Revocation,
        2,
        times,
        Events::between(&first, &pool.stats()),
    )
}

/// `try_acquire` while every object is in use.
fn refusals<T: Payload>(site: &Site<'_>) -> [Series; 1] {
    let pool = pool::<T>(site.entrant, 0, Some(1));
    let only = pool.acquire();
    let mut refusal = no_times();
    let first = pool.stats();
    for _ in site.rounds() {
        for _ in 0..100 {
            let (refused, nanos) = timed(site.clock, || pool.try_acquire());
            if refused.is_err() {
                refusal.saturating_record(nanos);
            }
        }
    }
    let events = Events::between(&first, &pool.stats());
    drop(only);
    site.series(Place::Exhausted, 1, [(Operation::Refusal, refusal)], events)
}

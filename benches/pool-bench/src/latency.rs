//! How long single operations take: in the case itself, while another thread keeps house, with more threads than
//! cores, and at each place where an operation has more to do than a hit: the exchange of a batch, growth, a
//! revocation, the bound. Called by `main`; the times come from `watch`.
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
use pool_core::{Pool, Stats};
use quanta::Clock;

use crate::case::{Case, Entrant, Kind, Plan};
use crate::growth;
use crate::lane::{Watched, for_objects, watched};
use crate::results::{Events, Latency, Operation, Percentiles, Place, Series};
use crate::watch::{Times, no_times, take, timed};

/// Time that a stretch of operations takes, about, for each thread that a core has to serve.
const STRETCH: Duration = Duration::from_millis(10);

/// Everything, in about `time`.
pub(crate) fn latency(plan: &Plan, time: Duration, progress: &dyn Fn(f64)) -> Latency {
    let clock = Clock::new();
    let share = |share: f64| time.mul_f64(share);
    let clock_alone = clock_alone(&clock, share(0.1));
    progress(0.1);
    let entrants = plan.one_of_each();
    let entrants: Vec<_> = entrants
        .into_iter()
        .filter(|entrant| entrant.kind != Kind::Words)
        .collect();

    let mut series = in_the_case(Place::Steady, plan.case, &entrants, &clock, share(0.3));
    progress(0.4);
    let mut tended = entrants.clone();
    // In which nobody is interrupted.
    let batched = entrants.iter().find(|one| one.kind == Kind::Batched);
    tended.extend(batched.map(|one| one.cooperating()));
    series.extend(in_the_case(
        Place::Housekeeping,
        plan.case,
        &tended,
        &clock,
        share(0.2),
    ));
    progress(0.6);
    let crowd = plan.case.with_threads(crowd(plan.case));
    if crowd.threads > plan.case.threads {
        series.extend(in_the_case(
            Place::Crowded,
            crowd,
            &entrants,
            &clock,
            share(0.2),
        ));
    }
    progress(0.8);
    let special = Special {
        case: plan.case,
        clock: &clock,
        time: share(0.2) / (2 * entrants.len() + 4) as u32,
    };
    for &entrant in &entrants {
        series.push(special.growth(entrant));
        if entrant.kind == Kind::Batched {
            series.extend(special.exchange(entrant));
            series.extend(special.revocation(entrant));
        }
        if entrant.kind.backend().is_some() {
            series.push(special.exhausted(entrant));
        }
    }
    progress(1.0);
    Latency {
        clock: percentiles(&clock_alone),
        reading_ns: reading(&clock),
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

fn percentiles(times: &Times) -> Percentiles {
    Percentiles {
        count: times.len(),
        p50: times.value_at_quantile(0.5),
        p90: times.value_at_quantile(0.9),
        p99: times.value_at_quantile(0.99),
        p99_9: times.value_at_quantile(0.999),
        p99_99: times.value_at_quantile(0.9999),
        worst_of_a_million: times.value_at_quantile(0.999_999),
        max: times.max(),
    }
}

/// Two readings of the clock, one after the other.
fn clock_alone(clock: &Clock, time: Duration) -> Times {
    let mut times = no_times();
    let start = Instant::now();
    while start.elapsed() < time || times.is_empty() {
        for _ in 0..1000 {
            times.saturating_record(timed(clock, || ()).1);
        }
    }
    times
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

/// The case as it is, once everything is warm: stretches of all contenders by turns.
fn in_the_case(
    place: Place,
    case: Case,
    entrants: &[Entrant],
    clock: &Clock,
    time: Duration,
) -> Vec<Series> {
    let mut runs: Vec<_> = entrants
        .iter()
        .map(|&entrant| Run::warm(place, case, entrant, clock))
        .collect();
    let start = Instant::now();
    while start.elapsed() < time {
        for run in &mut runs {
            run.stretch();
        }
    }
    runs.into_iter().flat_map(|run| run.series(place)).collect()
}

/// A contender being timed.
struct Run {
    case: Case,
    entrant: Entrant,
    watched: Watched,
    turns: usize,
    before: Option<Stats>,
    /// Whether another thread keeps house meanwhile.
    tended: bool,
    events: Events,
}

impl Run {
    /// Lets it run until its stretches are as long as they shall be, and forgets that.
    fn warm(place: Place, case: Case, entrant: Entrant, clock: &Clock) -> Self {
        let mut watched = watched(case, entrant, clock);
        let enough = STRETCH * case.threads.div_ceil(cores()) as u32;
        let mut turns = 1;
        // The shorter of two, since one may have been disturbed.
        while watched
            .team
            .run(turns)
            .wall
            .min(watched.team.run(turns).wall)
            < enough
        {
            turns *= 2;
        }
        drop(take(&watched.record));
        Run {
            case,
            entrant,
            before: watched.shared.as_ref().map(|pool| pool.stats()),
            tended: place == Place::Housekeeping,
            watched,
            turns,
            events: Events::default(),
        }
    }

    fn stretch(&mut self) {
        let stretch = if self.tended {
            let (reserve, keep) = (self.case.in_use(), self.case.prefill(self.entrant));
            let shared = self.watched.shared.clone();
            let tend = || {
                if let Some(pool) = &shared {
                    pool.keep_house(reserve, keep);
                }
            };
            tended(tend, || self.watched.team.run(self.turns))
        } else {
            self.watched.team.run(self.turns)
        };
        self.events.preempted += stretch.preempted;
        self.events.slept += stretch.slept;
    }

    fn series(mut self, place: Place) -> [Series; 2] {
        if let (Some(before), Some(pool)) = (&self.before, &self.watched.shared) {
            self.events.count(before, &pool.stats());
        }
        let seen = take(&self.watched.record);
        let series = |operation, times: &Times| Series {
            place,
            operation,
            entrant: self.entrant,
            threads: self.case.threads,
            ns: percentiles(times),
            events: self.events,
        };
        [
            series(Operation::Acquire, &seen.acquire),
            series(Operation::Release, &seen.release),
        ]
    }
}

/// Time between two rounds of housekeeping.
const ROUND: Duration = Duration::from_micros(200);

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
    /// What a pool counted meanwhile.
    fn count(&mut self, before: &Stats, after: &Stats) {
        let since = |before: usize, after: usize| Some(after.saturating_sub(before) as u64);
        self.created = since(before.created, after.created);
        self.exchanges = since(before.exchanges, after.exchanges);
        self.revocations = since(before.revocations, after.revocations);
    }
}

/// Places where every operation has more to do than a hit.
struct Special<'a> {
    case: Case,
    clock: &'a Clock,
    time: Duration,
}

impl Special<'_> {
    fn series(
        &self,
        place: Place,
        operation: Operation,
        entrant: Entrant,
        threads: usize,
        (times, events): (&Times, Events),
    ) -> Series {
        Series {
            place,
            operation,
            entrant,
            threads,
            ns: percentiles(times),
            events,
        }
    }

    /// Acquires from a pool in which nothing is idle, and which no thread has used.
    fn growth(&self, entrant: Entrant) -> Series {
        let times = growth::acquire_times(self.case, entrant, self.clock, self.time);
        let events = Events::default();
        self.series(
            Place::Growth,
            Operation::Acquire,
            entrant,
            1,
            (&times, events),
        )
    }

    /// Acquires with an empty cache, and releases with a full one.
    fn exchange(&self, entrant: Entrant) -> [Series; 2] {
        let (acquire, release, events) =
            for_objects!(self.case, exchanges(entrant, self.clock, self.time));
        [(Operation::Acquire, acquire), (Operation::Release, release)].map(|(operation, times)| {
            self.series(Place::Exchange, operation, entrant, 1, (&times, events))
        })
    }

    /// The first acquire and the first release after another thread has revoked the caches, and
    /// what that took the other thread.
    fn revocation(&self, entrant: Entrant) -> [Series; 3] {
        let Revoked {
            acquire,
            release,
            trim,
            events,
        } = for_objects!(self.case, revocations(entrant, self.clock, self.time));
        [
            (Operation::Acquire, acquire),
            (Operation::Release, release),
            (Operation::Trim, trim),
        ]
        .map(|(operation, times)| {
            self.series(Place::Revocation, operation, entrant, 2, (&times, events))
        })
    }

    /// `try_acquire` while every object is out.
    fn exhausted(&self, entrant: Entrant) -> Series {
        let (times, events) = for_objects!(self.case, refusals(entrant, self.clock, self.time));
        self.series(
            Place::Exhausted,
            Operation::Refusal,
            entrant,
            1,
            (&times, events),
        )
    }
}

/// A pool of the entrant's kind with so many objects idle, and a bound if asked for.
fn pool<T: Payload>(entrant: Entrant, prefill: usize, capacity: Option<usize>) -> Pool<T> {
    let pool = entrant.builder(capacity).prefill(prefill).build();
    pool.expect("checked with the arguments")
}

fn exchanges<T: Payload>(
    entrant: Entrant,
    clock: &Clock,
    time: Duration,
) -> (Times, Times, Events) {
    let batch_size = entrant.batch_size.expect("only batched pools exchange");
    let full = 2 * batch_size;
    let pool = pool::<T>(entrant, 2 * full, None);
    let (mut acquire, mut release) = (no_times(), no_times());
    let mut held = Vec::with_capacity(full + 1);
    let visited = |before: usize| pool.stats().exchanges > before;
    let first = pool.stats();
    let start = Instant::now();
    while start.elapsed() < time || acquire.is_empty() {
        pool.flush();
        let before = pool.stats().exchanges;
        let (handle, nanos) = timed(clock, || pool.acquire());
        if visited(before) {
            acquire.saturating_record(nanos);
        }
        held.push(handle);
        held.extend(std::iter::repeat_with(|| pool.acquire()).take(full));
        // The cache has what is left of the last batch; room is made for all but one.
        pool.flush();
        let last = held.pop();
        held.clear();
        let before = pool.stats().exchanges;
        let ((), nanos) = timed(clock, || drop(last));
        if visited(before) {
            release.saturating_record(nanos);
        }
    }
    let mut events = Events::default();
    events.count(&first, &pool.stats());
    (acquire, release, events)
}

struct Revoked {
    acquire: Times,
    release: Times,
    trim: Times,
    events: Events,
}

fn revocations<T: Payload>(entrant: Entrant, clock: &Clock, time: Duration) -> Revoked {
    let pool = pool::<T>(entrant, 4, None);
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
                let ((), nanos) = timed(clock, || pool.trim(usize::MAX));
                trim.saturating_record(nanos);
                turn.fetch_add(1, Ordering::Release);
            }
            trim
        });
        let revoke = || {
            turn.fetch_add(1, Ordering::Release);
            wait_while(1);
        };
        let start = Instant::now();
        while start.elapsed() < time || acquire.is_empty() {
            drop(pool.acquire());
            revoke();
            let (handle, nanos) = timed(clock, || pool.acquire());
            acquire.saturating_record(nanos);
            revoke();
            let ((), nanos) = timed(clock, || drop(handle));
            release.saturating_record(nanos);
        }
        turn.store(LAST, Ordering::Release);
        other.join().expect("the other thread trims, no more")
    });
    let mut events = Events::default();
    events.count(&first, &pool.stats());
    Revoked {
        acquire,
        release,
        trim,
        events,
    }
}

fn refusals<T: Payload>(entrant: Entrant, clock: &Clock, time: Duration) -> (Times, Events) {
    let pool = pool::<T>(entrant, 0, Some(1));
    let only = pool.acquire();
    let mut times = no_times();
    let first = pool.stats();
    let start = Instant::now();
    while start.elapsed() < time || times.is_empty() {
        for _ in 0..100 {
            let (refused, nanos) = timed(clock, || pool.try_acquire());
            if refused.is_err() {
                times.saturating_record(nanos);
            }
        }
    }
    let mut events = Events::default();
    events.count(&first, &pool.stats());
    drop(only);
    (times, events)
}

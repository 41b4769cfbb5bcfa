//! The results of a run as plain data: written to results.json, read back by `chart`, and shown by
//! `table` and `report`.

use pool_bench::duel::Spread;
use pool_bench::report::Circumstances;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::advice::Advice;
use crate::allocator::Allocator;
use crate::case::{Case, Entrant, Kind};
use crate::watch::Times;

/// A run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// The version of the program.
    pub(crate) version: String,
    /// The command line.
    pub(crate) command: String,
    /// Whether it was a smoke test.
    pub(crate) quick: bool,
    /// Whether the program was built with optimisation; otherwise no figure means anything.
    pub(crate) optimised: bool,
    /// The allocator of the program.
    pub(crate) allocator: Allocator,
    /// The machine, the system and the compiler.
    pub(crate) circumstances: Circumstances,
    /// The user's case.
    pub(crate) case: Case,
    /// Each contender in the case.
    pub(crate) figures: Vec<Figure>,
    /// A contender of each kind with each number of threads.
    pub(crate) threads: Vec<Figure>,
    /// The batched pool with each batch size.
    pub(crate) batches: Vec<Figure>,
    /// The times of single operations.
    pub(crate) latency: Latency,
    /// The first burst, and the next.
    pub(crate) growth: Vec<Growth>,
    /// The sources of the tail, in words.
    pub(crate) spikes: Vec<String>,
    /// The verdict.
    pub(crate) advice: Advice,
}

impl Results {
    /// Why the figures mean less than they seem to.
    pub(crate) fn warnings(&self) -> Vec<&'static str> {
        let quick = "--quick is a smoke test: leave it out before you rely on a figure";
        let slow = "built without optimisation, so no figure means anything: add --release";
        let warnings = [(self.quick, quick), (!self.optimised, slow)];
        let said = warnings.into_iter().filter(|(said, _)| *said);
        said.map(|(_, warning)| warning).collect()
    }

    /// The first contender of a kind in the case.
    pub(crate) fn figure(&self, kind: Kind) -> Option<&Figure> {
        self.figures
            .iter()
            .find(|figure| figure.entrant.kind == kind)
    }

    /// The numbers of threads, in order.
    pub(crate) fn thread_counts(&self) -> Vec<usize> {
        let mut counts: Vec<_> = self.threads.iter().map(|figure| figure.threads).collect();
        counts.dedup();
        counts
    }
}

/// A contender in the case, or in the case with other numbers: the one summary that every table,
/// picture and sentence rests on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// The contender.
    pub(crate) entrant: Entrant,
    /// The number of threads.
    pub(crate) threads: usize,
    /// Nanoseconds from one object to the next, in each lane: acquire, use, release, and its share of
    /// the work.
    pub(crate) ns: Spread,
    /// That over the control's, round by round.
    pub(crate) over_box: Spread,
    /// Objects in millions a second, all lanes together.
    pub(crate) millions_a_second: f64,
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Rounds that were disturbed and do not count.
    pub(crate) left_out: usize,
    /// Visits to the depot per 1,000 objects, where batch sizes are compared.
    pub(crate) exchanges: Option<f64>,
}

/// Times of single operations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Latency {
    /// Two readings of the clock with nothing between: the part of every other time here that the
    /// clock and the machine add.
    pub(crate) clock: Percentiles,
    /// Nanoseconds that one reading of the clock takes.
    pub(crate) reading_ns: f64,
    /// The operations, by where they happened.
    pub(crate) series: Vec<Series>,
}

impl Latency {
    /// One operation of one kind of contender.
    pub(crate) fn find(&self, place: Place, operation: Operation, kind: Kind) -> Option<&Series> {
        let found = |one: &&Series| (one.place, one.operation) == (place, operation);
        self.series
            .iter()
            .filter(found)
            .find(|one| one.entrant.kind == kind)
    }
}

/// Where operations were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// The case, warm.
    Steady,
    /// The case, warm, while another thread keeps house: it reserves and trims every 200 µs, or, where
    /// threads share no pool, only wakes up.
    Housekeeping,
    /// The case with twice as many threads as cores, or more.
    Crowded,
    /// Just where a cache is empty or full, so that a batch changes hands with the depot.
    Exchange,
    /// A fresh pool: nothing is idle, every object has to be created.
    Growth,
    /// Around a revocation: another thread has called the cached objects in.
    Revocation,
    /// At the bound: every object is in use.
    Exhausted,
}

impl Place {
    /// The places where an operation has more to do than a hit.
    pub(crate) const RARE: [Self; 4] = [
        Self::Exchange,
        Self::Growth,
        Self::Revocation,
        Self::Exhausted,
    ];
}

/// The operation that was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Operation {
    /// An acquire.
    Acquire,
    /// A release.
    Release,
    /// A call of `trim` that takes nothing but revokes every cache.
    Trim,
    /// A `try_acquire` that is refused.
    Refusal,
}

/// The times of one operation at one place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    /// The place.
    pub(crate) place: Place,
    /// The operation.
    pub(crate) operation: Operation,
    /// The contender.
    pub(crate) entrant: Entrant,
    /// Threads that took part.
    pub(crate) threads: usize,
    /// The times.
    pub(crate) ns: Percentiles,
    /// Events meanwhile, of all threads and operations of the place.
    pub(crate) events: Events,
}

impl Series {
    /// The operation, and its circumstances where they are special.
    pub(crate) fn what(&self) -> String {
        let operation: &str = self.operation.into();
        let special = match self.place {
            Place::Exchange => " with exchange",
            Place::Growth => " with growth",
            Place::Revocation if self.operation != Operation::Trim => " after revocation",
            _ => "",
        };
        format!("{operation}{special}")
    }
}

/// Events while times were taken.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Events {
    /// Objects created; unknown without a shared pool.
    pub(crate) created: Option<u64>,
    /// Visits to the depot.
    pub(crate) exchanges: Option<u64>,
    /// Revocations.
    pub(crate) revocations: Option<u64>,
    /// Times that a thread was taken off its core, or gave it up.
    pub(crate) preempted: u64,
    /// Times that a thread slept.
    pub(crate) slept: u64,
}

/// Nanoseconds that a share of the operations did not exceed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    /// The number of operations.
    pub(crate) count: u64,
    /// Half.
    pub(crate) p50: u64,
    /// Nine of ten.
    pub(crate) p90: u64,
    /// 99 of 100.
    pub(crate) p99: u64,
    /// All but one in 1,000.
    pub(crate) p99_9: u64,
    /// All but one in 10,000.
    pub(crate) p99_99: u64,
    /// All but one in 1,000,000.
    pub(crate) worst_of_a_million: u64,
    /// All.
    pub(crate) max: u64,
}

impl Percentiles {
    /// Of so many times.
    pub(crate) fn of(times: &Times) -> Self {
        let beyond = |share: f64| times.value_at_quantile(1.0 - share);
        Percentiles {
            count: times.len(),
            p50: beyond(0.5),
            p90: beyond(0.1),
            p99: beyond(1e-2),
            p99_9: beyond(1e-3),
            p99_99: beyond(1e-4),
            worst_of_a_million: beyond(1e-6),
            max: times.max(),
        }
    }

    /// The names of the percentiles.
    pub(crate) const NAMES: [&str; 7] =
        ["p50", "p90", "p99", "p99.9", "p99.99", "worst of 1M", "max"];

    /// The percentiles, in the order of their names; `None` where fewer than ten operations are
    /// beyond, so that it says no more than the longest does. (The worst of a million needs a
    /// million.)
    pub(crate) fn known(&self) -> [Option<u64>; 7] {
        let known = |beyond: f64, time| (self.count as f64 * beyond >= 10.0).then_some(time);
        [
            known(0.5, self.p50),
            known(0.1, self.p90),
            known(1e-2, self.p99),
            known(1e-3, self.p99_9),
            known(1e-4, self.p99_99),
            known(1e-5, self.worst_of_a_million),
            Some(self.max),
        ]
    }
}

/// A contender's first burst, from a pool without an object, and the same burst again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    /// The contender.
    pub(crate) entrant: Entrant,
    /// Objects of the burst.
    pub(crate) objects: usize,
    /// Nanoseconds an object, acquired and released: the first time.
    pub(crate) cold_ns: Spread,
    /// The second time.
    pub(crate) warm_ns: Spread,
}

/// Results with known numbers, for the tests of modules that read them.
#[cfg(test)]
pub(crate) mod known {
    use super::*;

    /// Figures that differ by 2 % between the quartiles and the median.
    pub(crate) fn spread(median: f64) -> Spread {
        let at = |share: f64| median * share;
        Spread {
            least: at(0.97),
            lower: at(0.98),
            median,
            upper: at(1.02),
        }
    }

    /// A contender, beside a plain allocation of `plain` nanoseconds.
    pub(crate) fn figure(entrant: Entrant, threads: usize, nanos: f64, plain: f64) -> Figure {
        Figure {
            entrant,
            threads,
            ns: spread(nanos),
            over_box: spread(nanos / plain),
            millions_a_second: Case::default()
                .with_threads(threads)
                .millions_a_second(nanos),
            rounds: 100,
            left_out: 0,
            exchanges: None,
        }
    }

    /// On two threads and two cores, with a plain allocation and other contenders.
    pub(crate) fn results(plain: f64, others: &[(Entrant, f64)]) -> Results {
        let all = others
            .iter()
            .copied()
            .chain([(Entrant::of(Kind::Box), plain)]);
        Results {
            version: String::new(),
            command: String::new(),
            quick: false,
            optimised: true,
            allocator: Allocator::System,
            circumstances: Circumstances {
                cores: 2,
                ..Circumstances::here()
            },
            case: Case::default().with_threads(2),
            figures: all
                .map(|(entrant, nanos)| figure(entrant, 2, nanos, plain))
                .collect(),
            threads: vec![],
            batches: vec![],
            latency: Latency::default(),
            growth: vec![],
            spikes: vec![],
            advice: Advice::default(),
        }
    }

    /// A million times, half of them 20 ns.
    pub(crate) fn times(p99_99: u64) -> Percentiles {
        Percentiles {
            count: 1_000_000,
            p50: 20,
            p90: 21,
            p99: 25,
            p99_9: 60,
            p99_99,
            worst_of_a_million: p99_99 * 2,
            max: p99_99 * 10,
        }
    }

    /// Times of a contender's operation, two threads long.
    pub(crate) fn series(entrant: Entrant, operation: Operation, p99_99: u64) -> Series {
        let (place, ns, events) = (Place::Steady, times(p99_99), Events::default());
        Series {
            place,
            operation,
            entrant,
            threads: 2,
            ns,
            events,
        }
    }
}

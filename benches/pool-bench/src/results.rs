//! What a run came to, as plain data: written to results.json, read back by `chart`, and shown by
//! `table` and `report`.

use pool_bench::duel::Spread;
use pool_bench::report::Circumstances;
use serde::{Deserialize, Serialize};

use crate::advice::Advice;
use crate::allocator::Allocator;
use crate::case::{Case, Entrant, Kind};

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
    /// Where and with what.
    pub(crate) circumstances: Circumstances,
    /// The user's case.
    pub(crate) case: Case,
    /// What an object cost each contender in it.
    pub(crate) figures: Vec<Figure>,
    /// The same with other numbers of threads.
    pub(crate) threads: Vec<AtThreads>,
    /// The same with other batch sizes.
    pub(crate) batches: Vec<AtBatchSize>,
    /// How long single operations took.
    pub(crate) latency: Latency,
    /// What the first burst costs, and the next ones.
    pub(crate) growth: Vec<Growth>,
    /// What the tail is made of, in words.
    pub(crate) spikes: Vec<String>,
    /// What follows.
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
}

/// A contender in the case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figure {
    /// Who.
    pub(crate) entrant: Entrant,
    /// Nanoseconds from one object to the next, in each lane: acquire, use, release, and its share of
    /// the work.
    pub(crate) ns: Spread,
    /// That over the control's, round by round.
    pub(crate) over_box: Spread,
    /// Objects in millions a second, all lanes together.
    pub(crate) millions_a_second: f64,
    /// Rounds that count.
    pub(crate) rounds: usize,
    /// Rounds that were disturbed and do not.
    pub(crate) left_out: usize,
}

/// A contender with some number of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AtThreads {
    /// How many.
    pub(crate) threads: usize,
    /// Who.
    pub(crate) entrant: Entrant,
    /// As in [`Figure`].
    pub(crate) ns: Spread,
    /// As in [`Figure`].
    pub(crate) millions_a_second: f64,
}

/// The batched pool with some batch size.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AtBatchSize {
    /// Which.
    pub(crate) batch_size: usize,
    /// As in [`Figure`].
    pub(crate) ns: Spread,
    /// As in [`Figure`].
    pub(crate) over_box: Spread,
    /// Visits to the depot, per thousand objects.
    pub(crate) exchanges: f64,
}

/// Times of single operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    /// Two readings of the clock with nothing between: what the clock and the machine put into every
    /// other time here.
    pub(crate) clock: Percentiles,
    /// Nanoseconds that one reading of the clock takes.
    pub(crate) reading_ns: f64,
    /// The operations, by where they happened.
    pub(crate) series: Vec<Series>,
}

impl Latency {
    /// One kind of operation.
    pub(crate) fn find(&self, place: Place, operation: Operation, kind: Kind) -> Option<&Series> {
        self.series.iter().find(|series| {
            series.place == place && series.operation == operation && series.entrant.kind == kind
        })
    }
}

/// Where operations were timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Place {
    /// The case, warm.
    Steady,
    /// The case, warm, while another thread keeps house: it reserves and trims every 200 µs, or, where there is no
    /// pool that threads share, only wakes up.
    Housekeeping,
    /// The case with twice as many threads as cores, or more.
    Crowded,
    /// Just where a cache is empty or full, so that a batch changes hands with the depot.
    Exchange,
    /// A fresh pool: nothing is idle, every object has to be made.
    Growth,
    /// Around a revocation: another thread wants what this one caches.
    Revocation,
    /// At the bound: every object is out.
    Exhausted,
}

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

impl Operation {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Operation::Acquire => "acquire",
            Operation::Release => "release",
            Operation::Trim => "trim",
            Operation::Refusal => "refused try_acquire",
        }
    }
}

/// The times of one operation at one place.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Series {
    /// Where.
    pub(crate) place: Place,
    /// What.
    pub(crate) operation: Operation,
    /// Who.
    pub(crate) entrant: Entrant,
    /// Threads that took part.
    pub(crate) threads: usize,
    /// The times.
    pub(crate) ns: Percentiles,
    /// What happened meanwhile, over all threads and operations of the place.
    pub(crate) events: Events,
}

/// What happened while times were taken.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Events {
    /// Objects made; unknown without a shared pool.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Percentiles {
    /// How many operations.
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
    /// Each with its name; `None` where fewer than ten operations are beyond it, so that it says no
    /// more than the longest does. (The worst of a million needs a million.)
    pub(crate) fn named(&self) -> [(&'static str, Option<u64>); 7] {
        let known = |(name, beyond, time): (&'static str, f64, u64)| {
            let enough = beyond == 0.0 || self.count as f64 * beyond >= 10.0;
            (name, enough.then_some(time))
        };
        let named = [
            ("p50", 0.5, self.p50),
            ("p90", 0.1, self.p90),
            ("p99", 1e-2, self.p99),
            ("p99.9", 1e-3, self.p99_9),
            ("p99.99", 1e-4, self.p99_99),
            ("worst of 1M", 1e-5, self.worst_of_a_million),
            ("max", 0.0, self.max),
        ];
        named.map(known)
    }
}

/// What a contender's first burst costs, from a pool without an object, and the same burst again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Growth {
    /// Who.
    pub(crate) entrant: Entrant,
    /// Objects of the burst.
    pub(crate) objects: usize,
    /// Nanoseconds an object, acquired and released: the first time.
    pub(crate) cold_ns: Spread,
    /// The second time.
    pub(crate) warm_ns: Spread,
}

//! The sources of the spikes, in words: a function of the times and counts alone, called by `main`
//! when everything is measured.
//!
//! A cause is named where the pool's own counts or the clock show it. Otherwise the text says how far
//! the times exceed what is explained.

use crate::case::Kind;
use crate::results::{Operation, Percentiles, Place, Results, Series};
use crate::words::{count, nanos, ns, times};

/// How many times the clock's own spikes a spike may be, and still count as the machine's.
const MACHINE: f64 = 2.0;

/// The places beyond the warm loop, and what the batched pool does there.
const PLACES: [(Place, &str, &str); 5] = [
    (
        Place::Exchange,
        "An exchange",
        "An acquire finds the cache empty, or a release finds it full: one lock, a batch handed over \
         by its address, and its addresses copied outside the lock.",
    ),
    (
        Place::Growth,
        "Growth",
        "The object has to be created. The first object on a page pays for the page, which the system \
         provides when it is written; rarely the allocator's next chunk comes on top. prefill or \
         reserve has it done before the loop.",
    ),
    (
        Place::Revocation,
        "A revocation",
        "Another thread has called the caches in. The owner goes to the centre once and is given its \
         cache back; the other thread's trim includes the barrier on every core.",
    ),
    (
        Place::Exhausted,
        "At the bound",
        "All caches are searched before a try_acquire is refused. While the pool stays empty they stay \
         revoked, so that the next refusals do not pay for that again.",
    ),
    (
        Place::Crowded,
        "More threads than cores",
        "A thread whose turn ends inside a call waits for its next one: that is the scheduler's time, \
         with any pool.",
    ),
];

/// A paragraph for each source of spikes.
pub(crate) fn explain(results: &Results) -> Vec<String> {
    let teller = Teller(results);
    let mut text = vec![teller.clock()];
    text.extend(teller.warm());
    text.extend(teller.housekeeping());
    text.extend(
        PLACES
            .iter()
            .filter_map(|&(place, title, why)| teller.place(place, title, why)),
    );
    text
}

struct Teller<'a>(&'a Results);

impl Teller<'_> {
    fn find(&self, place: Place, operation: Operation) -> Option<&Series> {
        self.0.latency.find(place, operation, Kind::Batched)
    }

    fn clock(&self) -> String {
        let clock = &self.0.latency.clock;
        format!(
            "Clock and machine. A reading of the clock takes {}, which is in every time here and \
             subtracted from none. Of two readings with nothing between, half are at most {} apart, one \
             pair in 10,000 is {} or more, and the longest of {} took {}: that is interrupts and other \
             programs, not a pool.",
            nanos(self.0.latency.reading_ns),
            ns(clock.p50),
            ns(clock.p99_99),
            count(clock.count),
            ns(clock.max),
        )
    }

    /// What the batched pool does in a warm loop, and the source of its tail.
    fn warm(&self) -> Option<String> {
        let acquire = self.find(Place::Steady, Operation::Acquire)?;
        let events = acquire.events;
        let (created, exchanges) = (events.created?, events.exchanges?);
        let revocations = events.revocations?;
        let why = match acquire.ns.count.checked_div(exchanges) {
            Some(every) => self.why_exchanges(acquire, &count(every)),
            None if created + revocations == 0 => {
                "So neither growth nor exchanges are in its tail: every operation was a hit."
                    .to_owned()
            }
            None => String::new(),
        };
        let (spike, machine) = (acquire.ns.p99_99, self.0.latency.clock.p99_99.max(1));
        let ratio = spike as f64 / machine as f64;
        let whose = match ratio <= MACHINE {
            true => format!("the machine's: the clock alone has {}", ns(machine)),
            false => format!(
                "{ratio:.1} times that of the clock alone{}",
                scheduler(acquire)
            ),
        };
        Some(format!(
            "A warm loop, {}. In {} acquires {} objects were created, {} batches went to or from the \
             depot, and caches were revoked {}. {why} Its p99.99 of {} is {whose}.",
            acquire.entrant,
            count(acquire.ns.count),
            count(created),
            count(exchanges),
            times(revocations),
            ns(spike),
        ))
    }

    fn why_exchanges(&self, acquire: &Series, every: &str) -> String {
        let (burst, cache) = (self.0.case.burst, acquire.entrant.cached(1));
        if self.0.case.crosses() {
            format!(
                "Objects come back from other threads by the batch: one acquire in {every} takes one; a \
                 larger batch makes that rarer."
            )
        } else if burst > cache {
            format!(
                "A burst of {burst} does not fit into a cache of {cache}, so one acquire in {every} goes \
                 to the depot; a batch size of {} would keep exchanges out of the loop.",
                burst.div_ceil(2)
            )
        } else {
            format!("One acquire in {every} goes to the depot.")
        }
    }

    /// The effect of a thread that reserves and trims.
    fn housekeeping(&self) -> Option<String> {
        let tended = self.find(Place::Housekeeping, Operation::Acquire)?;
        let alone = self.find(Place::Steady, Operation::Acquire)?;
        let all = self.0.latency.series.iter();
        let all = all.filter(|one| one.place == tended.place && one.operation == tended.operation);
        let also = all.filter_map(|one| match one.entrant {
            entrant if entrant.cooperates => Some(("with Recall::Cooperate", one)),
            entrant if entrant.kind == Kind::Box => Some(("of a Box", one)),
            _ => None,
        });
        let tails = [("without it", alone)].into_iter().chain(also);
        let tails: String = tails
            .map(|(who, one)| format!(", {who} {}", tail(&one.ns)))
            .collect();
        Some(format!(
            "Housekeeping, {}. Another thread calls reserve and trim every 200 µs. That revokes the \
             caches ({} here) and takes a core for a moment. The p99.99 of an acquire, and the worst of \
             a million, or of all if fewer were timed: {}{tails}.",
            tended.entrant,
            times(tended.events.revocations?),
            tail(&tended.ns),
        ))
    }

    /// The times of the batched pool at a place, and the reason.
    fn place(&self, place: Place, title: &str, why: &str) -> Option<String> {
        let all = self
            .0
            .latency
            .series
            .iter()
            .filter(|one| one.place == place);
        let ours: Vec<_> = all
            .filter(|one| one.entrant.kind == Kind::Batched)
            .collect();
        let figures = ours.iter().map(|one| {
            let Percentiles { p50, p99, max, .. } = one.ns;
            format!(
                "; {} {}, p99 {}, at most {}",
                one.what(),
                ns(p50),
                ns(p99),
                ns(max)
            )
        });
        let first = ours.first()?;
        let figures: String = figures.collect();
        Some(format!(
            "{title}, {}{figures}{}. {why}",
            first.entrant,
            scheduler(first)
        ))
    }
}

fn tail(ns: &Percentiles) -> String {
    format!(
        "{} and {}",
        self::ns(ns.p99_99),
        self::ns(ns.worst_of_a_million)
    )
}

/// What the scheduler did to the threads meanwhile.
fn scheduler(series: &Series) -> String {
    match (series.events.preempted, series.events.slept) {
        (0, 0) => String::new(),
        (preempted, 0) => format!("; threads were taken off their cores {}", times(preempted)),
        (preempted, slept) => format!(
            "; threads were taken off their cores {}, and slept {}, for a lock as a rule",
            times(preempted),
            times(slept)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Case, Entrant};
    use crate::results::known::{results, series, times};
    use crate::results::{Events, Latency};

    /// A warm loop of such bursts, that went to the depot so often.
    fn explained(burst: usize, exchanges: u64, p99_99: u64) -> String {
        let mut warm = series(Entrant::batched(64), Operation::Acquire, p99_99);
        warm.events = Events {
            created: Some(0),
            exchanges: Some(exchanges),
            revocations: Some(0),
            preempted: 12,
            slept: 0,
        };
        let series = vec![warm];
        let results = results(20.0, &[]);
        let results = Results {
            case: Case {
                burst,
                ..results.case
            },
            latency: Latency {
                clock: times(2_000),
                series,
                ..Latency::default()
            },
            ..results
        };
        explain(&results).join("\n")
    }

    #[test]
    fn a_cause_is_named_where_counts_or_the_clock_show_it() {
        for (burst, exchanges, p99_99, says) in [
            (1, 0, 2_500, "neither growth nor exchanges are in its tail"),
            (1, 0, 2_500, "is the machine's: the clock alone has 2 µs"),
            (1, 0, 50_000, "25.0 times that of the clock alone"),
            (1, 0, 50_000, "taken off their cores 12 times"),
            (1000, 10_000, 2_500, "one acquire in 100 goes to the depot"),
            (1000, 10_000, 2_500, "a batch size of 500"),
        ] {
            let text = explained(burst, exchanges, p99_99);
            assert!(text.contains(says), "no {says:?} in {text}");
        }
    }
}

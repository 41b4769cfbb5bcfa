//! What the spikes are made of, in words: a function of the times and counts alone, called by `main`
//! when everything is measured.
//!
//! A cause is named where the pool's own counts or the clock show it; where they do not, what is
//! said is how far the times exceed what is explained.

use crate::case::{Case, Entrant, Kind};
use crate::results::{Latency, Operation, Place, Series};
use crate::words::{count, nanos, ns, times};

/// How many times the clock's own spikes a spike may be, and still be taken for the machine's.
const MACHINE: f64 = 2.0;

/// A paragraph for each source of spikes.
pub(crate) fn explain(case: Case, cores: usize, latency: &Latency) -> Vec<String> {
    let teller = Teller {
        case,
        cores,
        latency,
    };
    let mut text = vec![teller.clock()];
    text.extend(teller.warm());
    text.extend(teller.others());
    text.extend(teller.housekeeping());
    text.extend(teller.exchange());
    text.extend(teller.growth());
    text.extend(teller.revocation());
    text.extend(teller.exhausted());
    text.extend(teller.crowded());
    text
}

struct Teller<'a> {
    case: Case,
    cores: usize,
    latency: &'a Latency,
}

impl Teller<'_> {
    fn find(&self, place: Place, operation: Operation, kind: Kind) -> Option<&Series> {
        self.latency.find(place, operation, kind)
    }

    fn clock(&self) -> String {
        let clock = &self.latency.clock;
        format!(
            "Clock and machine. A reading of the clock takes {}, which is in every time here and \
             subtracted from none. Of two readings with nothing between, half are at most {} apart, one \
             pair in 10,000 is {} or more, and the longest of {} took {}: no pool is in that, only \
             interrupts and whoever else has the core.",
            nanos(self.latency.reading_ns),
            ns(clock.p50),
            ns(clock.p99_99),
            count(clock.count),
            ns(clock.max),
        )
    }

    /// What the batched pool does in a warm loop, and what its tail is.
    fn warm(&self) -> Option<String> {
        let acquire = self.find(Place::Steady, Operation::Acquire, Kind::Batched)?;
        let release = self.find(Place::Steady, Operation::Release, Kind::Batched)?;
        let events = acquire.events;
        let (created, exchanges, revocations) =
            (events.created?, events.exchanges?, events.revocations?);
        let mut text = format!(
            "A warm loop, {}. In {} acquires and {} releases, {} objects were made, {} batches went \
             to or from the depot, and caches were revoked {}.",
            acquire.entrant,
            count(acquire.ns.count),
            count(release.ns.count),
            count(created),
            count(exchanges),
            times(revocations),
        );
        if created + exchanges + revocations == 0 {
            text += " So neither growth nor exchanges are in its tail: every operation was a hit, and what \
                     some took longer, the core took (interrupts, lines that had left its cache).";
        } else if exchanges > 0 {
            text += &self.why_exchanges(acquire.entrant, acquire.ns.count / exchanges.max(1));
        }
        text += &self.beyond_machine(acquire);
        Some(text)
    }

    fn why_exchanges(&self, entrant: Entrant, every: u64) -> String {
        let cache = entrant.cached(1);
        match self.case.crosses() {
            false if self.case.burst > cache => format!(
                " A burst of {} does not fit into a cache of {cache}, so one acquire in {} goes to the \
                 depot; a batch size of {} would keep exchanges out of the loop.",
                self.case.burst,
                count(every),
                self.case.burst.div_ceil(2),
            ),
            false => format!(" That is one in {} acquires.", count(every)),
            true => format!(
                " Objects come back from the threads that release them by the batch: one acquire in {} \
                 takes one, which is what p99 is made of; a larger batch makes it rarer.",
                count(every),
            ),
        }
    }

    /// Whose the spikes at p99.99 are.
    fn beyond_machine(&self, series: &Series) -> String {
        let (spike, machine) = (series.ns.p99_99, self.latency.clock.p99_99.max(1));
        let ratio = spike as f64 / machine as f64;
        if ratio <= MACHINE {
            return format!(
                " Its p99.99 of {} is the machine's: the clock alone has {}.",
                ns(spike),
                ns(machine)
            );
        }
        let scheduler = self.scheduler(series);
        format!(
            " Its p99.99 of {} is {ratio:.1} times what the clock alone has{scheduler}.",
            ns(spike),
        )
    }

    fn scheduler(&self, series: &Series) -> String {
        let (preempted, slept) = (series.events.preempted, series.events.slept);
        match (preempted, slept) {
            (0, 0) => String::new(),
            (_, 0) => format!("; threads were taken off their cores {}", times(preempted)),
            _ => format!(
                "; threads were taken off their cores {}, and slept {}, for a lock as a rule",
                times(preempted),
                times(slept)
            ),
        }
    }

    /// The others in a warm loop.
    fn others(&self) -> Option<String> {
        let kinds = [Kind::Mutex, Kind::Queue, Kind::Heap, Kind::Box];
        let of = |kind| self.find(Place::Steady, Operation::Acquire, kind);
        let told: Vec<_> = kinds
            .into_iter()
            .filter_map(of)
            .map(|series| {
                let why = match series.entrant.kind {
                    Kind::Mutex if series.events.slept > 0 => {
                        format!(
                            ": threads slept {}, for the lock",
                            times(series.events.slept)
                        )
                    }
                    Kind::Heap | Kind::Box => {
                        ": the allocator, where its short way ends".to_owned()
                    }
                    _ => String::new(),
                };
                format!(
                    "{} {} and {}{why}",
                    series.entrant,
                    ns(series.ns.p99_9),
                    ns(series.ns.p99_99)
                )
            })
            .collect();
        (!told.is_empty()).then(|| {
            format!(
                "The same loop from the others, p99.9 and p99.99 of an acquire: {}.",
                told.join("; ")
            )
        })
    }

    /// What a thread that reserves and trims does to the others.
    fn housekeeping(&self) -> Option<String> {
        let find = |place| self.find(place, Operation::Acquire, Kind::Batched);
        let (alone, tended) = (find(Place::Steady)?, find(Place::Housekeeping)?);
        let control = self.find(Place::Housekeeping, Operation::Acquire, Kind::Box);
        let control = control.map_or_else(String::new, |control| {
            format!(
                " From the allocator, beside a thread that only wakes up as often, those are {} and {}.",
                ns(control.ns.p99_99),
                ns(control.ns.worst_of_a_million),
            )
        });
        let mut all = self.latency.series.iter();
        let cooperating =
            all.find(|one| one.entrant.cooperates && one.operation == Operation::Acquire);
        let cooperating = cooperating.map_or_else(String::new, |other| {
            format!(
                " With Recall::Cooperate, where no thread is interrupted, {} and {}.",
                ns(other.ns.p99_99),
                ns(other.ns.worst_of_a_million),
            )
        });
        Some(format!(
            "Housekeeping, {}. Another thread calls reserve and trim every 200 µs: it revokes the caches ({} \
             here), and takes a core for a moment. The p99.99 of an acquire is {} beside it and {} without; the \
             worst of a million, or of all if fewer were timed, {} and {}.{cooperating}{control}",
            tended.entrant,
            times(tended.events.revocations?),
            ns(tended.ns.p99_99),
            ns(alone.ns.p99_99),
            ns(tended.ns.worst_of_a_million),
            ns(alone.ns.worst_of_a_million),
        ))
    }

    fn exchange(&self) -> Option<String> {
        let acquire = self.find(Place::Exchange, Operation::Acquire, Kind::Batched)?;
        let release = self.find(Place::Exchange, Operation::Release, Kind::Batched)?;
        Some(format!(
            "An exchange, {}. An acquire that finds the cache empty takes {} as a rule and {} at p99; a \
             release that finds it full {} and {}. That is one lock, a batch handed over by its \
             address, and up to {} addresses copied outside the lock.",
            acquire.entrant,
            ns(acquire.ns.p50),
            ns(acquire.ns.p99),
            ns(release.ns.p50),
            ns(release.ns.p99),
            acquire.entrant.batch_size?,
        ))
    }

    fn growth(&self) -> Option<String> {
        let series = self.find(Place::Growth, Operation::Acquire, Kind::Batched)?;
        let page = 4096 / (self.case.object_size + 16);
        let touch = match page {
            0 | 1 => "each object is on a page of its own, which the system provides when it is \
                      first written"
                .to_owned(),
            page => format!(
                "one object in {page} is the first on its page, which the system provides when it is \
                 written"
            ),
        };
        Some(format!(
            "Growth, {}. An acquire that has to make its object takes {} as a rule; p99 is {}, since \
             {touch}. The allocator's next chunk comes on top of that, rarely, and then whatever the \
             machine does: the longest took {}. prefill or reserve has all of it done before the loop.",
            series.entrant,
            ns(series.ns.p50),
            ns(series.ns.p99),
            ns(series.ns.max),
        ))
    }

    fn revocation(&self) -> Option<String> {
        let find = |operation| self.find(Place::Revocation, operation, Kind::Batched);
        let (acquire, release) = (find(Operation::Acquire)?, find(Operation::Release)?);
        let trim = find(Operation::Trim)?;
        Some(format!(
            "A revocation. After another thread has called the caches in, the owner's next acquire takes \
             {} ({} at p99) and its next release {} ({}): it goes to the centre and is given its \
             cache back. The other thread's trim, with the barrier on every core, takes {} ({}).",
            ns(acquire.ns.p50),
            ns(acquire.ns.p99),
            ns(release.ns.p50),
            ns(release.ns.p99),
            ns(trim.ns.p50),
            ns(trim.ns.p99),
        ))
    }

    fn exhausted(&self) -> Option<String> {
        let series = self.find(Place::Exhausted, Operation::Refusal, Kind::Batched)?;
        Some(format!(
            "At the bound. A try_acquire that is refused takes {} ({} at p99.9, {} at most). All \
             caches are searched before it says so; while the pool stays dry they stay revoked, so \
             {} refusals paid for that {}.",
            ns(series.ns.p50),
            ns(series.ns.p99_9),
            ns(series.ns.max),
            count(series.ns.count),
            times(series.events.revocations?),
        ))
    }

    fn crowded(&self) -> Option<String> {
        let series = self.find(Place::Crowded, Operation::Acquire, Kind::Batched)?;
        Some(format!(
            "{} threads on {} cores, {}. Half of the acquires still take no more than {}, but the longest \
             took {}{}. A thread whose turn ends inside a call has to wait for its next one: that \
             is the scheduler's time, whichever pool it is.",
            series.threads,
            self.cores,
            series.entrant,
            ns(series.ns.p50),
            ns(series.ns.max),
            self.scheduler(series),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Pattern;
    use crate::results::{Events, Percentiles};
    use pool_bench::payload::BUFFERS;

    fn times(p99_99: u64) -> Percentiles {
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

    fn latency(exchanges: u64, p99_99: u64) -> Latency {
        let series = |operation| Series {
            place: Place::Steady,
            operation,
            entrant: Entrant::batched(64),
            threads: 2,
            ns: times(p99_99),
            events: Events {
                created: Some(0),
                exchanges: Some(exchanges),
                revocations: Some(0),
                preempted: 12,
                slept: 0,
            },
        };
        Latency {
            clock: times(2_000),
            reading_ns: 9.5,
            series: vec![series(Operation::Acquire), series(Operation::Release)],
        }
    }

    fn case(burst: usize) -> Case {
        Case {
            object_size: 64,
            threads: 2,
            burst,
            buffers: [0; BUFFERS],
            work: 0,
            pattern: Pattern::SameThread,
            remote: 0,
            capacity: None,
        }
    }

    #[test]
    fn a_warm_loop_that_only_hits_leaves_its_tail_to_the_machine() {
        let text = explain(case(1), 2, &latency(0, 2_500)).join("\n");
        assert!(
            text.contains("neither growth nor exchanges are in its tail"),
            "{text}"
        );
        assert!(
            text.contains("is the machine's: the clock alone has 2.0 µs"),
            "{text}"
        );
    }

    #[test]
    fn a_tail_that_the_machine_does_not_explain_is_not_put_on_it() {
        let text = explain(case(1), 2, &latency(0, 50_000)).join("\n");
        assert!(
            text.contains("25.0 times what the clock alone has"),
            "{text}"
        );
        assert!(text.contains("taken off their cores 12 times"), "{text}");
    }

    #[test]
    fn bursts_above_the_cache_are_named_with_the_batch_size_that_holds_them() {
        let text = explain(case(1000), 2, &latency(10_000, 2_500)).join("\n");
        assert!(
            text.contains("one acquire in 100 goes to the depot"),
            "{text}"
        );
        assert!(text.contains("a batch size of 500"), "{text}");
    }
}

//! The verdict in plain words: which pool and batch size fit the case and why, what they save over
//! plain allocation, or that a pool does not pay. A function of the results alone; called by `main`
//! when everything is measured.

use indicatif::HumanBytes;
use serde::{Deserialize, Serialize};

use crate::case::{Case, Entrant, Kind};
use crate::results::{Figure, Operation, Place, Results};
use crate::words::{count, nanos, ns};

/// Figures that differ by less than this share count as equal: runs differ by as much. So do batch
/// sizes whose quartiles overlap.
const TIE: f64 = 0.05;

/// A pool pays from this ratio to plain allocation downwards.
const PAYS: f64 = 0.9;

/// Visits to the depot for 1,000 objects, below which they do not count.
const RARE: f64 = 0.05;

/// Spread between the quartiles, over the median, above which a machine was not quiet.
const NOISE: f64 = 0.3;

/// What to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Use the pool that is named.
    UsePool,
    /// Allocate plainly: a pool saves too little.
    AllocatePlainly,
    /// Measure again: the best pool is faster in most rounds, and slower in too many others.
    MeasureAgain,
    /// Measure a pool: only controls took part.
    #[default]
    NothingToCompare,
}

/// The verdict and the reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Advice {
    /// What to do.
    pub(crate) verdict: Verdict,
    /// The pool that fits best, if one took part.
    pub(crate) pool: Option<Entrant>,
    /// The verdict in a line, then the reasons, a paragraph each.
    pub(crate) text: Vec<String>,
    /// The pool as code, if it is to be used.
    pub(crate) code: Option<String>,
}

/// The advice that follows from the results.
pub(crate) fn advise(results: &Results) -> Advice {
    let (Some(best), Some(plain)) = (best_pool(results), results.figure(Kind::Box)) else {
        let remedy = "add --backend batched, or leave --backend out.";
        return Advice {
            text: vec![format!(
                "Nothing was measured that threads could share: {remedy}"
            )],
            ..Advice::default()
        };
    };
    let size = batch_size(results, best);
    let best = size.as_ref().map_or(best, |(chosen, _)| chosen);
    let over_medians = best.ns.median / plain.ns.median;
    let verdict = match (best.over_box.median <= PAYS, over_medians <= PAYS) {
        (true, true) if best.over_box.upper < 1.0 => Verdict::UsePool,
        (false, false) => Verdict::AllocatePlainly,
        _ => Verdict::MeasureAgain,
    };
    let found = Found {
        results,
        best,
        plain,
    };
    let pays = verdict == Verdict::UsePool;
    let reasons = [
        Some(found.verdict(verdict)),
        found.why(verdict),
        size.filter(|_| pays).map(|(_, why)| why),
        found.unshared(),
        found.runner_up(),
        found.queue(),
        found.tail(),
        found.cold(),
        found.crowd(),
        found.noise(),
    ];
    Advice {
        verdict,
        pool: Some(best.entrant),
        text: reasons.into_iter().flatten().collect(),
        code: pays.then(|| code(results.case, best.entrant)),
    }
}

/// The pools that threads can share and that keep objects.
fn shared(results: &Results) -> impl Iterator<Item = &Figure> + Clone {
    let kinds = [Kind::Batched, Kind::Mutex, Kind::Queue];
    results
        .figures
        .iter()
        .filter(move |figure| kinds.contains(&figure.entrant.kind))
}

fn fastest<'a>(figures: impl Iterator<Item = &'a Figure>) -> Option<&'a Figure> {
    figures.min_by(|a, b| a.ns.median.total_cmp(&b.ns.median))
}

/// The fastest pool, or its equal that is preferred: the default first, then what is simplest.
fn best_pool(results: &Results) -> Option<&Figure> {
    let limit = fastest(shared(results))?.ns.median * (1.0 + TIE);
    let equals = shared(results).filter(|figure| figure.ns.median <= limit);
    equals.min_by_key(|Figure { entrant, .. }| {
        let size = entrant.batch_size.unwrap_or(0);
        let from_default = size.abs_diff(results.case.default_batch_size());
        (entrant.kind as usize, entrant.at_once, from_default)
    })
}

/// The batch size to choose for the best pool, and why, if sizes were compared: the default if it is
/// as fast as any, otherwise the smallest that is.
fn batch_size<'a>(results: &'a Results, best: &Figure) -> Option<(&'a Figure, String)> {
    let points = &results.batches;
    best.entrant.batch_size.filter(|_| !best.entrant.at_once)?;
    let fastest = fastest(points.iter())?;
    let exchanges = |point: &Figure| point.exchanges.unwrap_or(0.0);
    // Where no thread goes to the depot, a difference is not due to the batch size.
    let idle = points.iter().all(|point| exchanges(point) < RARE);
    let close = |point: &&Figure| {
        idle || point.ns.median <= fastest.ns.median * (1.0 + TIE)
            || point.ns.lower <= fastest.ns.upper
    };
    let size = |point: &Figure| point.entrant.batch_size.unwrap_or(0);
    let is_default = |point: &&Figure| size(point) == results.case.default_batch_size();
    let default = points.iter().filter(close).find(is_default);
    let chosen = default.or_else(|| points.iter().find(close))?;
    let which = match default {
        Some(_) => "the default",
        None => "the smallest that will do",
    };
    let why = if idle {
        "no thread goes to the depot in this loop, so no batch size is better than another"
            .to_owned()
    } else {
        format!(
            "it cannot be told from the fastest ({}, {})",
            size(fastest),
            nanos(fastest.ns.median)
        )
    };
    let smaller = points.iter().filter(|point| size(point) < size(chosen));
    let worst = smaller.max_by(|a, b| a.ns.median.total_cmp(&b.ns.median));
    let against = worst.filter(|worst| !close(worst)).map(|worst| {
        format!(
            ", where batch size {} takes {}, with {:.0} visits to the depot for 1,000 objects instead \
             of {:.0}",
            size(worst),
            nanos(worst.ns.median),
            exchanges(worst),
            exchanges(chosen),
        )
    });
    let cached = chosen.entrant.cached(1);
    let text = format!(
        "Batch size {}, {which}: {why}{}. With it a thread keeps up to {cached} idle objects for \
         itself, {}.",
        size(chosen),
        against.unwrap_or_default(),
        HumanBytes((cached * results.case.object_size) as u64)
    );
    Some((chosen, text))
}

/// What was found: the best pool, with the batch size that is advised, and plain allocation.
struct Found<'a> {
    results: &'a Results,
    best: &'a Figure,
    plain: &'a Figure,
}

impl Found<'_> {
    /// The first line: whether a pool pays, by how much, and what would change the answer.
    fn verdict(&self, verdict: Verdict) -> String {
        let (ours, plain) = (self.best.ns.median, self.plain.ns.median);
        let (best, allocator) = (in_full(self.best.entrant), self.results.allocator);
        let (best_ns, plain_ns, over) = (nanos(ours), nanos(plain), self.best.over_box);
        let ratio = format!(
            "{:.2} times, quartiles {:.2} to {:.2}",
            over.median, over.lower, over.upper
        );
        if verdict == Verdict::MeasureAgain {
            return format!(
                "The rounds disagree: the best pool, {best}, takes {best_ns} an object and plain \
                 allocation on {allocator} {plain_ns} ({ratio}). Measure again on a quiet machine, or \
                 for longer with --duration."
            );
        }
        let elsewhere = self.elsewhere(verdict != Verdict::UsePool);
        if verdict == Verdict::UsePool {
            let saved = plain - ours;
            // Work that is the same for both, until what is saved is no more than a pool has to save.
            let room = nanos(saved / (1.0 - PAYS) - plain);
            let elsewhere = elsewhere.map_or_else(String::new, |with| format!(", or with {with}"));
            return format!(
                "A pool pays here: {best} takes {best_ns} an object and plain allocation on \
                 {allocator} {plain_ns} ({ratio}), so {} are saved. It would not with {room} more of \
                 other work an object{elsewhere}.",
                nanos(saved)
            );
        }
        let less = if ours < plain { "hardly" } else { "no" };
        let buffers = !self.results.case.owns_buffers();
        let change = elsewhere
            .map(|with| format!("with {with}"))
            .into_iter()
            .chain(buffers.then(|| "if objects owned buffers (--buffers)".to_owned()))
            .chain(["with another allocator (--allocator)".to_owned()]);
        format!(
            "A pool does not pay here: the best, {best}, takes {best_ns} an object, {less} less than \
             plain allocation on {allocator} with {plain_ns} ({ratio}). It may {}.",
            change.collect::<Vec<_>>().join(", or ")
        )
    }

    /// The numbers of threads with which a pool of the kind pays, or does not.
    fn elsewhere(&self, pays: bool) -> Option<String> {
        let kind = self.best.entrant.kind;
        let of_kind = self
            .results
            .threads
            .iter()
            .filter(|at| at.entrant.kind == kind);
        let others = of_kind.filter(|at| at.threads != self.results.case.threads);
        let differing = others.filter(|at| (at.over_box.median <= PAYS) == pays);
        let counts: Vec<_> = differing.map(|at| at.threads.to_string()).collect();
        let plural = if counts == ["1"] { "" } else { "s" };
        (!counts.is_empty()).then(|| format!("{} thread{plural}", counts.join(" or ")))
    }

    fn why(&self, verdict: Verdict) -> Option<String> {
        let Figure { entrant, .. } = self.best;
        let Case { work, .. } = self.results.case;
        let reason = match (entrant.kind, self.results.case.crosses()) {
            (Kind::Batched, false) => {
                "an object comes from the thread's own cache and goes back to it, with no lock and no \
                 atomic read-modify-write"
            }
            (Kind::Batched, true) => {
                "objects go from thread to thread by the batch, so that a lock is taken once for many"
            }
            (Kind::Mutex, _) => "its one lock is hardly ever contended here",
            _ => "threads meet only for a compare-and-swap",
        };
        match verdict {
            Verdict::UsePool => Some(format!("Use {}: {reason}.", in_full(*entrant))),
            Verdict::AllocatePlainly if work > 0 => Some(format!(
                "Use Box: most of the time is the work between acquire and release ({work} tokens a \
                 burst), which no pool makes shorter."
            )),
            Verdict::AllocatePlainly => {
                Some("Use Box, unless you need a capacity, or the worst case below.".to_owned())
            }
            _ => None,
        }
    }

    /// What a thread would pay for objects that it does not share.
    fn unshared(&self) -> Option<String> {
        let vec = self.results.figure(Kind::Vec);
        let own = self.results.figure(Kind::Unsync).or(vec)?;
        let saved = self.best.ns.median - own.ns.median;
        let vec = vec.map(|vec| format!("; a bare Vec<Box<T>>, {}", nanos(vec.ns.median)));
        (saved >= self.best.ns.median * TIE).then(|| {
            format!(
                "If no object leaves its thread, an unsync::Pool for each thread is cheaper still: {} \
                 an object{}. The shared pool takes {} more, for objects that may be released anywhere \
                 and one capacity for all threads.",
                nanos(own.ns.median),
                vec.unwrap_or_default(),
                nanos(saved),
            )
        })
    }

    /// The best of the other kinds.
    fn runner_up(&self) -> Option<String> {
        let kind = self.best.entrant.kind;
        let next = fastest(shared(self.results).filter(|other| other.entrant.kind != kind))?;
        let (ratio, cost) = (next.ns.median / self.best.ns.median, nanos(next.ns.median));
        Some(match ratio <= 1.0 + TIE {
            true => format!("Backend {} is as fast here ({cost}).", next.entrant),
            false => format!(
                "Next comes {} with {cost} an object, {ratio:.1} times.",
                next.entrant
            ),
        })
    }

    /// The share of the queue between the threads.
    fn queue(&self) -> Option<String> {
        let words = self.results.figure(Kind::Words)?.ns.median;
        Some(format!(
            "The queues between the threads take {} of that: so much do plain words take, without any \
             object.",
            nanos(words.min(self.best.ns.median)),
        ))
    }

    /// The worst acquires in a warm loop.
    fn tail(&self) -> Option<String> {
        let latency = &self.results.latency;
        let find = |kind| latency.find(Place::Steady, Operation::Acquire, kind);
        let (ours, plain) = (find(self.best.entrant.kind)?, find(Kind::Box)?);
        Some(format!(
            "Tail of a warm loop, pool and plain allocation: one acquire in 10,000 takes longer than {} \
             and {}; the worst of a million, or of all if fewer were timed, {} and {}. Each time has a \
             reading of the clock in it, {}; the clock alone took {} at worst.",
            ns(ours.ns.p99_99),
            ns(plain.ns.p99_99),
            ns(ours.ns.worst_of_a_million),
            ns(plain.ns.worst_of_a_million),
            nanos(latency.reading_ns),
            ns(latency.clock.max),
        ))
    }

    /// The cost of the first objects.
    fn cold(&self) -> Option<String> {
        let growth = &self.results.growth;
        let find = |kind| growth.iter().find(|growth| growth.entrant.kind == kind);
        let (ours, plain) = (find(self.best.entrant.kind)?, find(Kind::Box)?);
        let (cold, warm) = (ours.cold_ns.median, ours.warm_ns.median);
        let remedy = match cold > 1.5 * warm {
            true => "; create them before they are needed, with prefill or reserve",
            false => "",
        };
        Some(format!(
            "In a burst of {} from an empty pool an object costs {}, in the next such burst {} (plain \
             allocation: {} and {}){remedy}.",
            count(ours.objects as u64),
            nanos(cold),
            nanos(warm),
            nanos(plain.cold_ns.median),
            nanos(plain.warm_ns.median),
        ))
    }

    fn crowd(&self) -> Option<String> {
        let (threads, cores) = (self.results.case.threads, self.results.circumstances.cores);
        (threads > cores).then(|| {
            format!(
                "{threads} threads share {cores} cores: each waits for its turn, which is in every \
                 figure and makes up the tail."
            )
        })
    }

    /// A warning, if the machine was busy with other things.
    fn noise(&self) -> Option<String> {
        let spread = |figure: &Figure| (figure.ns.upper - figure.ns.lower) / figure.ns.median;
        let widest = spread(self.best).max(spread(self.plain));
        (widest > NOISE).then(|| {
            format!(
                "The machine was not quiet: between the quartiles lie {:.0} % of the median. Trust \
                 ratios more than nanoseconds, and run again before you rely on small differences.",
                100.0 * widest
            )
        })
    }
}

/// The pool as the builder makes it.
fn code(case: Case, pool: Entrant) -> String {
    let backend = pool.kind.backend().expect("asked of shared pools only");
    let setter = |name, number: Option<usize>| number.map(|number| format!(".{name}({number})"));
    let prefill = case.in_use() + pool.cached(case.threads) / 2;
    let prefill = prefill.min(case.capacity.unwrap_or(usize::MAX));
    let batch_size = setter("batch_size", pool.batch_size).unwrap_or_default();
    let capacity = setter("capacity", case.capacity).unwrap_or_default();
    format!(
        "Pool::<T>::builder().backend(Backend::{backend:?}){batch_size}{capacity}.prefill({prefill})\
         .build()?"
    )
}

/// A pool with what it was measured with.
fn in_full(pool: Entrant) -> String {
    let size = pool
        .batch_size
        .map(|size| format!(" with batch size {size}"));
    let at_once = if pool.at_once {
        " and acquire_many"
    } else {
        ""
    };
    format!(
        "backend {}{}{at_once}",
        pool.kind.name(),
        size.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::known::{figure, results, series, spread};
    use crate::results::{Growth, Latency};

    /// Batch sizes with their nanoseconds; each object goes to the depot once for a batch.
    fn ladder(points: &[(usize, f64)]) -> Vec<Figure> {
        let point = |&(size, nanos): &(usize, f64)| Figure {
            exchanges: Some(1000.0 / size as f64),
            ..figure(Entrant::batched(size), 2, nanos, 20.0)
        };
        points.iter().map(point).collect()
    }

    /// A batched pool that takes so long, beside 20 ns for a plain allocation.
    fn batched(nanos: f64) -> Results {
        results(20.0, &[(Entrant::batched(64), nanos)])
    }

    #[track_caller]
    fn assert_says(advice: &Advice, words: &[&str]) {
        for words in words {
            let said = advice
                .text
                .iter()
                .any(|paragraph| paragraph.contains(words));
            assert!(said, "no {words:?} in {advice:#?}");
        }
    }

    #[test]
    fn the_first_line_says_what_would_change_the_answer() {
        let first = |nanos| {
            let mut results = batched(nanos);
            for (threads, ours, plain) in [
                (1, 4.0, 20.0),
                (2, 4.0, 20.0),
                (4, 30.0, 31.0),
                (8, 60.0, 50.0),
            ] {
                results
                    .threads
                    .push(figure(Entrant::batched(64), threads, ours, plain));
                results
                    .threads
                    .push(figure(Entrant::of(Kind::Box), threads, plain, plain));
            }
            advise(&results).text.swap_remove(0)
        };
        // (20 + 140 - 4 - 140) / (20 + 140) is a tenth.
        assert_eq!(
            first(4.0),
            "A pool pays here: backend batched with batch size 64 takes 4.0 ns an object and plain \
             allocation on the system's allocator 20.0 ns (0.20 times, quartiles 0.20 to 0.20), so \
             16.0 ns are saved. It would not with 140 ns more of other work an object, or with 4 or 8 \
             threads."
        );
        assert_eq!(
            first(19.0),
            "A pool does not pay here: the best, backend batched with batch size 64, takes 19.0 ns an \
             object, hardly less than plain allocation on the system's allocator with 20.0 ns (0.95 \
             times, quartiles 0.93 to 0.97). It may with 1 thread, or if objects owned buffers \
             (--buffers), or with another allocator (--allocator)."
        );
    }

    #[test]
    fn a_verdict_needs_a_gain_on_which_rounds_and_medians_agree() {
        let verdict = |results: &Results| advise(results).verdict;
        assert_eq!(verdict(&batched(17.0)), Verdict::UsePool);
        for nanos in [18.5, 20.0, 25.0] {
            let advice = advise(&batched(nanos));
            assert_eq!(
                (advice.verdict, &advice.code),
                (Verdict::AllocatePlainly, &None)
            );
            assert_says(&advice, &["A pool does not pay here", "Use Box"]);
        }
        let mut noisy = batched(17.0);
        noisy.figures[0].over_box.upper = 1.1;
        assert_eq!(verdict(&noisy), Verdict::MeasureAgain);
        let mut contradictory = batched(25.0);
        contradictory.figures[0].over_box = spread(0.5);
        assert_eq!(verdict(&contradictory), Verdict::MeasureAgain);
        assert_says(&advise(&contradictory), &["The rounds disagree"]);
        let heap = advise(&results(20.0, &[(Entrant::of(Kind::Heap), 40.0)]));
        assert_eq!((heap.verdict, heap.pool), (Verdict::NothingToCompare, None));
        assert_says(&heap, &["add --backend batched"]);
    }

    #[test]
    fn the_fastest_is_advised_and_among_equals_the_default() {
        let (default, other) = (Entrant::batched(64), Entrant::batched(256));
        let at_once = Entrant {
            at_once: true,
            ..default
        };
        let [mutex, queue] = [Kind::Mutex, Kind::Queue].map(Entrant::of);
        let equal = [(other, 4.0), (default, 4.1), (at_once, 4.05), (mutex, 3.95)];
        let advice = advise(&results(20.0, &equal));
        assert_eq!(advice.pool, Some(default));
        assert_says(&advice, &["Backend mutex is as fast here"]);
        let slow = [(default, 100.0), (at_once, 50.0), (queue, 45.0)];
        let advice = advise(&results(200.0, &slow));
        assert_eq!(advice.pool, Some(queue));
        assert_says(
            &advice,
            &["Next comes batched 64 at once with 50.0 ns an object, 1.1 times"],
        );
        assert!(advice.code.unwrap().contains("Backend::Queue).prefill(2)"));
    }

    #[test]
    fn the_batch_size_is_the_default_or_else_the_smallest_that_is_fast() {
        let chosen = |points| {
            advise(&Results {
                batches: ladder(points),
                ..batched(12.0)
            })
        };
        let steep = chosen(&[(1, 90.0), (64, 12.0), (256, 6.1), (1024, 6.0)]);
        assert_eq!(steep.pool, Some(Entrant::batched(256)));
        assert_says(
            &steep,
            &[
                // The figure quoted is that of the batch size advised.
                "batch size 256 takes 6.1 ns an object and plain allocation on the system's allocator \
                 20.0 ns (0.30 times",
                "Batch size 256, the smallest that will do",
                "batch size 1 takes 90.0 ns, with 1000 visits",
                "up to 512 idle objects for itself, 32.00 KiB",
            ],
        );
        let default = chosen(&[(1, 90.0), (16, 4.1), (64, 4.1), (1024, 4.0)]);
        assert_eq!(default.pool, Some(Entrant::batched(64)));
        let mut idle = ladder(&[(1, 3.0), (64, 4.0), (256, 3.5)]);
        idle.iter_mut()
            .for_each(|point| point.exchanges = Some(0.0));
        let idle = advise(&Results {
            batches: idle,
            ..batched(4.0)
        });
        assert_eq!(idle.pool, Some(Entrant::batched(64)));
        assert_says(&idle, &["no batch size is better than another"]);
    }

    #[test]
    fn the_reasons_name_what_matters_in_the_case() {
        let [unsync, vec] = [Kind::Unsync, Kind::Vec].map(Entrant::of);
        let mut all = results(
            20.0,
            &[(Entrant::batched(8), 4.0), (unsync, 3.0), (vec, 2.5)],
        );
        all.case = Case {
            capacity: Some(10),
            threads: 8,
            ..all.case
        };
        all.figures[0].ns.upper = 6.0;
        let tail = |kind, p99_99| series(Entrant::of(kind), Operation::Acquire, p99_99);
        let series = vec![tail(Kind::Batched, 2_500), tail(Kind::Box, 4_000)];
        all.latency = Latency {
            series,
            ..Latency::default()
        };
        let growth = |entrant, cold, warm| Growth {
            entrant,
            objects: 1000,
            cold_ns: spread(cold),
            warm_ns: spread(warm),
        };
        let plain = growth(Entrant::of(Kind::Box), 50.0, 20.0);
        all.growth = vec![growth(Entrant::batched(8), 30.0, 5.0), plain];
        let advice = advise(&all);
        assert_says(
            &advice,
            &[
                "an unsync::Pool for each thread is cheaper still: 3.0 ns an object; a bare \
                 Vec<Box<T>>, 2.5 ns",
                "one acquire in 10,000 takes longer than 2.5 µs and 4 µs",
                "if fewer were timed, 5 µs and 8 µs",
                "with prefill or reserve",
                "8 threads share 2 cores",
                "The machine was not quiet",
            ],
        );
        let code = "Backend::Batched).batch_size(8).capacity(10).prefill(10).build()?";
        assert!(advice.code.unwrap().ends_with(code));
        let working = batched(19.5);
        let working = Results {
            case: Case {
                work: 400,
                ..working.case
            },
            ..working
        };
        assert_says(&advise(&working), &["Use Box", "400 tokens"]);
    }
}

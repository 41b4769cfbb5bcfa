//! What follows from the figures, in plain words: which pool and batch size fit the case and why,
//! what that buys over plain allocation, or that a pool does not pay. A function of the figures
//! alone; called by `main` when everything is measured.

use serde::{Deserialize, Serialize};

use crate::allocator::Allocator;
use crate::case::{Case, Entrant, Kind};
use crate::results::{AtBatchSize, AtThreads, Figure, Growth, Latency, Operation, Place};
use crate::words::{count, nanos, ns};

/// Figures that are closer than this share count as equal: runs differ by as much. So do batch sizes
/// whose quartiles overlap.
const TIE: f64 = 0.05;

/// A pool pays from this ratio to plain allocation downwards.
const PAYS: f64 = 0.9;

/// Visits to the depot for 1,000 objects, below which they do not count.
const RARE: f64 = 0.05;

/// Spread between the quartiles, over the median, above which a machine was not quiet.
const NOISE: f64 = 0.3;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// Use the pool that is named.
    UsePool,
    /// Allocate plainly: a pool saves nothing worth having.
    AllocatePlainly,
    /// Measure again: the best pool is faster in most rounds, and slower in too many others.
    MeasureAgain,
    /// Measure a pool: only controls took part.
    NothingToCompare,
}

/// The verdict and the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// What advice rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Findings<'a> {
    /// The case.
    pub(crate) case: Case,
    /// The allocator of the program.
    pub(crate) allocator: Allocator,
    /// Threads that run at a time.
    pub(crate) cores: usize,
    /// Everyone in the case.
    pub(crate) figures: &'a [Figure],
    /// The same with other numbers of threads.
    pub(crate) threads: &'a [AtThreads],
    /// The batched pool with other batch sizes.
    pub(crate) batches: &'a [AtBatchSize],
    /// Times of single operations.
    pub(crate) latency: &'a Latency,
    /// Cold against warm.
    pub(crate) growth: &'a [Growth],
}

/// What follows.
pub(crate) fn advise(findings: &Findings<'_>) -> Advice {
    let find = |kind| {
        findings
            .figures
            .iter()
            .find(|figure| figure.entrant.kind == kind)
    };
    let (Some(best), Some(plain)) = (findings.best(), find(Kind::Box)) else {
        return Advice {
            verdict: Verdict::NothingToCompare,
            pool: None,
            text: vec![
                "Nothing was measured that threads could share: add --backend batched, or leave \
                 --backend out."
                    .to_owned(),
            ],
            code: None,
        };
    };
    let batch_size = findings.batch_size(best);
    let best = &findings.with_batch_size(best, batch_size.as_ref().map(|&(size, _)| size));
    let pool = best.entrant;
    let over_medians = best.ns.median / plain.ns.median;
    let verdict = match (best.over_box.median <= PAYS, over_medians <= PAYS) {
        (true, true) if best.over_box.upper < 1.0 => Verdict::UsePool,
        (false, false) => Verdict::AllocatePlainly,
        _ => Verdict::MeasureAgain,
    };
    let pays = verdict == Verdict::UsePool;
    let mut text = vec![match verdict {
        Verdict::UsePool => findings.it_pays(best, plain),
        Verdict::MeasureAgain => unclear(best, plain, findings.allocator),
        _ => findings.it_does_not(best, plain),
    }];
    if pays {
        text.push(findings.why_it_pays(pool));
        text.extend(batch_size.map(|(_, why)| why));
    } else if verdict == Verdict::AllocatePlainly {
        text.push(findings.why_not());
    }
    text.extend(findings.own(best, find(Kind::Unsync), find(Kind::Vec)));
    text.extend(findings.next(best));
    text.extend(findings.floor(best, find(Kind::Words)));
    text.extend(findings.tail(best));
    text.extend(findings.cold(best));
    text.extend(findings.crowd());
    text.extend(noise(best, plain));
    Advice {
        verdict,
        pool: Some(pool),
        text,
        code: pays.then(|| findings.code(pool)),
    }
}

/// Who is preferred among equals: the default first, then what is simplest.
fn preference(case: Case, entrant: Entrant) -> (usize, bool, usize) {
    let kind = match entrant.kind {
        Kind::Batched => 0,
        Kind::Mutex => 1,
        _ => 2,
    };
    let batch_size = entrant.batch_size.unwrap_or(0);
    (
        kind,
        entrant.at_once,
        batch_size.abs_diff(case.default_batch_size()),
    )
}

impl Findings<'_> {
    /// The fastest of the pools that threads can share, or its equal that is preferred.
    fn best(&self) -> Option<&Figure> {
        let shared = |figure: &&Figure| {
            matches!(
                figure.entrant.kind,
                Kind::Batched | Kind::Mutex | Kind::Queue
            )
        };
        let pools = || self.figures.iter().filter(shared);
        let fastest = pools()
            .map(|figure| figure.ns.median)
            .min_by(f64::total_cmp)?;
        pools()
            .filter(|figure| figure.ns.median <= fastest * (1.0 + TIE))
            .min_by_key(|figure| preference(self.case, figure.entrant))
    }

    /// The batch size to choose, and why, if the best has batches.
    fn batch_size(&self, best: &Figure) -> Option<(usize, String)> {
        let given = best.entrant.batch_size?;
        if best.entrant.at_once {
            let why = format!("Batch size {given} is what acquire_many was measured with.");
            return Some((given, why));
        }
        let median = |point: &&AtBatchSize| point.ns.median;
        let points = || self.batches.iter();
        let Some(fastest) = points().min_by(|a, b| median(a).total_cmp(&median(b))) else {
            let why = format!("Batch size {given} is the only one measured.");
            return Some((given, why));
        };
        // Where no thread goes to the depot, whatever differs is not the batch size.
        let idle = points().all(|point| point.exchanges < RARE);
        let close = |point: &&AtBatchSize| {
            idle || point.ns.median <= fastest.ns.median * (1.0 + TIE)
                || point.ns.lower <= fastest.ns.upper
        };
        let default = points()
            .filter(close)
            .find(|point| point.batch_size == self.case.default_batch_size());
        let chosen = default.or_else(|| points().find(close))?;
        let size = chosen.batch_size;
        let which = match default {
            Some(_) => "the default",
            None => "the smallest that will do",
        };
        let (least, most) = (
            points().next()?.batch_size,
            points().next_back()?.batch_size,
        );
        let why = if idle {
            format!(
                "no thread goes to the depot in this loop with any from {least} to {most}, so none is \
                 better than another"
            )
        } else if points().all(|point| close(&point)) {
            format!("from {least} to {most} none can be told from the fastest")
        } else {
            format!(
                "it cannot be told from the fastest ({}, {}){}",
                fastest.batch_size,
                nanos(fastest.ns.median),
                self.against_smaller(chosen, close),
            )
        };
        let cached = Entrant::batched(size).cached(1);
        let text = format!(
            "Batch size {size}, {which}: {why}. With it a thread keeps up to {cached} idle objects for \
             itself, {}.",
            bytes(cached * self.case.object_size)
        );
        Some((size, text))
    }

    /// What the slowest of the smaller batch sizes costs, if it does.
    fn against_smaller(
        &self,
        chosen: &AtBatchSize,
        close: impl Fn(&&AtBatchSize) -> bool,
    ) -> String {
        let smaller = self
            .batches
            .iter()
            .filter(|point| point.batch_size < chosen.batch_size);
        let worst = smaller.max_by(|a, b| a.ns.median.total_cmp(&b.ns.median));
        match worst {
            Some(worst) if !close(&worst) => format!(
                ", where batch size {} takes {}, with {} visits to the depot for 1,000 objects instead \
                 of {}",
                worst.batch_size,
                nanos(worst.ns.median),
                times(worst.exchanges),
                times(chosen.exchanges),
            ),
            _ => String::new(),
        }
    }

    /// The figure of the best with the batch size that is advised.
    fn with_batch_size(&self, best: &Figure, batch_size: Option<usize>) -> Figure {
        let other = |point: &&AtBatchSize| Some(point.batch_size) == batch_size;
        match self.batches.iter().find(other) {
            Some(point) if batch_size != best.entrant.batch_size => Figure {
                entrant: Entrant::batched(point.batch_size),
                ns: point.ns,
                over_box: point.over_box,
                millions_a_second: self.case.millions_a_second(point.ns.median),
                ..*best
            },
            _ => best.clone(),
        }
    }

    fn it_pays(&self, best: &Figure, plain: &Figure) -> String {
        let (best_ns, plain_ns) = (best.ns.median, plain.ns.median);
        let saved = plain_ns - best_ns;
        // Work that is the same for both, until what is saved is no more than a pool has to save.
        let room = saved / (1.0 - PAYS) - plain_ns;
        format!(
            "A pool pays here: {} takes {} an object and plain allocation on {} {} ({}), so {} are saved. It \
             would not with {} more of other work an object{}.",
            in_full(best.entrant),
            nanos(best_ns),
            self.allocator,
            nanos(plain_ns),
            ratio(best),
            nanos(saved),
            nanos(room),
            self.elsewhere(best.entrant, false)
                .map_or_else(String::new, |threads| format!(", or with {threads}")),
        )
    }

    fn why_it_pays(&self, pool: Entrant) -> String {
        let reason = match pool.kind {
            Kind::Batched => match self.case.crosses() {
                false => {
                    "an object comes from the thread's own cache and goes back to it, with no lock \
                     and no atomic read-modify-write"
                }
                true => {
                    "objects go back from thread to thread by the batch, so that a lock is taken \
                     once for many"
                }
            },
            Kind::Mutex => "its one lock is hardly ever contended here",
            _ => "threads meet only for a compare-and-swap",
        };
        let by = if pool.at_once {
            ", with acquire_many for each burst"
        } else {
            ""
        };
        format!("Use backend {}{by}: {reason}.", pool.kind.name())
    }

    fn it_does_not(&self, best: &Figure, plain: &Figure) -> String {
        let verdict = match best.ns.median < plain.ns.median {
            true => "hardly less than",
            false => "no less than",
        };
        let change = match (self.elsewhere(best.entrant, true), self.case.owns_buffers()) {
            (Some(threads), false) => {
                format!("It would with {threads}, or if objects owned buffers, or")
            }
            (Some(threads), true) => format!("It would with {threads}, or"),
            (None, false) => "It may if objects own buffers (--buffers), or".to_owned(),
            (None, true) => "It may".to_owned(),
        };
        format!(
            "A pool does not pay here: the best, {}, takes {} an object, {verdict} plain allocation on \
             {} with {} ({}). {change} with another allocator (--allocator).",
            in_full(best.entrant),
            nanos(best.ns.median),
            self.allocator,
            nanos(plain.ns.median),
            ratio(best),
        )
    }

    fn why_not(&self) -> String {
        let work = if self.case.work > 0 {
            format!(
                "Most of it is the work between acquire and release ({} tokens a burst), which no \
                 pool makes shorter. ",
                self.case.work
            )
        } else {
            String::new()
        };
        let buffers = match self.case.owns_buffers() {
            true => "",
            false => "objects that own buffers (a pool keeps them, and here there are none), ",
        };
        format!(
            "{work}Use Box, unless there is another reason: {buffers}a bound on what is alive, or the worst case \
             below."
        )
    }

    /// The numbers of threads with which a pool of the kind pays, or does not, going by the figures.
    fn elsewhere(&self, pool: Entrant, pays: bool) -> Option<String> {
        let of = |threads, kind| {
            let mut points = self.threads.iter();
            let point = points.find(|at| at.threads == threads && at.entrant.kind == kind);
            point.map(|at| at.ns.median)
        };
        let mut counts: Vec<_> = self.threads.iter().map(|point| point.threads).collect();
        counts.dedup();
        counts.retain(|&threads| {
            let ours = of(threads, pool.kind).zip(of(threads, Kind::Box));
            let here = threads == self.case.threads;
            !here && ours.is_some_and(|(ours, plain)| (ours <= plain * PAYS) == pays)
        });
        let (last, others) = counts.split_last()?;
        let others: Vec<_> = others.iter().map(usize::to_string).collect();
        Some(match (others.len(), last) {
            (0, 1) => "1 thread".to_owned(),
            (0, last) => format!("{last} threads"),
            (_, last) => format!("{} or {last} threads", others.join(", ")),
        })
    }

    /// What a thread would pay for objects that it shares with nobody.
    fn own(&self, best: &Figure, unsync: Option<&Figure>, vec: Option<&Figure>) -> Option<String> {
        let (what, own) = match (unsync, vec) {
            (Some(unsync), _) => ("unsync::Pool", unsync),
            (None, Some(vec)) => ("a Vec<Box<T>> of its own", vec),
            (None, None) => return None,
        };
        let saved = best.ns.median - own.ns.median;
        if saved < best.ns.median * TIE {
            return None;
        }
        let control = match vec.filter(|vec| vec.entrant != own.entrant) {
            Some(vec) => format!(" (a bare Vec<Box<T>>: {})", nanos(vec.ns.median)),
            None => String::new(),
        };
        Some(format!(
            "If no object ever leaves the thread that acquired it, {what} for each thread is cheaper \
             still: {} an object{control}. What a shared pool costs more, {}, buys objects that may go \
             anywhere and one bound for all threads.",
            nanos(own.ns.median),
            nanos(saved),
        ))
    }

    /// The best of the other kinds.
    fn next(&self, best: &Figure) -> Option<String> {
        let others = self.figures.iter().filter(|figure| {
            figure.entrant.kind != best.entrant.kind
                && matches!(
                    figure.entrant.kind,
                    Kind::Batched | Kind::Mutex | Kind::Queue
                )
        });
        let next = others.min_by(|a, b| a.ns.median.total_cmp(&b.ns.median))?;
        let ratio = next.ns.median / best.ns.median;
        Some(if ratio <= 1.0 + TIE {
            format!(
                "Backend {} is as fast here ({}).",
                next.entrant.kind.name(),
                nanos(next.ns.median)
            )
        } else {
            format!(
                "Next comes {} with {} an object, {ratio:.1} times as much.",
                next.entrant,
                nanos(next.ns.median)
            )
        })
    }

    /// How much of it is the queue between the threads.
    fn floor(&self, best: &Figure, words: Option<&Figure>) -> Option<String> {
        let words = words?;
        Some(format!(
            "The way from thread to thread alone, with plain words and no objects, takes {}: that \
             much of every figure is not the pool's.",
            nanos(words.ns.median.min(best.ns.median)),
        ))
    }

    /// The worst acquires in a warm loop.
    fn tail(&self, best: &Figure) -> Option<String> {
        let find = |kind| self.latency.find(Place::Steady, Operation::Acquire, kind);
        let (ours, plain) = (find(best.entrant.kind)?, find(Kind::Box)?);
        Some(format!(
            "In the tail of a warm loop, one acquire in 10,000 takes longer than {} from {} and {} \
             from the allocator; the worst of a million, or of all if fewer were timed, {} and {}. Each has a reading of the clock in it, {}; the \
             clock alone took {} at worst.",
            ns(ours.ns.p99_99),
            ours.entrant,
            ns(plain.ns.p99_99),
            ns(ours.ns.worst_of_a_million),
            ns(plain.ns.worst_of_a_million),
            nanos(self.latency.reading_ns),
            ns(self.latency.clock.max),
        ))
    }

    /// What the first objects cost.
    fn cold(&self, best: &Figure) -> Option<String> {
        let growth = |kind| {
            self.growth
                .iter()
                .find(|growth| growth.entrant.kind == kind)
        };
        let ours = growth(best.entrant.kind)?;
        let (cold, warm) = (ours.cold_ns.median, ours.warm_ns.median);
        let plain = match growth(Kind::Box) {
            Some(plain) => format!(
                " (plain allocation: {} and {})",
                nanos(plain.cold_ns.median),
                nanos(plain.warm_ns.median)
            ),
            None => String::new(),
        };
        let remedy = if cold > 1.5 * warm {
            "; make them before they are needed, with prefill or reserve"
        } else {
            ""
        };
        Some(format!(
            "In a burst of {} from an empty pool an object costs {}, in the next such burst {}{plain}\
             {remedy}.",
            count(ours.objects as u64),
            nanos(cold),
            nanos(warm),
        ))
    }

    fn crowd(&self) -> Option<String> {
        let (threads, cores) = (self.case.threads, self.cores);
        (threads > cores).then(|| {
            format!(
                "{threads} threads share {cores} cores: each waits for its turn, which is in every \
                 figure and makes up the tail. Fewer threads would show the pool, more cores would \
                 help more than any pool."
            )
        })
    }

    /// The pool as the builder makes it.
    fn code(&self, pool: Entrant) -> String {
        let mut code = String::from("Pool::<T>::builder()");
        match pool.kind {
            Kind::Mutex => code += ".backend(Backend::Mutex)",
            Kind::Queue => code += ".backend(Backend::Queue)",
            _ => code += ".backend(Backend::Batched)",
        }
        if let Some(batch_size) = pool.batch_size {
            code += &format!(".batch_size({batch_size})");
        }
        let mut prefill = self.case.in_use() + pool.batch_size.unwrap_or(0) * self.case.threads;
        if let Some(capacity) = self.case.capacity {
            code += &format!(".capacity({capacity})");
            prefill = prefill.min(capacity);
        }
        code + &format!(".prefill({prefill}).build()?")
    }
}

/// A pool with what it was measured with.
fn in_full(pool: Entrant) -> String {
    let mut name = format!("backend {}", pool.kind.name());
    if let Some(batch_size) = pool.batch_size {
        name += &format!(" with batch size {batch_size}");
    }
    if pool.at_once {
        name += " and acquire_many";
    }
    name
}

fn ratio(figure: &Figure) -> String {
    let over = figure.over_box;
    format!(
        "{:.2} times, quartiles {:.2} to {:.2}",
        over.median, over.lower, over.upper
    )
}

/// Why nothing follows.
fn unclear(best: &Figure, plain: &Figure, allocator: Allocator) -> String {
    format!(
        "The rounds disagree: the best pool, {}, takes {} an object where plain allocation on {allocator} takes {}, \
         {:.2} times as much in the median, but {:.2} times or more in a quarter of the rounds. Measure \
         again on a quiet machine, or for longer with --duration.",
        best.entrant,
        nanos(best.ns.median),
        nanos(plain.ns.median),
        best.over_box.median,
        best.over_box.upper,
    )
}

/// A warning, if the machine was busy with other things.
fn noise(best: &Figure, plain: &Figure) -> Option<String> {
    let spread = |figure: &Figure| (figure.ns.upper - figure.ns.lower) / figure.ns.median;
    let widest = spread(best).max(spread(plain));
    (widest > NOISE).then(|| {
        format!(
            "The machine was not quiet: between the quartiles lie {:.0} % of the median. Trust \
             ratios more than nanoseconds, and run again before you rely on small differences.",
            100.0 * widest
        )
    })
}

fn times(per_thousand: f64) -> String {
    if per_thousand < RARE {
        "0".to_owned()
    } else if per_thousand < 10.0 {
        format!("{per_thousand:.1}")
    } else {
        format!("{per_thousand:.0}")
    }
}

fn bytes(bytes: usize) -> String {
    match bytes {
        0..2_048 => format!("{bytes} bytes"),
        2_048..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

#[cfg(test)]
mod tests {
    use pool_bench::duel::Spread;
    use pool_bench::payload::BUFFERS;

    use crate::case::Pattern;

    use super::*;
    use crate::results::{Events, Percentiles, Series};

    const CASE: Case = Case {
        object_size: 64,
        threads: 2,
        burst: 1,
        buffers: [0; BUFFERS],
        work: 0,
        pattern: Pattern::SameThread,
        remote: 0,
        capacity: None,
    };

    fn spread(median: f64) -> Spread {
        Spread {
            least: median * 0.97,
            lower: median * 0.98,
            median,
            upper: median * 1.02,
        }
    }

    /// Figures of contenders, over a plain allocation of so many nanoseconds.
    fn figures(plain: f64, others: &[(Entrant, f64)]) -> Vec<Figure> {
        let all = others
            .iter()
            .copied()
            .chain([(Entrant::of(Kind::Box), plain)]);
        let figure = |(entrant, nanos): (Entrant, f64)| Figure {
            entrant,
            ns: spread(nanos),
            over_box: spread(nanos / plain),
            millions_a_second: CASE.millions_a_second(nanos),
            rounds: 100,
            left_out: 0,
        };
        all.map(figure).collect()
    }

    fn ladder(points: &[(usize, f64)]) -> Vec<AtBatchSize> {
        let point = |&(batch_size, nanos): &(usize, f64)| AtBatchSize {
            batch_size,
            ns: spread(nanos),
            over_box: spread(nanos / 20.0),
            exchanges: 1000.0 / batch_size as f64,
        };
        points.iter().map(point).collect()
    }

    const TIMES: Percentiles = Percentiles {
        count: 1_000_000,
        p50: 20,
        p90: 30,
        p99: 40,
        p99_9: 150,
        p99_99: 2_500,
        worst_of_a_million: 20_000,
        max: 4_000_000,
    };

    fn latency(kinds: &[Kind]) -> Latency {
        let series = |&kind: &Kind| Series {
            place: Place::Steady,
            operation: Operation::Acquire,
            entrant: Entrant::of(kind),
            threads: 2,
            ns: TIMES,
            events: Events::default(),
        };
        Latency {
            clock: TIMES,
            reading_ns: 9.5,
            series: kinds.iter().map(series).collect(),
        }
    }

    fn advice(case: Case, figures: &[Figure], batches: &[AtBatchSize]) -> Advice {
        advise(&Findings {
            case,
            allocator: Allocator::System,
            cores: 2,
            figures,
            threads: &[],
            batches,
            latency: &latency(&[]),
            growth: &[],
        })
    }

    fn says(advice: &Advice, words: &str) -> bool {
        advice
            .text
            .iter()
            .any(|paragraph| paragraph.contains(words))
    }

    #[test]
    fn a_pool_that_saves_most_of_an_allocation_is_advised() {
        let figures = figures(
            20.0,
            &[
                (Entrant::batched(64), 4.0),
                (Entrant::of(Kind::Mutex), 40.0),
                (Entrant::of(Kind::Queue), 60.0),
            ],
        );
        let advice = advice(CASE, &figures, &ladder(&[(1, 30.0), (64, 4.0), (256, 4.0)]));
        assert_eq!(advice.verdict, Verdict::UsePool);
        assert_eq!(advice.pool, Some(Entrant::batched(64)));
        assert!(
            says(
                &advice,
                "backend batched with batch size 64 takes 4.0 ns an object and plain allocation on the system's allocator 20.0 ns"
            ),
            "{advice:?}"
        );
        assert!(says(&advice, "so 16.0 ns are saved"), "{advice:?}");
        assert!(
            says(
                &advice,
                "Next comes mutex with 40.0 ns an object, 10.0 times"
            ),
            "{advice:?}"
        );
        let code = advice.code.unwrap();
        assert!(
            code.contains("Backend::Batched).batch_size(64).prefill(130)"),
            "{code}"
        );
    }

    fn at_threads(points: &[(usize, f64, f64)]) -> Vec<AtThreads> {
        let point = |threads, entrant, nanos| AtThreads {
            threads,
            entrant,
            ns: spread(nanos),
            millions_a_second: CASE.with_threads(threads).millions_a_second(nanos),
        };
        let both = |&(threads, ours, plain): &(usize, f64, f64)| {
            [
                point(threads, Entrant::batched(64), ours),
                point(threads, Entrant::of(Kind::Box), plain),
            ]
        };
        points.iter().flat_map(both).collect()
    }

    #[test]
    fn the_first_line_says_what_would_change_the_answer() {
        let points = [
            (1, 4.0, 20.0),
            (2, 4.0, 20.0),
            (4, 30.0, 31.0),
            (8, 60.0, 50.0),
        ];
        let first = |nanos| {
            let figures = figures(20.0, &[(Entrant::batched(64), nanos)]);
            let mut advice = advise(&Findings {
                case: CASE,
                allocator: Allocator::System,
                cores: 2,
                figures: &figures,
                threads: &at_threads(&points),
                batches: &[],
                latency: &latency(&[]),
                growth: &[],
            });
            advice.text.swap_remove(0)
        };
        // (20 + 140 - 4 - 140) / (20 + 140) is a tenth.
        assert_eq!(
            first(4.0),
            "A pool pays here: backend batched with batch size 64 takes 4.0 ns an object and plain \
             allocation on the system's allocator 20.0 ns (0.20 times, quartiles 0.20 to 0.20), so 16.0 ns are saved. It would \
             not with 140 ns more of other work an object, or with 4 or 8 threads."
        );
        assert_eq!(
            first(19.0),
            "A pool does not pay here: the best, backend batched with batch size 64, takes 19.0 ns an \
             object, hardly less than plain allocation on the system's allocator with 20.0 ns (0.95 times, quartiles 0.93 to \
             0.97). It would with 1 thread, or if objects owned buffers, or with another allocator (--allocator)."
        );
    }

    #[test]
    fn the_figure_quoted_is_that_of_the_batch_size_advised() {
        let figures = figures(20.0, &[(Entrant::batched(64), 12.0)]);
        let advice = advice(CASE, &figures, &ladder(&[(64, 12.0), (256, 6.0)]));
        assert_eq!(advice.pool, Some(Entrant::batched(256)));
        let first = &advice.text[0];
        assert!(
            first.contains("batch size 256 takes 6.0 ns") && first.contains("(0.30 times"),
            "{first}"
        );
    }

    #[test]
    fn medians_and_ratios_that_disagree_are_no_ground_for_a_verdict() {
        let mut figures = figures(20.0, &[(Entrant::batched(64), 25.0)]);
        figures[0].over_box = spread(0.5);
        let advice = advice(CASE, &figures, &[]);
        assert_eq!(advice.verdict, Verdict::MeasureAgain);
    }

    #[test]
    fn a_pool_that_saves_nothing_is_advised_against() {
        for nanos in [18.5, 20.0, 25.0] {
            let figures = figures(20.0, &[(Entrant::batched(64), nanos)]);
            let advice = advice(CASE, &figures, &[]);
            assert_eq!(advice.verdict, Verdict::AllocatePlainly, "{nanos}");
            assert!(says(&advice, "A pool does not pay here"), "{advice:?}");
            assert_eq!(advice.code, None);
        }
    }

    #[test]
    fn a_gain_that_is_within_the_noise_is_none() {
        let mut figures = figures(20.0, &[(Entrant::batched(64), 17.0)]);
        assert_eq!(advice(CASE, &figures, &[]).verdict, Verdict::UsePool);
        figures[0].over_box.upper = 1.1;
        let advice = advice(CASE, &figures, &[]);
        assert_eq!(
            (advice.verdict, &advice.code),
            (Verdict::MeasureAgain, &None)
        );
        assert!(says(&advice, "The rounds disagree"), "{advice:?}");
    }

    #[test]
    fn work_that_hides_the_gain_is_named() {
        let figures = figures(1000.0, &[(Entrant::batched(64), 985.0)]);
        let case = Case { work: 400, ..CASE };
        let advice = advice(case, &figures, &[]);
        assert_eq!(advice.verdict, Verdict::AllocatePlainly);
        assert!(says(&advice, "400 tokens"), "{advice:?}");
    }

    #[test]
    fn among_equals_the_default_is_preferred() {
        let figures = figures(
            20.0,
            &[
                (Entrant::batched(256), 4.0),
                (Entrant::batched(64), 4.1),
                (Entrant::batched(64).at_once(), 4.05),
                (Entrant::of(Kind::Mutex), 3.95),
            ],
        );
        let advice = advice(CASE, &figures, &ladder(&[(64, 4.1), (256, 4.0)]));
        assert_eq!(advice.pool, Some(Entrant::batched(64)));
        assert!(says(&advice, "Backend mutex is as fast here"), "{advice:?}");
    }

    #[test]
    fn what_is_clearly_faster_is_advised_whatever_it_is() {
        let figures = figures(
            200.0,
            &[
                (Entrant::batched(64), 100.0),
                (Entrant::batched(64).at_once(), 50.0),
                (Entrant::of(Kind::Queue), 45.0),
            ],
        );
        let advice = advice(CASE, &figures, &[]);
        assert_eq!(advice.pool, Some(Entrant::of(Kind::Queue)));
        assert!(advice.code.unwrap().contains("Backend::Queue).prefill"));
    }

    #[test]
    fn the_batch_size_is_the_default_or_else_the_smallest_that_is_fast() {
        let figures = figures(20.0, &[(Entrant::batched(64), 4.0)]);
        let chosen = |points| advice(CASE, &figures, &ladder(points));
        let flat = chosen(&[(1, 4.0), (64, 4.1), (1024, 4.05)]);
        assert_eq!(flat.pool, Some(Entrant::batched(64)));
        assert!(says(&flat, "from 1 to 1024 none can be told"), "{flat:?}");
        let steep = chosen(&[(1, 90.0), (64, 12.0), (256, 6.1), (1024, 6.0)]);
        assert_eq!(steep.pool, Some(Entrant::batched(256)));
        assert!(
            says(&steep, "Batch size 256, the smallest that will do"),
            "{steep:?}"
        );
        assert!(
            says(&steep, "batch size 1 takes 90.0 ns, with 1000 visits"),
            "{steep:?}"
        );
        assert!(
            says(&steep, "up to 512 idle objects for itself, 32 KiB"),
            "{steep:?}"
        );
        let default = chosen(&[(1, 90.0), (16, 4.1), (64, 4.1), (1024, 4.0)]);
        assert_eq!(default.pool, Some(Entrant::batched(64)));
    }

    #[test]
    fn where_no_thread_exchanges_no_batch_size_is_better_than_another() {
        let figures = figures(20.0, &[(Entrant::batched(64), 4.0)]);
        let mut points = ladder(&[(1, 3.0), (64, 4.0), (256, 3.5)]);
        for point in &mut points {
            point.exchanges = 0.0;
        }
        let advice = advice(CASE, &figures, &points);
        assert_eq!(advice.pool, Some(Entrant::batched(64)));
        assert!(says(&advice, "none is better than another"), "{advice:?}");
    }

    #[test]
    fn objects_that_stay_on_their_thread_need_no_shared_pool() {
        let figures = figures(
            20.0,
            &[
                (Entrant::batched(64), 4.0),
                (Entrant::of(Kind::Unsync), 3.0),
                (Entrant::of(Kind::Vec), 2.5),
            ],
        );
        let advice = advice(CASE, &figures, &[]);
        assert!(
            says(
                &advice,
                "unsync::Pool for each thread is cheaper still: 3.0 ns"
            ),
            "{advice:?}"
        );
        assert!(says(&advice, "(a bare Vec<Box<T>>: 2.5 ns)"), "{advice:?}");
    }

    #[test]
    fn controls_alone_are_no_ground_for_advice() {
        let figures = figures(20.0, &[(Entrant::of(Kind::Heap), 40.0)]);
        let advice = advice(CASE, &figures, &[]);
        assert_eq!(
            (advice.verdict, advice.pool),
            (Verdict::NothingToCompare, None)
        );
        assert!(says(&advice, "add --backend batched"));
    }

    #[test]
    fn a_crowd_and_a_busy_machine_are_named() {
        let mut figures = figures(20.0, &[(Entrant::batched(64), 4.0)]);
        figures[0].ns.upper = 6.0;
        let advice = advice(CASE.with_threads(8), &figures, &[]);
        assert!(says(&advice, "8 threads share 2 cores"), "{advice:?}");
        assert!(says(&advice, "The machine was not quiet"), "{advice:?}");
    }

    #[test]
    fn the_bound_is_in_the_code_and_caps_the_prefill() {
        let figures = figures(20.0, &[(Entrant::batched(8), 4.0)]);
        let case = Case {
            capacity: Some(10),
            ..CASE
        };
        let code = advice(case, &figures, &[]).code.unwrap();
        assert!(code.contains(".capacity(10).prefill(10)"), "{code}");
    }

    #[test]
    fn the_tail_and_the_first_burst_are_told() {
        let figures = figures(20.0, &[(Entrant::batched(64), 4.0)]);
        let growth = [
            (Entrant::batched(64), 30.0, 5.0),
            (Entrant::of(Kind::Box), 50.0, 20.0),
        ];
        let growth = growth.map(|(entrant, cold, warm)| Growth {
            entrant,
            objects: 1000,
            cold_ns: spread(cold),
            warm_ns: spread(warm),
        });
        let advice = advise(&Findings {
            case: CASE,
            allocator: Allocator::System,
            cores: 2,
            figures: &figures,
            threads: &[],
            batches: &[],
            latency: &latency(&[Kind::Batched, Kind::Box]),
            growth: &growth,
        });
        assert!(
            says(&advice, "one acquire in 10,000 takes longer than 2.5 µs"),
            "{advice:?}"
        );
        assert!(
            says(&advice, "if fewer were timed, 20 µs and 20 µs"),
            "{advice:?}"
        );
        assert!(says(&advice, "with prefill or reserve"), "{advice:?}");
    }
}

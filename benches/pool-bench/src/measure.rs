//! Many sides, measured by turns. A round is a slice of each, in an order that rotates, so that
//! whatever else the machine does meets all; figures are medians over rounds, and ratios are taken
//! within them.

use std::time::{Duration, Instant};

use pool_bench::duel::{Side, Spread};

use crate::case::{Case, Entrant, Kind, Plan};
use crate::lane::{Shared, SharedPool, side};
use crate::results::{AtBatchSize, AtThreads, Figure};

/// Time that a slice of one side takes, about.
const SLICE: Duration = Duration::from_millis(2);

/// Fewest rounds, however long they take.
const ROUNDS: usize = 5;

/// Objects of each lane over which visits to the depot are counted.
const OBJECTS: usize = 20_000;

/// What a side took in the rounds: nanoseconds an object, and whether it was disturbed.
#[derive(Default)]
struct Taken(Vec<(f64, bool)>);

impl Taken {
    /// The figures that count, and how many do not: the disturbed ones, if enough others are there.
    fn figures(&self) -> (Vec<f64>, usize) {
        let quiet = self.0.iter().filter(|(_, disturbed)| !disturbed);
        let quiet: Vec<_> = quiet.map(|(nanos, _)| *nanos).collect();
        if quiet.len() >= ROUNDS {
            let left_out = self.0.len() - quiet.len();
            (quiet, left_out)
        } else {
            (self.0.iter().map(|(nanos, _)| *nanos).collect(), 0)
        }
    }

    fn spread(&self) -> Spread {
        Spread::of(&mut self.figures().0)
    }

    /// The ratio to another, round by round: those in which both were undisturbed, if they are enough.
    fn over(&self, other: &Taken) -> Spread {
        let pairs = || self.0.iter().zip(&other.0);
        let quiet = pairs().filter(|(ours, theirs)| !ours.1 && !theirs.1);
        let ratio = |(ours, theirs): (&(f64, bool), &(f64, bool))| ours.0 / theirs.0;
        let mut ratios: Vec<_> = quiet.map(ratio).collect();
        if ratios.len() < ROUNDS {
            ratios = pairs().map(ratio).collect();
        }
        Spread::of(&mut ratios)
    }
}

/// Measures `sides` by turns for about `time`. `progress` is told the share of it that is over.
fn contest(sides: &mut [Side], time: Duration, progress: &dyn Fn(f64)) -> Vec<Taken> {
    let start = Instant::now();
    let turns: Vec<_> = sides.iter_mut().map(|side| side.calibrate(SLICE)).collect();
    let mut taken: Vec<_> = sides.iter().map(|_| Taken::default()).collect();
    let mut round = 0;
    while round < ROUNDS || start.elapsed() < time {
        for place in 0..sides.len() {
            let at = (place + round) % sides.len();
            taken[at].0.push(sides[at].slice(turns[at]));
        }
        round += 1;
        progress((start.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0));
    }
    taken
}

/// Every contender in the case, and the batched pool with every batch size: one contest, so that each
/// has one figure, which all that is said and drawn of it rests on.
pub(crate) fn figures(
    plan: &Plan,
    time: Duration,
    progress: &dyn Fn(f64),
) -> (Vec<Figure>, Vec<AtBatchSize>) {
    let mut all = plan.entrants.clone();
    let ladder = plan.batch_sizes.iter().copied().map(Entrant::batched);
    all.extend(ladder.filter(|entrant| !plan.entrants.contains(entrant)));
    let (mut sides, pools) = sides(plan.case, &all);
    let taken = contest(&mut sides, time, progress);
    let at = |entrant: Entrant| all.iter().position(|&other| other == entrant);
    let plain = at(Entrant::of(Kind::Box));
    let plain = &taken[plain.expect("the control without a pool is always there")];
    let figure = |(&entrant, side): (&Entrant, &Taken)| {
        let (mut figures, left_out) = side.figures();
        let rounds = figures.len();
        let ns = Spread::of(&mut figures);
        Figure {
            entrant,
            ns,
            over_box: side.over(plain),
            millions_a_second: plan.case.millions_a_second(ns.median),
            rounds,
            left_out,
        }
    };
    let mut figures: Vec<_> = all.iter().zip(&taken).map(figure).collect();
    let batches = plan.batch_sizes.iter().map(|&batch_size| {
        let at = at(Entrant::batched(batch_size)).expect("it took part");
        let pool = pools[at].as_deref().expect("threads share the pool");
        AtBatchSize {
            batch_size,
            ns: figures[at].ns,
            over_box: figures[at].over_box,
            exchanges: exchanges(plan.case, &mut sides[at], pool),
        }
    });
    let batches = batches.collect();
    figures.truncate(plan.entrants.len());
    (figures, batches)
}

/// One contender of each kind with every number of threads; with the case's own, its figure.
pub(crate) fn at_threads(
    plan: &Plan,
    figures: &[Figure],
    time: Duration,
    progress: &dyn Fn(f64),
) -> Vec<AtThreads> {
    let entrants = plan.one_of_each();
    let others = plan.threads.iter().filter(|&&n| n != plan.case.threads);
    let steps = others.count().max(1);
    let (mut points, mut step) = (Vec::new(), 0_usize);
    for &threads in &plan.threads {
        let case = plan.case.with_threads(threads);
        let spreads: Vec<Spread> = if threads == plan.case.threads {
            let known = |entrant: &Entrant| figures.iter().find(|own| own.entrant == *entrant);
            let known = entrants.iter().map(known);
            known.map(|own| own.expect("it took part").ns).collect()
        } else {
            let (mut sides, _) = sides(case, &entrants);
            let taken = contest(&mut sides, time / steps as u32, &|share| {
                progress((step as f64 + share) / steps as f64);
            });
            step += 1;
            taken.iter().map(Taken::spread).collect()
        };
        for (&entrant, ns) in entrants.iter().zip(spreads) {
            points.push(AtThreads {
                threads,
                entrant,
                ns,
                millions_a_second: case.millions_a_second(ns.median),
            });
        }
    }
    points
}

/// Visits to the depot, per thousand objects.
fn exchanges(case: Case, side: &mut Side, pool: &dyn SharedPool) -> f64 {
    let turns = OBJECTS.div_ceil(case.objects_a_turn());
    let before = pool.stats().exchanges;
    side.slice(turns);
    let visits = pool.stats().exchanges - before;
    let objects = turns * case.objects_a_turn() * case.lanes();
    visits as f64 * 1000.0 / objects as f64
}

fn sides(case: Case, entrants: &[Entrant]) -> (Vec<Side>, Vec<Shared>) {
    entrants.iter().map(|&entrant| side(case, entrant)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_count_only_where_there_are_too_few_others() {
        let quiet = (1..=5).map(|nanos| (f64::from(nanos), false));
        let taken = Taken(quiet.chain([(100.0, true)]).collect());
        assert_eq!(taken.figures(), (vec![1.0, 2.0, 3.0, 4.0, 5.0], 1));
        let few = Taken(vec![(1.0, false), (9.0, true)]);
        assert_eq!(few.figures(), (vec![1.0, 9.0], 0));
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let ours = Taken(vec![(1.0, false), (20.0, true), (3.0, false)]);
        let other = Taken(vec![(2.0, false), (10.0, true), (6.0, false)]);
        let ratio = ours.over(&other);
        assert_eq!((ratio.lower, ratio.median, ratio.upper), (0.5, 0.5, 1.25));
    }
}

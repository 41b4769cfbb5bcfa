//! Many contenders, measured by turns. A round is a slice of each, in an order that rotates, so that
//! disturbances from outside meet all; figures are medians over rounds, and ratios are taken within
//! them.

use std::time::Duration;

use pool_bench::duel::{Side, Spread};

use crate::case::{Case, Entrant, Kind, Plan};
use crate::lane::{Crew, Shared, crew};
use crate::results::Figure;
use crate::watch::{Budget, Unwatched};

/// Time that a slice of one side takes, about.
const SLICE: Duration = Duration::from_millis(2);

/// Fewest rounds, however long they take.
const ROUNDS: usize = 5;

/// Objects of each lane over which visits to the depot are counted.
const OBJECTS: usize = 20_000;

/// The rounds of a side: nanoseconds an object, and whether it was disturbed.
type Taken = Vec<(f64, bool)>;

/// A contender with its rounds.
struct Competitor {
    entrant: Entrant,
    side: Side,
    shared: Shared,
    taken: Taken,
}

/// Measures contenders in a case by turns, for a share of the time.
fn contest(case: Case, entrants: &[Entrant], budget: &Budget, share: f64) -> Vec<Competitor> {
    let competitor = |&entrant: &Entrant| {
        let Crew { work, shared } = crew(case, entrant, &Unwatched);
        let side = Side::working(case.threads, case.objects_a_turn(), work);
        let side = if case.crosses() {
            side.in_lockstep()
        } else {
            side
        };
        Competitor {
            entrant,
            side,
            shared,
            taken: Taken::new(),
        }
    };
    let mut all: Vec<_> = entrants.iter().map(competitor).collect();
    let turns: Vec<_> = all
        .iter_mut()
        .map(|one| one.side.calibrate(SLICE))
        .collect();
    for round in budget.rounds(share, ROUNDS) {
        for place in 0..all.len() {
            let at = (place + round) % all.len();
            let slice = all[at].side.slice(turns[at]);
            all[at].taken.push(slice);
        }
    }
    all
}

/// The undisturbed numbers, if they are enough, otherwise all; and how many were left out.
fn quiet(numbers: impl Iterator<Item = (f64, bool)> + Clone) -> (Vec<f64>, usize) {
    let of = |(number, _)| number;
    let quiet: Vec<_> = numbers
        .clone()
        .filter(|(_, disturbed)| !disturbed)
        .map(of)
        .collect();
    if quiet.len() < ROUNDS {
        return (numbers.map(of).collect(), 0);
    }
    let left_out = numbers.count() - quiet.len();
    (quiet, left_out)
}

/// The ratio of each round, disturbed if one of both was.
fn ratios(ours: &Taken, other: &Taken) -> impl Iterator<Item = (f64, bool)> + Clone {
    let pairs = ours.iter().zip(other);
    pairs.map(|(ours, other)| (ours.0 / other.0, ours.1 || other.1))
}

/// The summary of each competitor.
fn summaries(case: Case, all: &[Competitor]) -> Vec<Figure> {
    let plain = all.iter().find(|one| one.entrant.kind == Kind::Box);
    let plain = &plain
        .expect("the control without a pool is always there")
        .taken;
    let figure = |one: &Competitor| {
        let (mut nanos, left_out) = quiet(one.taken.iter().copied());
        let ns = Spread::of(&mut nanos);
        Figure {
            entrant: one.entrant,
            threads: case.threads,
            ns,
            over_box: Spread::of(&mut quiet(ratios(&one.taken, plain)).0),
            millions_a_second: case.millions_a_second(ns.median),
            rounds: nanos.len(),
            left_out,
            exchanges: None,
        }
    };
    all.iter().map(figure).collect()
}

/// Every contender in the case, and the batched pool with every batch size: one contest, so that each
/// has one figure.
pub(crate) fn figures(plan: &Plan, budget: &Budget, share: f64) -> (Vec<Figure>, Vec<Figure>) {
    let mut entrants = plan.entrants.clone();
    let ladder: Vec<_> = plan
        .batch_sizes
        .iter()
        .copied()
        .map(Entrant::batched)
        .collect();
    entrants.extend(
        ladder
            .iter()
            .filter(|entrant| !plan.entrants.contains(entrant)),
    );
    let mut all = contest(plan.case, &entrants, budget, share);
    let mut figures = summaries(plan.case, &all);
    let batches = ladder.iter().map(|&entrant| {
        let at = entrants
            .iter()
            .position(|&other| other == entrant)
            .expect("it took part");
        Figure {
            exchanges: exchanges(plan.case, &mut all[at]),
            ..figures[at].clone()
        }
    });
    let batches = batches.collect();
    figures.truncate(plan.entrants.len());
    (figures, batches)
}

/// A contender of each kind with every number of threads; with the case's own, its known figure.
pub(crate) fn at_threads(
    plan: &Plan,
    known: &[Figure],
    budget: &Budget,
    share: f64,
) -> Vec<Figure> {
    let entrants = plan.one_of_each();
    let others = plan
        .threads
        .iter()
        .filter(|&&threads| threads != plan.case.threads)
        .count();
    let at = |&threads: &usize| {
        if threads == plan.case.threads {
            let own = known
                .iter()
                .filter(|figure| entrants.contains(&figure.entrant));
            return own.cloned().collect();
        }
        let case = plan.case.with_threads(threads);
        summaries(
            case,
            &contest(case, &entrants, budget, share / others as f64),
        )
    };
    plan.threads.iter().flat_map(at).collect()
}

/// Visits to the depot, per 1,000 objects.
fn exchanges(case: Case, one: &mut Competitor) -> Option<f64> {
    let pool = one.shared.as_deref()?;
    let turns = OBJECTS.div_ceil(case.objects_a_turn());
    let before = pool.stats().exchanges;
    one.side.slice(turns);
    let visits = pool.stats().exchanges - before;
    let objects = turns * case.objects_a_turn() * case.lanes();
    Some(visits as f64 * 1000.0 / objects as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_rounds_count_only_where_there_are_too_few_others() {
        let five = (1..=5).map(|nanos| (f64::from(nanos), false));
        let disturbed = five.chain([(100.0, true)]);
        assert_eq!(quiet(disturbed), (vec![1.0, 2.0, 3.0, 4.0, 5.0], 1));
        let few = [(1.0, false), (9.0, true)];
        assert_eq!(quiet(few.into_iter()), (vec![1.0, 9.0], 0));
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let ours = vec![(1.0, false), (20.0, true), (3.0, false)];
        let other = vec![(2.0, false), (10.0, false), (6.0, false)];
        let ratios: Vec<_> = ratios(&ours, &other).collect();
        assert_eq!(ratios, [(0.5, false), (2.0, true), (0.5, false)]);
    }
}

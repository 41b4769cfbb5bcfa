//! Two sides, measured by turns in short slices, and the ratio of what they took.
//!
//! A round is one slice of each side, in alternating order, so that whatever else the machine does
//! meets both. The ratio is taken within each round; what is reported is its median and quartiles.

use std::num::NonZero;
use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cold;
use crate::contender::Contender;
use crate::pattern::{Pattern, looping};
use crate::team::{Stretch, Team, Work};

/// How the time of a slice is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// The time on a core. Other programs' turns do not count; a thread of ours that slept does,
    /// since then the wall's time is taken.
    Busy,
    /// The wall's, leaving out rounds in which a thread was preempted: for threads that wait for
    /// each other.
    Wall,
}

/// Who is measured, and in what units.
#[derive(Debug)]
pub struct Side {
    team: Team,
    objects: usize,
    clock: Clock,
    /// Whether a slice is one turn, whatever that takes.
    turn_by_turn: bool,
}

impl Side {
    /// One thread with a contender.
    pub fn solo<C: Contender + 'static>(
        pattern: Pattern,
        make: impl Fn() -> C + Send + Sync + 'static,
    ) -> Self {
        Self::crowd(1, pattern, make)
    }

    /// So many threads with a contender each.
    pub fn crowd<C: Contender + 'static>(
        threads: usize,
        pattern: Pattern,
        make: impl Fn() -> C + Send + Sync + 'static,
    ) -> Self {
        Self::working(threads, pattern.objects(), move |_| {
            looping(make(), pattern)
        })
    }

    /// So many threads with work of their own, of `objects` objects a turn.
    pub fn working(
        threads: usize,
        objects: usize,
        work: impl Fn(usize) -> Work + Send + Sync + 'static,
    ) -> Self {
        Self::of(Team::new(threads, work), objects)
    }

    /// A team that takes and gives `objects` objects a turn.
    #[must_use]
    pub fn of(team: Team, objects: usize) -> Self {
        Side {
            team,
            objects,
            clock: Clock::Busy,
            turn_by_turn: false,
        }
    }

    /// First bursts of `objects` objects, each in a process of its own.
    ///
    /// # Panics
    ///
    /// When it is measured, if such a process cannot be had.
    #[must_use]
    pub fn cold(entrant: &'static str, objects: usize) -> Self {
        let team = Team::timed(1, move |_| {
            Box::new(move |_| cold::first_burst(entrant, objects).expect("a first burst"))
        });
        Side {
            turn_by_turn: true,
            ..Self::of(team, objects)
        }
    }

    /// Says that the threads wait for each other.
    #[must_use]
    pub fn in_lockstep(mut self) -> Self {
        self.clock = Clock::Wall;
        self
    }

    /// One slice; gives nanoseconds an object, and whether a disturbance makes that worthless.
    ///
    /// Threads beyond the cores share these: what is given is then the time that the slowest would
    /// need on a machine with nothing else to do.
    pub fn slice(&mut self, turns: usize) -> (f64, bool) {
        let stretch = self.team.run(turns);
        let objects = (turns * self.objects) as f64;
        let disturbed = self.clock == Clock::Wall && stretch.preempted > 0;
        (self.time(&stretch).as_nanos() as f64 / objects, disturbed)
    }

    fn time(&self, stretch: &Stretch) -> Duration {
        let known = cfg!(target_os = "linux") && stretch.slept == 0;
        if self.clock == Clock::Wall || !known {
            return stretch.wall;
        }
        stretch.busy / self.team.threads().min(cores()) as u32
    }

    /// Whether a slice is far longer than others: many threads, or a burst that fills it.
    fn takes_long(&self) -> bool {
        self.team.threads() > cores() || self.objects >= 100_000
    }

    /// Finds how many turns take each thread about `slice`, which warms everything up.
    pub fn calibrate(&mut self, slice: Duration) -> usize {
        if self.turn_by_turn {
            return 1;
        }
        let shares = self.team.threads().div_ceil(cores()) as f64;
        let scale = if shares > 1.0 {
            // Threads that share a core get several of the scheduler's slices each.
            5.0 * shares
        } else if self.clock == Clock::Wall {
            // The shorter, the more are left undisturbed.
            0.25
        } else {
            1.0
        };
        let slice = slice.as_nanos() as f64 * scale;
        let mut turns = (16_000 / self.objects).clamp(1, 16);
        loop {
            // The least of a few: the first turns of all pay for what is set up once.
            let nanos = (0..3)
                .map(|_| self.slice(turns).0)
                .fold(f64::INFINITY, f64::min);
            let taken = nanos * (turns * self.objects) as f64;
            if taken > slice / 4.0 {
                return ((slice / taken * turns as f64) as usize).max(1);
            }
            turns *= 2;
        }
    }
}

/// How many threads run at a time.
#[must_use]
pub fn cores() -> usize {
    // Asking takes longer than many a slice.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How long a slice is.
    pub slice: Duration,
    /// How many rounds count.
    pub rounds: usize,
}

/// Two sides to be compared.
#[derive(Debug)]
pub struct Duel {
    /// What is claimed to be fast.
    pub ours: Side,
    /// What it is compared with.
    pub other: Side,
    /// What the other's time is multiplied by before it is compared.
    pub scale: f64,
}

impl Duel {
    /// A comparison of like with like.
    #[must_use]
    pub fn new(ours: Side, other: Side) -> Self {
        Duel {
            ours,
            other,
            scale: 1.0,
        }
    }

    /// Rounds left out for each that counts, at most.
    const PATIENCE: usize = 4;

    /// Measures; `progress` is told the share that is done.
    pub fn run(mut self, effort: Effort, progress: impl Fn(f64)) -> Outcome {
        let ours_turns = self.ours.calibrate(effort.slice);
        let other_turns = self.other.calibrate(effort.slice);
        let rounds = if self.ours.takes_long() {
            effort.rounds.div_ceil(10)
        } else {
            effort.rounds
        };
        let (mut ours, mut others, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut left_out = 0;
        while ratios.len() < rounds {
            let ours_first = ratios.len().is_multiple_of(2);
            let (our, other) = if ours_first {
                let our = self.ours.slice(ours_turns);
                (our, self.other.slice(other_turns))
            } else {
                let other = self.other.slice(other_turns);
                (self.ours.slice(ours_turns), other)
            };
            if (our.1 || other.1) && left_out < Self::PATIENCE * rounds {
                left_out += 1;
                continue;
            }
            let other = other.0 * self.scale;
            ours.push(our.0);
            others.push(other);
            ratios.push(our.0 / other);
            progress(ratios.len() as f64 / rounds as f64);
        }
        let (ours_ns, other_ns) = (Spread::of(&mut ours), Spread::of(&mut others));
        Outcome {
            ours_ns,
            other_ns,
            ratio: Spread::of(&mut ratios),
            undisturbed: ours_ns.least / other_ns.least,
            rounds,
            left_out,
        }
    }
}

/// What came of a duel.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Outcome {
    /// Nanoseconds an object of ours.
    pub ours_ns: Spread,
    /// Nanoseconds an object of the other, scaled.
    pub other_ns: Spread,
    /// Ours over the other, round by round.
    pub ratio: Spread,
    /// The least of ours over the least of the other: what is left when nothing else runs. A
    /// neighbour on the same core slows the two sides by different factors, so where this and the
    /// ratio differ, the machine was not quiet.
    pub undisturbed: f64,
    /// Rounds that count.
    pub rounds: usize,
    /// Rounds that were disturbed and do not.
    pub left_out: usize,
}

/// The middle of many figures.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Spread {
    /// A twentieth are below.
    pub least: f64,
    /// A quarter are below.
    pub lower: f64,
    /// Half are below.
    pub median: f64,
    /// A quarter are above.
    pub upper: f64,
}

impl Spread {
    /// # Panics
    ///
    /// Without figures.
    #[must_use]
    pub fn of(figures: &mut [f64]) -> Self {
        figures.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (figures.len() - 1) as f64;
            let (below, above) = (
                figures[place.floor() as usize],
                figures[place.ceil() as usize],
            );
            below + (above - below) * place.fract()
        };
        Spread {
            least: at(0.05),
            lower: at(0.25),
            median: at(0.5),
            upper: at(0.75),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::BareVec;

    #[test]
    fn quartiles_lie_between_figures() {
        let spread = Spread::of(&mut [4.0, 1.0, 2.0, 3.0]);
        assert_eq!(
            (spread.lower, spread.median, spread.upper),
            (1.75, 2.5, 3.25)
        );
        let single = Spread::of(&mut [7.0]);
        assert_eq!((single.lower, single.median, single.upper), (7.0, 7.0, 7.0));
    }

    #[test]
    fn a_contender_against_itself_is_about_even() {
        let side = || Side::solo(Pattern::Single, BareVec::default);
        let effort = Effort {
            slice: Duration::from_micros(100),
            rounds: 51,
        };
        let outcome = Duel::new(side(), side()).run(effort, |_| ());
        // The machine may be busy; far off means that turns or objects are counted wrong.
        assert!((0.5..2.0).contains(&outcome.ratio.median), "{outcome:?}");
    }
}

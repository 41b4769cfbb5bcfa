//! Times: how long to measure, and how long single operations took. The loops of `lane` run under a
//! [`Watch`], which keeps the times in histograms or does nothing; `latency` reads them.
//!
//! The time of a reading of the clock is part of every figure. It is measured too, and never
//! subtracted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use quanta::Clock;

/// The time that a run takes, handed out in shares; drawn as a bar where standard error is a terminal.
#[derive(Debug)]
pub(crate) struct Budget {
    start: Instant,
    all: Duration,
    bar: ProgressBar,
}

impl Budget {
    /// So many seconds, from now on.
    pub(crate) fn new(seconds: f64) -> Self {
        let all = Duration::from_secs_f64(seconds);
        let style = ProgressStyle::with_template("{wide_bar} {percent}% {eta}");
        let style = style.expect("a template that is well formed");
        Budget {
            start: Instant::now(),
            all,
            bar: ProgressBar::new(all.as_millis() as u64).with_style(style),
        }
    }

    /// The numbers of the rounds of a part of the work: until its share of the time is over, and
    /// `least` of them however long they take.
    pub(crate) fn rounds(&self, share: f64, least: usize) -> impl Iterator<Item = usize> {
        let (start, time) = (Instant::now(), self.all.mul_f64(share));
        (0..).take_while(move |&round| {
            self.bar
                .set_position(self.start.elapsed().as_millis() as u64);
            round < least || start.elapsed() < time
        })
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Times in nanoseconds, to three digits.
pub(crate) type Times = Histogram<u64>;

/// Longest time that is told from longer ones, in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;

/// No times yet.
pub(crate) fn no_times() -> Times {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds and digits within the limits")
}

/// Runs `act`; gives its result and the nanoseconds it took, one reading of the clock included.
#[inline(always)]
pub(crate) fn timed<R>(clock: &Clock, act: impl FnOnce() -> R) -> (R, u64) {
    let start = clock.raw();
    let result = act();
    let end = clock.raw();
    (result, clock.delta_as_nanos(start, end))
}

/// What a loop runs its acquires and releases under. Each thread has a clone.
pub(crate) trait Watch: Clone + Send + Sync + 'static {
    /// Whether the operations are timed.
    const LOOKS: bool;

    /// Runs `act`, an acquire.
    fn acquire<H>(&mut self, act: impl FnOnce() -> H) -> H;

    /// Runs `act`, a release.
    fn release(&mut self, act: impl FnOnce());

    /// Hands over the times since the last report. Called at the end of a stretch.
    fn report(&mut self);
}

/// No times are taken.
#[derive(Clone, Debug)]
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    const LOOKS: bool = false;

    #[inline(always)]
    fn acquire<H>(&mut self, act: impl FnOnce() -> H) -> H {
        act()
    }

    #[inline(always)]
    fn release(&mut self, act: impl FnOnce()) {
        act();
    }

    #[inline(always)]
    fn report(&mut self) {}
}

/// A clock in the hand of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Stopwatch {
    clock: Clock,
    /// Of acquires and of releases, not yet reported.
    seen: [Times; 2],
    /// The same of all clones, reported.
    reported: Arc<Mutex<[Times; 2]>>,
}

impl Stopwatch {
    /// A watch whose clones report to it.
    pub(crate) fn new(clock: &Clock) -> Self {
        Stopwatch {
            clock: clock.clone(),
            seen: [no_times(), no_times()],
            reported: Arc::new(Mutex::new([no_times(), no_times()])),
        }
    }

    /// Takes the times of acquires and of releases that were reported.
    pub(crate) fn take(&self) -> [Times; 2] {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *reported, [no_times(), no_times()])
    }
}

impl Watch for Stopwatch {
    const LOOKS: bool = true;

    #[inline(always)]
    fn acquire<H>(&mut self, act: impl FnOnce() -> H) -> H {
        let (handle, nanos) = timed(&self.clock, act);
        self.seen[0].saturating_record(nanos);
        handle
    }

    #[inline(always)]
    fn release(&mut self, act: impl FnOnce()) {
        let ((), nanos) = timed(&self.clock, act);
        self.seen[1].saturating_record(nanos);
    }

    fn report(&mut self) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for (sum, part) in reported.iter_mut().zip(&mut self.seen) {
            sum.add(&*part).expect("the same bounds");
            part.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_hands_over_each_time_once() {
        let watch = Stopwatch::new(&Clock::new());
        let mut hand = watch.clone();
        assert_eq!(hand.acquire(|| 7), 7);
        hand.release(|| ());
        hand.release(|| ());
        hand.report();
        hand.report();
        assert_eq!(watch.take().map(|times| times.len()), [1, 2]);
        assert_eq!(watch.take().map(|times| times.len()), [0, 0]);
    }
}

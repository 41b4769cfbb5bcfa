//! Times of single operations: read by a calibrated clock, kept in histograms. The loops of `lane`
//! are watched or not; what came of it is read by `latency`.
//!
//! What the clock itself takes is in every figure, and is measured too: subtracted it is nowhere.

use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use quanta::Clock;

/// Times in nanoseconds, to three digits.
pub(crate) type Times = Histogram<u64>;

/// Longest time that is told from longer ones, in nanoseconds: a minute.
const LONGEST: u64 = 60_000_000_000;

/// No times yet.
pub(crate) fn no_times() -> Times {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds and digits within the limits")
}

/// What a loop tells about each acquire and release.
pub(crate) trait Watch: 'static {
    /// Whether anybody looks.
    const LOOKS: bool;

    /// Runs `act`, an acquire.
    fn acquire<H>(&mut self, act: impl FnOnce() -> H) -> H;

    /// Runs `act`, a release.
    fn release(&mut self, act: impl FnOnce());

    /// Hands over what was seen since last time. Called at the end of a stretch.
    fn report(&mut self);
}

/// Nobody looks.
#[derive(Clone, Copy, Debug)]
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

/// The times of both operations.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Of acquires.
    pub(crate) acquire: Times,
    /// Of releases.
    pub(crate) release: Times,
}

impl Seen {
    /// Nothing yet.
    pub(crate) fn nothing() -> Self {
        Seen {
            acquire: no_times(),
            release: no_times(),
        }
    }

    fn add(&mut self, other: &mut Seen) {
        for (sum, part) in [
            (&mut self.acquire, &mut other.acquire),
            (&mut self.release, &mut other.release),
        ] {
            sum.add(&*part).expect("the same bounds");
            part.reset();
        }
    }
}

/// What all threads of a side have seen together.
pub(crate) type Record = Arc<Mutex<Seen>>;

/// A record without times.
pub(crate) fn record() -> Record {
    Arc::new(Mutex::new(Seen::nothing()))
}

/// Takes what is recorded, and leaves nothing.
pub(crate) fn take(record: &Record) -> Seen {
    let mut seen = record.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *seen, Seen::nothing())
}

/// A clock in the hand of one thread.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    clock: Clock,
    seen: Seen,
    record: Record,
}

impl Stopwatch {
    /// One that reports to `record`.
    pub(crate) fn new(clock: Clock, record: Record) -> Self {
        Stopwatch {
            clock,
            seen: Seen::nothing(),
            record,
        }
    }
}

/// Runs `act`; gives its result and the nanoseconds it took, one reading of the clock included.
#[inline(always)]
pub(crate) fn timed<R>(clock: &Clock, act: impl FnOnce() -> R) -> (R, u64) {
    let start = clock.raw();
    let result = act();
    let end = clock.raw();
    (result, clock.delta_as_nanos(start, end))
}

impl Watch for Stopwatch {
    const LOOKS: bool = true;

    #[inline(always)]
    fn acquire<H>(&mut self, act: impl FnOnce() -> H) -> H {
        let (handle, nanos) = timed(&self.clock, act);
        self.seen.acquire.saturating_record(nanos);
        handle
    }

    #[inline(always)]
    fn release(&mut self, act: impl FnOnce()) {
        let ((), nanos) = timed(&self.clock, act);
        self.seen.release.saturating_record(nanos);
    }

    fn report(&mut self) {
        let mut sum = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        sum.add(&mut self.seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_hands_over_each_time_once() {
        let record = record();
        let mut watch = Stopwatch::new(Clock::new(), record.clone());
        assert_eq!(watch.acquire(|| 7), 7);
        watch.release(|| ());
        watch.release(|| ());
        watch.report();
        watch.report();
        let seen = take(&record);
        assert_eq!((seen.acquire.len(), seen.release.len()), (1, 2));
        assert_eq!(take(&record).release.len(), 0);
    }
}

//! What a stretch of work took of the wall's time and of the thread's, and whether it was
//! interrupted.

use std::time::{Duration, Instant};

/// One thread's stretch of work.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// When it began.
    pub start: Instant,
    /// When it ended.
    pub end: Instant,
    /// How long the thread was on a core meanwhile.
    pub busy: Duration,
    /// How often it slept: blocked on a lock, say.
    pub slept: u64,
    /// How often it was taken off its core, or gave it up to another thread.
    pub preempted: u64,
}

impl Span {
    /// This and a later one, without what was between.
    #[must_use]
    pub fn and(self, later: Span) -> Self {
        Span {
            start: self.start,
            end: self.end + (later.end - later.start),
            busy: self.busy + later.busy,
            slept: self.slept + later.slept,
            preempted: self.preempted + later.preempted,
        }
    }
}

/// Runs `work` and measures it.
pub fn measure(work: impl FnOnce()) -> Span {
    let (slept, preempted) = imp::switches();
    let start = Instant::now();
    let busy = imp::busy(start);
    work();
    let busy = imp::busy(start).saturating_sub(busy);
    let end = Instant::now();
    let (slept_after, preempted_after) = imp::switches();
    Span {
        start,
        end,
        busy,
        slept: slept_after - slept,
        preempted: preempted_after - preempted,
    }
}

#[cfg(target_os = "linux")]
mod imp {
    #![allow(unsafe_code)] // System calls.

    use std::mem::MaybeUninit;
    use std::time::{Duration, Instant};

    /// The thread's time on a core so far.
    pub(super) fn busy(_start: Instant) -> Duration {
        let mut time = MaybeUninit::<libc::timespec>::uninit();
        // SAFETY: `time` is valid for writes.
        let failed =
            unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, time.as_mut_ptr()) };
        assert_eq!(failed, 0, "the system has no clock for a thread's time");
        // SAFETY: written by the call, which succeeded.
        let time = unsafe { time.assume_init() };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    /// How often the thread slept, and how often it was preempted.
    pub(super) fn switches() -> (u64, u64) {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is valid for writes.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: all zeroes is a value of it, if the call wrote nothing.
        let usage = unsafe { usage.assume_init() };
        (usage.ru_nvcsw as u64, usage.ru_nivcsw as u64)
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use std::time::{Duration, Instant};

    /// The wall's time: what there is.
    pub(super) fn busy(start: Instant) -> Duration {
        start.elapsed()
    }

    /// Unknown.
    pub(super) fn switches() -> (u64, u64) {
        (0, 0)
    }
}

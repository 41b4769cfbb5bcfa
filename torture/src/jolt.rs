//! Stops threads for a moment, wherever they happen to be: between any two instructions, inside a slot,
//! under a lock. What can go wrong in a window of a nanosecond goes wrong here in seconds.
//!
//! A signal does it. Its handler sleeps, and does nothing else.

#[cfg(target_os = "linux")]
mod imp {
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use parking_lot::Mutex;

    use crate::dice;

    const SIGNAL: libc::c_int = libc::SIGUSR1;

    /// The threads that may be stopped. Each is in here while it cannot have ended.
    static ENLISTED: Mutex<Vec<libc::pthread_t>> = Mutex::new(Vec::new());

    /// For how long the next one is stopped.
    static NANOS: AtomicU64 = AtomicU64::new(0);

    static OVER: AtomicBool = AtomicBool::new(false);

    extern "C" fn on_signal(_signal: libc::c_int) {
        let time = libc::timespec {
            tv_sec: 0,
            tv_nsec: NANOS.load(Ordering::Relaxed) as libc::c_long,
        };
        // SAFETY: the thread's own.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above; the thread may be about to look at it.
        let before = unsafe { *errno };
        // SAFETY: allowed in a handler.
        unsafe { libc::nanosleep(&raw const time, ptr::null_mut()) };
        // SAFETY: as above.
        unsafe { *errno = before };
    }

    /// The calling thread may be stopped while this is kept.
    pub(crate) struct Enlisted(());

    pub(crate) fn enlist() -> Enlisted {
        // SAFETY: asks only.
        let me = unsafe { libc::pthread_self() };
        ENLISTED.lock().push(me);
        Enlisted(())
    }

    impl Drop for Enlisted {
        fn drop(&mut self) {
            // SAFETY: asks only.
            let me = unsafe { libc::pthread_self() };
            ENLISTED.lock().retain(|other| *other != me);
        }
    }

    /// Stops threads until it is dropped.
    #[must_use]
    pub(crate) struct Jolter(Option<JoinHandle<()>>);

    pub(crate) fn start(seed: u64) -> Jolter {
        let handler = on_signal as extern "C" fn(libc::c_int);
        // SAFETY: the handler does what one may do. Calls that it interrupts are begun again.
        unsafe { libc::signal(SIGNAL, handler as libc::sighandler_t) };
        let jolter = thread::Builder::new().name("jolter".to_owned());
        let jolter = jolter.spawn(move || jolt(seed));
        Jolter(Some(jolter.expect("a thread to stop others")))
    }

    fn jolt(seed: u64) {
        dice::seed(seed);
        while !OVER.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_micros(20 + dice::roll(200) as u64));
            let nanos = dice::pick(&[1_000, 20_000, 200_000, 1_000_000]);
            NANOS.store(nanos, Ordering::Relaxed);
            let enlisted = ENLISTED.lock();
            // Several at a time, so that one that goes on finds others half way.
            for _ in 0..1 + dice::roll(3) {
                if let Some(thread) = enlisted.get(dice::roll(enlisted.len().max(1))) {
                    // SAFETY: the thread has not ended: it would have to take itself off the list
                    // first.
                    unsafe { libc::pthread_kill(*thread, SIGNAL) };
                }
            }
        }
    }

    impl Drop for Jolter {
        fn drop(&mut self) {
            OVER.store(true, Ordering::Relaxed);
            let _ = self.0.take().map(JoinHandle::join);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(crate) struct Enlisted;

    pub(crate) fn enlist() -> Enlisted {
        Enlisted
    }

    #[must_use]
    pub(crate) struct Jolter;

    pub(crate) fn start(_seed: u64) -> Jolter {
        Jolter
    }
}

pub(crate) use imp::{enlist, start};

//! What happens when a fault is found: the seed is said, and the process ends with code 1.
//!
//! A fault in here may be a broken memory, so nothing is unwound and nothing cleaned up. A crash is
//! caught as a signal, a hang by a watchdog; both say the seed as well.

use std::any::Any;
use std::cell::Cell;
use std::panic;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The seed of the round under way.
static SEED: AtomicU64 = AtomicU64::new(0);

/// How much was done so far, for the watchdog.
static STEPS: AtomicU64 = AtomicU64::new(0);

/// Whether the last round has been played.
static OVER: AtomicBool = AtomicBool::new(false);

/// A round without any step for so long hangs. No measure of speed: what hangs, hangs for ever.
const HANGS: Duration = Duration::from_secs(120);

thread_local! {
    static CLOSED_MAY_PANIC: Cell<bool> = const { Cell::new(false) };
}

/// The payload of a panic that a hook or a thread was told to have.
pub(crate) struct Scripted;

/// A round begins.
pub(crate) fn begin(seed: u64) {
    SEED.store(seed, Ordering::Relaxed);
    crash::prepare(&how_to_repeat(seed));
}

pub(crate) fn step() {
    STEPS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn steps() -> u64 {
    STEPS.load(Ordering::Relaxed)
}

fn how_to_repeat(seed: u64) -> String {
    format!("found in the round with seed {seed}; again: torture --seed {seed} --rounds 1")
}

/// Says what is wrong, and with which seed, and ends the process.
pub(crate) fn fail(what: &str) -> ! {
    let thread = thread::current();
    let name = thread.name().unwrap_or("?").to_owned();
    eprintln!(
        "torture: FAULT on thread {name}: {what}\n{}",
        how_to_repeat(SEED.load(Ordering::Relaxed))
    );
    process::exit(1);
}

/// [`fail`]s unless `holds`.
pub(crate) fn check(holds: bool, what: impl FnOnce() -> String) {
    if !holds {
        fail(&what());
    }
}

/// Runs `f`, in which an acquire from a closed pool may panic.
pub(crate) fn closed_may_panic<R>(f: impl FnOnce() -> R) -> R {
    CLOSED_MAY_PANIC.set(true);
    let result = f();
    CLOSED_MAY_PANIC.set(false);
    result
}

/// Fails unless `payload` is of a panic that was meant.
pub(crate) fn must_be_scripted(payload: &(dyn Any + Send)) {
    CLOSED_MAY_PANIC.set(false);
    if payload.is::<Scripted>() || is_closed(payload) {
        return;
    }
    fail("a panic that nobody asked for");
}

fn is_closed(payload: &(dyn Any + Send)) -> bool {
    payload
        .downcast_ref::<String>()
        .is_some_and(|message| message.contains("which is closed"))
}

/// Watches while it is kept.
#[must_use]
pub(crate) struct Armed(Option<JoinHandle<()>>);

impl Drop for Armed {
    fn drop(&mut self) {
        OVER.store(true, Ordering::Relaxed);
        // Not left running, where a leak checker would find its stack.
        if let Some(watchdog) = self.0.take() {
            watchdog.thread().unpark();
            let _ = watchdog.join();
        }
    }
}

/// Has every fault that is not found by a check end the process as one that is.
pub(crate) fn arm() -> Armed {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        if payload.is::<Scripted>() || (CLOSED_MAY_PANIC.get() && is_closed(payload)) {
            return;
        }
        fail(&info.to_string());
    }));
    crash::catch();
    let watchdog = thread::Builder::new().name("watchdog".to_owned());
    Armed(Some(
        watchdog.spawn(watch).expect("a thread for the watchdog"),
    ))
}

fn watch() {
    let (mut before, mut since) = ((0, 0), Instant::now());
    while !OVER.load(Ordering::Relaxed) {
        thread::park_timeout(HANGS / 10);
        let now = (SEED.load(Ordering::Relaxed), steps());
        if now != before {
            (before, since) = (now, Instant::now());
        } else if since.elapsed() > HANGS {
            fail(&format!("nothing was done for {} s", HANGS.as_secs()));
        }
    }
}

#[cfg(target_os = "linux")]
mod crash {
    //! A signal handler that writes the seed and leaves the rest to who was there before (a
    //! sanitizer, or the end of the process).

    use std::cell::UnsafeCell;
    use std::mem;
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const SIGNALS: [libc::c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGABRT];

    /// What the handler writes, made beforehand, since little may be done in there.
    struct Note {
        bytes: UnsafeCell<[u8; 160]>,
        len: AtomicUsize,
    }

    // SAFETY: written between rounds, when no other thread runs that could crash.
    unsafe impl Sync for Note {}

    static NOTE: Note = Note {
        bytes: UnsafeCell::new([0; 160]),
        len: AtomicUsize::new(0),
    };

    pub(super) fn prepare(how_to_repeat: &str) {
        let note = format!("\ntorture: CRASH\n{how_to_repeat}\n");
        let len = note.len().min(160);
        // SAFETY: as for `Sync`.
        let bytes = unsafe { &mut *NOTE.bytes.get() };
        bytes[..len].copy_from_slice(&note.as_bytes()[..len]);
        NOTE.len.store(len, Ordering::Release);
    }

    extern "C" fn on_crash(signal: libc::c_int) {
        let len = NOTE.len.load(Ordering::Acquire);
        // SAFETY: the note is not written any more.
        unsafe { libc::write(2, NOTE.bytes.get().cast(), len) };
        // SAFETY: puts back what a process starts with; the signal comes again when this returns,
        // or, if it was sent by `abort`, from there.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    pub(super) fn catch() {
        for signal in SIGNALS {
            // SAFETY: all zeros is a valid `sigaction`.
            let mut before: libc::sigaction = unsafe { mem::zeroed() };
            // SAFETY: asks only.
            unsafe { libc::sigaction(signal, ptr::null(), &raw mut before) };
            // Rust's own handler, for overflows of the stack, has less to say than the seed; that
            // of a sanitizer has more.
            if before.sa_sigaction != libc::SIG_DFL && sanitized() {
                continue;
            }
            let handler = on_crash as extern "C" fn(libc::c_int);
            // SAFETY: the handler does nothing that a handler must not do.
            unsafe { libc::signal(signal, handler as libc::sighandler_t) };
        }
    }

    /// Whether a sanitizer is in this process.
    fn sanitized() -> bool {
        [c"__asan_init", c"__tsan_init"].into_iter().any(|name| {
            // SAFETY: the name is a string that ends.
            let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
            !symbol.is_null()
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod crash {
    pub(super) fn prepare(_how_to_repeat: &str) {}
    pub(super) fn catch() {}
}

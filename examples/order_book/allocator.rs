//! The allocator of the process, which counts when asked to. It has to be known before anything is
//! allocated, so it is named by the environment, and `main` starts the program anew on another.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, Ordering::Relaxed};

use clap::ValueEnum;

const VARIABLE: &std::ffi::CStr = c"ORDER_BOOK_ALLOCATOR";

/// An allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[repr(u8)]
pub(crate) enum Allocator {
    /// What programs have that choose none
    System = 1,
    /// The crate tikv-jemallocator
    Jemalloc,
    /// The crate mimalloc
    Mimalloc,
}

impl Allocator {
    /// The one that this process runs on.
    pub(crate) fn here() -> Allocator {
        match number() {
            JEMALLOC => Allocator::Jemalloc,
            MIMALLOC => Allocator::Mimalloc,
            _ => Allocator::System,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        ["system", "jemalloc", "mimalloc"][self as usize - 1]
    }

    /// Whether the program was built with it.
    pub(crate) fn is_built_in(self) -> bool {
        match self {
            Allocator::System => true,
            Allocator::Jemalloc => cfg!(all(unix, feature = "jemalloc")),
            Allocator::Mimalloc => cfg!(all(unix, feature = "mimalloc")),
        }
    }

    /// Runs the program with its arguments on this allocator; gives its exit code.
    pub(crate) fn run(self) -> io::Result<u8> {
        let variable = VARIABLE.to_str().expect("it is plain text");
        let status = Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .env(variable, self.name())
            .status()?;
        // Without a code when a signal ended it.
        Ok(status
            .code()
            .and_then(|code| code.try_into().ok())
            .unwrap_or(1))
    }
}

/// What `work` asked the allocator for: how often, and the most bytes it held at once. One thread.
pub(crate) fn counted(work: &mut dyn FnMut()) -> (i64, i64) {
    for counter in [&CALLS, &HELD, &PEAK] {
        counter.store(0, Relaxed);
    }
    COUNTING.store(true, Relaxed);
    work();
    COUNTING.store(false, Relaxed);
    (CALLS.load(Relaxed), PEAK.load(Relaxed))
}

#[global_allocator]
static GLOBAL: Switch = Switch;

struct Switch;

const SYSTEM: u8 = Allocator::System as u8;
const JEMALLOC: u8 = Allocator::Jemalloc as u8;
const MIMALLOC: u8 = Allocator::Mimalloc as u8;

/// 0 until the first allocation, which comes before there are other threads; then the same for ever, so
/// that memory goes back to where it came from.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

// Counts of one thread at a time: nothing else is published with them.
static COUNTING: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicI64 = AtomicI64::new(0);
static HELD: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

#[inline(always)]
fn number() -> u8 {
    match CHOSEN.load(Relaxed) {
        0 => choose(),
        known => known,
    }
}

#[cold]
#[inline(never)]
fn choose() -> u8 {
    #[cfg(unix)]
    let number = {
        // `std::env` would allocate.
        // SAFETY: the name ends with a zero, and no thread changes the environment.
        let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
        let named = if value.is_null() {
            c""
        } else {
            // SAFETY: what `getenv` gives ends with a zero, and stays.
            unsafe { std::ffi::CStr::from_ptr(value) }
        };
        match named.to_bytes() {
            b"jemalloc" if Allocator::Jemalloc.is_built_in() => JEMALLOC,
            b"mimalloc" if Allocator::Mimalloc.is_built_in() => MIMALLOC,
            _ => SYSTEM,
        }
    };
    #[cfg(not(unix))]
    let number = SYSTEM;
    CHOSEN.store(number, Relaxed);
    number
}

/// Counts a block that comes with `came` bytes and one that goes with `went`.
#[inline(always)]
fn count(came: usize, went: usize) {
    if COUNTING.load(Relaxed) {
        CALLS.fetch_add(i64::from(came > 0), Relaxed);
        let change = came as i64 - went as i64;
        PEAK.fetch_max(HELD.fetch_add(change, Relaxed) + change, Relaxed);
    }
}

/// Calls a function of the allocator chosen.
macro_rules! forward {
    ($method:ident($($argument:expr),*)) => {
        match number() {
            #[cfg(all(unix, feature = "jemalloc"))]
            // SAFETY: by the caller's contract; the choice never changes.
            JEMALLOC => unsafe { tikv_jemallocator::Jemalloc.$method($($argument),*) },
            #[cfg(all(unix, feature = "mimalloc"))]
            // SAFETY: by the caller's contract; the choice never changes.
            MIMALLOC => unsafe { mimalloc::MiMalloc.$method($($argument),*) },
            // SAFETY: by the caller's contract; the choice never changes.
            _ => unsafe { System.$method($($argument),*) },
        }
    };
}

// SAFETY: every call goes to one allocator, the same for the life of the process; counting allocates
// nothing.
unsafe impl GlobalAlloc for Switch {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        forward!(alloc(layout))
    }

    #[inline(always)]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        forward!(dealloc(memory, layout));
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        forward!(alloc_zeroed(layout))
    }

    #[inline(always)]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        forward!(realloc(memory, layout, size))
    }
}

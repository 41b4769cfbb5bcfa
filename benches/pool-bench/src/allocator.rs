//! The allocator that the program runs on: the system's, or another that it was built with. It has to
//! be known before anything is allocated, so it is read from the environment, and a process that runs
//! on the wrong one starts anew. Called by `main`.
#![allow(unsafe_code)] // Allocators called by hand.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::process::Command;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// Names the allocator of a process that is started by another.
const VARIABLE: &CStr = c"POOL_BENCH_ALLOCATOR";

/// An allocator.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Allocator {
    /// The default of every program.
    System,
    /// The crate `tikv-jemallocator`.
    Jemalloc,
    /// The crate `mimalloc`.
    Mimalloc,
}

impl Allocator {
    fn is_built_in(self) -> bool {
        match self {
            Allocator::System => true,
            Allocator::Jemalloc => cfg!(all(unix, feature = "jemalloc")),
            Allocator::Mimalloc => cfg!(all(unix, feature = "mimalloc")),
        }
    }

    /// The allocator of this process.
    pub(crate) fn here() -> Self {
        #[cfg(all(unix, any(feature = "jemalloc", feature = "mimalloc")))]
        return switch::chosen();
        #[cfg(not(all(unix, any(feature = "jemalloc", feature = "mimalloc"))))]
        Allocator::System
    }

    /// Its name, as `--allocator` reads it.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// A command that runs this program on it.
    ///
    /// # Errors
    ///
    /// Where the system does not tell where the program is.
    pub(crate) fn command(self) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        let variable = VARIABLE.to_str().expect("it is plain text");
        command.env(variable, self.name());
        Ok(command)
    }
}

impl fmt::Display for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Allocator::System => "the system's allocator",
            _ => self.name(),
        })
    }
}

/// The allocators that `--allocator` names, to be measured one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice(pub(crate) Vec<Allocator>);

impl FromStr for Choice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = |one: &&Allocator| name == "all" || name == one.name();
        let named = Allocator::VARIANTS.iter().filter(named);
        let (built_in, missing): (Vec<_>, Vec<_>) = named.partition(|one| one.is_built_in());
        let enough = if name == "all" { 2 } else { 1 };
        let missing: Vec<&str> = missing.into_iter().map(Into::into).collect();
        let features = missing.join(",");
        if built_in.len() >= enough {
            Ok(Choice(built_in))
        } else if missing.is_empty() {
            Err("the allocators are system, jemalloc and mimalloc; or all of them".to_owned())
        } else if cfg!(unix) {
            Err(format!(
                "this program was built without {features}: run it with cargo run --release -p \
                 pool-bench --features {features} -- and the same arguments"
            ))
        } else {
            Err(format!(
                "{features} can be chosen on unix only: leave --allocator out"
            ))
        }
    }
}

/// The allocator of a program that has several. The choice costs a load and a branch that is always
/// the same.
#[cfg(all(unix, any(feature = "jemalloc", feature = "mimalloc")))]
mod switch {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::ffi::CStr;
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::{Allocator, VARIABLE};

    #[global_allocator]
    static GLOBAL: Switch = Switch;

    struct Switch;

    const UNKNOWN: u8 = 0;
    const SYSTEM: u8 = 1;
    const JEMALLOC: u8 = 2;
    const MIMALLOC: u8 = 3;

    /// Written by the first allocation, before there are other threads, and never changed: memory
    /// goes back to the allocator that it came from.
    static CHOSEN: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// The allocator of this process.
    pub(super) fn chosen() -> Allocator {
        match number() {
            JEMALLOC => Allocator::Jemalloc,
            MIMALLOC => Allocator::Mimalloc,
            _ => Allocator::System,
        }
    }

    #[inline(always)]
    fn number() -> u8 {
        // Nothing else is published with it.
        match CHOSEN.load(Ordering::Relaxed) {
            UNKNOWN => choose(),
            known => known,
        }
    }

    #[cold]
    #[inline(never)]
    fn choose() -> u8 {
        // `std::env` would allocate.
        // SAFETY: the name ends with a zero, and no thread changes the environment.
        let value = unsafe { libc::getenv(VARIABLE.as_ptr()) };
        let named = if value.is_null() {
            c""
        } else {
            // SAFETY: what `getenv` gives ends with a zero, and stays.
            unsafe { CStr::from_ptr(value) }
        };
        let number = match named.to_bytes() {
            #[cfg(feature = "jemalloc")]
            b"jemalloc" => JEMALLOC,
            #[cfg(feature = "mimalloc")]
            b"mimalloc" => MIMALLOC,
            _ => SYSTEM,
        };
        CHOSEN.store(number, Ordering::Relaxed);
        number
    }

    /// Calls a method of the allocator chosen.
    macro_rules! forward {
        ($method:ident($($argument:expr),*)) => {
            match number() {
                #[cfg(feature = "jemalloc")]
                // SAFETY: by the caller's contract; the choice never changes.
                JEMALLOC => unsafe { tikv_jemallocator::Jemalloc.$method($($argument),*) },
                #[cfg(feature = "mimalloc")]
                // SAFETY: by the caller's contract; the choice never changes.
                MIMALLOC => unsafe { mimalloc::MiMalloc.$method($($argument),*) },
                // SAFETY: by the caller's contract; the choice never changes.
                _ => unsafe { System.$method($($argument),*) },
            }
        };
    }

    // SAFETY: every call goes to one allocator, the same for the life of the process.
    unsafe impl GlobalAlloc for Switch {
        #[inline(always)]
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            forward!(alloc(layout))
        }

        #[inline(always)]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            forward!(dealloc(memory, layout));
        }

        #[inline(always)]
        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            forward!(alloc_zeroed(layout))
        }

        #[inline(always)]
        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            forward!(realloc(memory, layout, size))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocator_that_is_not_built_in_says_how_to_get_it() {
        for &allocator in Allocator::VARIANTS {
            let choice = allocator.name().parse::<Choice>();
            if allocator.is_built_in() {
                assert_eq!(choice, Ok(Choice(vec![allocator])));
            } else {
                let message = choice.unwrap_err();
                let remedy = format!("--features {}", allocator.name());
                assert!(message.contains(&remedy), "{message}");
            }
        }
    }
}

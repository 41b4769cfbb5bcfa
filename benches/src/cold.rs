//! First bursts: what a process pays for objects that it never had before. Called by the programs and
//! benches with cold rows.
//!
//! A burst is cold once in the life of a process: after it, the memory is the allocator's to give
//! again. So each cold burst has a process of its own. The program that measures starts itself once
//! more for every one and tells the new process, through its environment, what to do: so whoever calls
//! [`first_burst`] must call [`serve`] first in `main`, with the same entrants.

use std::env;
use std::io;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use crate::clock::{Span, measure};
use crate::team::Work;

/// Says to a process that it is there for one burst: the entrant's name, a slash, the burst.
const ORDER: &str = "POOL_BENCH_FIRST_BURST";

/// Whoever can be asked for a first burst.
#[derive(Clone, Copy, Debug)]
pub struct Entrant {
    /// What to call it.
    pub name: &'static str,
    /// A loop of bursts of so many objects, on whatever it takes them from, which is empty.
    pub work: fn(usize) -> Work,
}

impl Entrant {
    /// One with this name and loop.
    #[must_use]
    pub const fn new(name: &'static str, work: fn(usize) -> Work) -> Self {
        Entrant { name, work }
    }
}

/// In a process started for a first burst: does it, tells how long it took, and exits. In any other:
/// nothing.
pub fn serve(entrants: &[Entrant]) {
    let Ok(order) = env::var(ORDER) else {
        return;
    };
    let status = match obey(&order, entrants) {
        Some(span) => {
            println!("{}", tell(span));
            0
        }
        None => {
            eprintln!("error: {ORDER} is set to {order:?}, which names no first burst; unset it");
            1
        }
    };
    // Nothing is given back: the system takes it all.
    process::exit(status);
}

fn obey(order: &str, entrants: &[Entrant]) -> Option<Span> {
    let (name, burst) = order.rsplit_once('/')?;
    let entrant = entrants.iter().find(|entrant| entrant.name == name)?;
    let mut work = (entrant.work)(burst.parse().ok()?);
    Some(measure(|| work(1)))
}

/// Has a new process do one burst of `burst` objects, and tells what that took.
///
/// # Errors
///
/// If the process cannot be started, or fails: then what it said is in the error.
pub fn first_burst(entrant: &str, burst: usize) -> io::Result<Span> {
    let output = Command::new(env::current_exe()?)
        .env(ORDER, format!("{entrant}/{burst}"))
        .output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    hear(&told).ok_or_else(|| {
        let said = String::from_utf8_lossy(&output.stderr);
        io::Error::other(format!("the first burst of {entrant} failed: {said}"))
    })
}

fn tell(span: Span) -> String {
    let wall = (span.end - span.start).as_nanos();
    let busy = span.busy.as_nanos();
    format!("{wall} {busy} {} {}", span.slept, span.preempted)
}

fn hear(told: &str) -> Option<Span> {
    let numbers: Vec<u64> = told
        .split_whitespace()
        .map(|word| word.parse().ok())
        .collect::<Option<_>>()?;
    let [wall, busy, slept, preempted] = numbers[..] else {
        return None;
    };
    let end = Instant::now();
    Some(Span {
        start: end.checked_sub(Duration::from_nanos(wall))?,
        end,
        busy: Duration::from_nanos(busy),
        slept,
        preempted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_heard() {
        let span = measure(|| std::thread::sleep(Duration::from_millis(2)));
        let heard = hear(&tell(span)).expect("four numbers");
        assert_eq!(heard.end - heard.start, span.end - span.start);
        assert_eq!(
            (heard.busy, heard.slept, heard.preempted),
            (span.busy, span.slept, span.preempted)
        );
    }

    #[test]
    fn nonsense_is_not_heard() {
        for told in ["", "1 2 3", "1 2 3 4 5", "1 2 3 x", "Segmentation fault"] {
            assert!(hear(told).is_none(), "{told:?}");
        }
    }

    #[test]
    fn an_order_names_an_entrant_and_a_burst() {
        let entrants = [Entrant::new("batched / 32", |burst| {
            Box::new(move |turns| assert_eq!((burst, turns), (7, 1)))
        })];
        assert!(obey("batched / 32/7", &entrants).is_some());
        for order in ["batched / 32", "batched / 32/x", "mutex/7", ""] {
            assert!(obey(order, &entrants).is_none(), "{order:?}");
        }
    }
}

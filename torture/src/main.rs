//! Tortures the library, and keeps a ledger of its own beside it.
//!
//! ```text
//! cargo run --release -p torture -- --seconds 60 --seed 7
//! ```
//!
//! Rounds follow one another. In each, some threads use some pools in every way there is: hooks panic,
//! sleep and use the pools themselves; handles are sent to other threads, shared, detached, made raw
//! pointers, kept in thread-locals, forgotten; threads die and others come; pools are closed and end
//! while objects are out; threads are stopped for a moment wherever they are (`jolt.rs`). Each object has a page in a shadow ledger (`book.rs`), which finds a second
//! owner, a second end, a second reset and a passed bound at once; when the threads of a round have
//! ended, the pools' own counts are held against it (`rest.rs`).
//!
//! Everything is chosen by dice. A round's seed is said when a fault is found, and played again with
//! `--seed SEED --rounds 1`: the same pools, and on each thread the same dice, so the same steps as far
//! as these do not depend on what other threads have done meanwhile.

mod alarm;
mod dice;
mod jolt;
mod book;
mod body;
mod plan;
mod round;
mod worker;
mod rest;

use std::hash::{BuildHasher, RandomState};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use pool_core::Backend;

use crate::round::{Happened, Rules, play};

/// Tortures the library at random, and checks every object against a ledger of its own.
///
/// Ends with code 1 and the seed of the round at the first fault.
#[derive(Debug, Parser)]
struct Arguments {
    /// For how long to start rounds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seconds: u64,

    /// Where the dice start; chosen and said if not given
    #[arg(long, value_name = "S")]
    seed: Option<u64>,

    /// How many rounds to play, instead of a time
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,

    /// Threads at a time, at most (a storm has four times as many)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=500))]
    threads: u16,

    /// Steps of all threads in a round together, at most
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(4_000..))]
    steps: u32,

    /// Only this backend; may be given several times
    #[arg(long, value_name = "BACKEND")]
    backend: Vec<Backend>,

    /// Forget no handle, so that nothing is leaked
    #[arg(long)]
    no_forget: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let backends = if arguments.backend.is_empty() {
        Backend::ALL.to_vec()
    } else {
        arguments.backend
    };
    let rules = Rules {
        backends,
        threads: usize::from(arguments.threads),
        forget: !arguments.no_forget,
        steps: arguments.steps as usize,
    };
    let happened = Arc::new(Happened::default());
    println!("torture: seed {seed}");
    let armed = alarm::arm();
    let jolter = jolt::start(seed);
    let start = Instant::now();
    for number in 0.. {
        // The first round has the seed itself, so that one that failed can be played alone.
        let seed = if number == 0 {
            seed
        } else {
            dice::mix(seed, number)
        };
        alarm::begin(seed);
        play(seed, &rules, &happened);
        let done = match arguments.rounds {
            Some(rounds) => number + 1 == rounds,
            None => start.elapsed() >= Duration::from_secs(arguments.seconds),
        };
        if done {
            break;
        }
    }
    drop((jolter, armed));
    summary(&happened, start.elapsed());
    ExitCode::SUCCESS
}

fn any_seed() -> u64 {
    // Short, to be read aloud.
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

fn summary(happened: &Happened, took: Duration) {
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let pools = happened.pools.lock();
    let kinds: Vec<_> = pools
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    println!(
        "no fault in {:.1} s: every object had one owner and one end, counts agreed, no bound was passed",
        took.as_secs_f64()
    );
    println!("  rounds      {}", of(&happened.rounds));
    println!("  threads     {}", of(&happened.threads));
    println!(
        "  pools       {} ({})",
        pools.values().sum::<u64>(),
        kinds.join(", ")
    );
    println!("  steps       {}", alarm::steps());
    println!("  objects     {}", of(&happened.objects));
    println!(
        "  panics      {} came through to the caller",
        of(&happened.panics)
    );
    println!(
        "  refused     {} exhausted, {} timed out, {} closed",
        of(&happened.exhausted),
        of(&happened.timeouts),
        of(&happened.closed)
    );
    println!(
        "  waited      {} times, {} futures cancelled",
        of(&happened.waits),
        of(&happened.cancelled)
    );
    println!("  revocations {}", of(&happened.revocations));
    println!(
        "  besides     {} vacant entries, {} bounds moved, {} times looked through, {} waits until none is in use",
        of(&happened.vacant),
        of(&happened.resized),
        of(&happened.retained),
        of(&happened.idled)
    );
    println!(
        "  handles     {} sent to another thread, {} forgotten",
        of(&happened.sent),
        of(&happened.forgotten)
    );
}

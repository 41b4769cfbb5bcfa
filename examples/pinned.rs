//! Two pinned threads that acquire and drop, beside a thread that keeps house: what interrupts them, and what the
//! first message costs.
//!
//! ```text
//! cargo run --release --example pinned
//! cargo run --release --example pinned -- --threads 1    # leaves a core of two to the housekeeper
//! ```
//!
//! What it shows: a housekeeper that trims and reserves. By default each trim looks into the caches of
//! other threads, at the price of a barrier that interrupts their cores. With `Recall::Cooperate` it asks, nobody is
//! interrupted, and who was asked hands its cache over at its next acquire or drop, which takes the pool's lock once.
//! And `Pool::warm`, which does beforehand what the first acquire of a thread does else.
//!
//! A pair is an acquire, a write and a drop, and includes one reading of the clock. With fewer cores than
//! threads and housekeeper, they take turns on a core, and the worst is a turn of the scheduler.
//!
//! Exit codes: 0, all went well; 1, the output cannot be written; 2, an option has to change.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use core_affinity::CoreId;
use hdrhistogram::Histogram;
use pool_core::{Backend, BuildError, Pool, Poolable, Recall};
use pool_examples::cli::{Failure, PoolArgs, finish};
use pool_examples::run::{latencies, nanos_since};

/// Times pairs of acquire and drop on pinned threads, alone and beside a thread that keeps house.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 the output cannot be written; 2 an option has to change."
)]
struct Args {
    /// Pinned threads
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,

    /// Pairs of acquire and drop on each thread
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pairs: u32,

    /// Microseconds from one trim or reserve of the housekeeper to the next
    #[arg(long, value_name = "US", default_value_t = 200,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    every: u64,

    #[command(flatten)]
    pool: PoolArgs,
}

#[derive(Debug, Poolable)]
struct Message {
    price: u64,
    size: u64,
    rest: [u64; 6],
}

/// Objects made at the start, and made up for by the housekeeper.
const PREFILL: usize = 256;
/// What the housekeeper leaves idle at most.
const MOST_IDLE: usize = 2 * PREFILL;
/// Threads whose first message is timed, one after the other.
const NEW_THREADS: usize = 31;

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let unbuilt = |error: BuildError| Failure::Input(error.to_string());
    let mut table = heading();
    let mut pinned = true;
    for (name, recall, disturbed) in [
        ("alone", Recall::Interrupt, false),
        ("interrupt", Recall::Interrupt, true),
        ("cooperate", Recall::Cooperate, true),
    ] {
        let pool = pool(args, recall).map_err(unbuilt)?;
        let run = run(args, &pool, &cores, disturbed);
        pinned &= run.pinned;
        table += &line(name, &run);
    }
    let pool = pool(args, Recall::Interrupt).map_err(unbuilt)?;
    let cold = first_message(&pool, cores.first(), false);
    let warm = first_message(&pool, cores.first(), true);
    Ok(format!(
        "pinned: {}\nbackend: {}\npairs: {} on each of {} threads\n{table}\
         first_message_ns: {cold} cold, {warm} after warm\n",
        placement(args, &cores, pinned),
        args.pool.backend,
        args.pairs,
        args.threads,
    ))
}

fn pool(args: &Args, recall: Recall) -> Result<Pool<Message>, BuildError> {
    let builder = args.pool.builder().recall(recall);
    match args.pool.backend {
        // Keeps none.
        Backend::Heap => builder.build(),
        _ => builder.prefill(PREFILL).build(),
    }
}

/// Which thread is where, or why none is pinned.
fn placement(args: &Args, cores: &[CoreId], pinned: bool) -> String {
    if !pinned {
        return "no (the system does not allow it here); the figures are those of threads that move".to_owned();
    }
    let threads = usize::from(args.threads);
    match cores.len() {
        enough if enough > threads => "yes, each thread to a core of its own".to_owned(),
        few => format!(
            "yes, but {few} cores for {threads} threads and a housekeeper: some share a core"
        ),
    }
}

/// Pins the calling thread to the core of this number, counted round; whether that was allowed.
fn pin(cores: &[CoreId], number: usize) -> bool {
    match cores {
        [] => false,
        _ => core_affinity::set_for_current(cores[number % cores.len()]),
    }
}

/// What a run came to.
struct Run {
    pairs: Histogram<u64>,
    /// Times at which all cores of the process were interrupted.
    interruptions: usize,
    pinned: bool,
}

/// Runs the pinned threads to their end, beside a housekeeper if they are to be `disturbed`.
fn run(args: &Args, pool: &Pool<Message>, cores: &[CoreId], disturbed: bool) -> Run {
    let done = AtomicBool::new(false);
    let start = Barrier::new(usize::from(args.threads));
    let mut run = Run {
        pairs: latencies(),
        interruptions: 0,
        pinned: true,
    };
    thread::scope(|scope| {
        if disturbed {
            scope.spawn(|| keep_house(args, pool, cores, &done));
        }
        let threads: Vec<_> = (0..usize::from(args.threads))
            .map(|number| {
                let start = &start;
                scope.spawn(move || {
                    let pinned = pin(cores, number);
                    pool.warm();
                    start.wait();
                    (pairs(args.pairs, pool), pinned)
                })
            })
            .collect();
        for thread in threads {
            let (pairs, pinned) = thread.join().expect("it does not panic");
            run.pairs.add(pairs).expect("they have the same range");
            run.pinned &= pinned;
        }
        run.interruptions = pool.stats().revocations;
        done.store(true, Ordering::Relaxed);
    });
    run
}

/// What a message loop asks of a pool, again and again; gives how long each took.
fn pairs(count: u32, pool: &Pool<Message>) -> Histogram<u64> {
    let mut took = latencies();
    for price in 0..u64::from(count) {
        let start = Instant::now();
        let mut message = pool.acquire();
        message.price = price;
        drop(message);
        took.saturating_record(nanos_since(start));
    }
    took
}

/// Reserves and trims in turn, as a service does when nothing is due.
fn keep_house(args: &Args, pool: &Pool<Message>, cores: &[CoreId], done: &AtomicBool) {
    // After the others, where there are cores enough.
    pin(cores, usize::from(args.threads));
    while !done.load(Ordering::Relaxed) {
        pool.reserve(PREFILL);
        thread::sleep(Duration::from_micros(args.every));
        pool.trim(MOST_IDLE);
        thread::sleep(Duration::from_micros(args.every));
    }
}

/// Nanoseconds that the first message takes on a new thread, as the middle one of some; each `warm` before, or not.
fn first_message(pool: &Pool<Message>, core: Option<&CoreId>, warm: bool) -> u64 {
    let mut took: Vec<_> = (0..NEW_THREADS)
        .map(|_| {
            let first = || {
                core.map(|core| core_affinity::set_for_current(*core));
                if warm {
                    pool.warm();
                }
                let start = Instant::now();
                pool.acquire().price = 1;
                nanos_since(start)
            };
            thread::scope(|scope| scope.spawn(first).join().expect("it does not panic"))
        })
        .collect();
    took.sort_unstable();
    took[NEW_THREADS / 2]
}

/// The points of a distribution that are printed.
const POINTS: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
    ("max", 1.0),
];

fn heading() -> String {
    let mut heading = format!("{:<10}", "ns a pair");
    for (point, _) in POINTS {
        write!(heading, "{point:>10}").expect("a String takes whatever is written");
    }
    heading + "  interruptions\n"
}

fn line(name: &str, run: &Run) -> String {
    let mut line = format!("{name:<10}");
    for (_, quantile) in POINTS {
        let nanos = run.pairs.value_at_quantile(quantile);
        write!(line, "{nanos:>10}").expect("a String takes whatever is written");
    }
    format!("{line}{:>15}\n", run.interruptions)
}

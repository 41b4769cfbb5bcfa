//! One market-data message to many consumers, without a copy.
//!
//! ```text
//! cargo run --release --example fan_out
//! cargo run --release --example fan_out -- --consumers 6 --capacity 32 --slow 5
//! ```
//!
//! What it shows: a message that is filled by one thread and turned into a `SharedPooled`, of which
//! every consumer gets a handle one word wide; it goes back to the pool when the last consumer has
//! dropped its own, whichever that is. The pool's bound says how far the publisher may be ahead of
//! the slowest consumer (`--slow` makes one).
//!
//! ```text
//!                 ┌─ring─► spread ─┐
//!  rows ─► publisher ─ring─► tape ─┼─► the last to drop gives the message back
//!           ▲     └─ring─► flow ───┤
//!           └──────── pool ◄───────┘
//! ```
//!
//! There are three kinds of consumers, in turn as many as asked for: `spread` watches the best of
//! both sides, `tape` the trades, `flow` what comes into the book and leaves it. Each checks that it
//! saw every message once, in order.
//!
//! Exit codes: 0, all went well; 1, a consumer missed a message, or the output cannot be written; 2,
//! an option has to change.

use std::io::Write as _;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use pool_core::{BuildError, Pool, Poolable, Pooled, SharedPooled};
use pool_examples::book::{Book, Top};
use pool_examples::cli::{Failure, PoolArgs, finish};
use pool_examples::generator::Generator;
use pool_examples::lobster::{Kind, Message};
use pool_examples::{report, ring};
use rtrb::{Consumer, Producer, RingBuffer};

/// Sends every market-data message to several consumers, a thread each, without copying it, and
/// prints what they saw and the stats of the pool.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 a consumer missed a message, or the output cannot be \
                  written; 2 an option has to change."
)]
struct Args {
    /// How many messages to make up
    #[arg(long, value_name = "N", default_value_t = 200_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    count: u32,

    /// What the messages follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Threads that each see every message
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u16).range(1..=64))]
    consumers: u16,

    /// Messages that may be on their way at once: how far the slowest consumer may be behind
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    capacity: u32,

    /// Microseconds that the last consumer takes for a message [default: none to speak of]
    #[arg(long, value_name = "MICROS", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    slow: Option<u32>,

    #[command(flatten)]
    pool: PoolArgs,
}

/// What is published: a message, and the top of the book after it.
#[derive(Debug, Poolable)]
struct Update {
    /// 1 for the first.
    number: u64,
    #[poolable(default)]
    message: Message,
    #[poolable(default)]
    top: Top,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let unbuilt = |error: BuildError| Failure::Input(error.to_string());
    let capacity = args.capacity as usize;
    let updates = args.pool.builder().capacity(capacity).name("updates");
    let updates = updates.build().map_err(unbuilt)?;
    let resting = args.pool.builder().name("resting");
    let book = Book::new(resting.build().map_err(unbuilt)?);

    let start = Instant::now();
    let desks = run(args, &updates, book);
    let elapsed = start.elapsed();
    for (n, desk) in (0..).zip(&desks) {
        if desk.seen != u64::from(args.count) || desk.missed > 0 {
            let Desk { seen, missed, .. } = desk;
            let name = name(n);
            return Err(Failure::Run(format!(
                "{name} saw {seen} of {} messages, {missed} out of order",
                args.count
            )));
        }
    }
    Ok(text(args, &desks, elapsed, &updates).expect("a String takes whatever is written"))
}

/// Starts the consumers, publishes to them, and gives what they saw.
fn run(args: &Args, updates: &Pool<Update>, book: Book) -> Vec<Desk> {
    thread::scope(|scope| {
        let (rings, desks): (Vec<_>, Vec<_>) = (0..args.consumers)
            .map(|n| {
                let (sender, receiver) = RingBuffer::new(args.capacity as usize);
                let last = n + 1 == args.consumers;
                let pause = args.slow.filter(|_| last).map(micros);
                let desk = scope.spawn(move || consume(Desk::new(n), receiver, pause));
                (sender, desk)
            })
            .unzip();
        publish(args, updates, book, rings);
        desks
            .into_iter()
            .map(|desk| desk.join().expect("a consumer does not panic"))
            .collect()
    })
}

fn micros(micros: u32) -> Duration {
    Duration::from_micros(micros.into())
}

/// Fills a message at a time, and gives every ring a handle of it.
fn publish(
    args: &Args,
    updates: &Pool<Update>,
    mut book: Book,
    mut rings: Vec<Producer<SharedPooled<Update>>>,
) {
    let messages = Generator::new(args.seed).take(args.count as usize);
    for (number, message) in (1..).zip(messages) {
        book.apply(&message).expect("the book has no bound");
        let mut update = updates.acquire(); // waits for the slowest, at the bound
        update.number = number;
        update.message = message;
        update.top = book.top();
        // From here on nobody changes it: the type derefs to `&Update` alone.
        let update = Pooled::into_shared(update);
        for ring in &mut rings {
            ring::send(ring, update.clone());
        }
    }
}

/// Sees every message of a ring.
fn consume(
    mut desk: Desk,
    mut updates: Consumer<SharedPooled<Update>>,
    pause: Option<Duration>,
) -> Desk {
    while let Some(update) = ring::receive(&mut updates) {
        desk.see(&update);
        if let Some(pause) = pause {
            thread::sleep(pause);
        }
    }
    desk
}

/// A consumer, and what it has seen.
#[derive(Debug)]
struct Desk {
    watch: Watch,
    seen: u64,
    /// Messages that were not the one after the one before.
    missed: u64,
}

/// What a consumer looks at.
#[derive(Debug)]
enum Watch {
    Spread { both_sides: u64, widest: i64 },
    Tape { trades: u64, shares: u64 },
    Flow { added: u64, removed: u64 },
}

/// What consumer `n` is called.
fn name(n: u16) -> String {
    format!("{}_{n}", ["spread", "tape", "flow"][usize::from(n % 3)])
}

impl Desk {
    fn new(n: u16) -> Desk {
        let watch = match n % 3 {
            0 => Watch::Spread {
                both_sides: 0,
                widest: 0,
            },
            1 => Watch::Tape {
                trades: 0,
                shares: 0,
            },
            _ => Watch::Flow {
                added: 0,
                removed: 0,
            },
        };
        Desk {
            watch,
            seen: 0,
            missed: 0,
        }
    }

    fn see(&mut self, update: &Update) {
        self.seen += 1;
        self.missed += u64::from(update.number != self.seen);
        let Message { kind, size, .. } = update.message;
        match &mut self.watch {
            Watch::Spread { both_sides, widest } => {
                if update.top.bid_size > 0 && update.top.ask_size > 0 {
                    *both_sides += 1;
                    *widest = (*widest).max(update.top.best_ask - update.top.best_bid);
                }
            }
            Watch::Tape { trades, shares } => {
                if matches!(kind, Kind::Execute | Kind::ExecuteHidden) {
                    *trades += 1;
                    *shares += u64::from(size);
                }
            }
            Watch::Flow { added, removed } => {
                *added += u64::from(kind == Kind::Add);
                *removed += u64::from(kind == Kind::Remove);
            }
        }
    }

    /// What it found, by name.
    fn findings(&self) -> [(&'static str, u64); 2] {
        match self.watch {
            Watch::Spread { both_sides, widest } => {
                [("both_sides", both_sides), ("widest", widest as u64)]
            }
            Watch::Tape { trades, shares } => [("trades", trades), ("shares", shares)],
            Watch::Flow { added, removed } => [("added", added), ("removed", removed)],
        }
    }
}

/// What is printed.
fn text(
    args: &Args,
    desks: &[Desk],
    elapsed: Duration,
    updates: &Pool<Update>,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    writeln!(out, "messages: {}", args.count)?;
    for (n, desk) in (0..).zip(desks) {
        let name = name(n);
        writeln!(out, "{name}_seen: {}", desk.seen)?;
        for (key, found) in desk.findings() {
            writeln!(out, "{name}_{key}: {found}")?;
        }
    }
    let rate = f64::from(args.count) / elapsed.as_secs_f64().max(1e-9);
    writeln!(out, "messages_per_second: {rate:.0}")?;
    writeln!(out, "backend: {}", args.pool.backend)?;
    writeln!(out, "capacity: {}", args.capacity)?;
    report::pool(&mut out, "updates", &updates.stats())?;
    Ok(String::from_utf8(out)?)
}

//! Three threads in a row, feed, strategy and gateway, with every message between them from a pool.
//!
//! ```text
//! cargo run --release --example pipeline
//! cargo run --release --example pipeline -- --rate 200000 --capacity 64
//! cargo run --release --example pipeline -- --orders FILE --backend queue
//! ```
//!
//! What it shows: objects that are acquired on one thread and released on the next, over rings that
//! pass one word for each; back-pressure by the pools' bound, since a ring has a slot for every
//! object and so only the pool can be full; the latency that comes of it; and a stage that fails and
//! closes its pool, so that nobody upstream waits for objects that never come back.
//!
//! ```text
//!        ┌──────┐   ticks   ┌──────────┐   orders   ┌─────────┐
//!  rows ─► feed │ ────────► │ strategy │ ─────────► │ gateway │ ──► text
//!        └──▲───┘           └─┬──▲─────┘            └─┬───────┘
//!           └── tick pool ◄───┘  └───── order pool ◄──┘
//! ```
//!
//! The strategy keeps a book and trades with the heavier side of its top; what it decides depends on
//! the messages alone, so every backend, bound and rate gives the same orders. The latency of an
//! order is from when its message was due until it was written. Without `--rate` a message is due
//! when the feed comes to it, and latency is mostly the wait in the rings, which the bound limits;
//! with it, a feed that falls behind counts as late.
//!
//! Exit codes: 0, all went well; 1, the orders or the output cannot be written; 2, an option has to
//! change.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::hint;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use hdrhistogram::Histogram;
use pool_core::{AcquireError, BuildError, Pool, Poolable, Pooled, Stats};
use pool_examples::book::{self, Book, Top};
use pool_examples::cli::{Failure, PoolArgs, finish};
use pool_examples::lobster::{self, Message, Side};
use pool_examples::run::{latencies, nanos_since};
use pool_examples::{generator, report, ring};
use rtrb::{Consumer, Producer, RingBuffer};

/// Runs market-data messages through a feed, a strategy and a gateway, a thread each, and prints
/// what was ordered, how long it took, and the stats of the pools.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 the orders or the output cannot be written; \
                  2 an option has to change."
)]
struct Args {
    /// How many messages to make up
    #[arg(long, value_name = "N", default_value_t = 500_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    count: u32,

    /// What the messages follow from
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Messages that come in a second [default: as many as the feed can read]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    rate: Option<u32>,

    /// Messages, and orders, that may be on their way at once
    #[arg(long, value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    capacity: u32,

    #[command(flatten)]
    pool: PoolArgs,

    /// Where to write the orders, a line each [default: nowhere]
    #[arg(long, value_name = "FILE")]
    orders: Option<PathBuf>,
}

/// A message on its way from feed to strategy.
#[derive(Debug, Poolable)]
struct Tick {
    #[poolable(default)]
    message: Message,
    /// When it was due: nanoseconds since the start.
    due: u64,
}

/// An order on its way from strategy to gateway.
#[derive(Debug, Poolable)]
struct Order {
    #[poolable(default)]
    side: Side,
    size: u64,
    price: i64,
    /// When the message that led to it was due.
    due: u64,
    /// What goes out; keeps its memory from order to order.
    text: String,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let too_many = |error| {
        let count = args.count;
        Failure::Input(format!(
            "--count {count} is too many: {error}; ask for fewer"
        ))
    };
    let data = generator::text(args.seed, args.count as usize).map_err(too_many)?;
    let unbuilt = |error: BuildError| Failure::Input(error.to_string());
    let pools = Pools::new(args).map_err(unbuilt)?;
    let mut sink: Box<dyn Write + Send> = match &args.orders {
        None => Box::new(io::sink()),
        Some(path) => {
            let file = File::create(path).map_err(|error| {
                Failure::Input(format!(
                    "--orders {}: {error}; give a file that can be written, or leave --orders out",
                    path.display()
                ))
            })?;
            Box::new(file) // without a buffer: an order that waits in one is not sent
        }
    };

    let outcome = run(args, &data, &pools, &mut sink).map_err(|error| {
        let path = args.orders.as_deref().unwrap_or("the orders".as_ref());
        Failure::Run(format!("cannot write {}: {error}", path.display()))
    })?;
    Ok(text(args, &outcome).expect("a String takes whatever is written"))
}

/// The pools that the stages share.
struct Pools {
    ticks: Pool<Tick>,
    orders: Pool<Order>,
    /// What rests in the strategy's book; used by that stage alone.
    book: Pool<book::Order>,
}

impl Pools {
    fn new(args: &Args) -> Result<Pools, BuildError> {
        let capacity = args.capacity as usize;
        let choices = &args.pool;
        Ok(Pools {
            ticks: choices.builder().capacity(capacity).name("ticks").build()?,
            orders: choices
                .builder()
                .capacity(capacity)
                .name("orders")
                .build()?,
            book: choices.builder().name("book").build()?,
        })
    }
}

/// What a run came to.
struct Outcome {
    elapsed: Duration,
    sent: Sent,
    pools: [(&'static str, Stats); 2],
}

/// Starts the stages and waits for them.
fn run(
    args: &Args,
    data: &[u8],
    pools: &Pools,
    sink: &mut (dyn Write + Send),
) -> io::Result<Outcome> {
    let (tick_sender, tick_receiver) = RingBuffer::new(args.capacity as usize);
    let (order_sender, order_receiver) = RingBuffer::new(args.capacity as usize);
    let clock = Clock {
        start: Instant::now(),
        rate: args.rate,
    };
    let sent = thread::scope(|scope| {
        scope.spawn(|| feed(data, &pools.ticks, clock, tick_sender));
        scope.spawn(|| {
            if strategy(pools, tick_receiver, order_sender).is_err() {
                pools.ticks.close();
            }
        });
        // The gateway is this thread. If it fails, those before it are told so.
        gateway(order_receiver, clock, sink).inspect_err(|_| pools.orders.close())
    })?;
    Ok(Outcome {
        elapsed: clock.start.elapsed(),
        sent,
        pools: [
            ("ticks", pools.ticks.stats()),
            ("orders", pools.orders.stats()),
        ],
    })
}

/// Tells when messages are due.
#[derive(Clone, Copy)]
struct Clock {
    start: Instant,
    /// Messages in a second; `None`, no pace is kept.
    rate: Option<u32>,
}

impl Clock {
    /// Waits until message `n` is due; says when that was.
    fn wait_for(self, n: u64) -> u64 {
        let Some(rate) = self.rate else {
            return nanos_since(self.start);
        };
        let due = n * 1_000_000_000 / u64::from(rate);
        loop {
            match due.saturating_sub(nanos_since(self.start)) {
                0 => return due,
                1..=20_000 => hint::spin_loop(),
                20_001..=200_000 => thread::yield_now(),
                long => thread::sleep(Duration::from_nanos(long - 100_000)),
            }
        }
    }
}

/// Waits for an object for as long as it takes; an error if the pool is closed meanwhile.
fn acquire<T: Poolable>(pool: &Pool<T>) -> Result<Pooled<T>, AcquireError> {
    pool.acquire_timeout(Duration::MAX)
}

/// The first stage: reads rows into pooled ticks. With `capacity` ticks ahead it waits for one to
/// come back.
fn feed(
    data: &[u8],
    pool: &Pool<Tick>,
    clock: Clock,
    mut ticks: Producer<Pooled<Tick>>,
) -> Result<(), AcquireError> {
    for (n, (_, row)) in (0..).zip(lobster::rows(data)) {
        let due = clock.wait_for(n);
        let mut tick = acquire(pool)?;
        tick.due = due;
        tick.message = lobster::parse(row).expect("the generator writes good rows");
        ring::send(&mut ticks, tick);
    }
    Ok(())
}

/// The second stage: keeps the book, and orders when its top changes its mind.
fn strategy(
    pools: &Pools,
    mut ticks: Consumer<Pooled<Tick>>,
    mut orders: Producer<Pooled<Order>>,
) -> Result<(), AcquireError> {
    let mut book = Book::new(pools.book.clone());
    let mut lean = None;
    while let Some(tick) = ring::receive(&mut ticks) {
        book.apply(&tick.message)?;
        let before = lean;
        let top = book.top();
        lean = leaning(&top).or(before);
        if let Some(side) = lean
            && lean != before
        {
            let mut order = acquire(&pools.orders)?;
            (order.price, order.size) = match side {
                Side::Buy => (top.best_ask, top.ask_size.min(100)),
                Side::Sell => (top.best_bid, top.bid_size.min(100)),
            };
            order.side = side;
            order.due = tick.due;
            ring::send(&mut orders, order);
        }
        // Here the tick goes back, to the feed's thread that is, by way of the pool.
    }
    Ok(())
}

/// The side to trade on: with the one that has four times the shares of the other at the top.
fn leaning(top: &Top) -> Option<Side> {
    if top.bid_size == 0 || top.ask_size == 0 {
        None
    } else if top.bid_size >= top.ask_size * 4 {
        Some(Side::Buy)
    } else if top.ask_size >= top.bid_size * 4 {
        Some(Side::Sell)
    } else {
        None
    }
}

/// What the gateway sent.
struct Sent {
    orders: u64,
    bytes: u64,
    bought: u64,
    sold: u64,
    latency: Histogram<u64>,
}

/// The last stage: writes orders, and takes the time.
fn gateway(
    mut orders: Consumer<Pooled<Order>>,
    clock: Clock,
    sink: &mut dyn Write,
) -> io::Result<Sent> {
    let mut sent = Sent {
        orders: 0,
        bytes: 0,
        bought: 0,
        sold: 0,
        latency: latencies(),
    };
    while let Some(mut order) = ring::receive(&mut orders) {
        sent.orders += 1;
        encode(&mut order, sent.orders).expect("a String takes whatever is written");
        sink.write_all(order.text.as_bytes())?;
        sent.bytes += order.text.len() as u64;
        match order.side {
            Side::Buy => sent.bought += order.size,
            Side::Sell => sent.sold += order.size,
        }
        let late = nanos_since(clock.start).saturating_sub(order.due);
        sent.latency.saturating_record(late);
    }
    sink.flush()?;
    Ok(sent)
}

/// Writes the order's line into its own memory.
fn encode(order: &mut Order, number: u64) -> fmt::Result {
    let Order {
        side, size, price, ..
    } = *order;
    let side = match side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    };
    writeln!(order.text, "{number},{side},{size},{price}")
}

/// What is printed.
fn text(args: &Args, outcome: &Outcome) -> Result<String, Box<dyn std::error::Error>> {
    let Outcome {
        elapsed,
        sent,
        pools,
    } = outcome;
    let mut out = Vec::new();
    writeln!(out, "messages: {}", args.count)?;
    writeln!(out, "orders: {}", sent.orders)?;
    writeln!(out, "order_bytes: {}", sent.bytes)?;
    writeln!(out, "shares_bought: {}", sent.bought)?;
    writeln!(out, "shares_sold: {}", sent.sold)?;
    let rate = f64::from(args.count) / elapsed.as_secs_f64().max(1e-9);
    writeln!(out, "messages_per_second: {rate:.0}")?;
    report::latency(&mut out, &sent.latency)?;
    writeln!(out, "backend: {}", args.pool.backend)?;
    writeln!(out, "capacity: {}", args.capacity)?;
    for (name, stats) in pools {
        report::pool(&mut out, name, stats)?;
    }
    Ok(String::from_utf8(out)?)
}

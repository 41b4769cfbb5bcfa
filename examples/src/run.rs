//! From the bytes of a message file to the figures of its book, on one thread or on several.
//!
//! On one thread every message is read into a pooled `Inbound`, applied, and released. With feed
//! threads, each reads its share of the file and sends what it read to the engine, which applies
//! it in the order of the file and releases it there:
//!
//! ```text
//!           pieces 0, 2, 4, …        ┌──────────┐  Packets   ┌────────┐
//!        ┌─────────────────────────► │  feed 0  │ ─────────► │        │
//!  file ─┤                           └──────────┘ IN_FLIGHT  │ engine │ ──► Figures
//!        │  pieces 1, 3, 5, …        ┌──────────┐  at most   │        │
//!        └─────────────────────────► │  feed 1  │ ─────────► │        │
//!                                    └──────────┘            └────────┘
//!              acquired here ▲                     applied and released here ▲
//! ```
//!
//! Packets are pooled as well, so nothing is allocated per message or per packet once the pools
//! hold what is in flight. The channels bound that, and so hold back feeds that are ahead; hence
//! the pools of messages and packets need no bound of their own, and a bound on the orders cannot
//! be used up by messages that wait.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use hdrhistogram::Histogram;
use pool_core::{Backend, BuildError, Pool, Poolable, Pooled, Stats, unsync};

use crate::book::{Book, Figures, Order};
use crate::format::Format;
use crate::lobster::{Message, RowError};
use crate::store::{Boxes, Slab, Store};

/// Bytes of the file in a packet: a few hundred rows, some tens of microseconds of work.
const PACKET_BYTES: usize = 16 * 1024;
/// Packets that wait in a feed's channel before it is held back.
const IN_FLIGHT: usize = 4;
/// Messages in a packet, as a rule.
const MESSAGES: usize = PACKET_BYTES / 40;
/// Messages in a frame, as a rule at most.
const FOUND: usize = 64;
/// Orders made before the first message.
const ORDERS: usize = 1_024;

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// What the file is.
    pub format: Format,
    /// What the pools stand on.
    pub backend: Backend,
    /// Objects that move between a thread's cache and the depot at a time.
    pub batch_size: Option<usize>,
    /// The most orders that may rest at once.
    pub capacity: Option<usize>,
    /// Feed threads beside the engine's; with 0 the engine's thread does all.
    pub feeds: usize,
    /// Whether to count rows that cannot be read, instead of giving up.
    pub skip_bad: bool,
    /// Whether to read the clock for every message. That is slow enough to show in the rate.
    pub timed: bool,
}

impl Config {
    fn pool<T: Poolable + Send + 'static>(
        &self,
        name: &'static str,
        capacity: Option<usize>,
        prefill: usize,
    ) -> Result<Pool<T>, BuildError> {
        let mut builder = Pool::<T>::builder().backend(self.backend).name(name);
        if let Some(batch_size) = self.batch_size {
            builder = builder.batch_size(batch_size);
        }
        if let Some(capacity) = capacity {
            builder = builder.capacity(capacity);
        }
        builder
            .prefill(prefill.min(capacity.unwrap_or(prefill)))
            .build()
    }
}

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// What the book counted and holds.
    pub figures: Figures,
    /// Rows that could not be read.
    pub skipped: u64,
    /// From before the first row to after the last.
    pub elapsed: Duration,
    /// Nanoseconds from when a row's turn came to when its message was applied and released, if
    /// they were measured. With feed threads that is mostly waiting for the engine.
    pub latency: Option<Histogram<u64>>,
    /// The pools by name, as they were at the end, with the last orders still in the book.
    pub pools: Vec<(&'static str, Stats)>,
}

impl Outcome {
    /// Messages applied in a second.
    #[must_use]
    pub fn messages_per_second(&self) -> u64 {
        // Rounds as `as` does: a rate is no place for an exact answer.
        (self.figures.rows as f64 / self.elapsed.as_secs_f64().max(1e-9)) as u64
    }
}

/// Why a run ended early.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The frame (a row, or a message) that begins at `offset` of the file cannot be read.
    BadRow {
        /// In bytes from the beginning of the file.
        offset: usize,
        /// What is wrong with it.
        error: RowError,
    },
    /// More orders would rest than the capacity allows.
    Full,
    /// The pools cannot be built as configured.
    Build(BuildError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::BadRow { offset, error } => write!(f, "at byte {offset}: {error}"),
            RunError::Full => f.write_str("more orders rest at once than the capacity allows"),
            RunError::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> RunError {
        RunError::Build(error)
    }
}

/// A message on its way to the book.
#[derive(Debug, Poolable)]
struct Inbound {
    #[poolable(default)]
    message: Message,
    /// When its row's turn came: nanoseconds since the run began.
    arrived: u64,
}

/// What a feed made of a piece of the file.
#[derive(Debug, Poolable)]
struct Packet {
    #[poolable(init = Vec::with_capacity(MESSAGES))]
    messages: Vec<Pooled<Inbound>>,
    /// The size of the piece.
    bytes: usize,
    skipped: u64,
    /// What stands behind the messages, if it cannot be read. Nothing comes after it.
    #[poolable(default)]
    bad: Option<RunError>,
}

/// Runs the messages of `data` through a book.
///
/// `progress` is told, every now and then, how many bytes are done since it was last told.
///
/// # Errors
///
/// The first row, in the order of the file, that cannot be read or for which there is no room; or
/// that the configuration makes no pool.
///
/// # Panics
///
/// If a thread cannot be started.
pub fn run(
    config: &Config,
    data: &[u8],
    progress: &mut dyn FnMut(usize),
) -> Result<Outcome, RunError> {
    let packets_in_flight = config.feeds * (IN_FLIGHT + 2); // one being read, one being applied
    let messages_in_flight = (packets_in_flight * MESSAGES).max(1);
    let orders = config.pool::<Order>("orders", config.capacity, ORDERS)?;
    let messages = config.pool::<Inbound>("messages", None, messages_in_flight)?;
    let packets = config.pool::<Packet>("packets", None, packets_in_flight)?;
    let mut engine = Engine::new(config, orders.clone());
    if config.feeds == 0 {
        engine.feed_and_apply(config, data, &mut messages.clone(), progress)?;
    } else {
        engine.apply_from_feeds(config, data, &messages, &packets, progress)?;
    }
    let pools = vec![
        ("orders", orders.stats()),
        ("messages", messages.stats()),
        ("packets", packets.stats()),
    ];
    Ok(engine.outcome(pools))
}

/// Where the objects of a run on one thread live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// No pool: a `Box` each.
    Boxes,
    /// No pool: a `Vec`, and indices.
    Slab,
    /// The pool for one thread.
    Unsync,
    /// The pool on a backend.
    Pool(Backend),
}

impl Home {
    /// All there are: those without a pool, then the pools.
    #[must_use]
    pub fn all() -> Vec<Home> {
        let mut all = vec![Home::Boxes, Home::Slab, Home::Unsync];
        all.extend(Backend::ALL.map(Home::Pool));
        all
    }

    /// Whether it is a pool that keeps objects: on [`Backend::Heap`] it keeps none.
    #[must_use]
    pub fn is_pool(self) -> bool {
        !matches!(self, Home::Boxes | Home::Slab | Home::Pool(Backend::Heap))
    }
}

impl fmt::Display for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Home::Boxes => f.pad("Box"),
            Home::Slab => f.pad("Vec of indices"),
            Home::Unsync => f.pad("pool unsync"),
            Home::Pool(backend) => f.pad(&format!("pool {backend}")),
        }
    }
}

/// Does what [`run`] does on one thread, with the same code, wherever the objects live.
///
/// # Errors
///
/// Those of [`run`].
pub fn run_in(home: Home, config: &Config, data: &[u8]) -> Result<Outcome, RunError> {
    fn alone<O: Store<Order>>(
        config: &Config,
        data: &[u8],
        orders: O,
        messages: &mut impl Store<Inbound>,
    ) -> Result<Outcome, RunError> {
        let mut engine = Engine::new(config, orders);
        engine.feed_and_apply(config, data, messages, &mut |_| {})?;
        Ok(engine.outcome(Vec::new()))
    }
    match home {
        Home::Boxes => alone(config, data, Boxes, &mut Boxes),
        Home::Slab => {
            let orders = Slab::with_capacity(ORDERS);
            alone(config, data, orders, &mut Slab::with_capacity(1))
        }
        Home::Unsync => {
            let orders = unsync::Pool::builder().prefill(ORDERS).build()?;
            alone(config, data, orders, &mut unsync::Pool::new())
        }
        Home::Pool(backend) => {
            let config = Config {
                backend,
                feeds: 0,
                ..*config
            };
            run(&config, data, &mut |_| {})
        }
    }
}

/// An empty histogram of nanoseconds: one to a minute, to three digits.
///
/// # Panics
///
/// If there is no memory for it.
#[must_use]
pub fn latencies() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("the bounds are in order")
}

/// The thread that owns the book, and what it keeps.
struct Engine<O: Store<Order>> {
    book: Book<O>,
    skipped: u64,
    started: Instant,
    latency: Option<Histogram<u64>>,
}

impl<O: Store<Order>> Engine<O> {
    fn new(config: &Config, orders: O) -> Self {
        Engine {
            book: Book::new(orders),
            skipped: 0,
            latency: config.timed.then(latencies),
            started: Instant::now(),
        }
    }

    /// What it all came to.
    fn outcome(self, pools: Vec<(&'static str, Stats)>) -> Outcome {
        Outcome {
            elapsed: self.started.elapsed(),
            figures: self.book.figures(),
            skipped: self.skipped,
            latency: self.latency,
            pools,
        }
    }

    /// Does it all on this thread.
    fn feed_and_apply<M: Store<Inbound>>(
        &mut self,
        config: &Config,
        data: &[u8],
        messages: &mut M,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), RunError> {
        let mut found = Vec::with_capacity(FOUND);
        let mut arrived = self.now();
        for (offset, piece) in config.format.pieces(data, PACKET_BYTES) {
            config.format.frames(piece, |at, frame| {
                match config.format.read(frame, &mut found) {
                    Ok(()) => {}
                    Err(_) if config.skip_bad => {
                        self.skipped += 1;
                        return Ok(());
                    }
                    Err(error) => {
                        return Err(RunError::BadRow {
                            offset: offset + at,
                            error,
                        });
                    }
                }
                for &message in &found {
                    let inbound = Inbound { message, arrived };
                    let mut inbound = messages.put(inbound).map_err(|_| RunError::Full)?;
                    self.apply(messages.get(&mut inbound))?;
                    messages.take(inbound);
                    // One message's end is the next one's beginning, so one look at the clock does.
                    arrived = self.record(arrived);
                }
                Ok(())
            })?;
            progress(piece.len());
            arrived = self.now();
        }
        Ok(())
    }

    /// Applies a message.
    #[inline]
    fn apply(&mut self, inbound: &Inbound) -> Result<(), RunError> {
        let applied = self.book.apply(&inbound.message);
        applied.map_err(|_| RunError::Full)
    }

    /// Records that a message is applied and released, and says when that was, if anyone measures.
    #[inline]
    fn record(&mut self, arrived: u64) -> u64 {
        let now = self.now();
        if let Some(latency) = &mut self.latency {
            latency.saturating_record(now.saturating_sub(arrived));
        }
        now
    }

    /// Nanoseconds since the run began; 0 if nobody measures.
    #[inline]
    fn now(&self) -> u64 {
        if self.latency.is_some() {
            nanos_since(self.started)
        } else {
            0
        }
    }
}

impl Engine<Pool<Order>> {
    /// Starts the feeds, and applies what they send, piece by piece as the file has them.
    fn apply_from_feeds(
        &mut self,
        config: &Config,
        data: &[u8],
        messages: &Pool<Inbound>,
        packets: &Pool<Packet>,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), RunError> {
        let started = config.timed.then_some(self.started);
        // A feed ends when its pieces do, when it met a bad row, or when the engine, gone early,
        // hung up on it. The scope waits for that, and passes on a panic.
        thread::scope(|scope| {
            let inboxes: Vec<_> = (0..config.feeds)
                .map(|feed| {
                    let (outbox, inbox) = sync_channel(IN_FLIGHT);
                    let pieces = config
                        .format
                        .pieces(data, PACKET_BYTES)
                        .skip(feed)
                        .step_by(config.feeds);
                    let feed = Feed {
                        messages,
                        packets,
                        started,
                        config,
                    };
                    thread::Builder::new()
                        .name("feed".to_owned())
                        .spawn_scoped(scope, move || feed.send(pieces, &outbox))
                        .expect("the system starts a thread");
                    inbox
                })
                .collect();
            self.apply_in_turn(&inboxes, progress)
        })
    }

    /// Takes a packet from each feed in turn, until the one whose turn it is has no more.
    fn apply_in_turn(
        &mut self,
        inboxes: &[Receiver<Pooled<Packet>>],
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), RunError> {
        for inbox in inboxes.iter().cycle() {
            let Ok(mut packet) = inbox.recv() else { break };
            for inbound in packet.messages.drain(..) {
                self.apply(&inbound)?;
                let arrived = inbound.arrived;
                drop(inbound);
                self.record(arrived);
            }
            self.skipped += packet.skipped;
            if let Some(bad) = packet.bad.take() {
                return Err(bad);
            }
            progress(packet.bytes);
        }
        Ok(())
    }
}

/// What a feed thread works with.
struct Feed<'a> {
    messages: &'a Pool<Inbound>,
    packets: &'a Pool<Packet>,
    /// When the run began, if anyone measures.
    started: Option<Instant>,
    config: &'a Config,
}

impl Feed<'_> {
    /// Makes a packet of each piece, until one is bad or nobody takes them any more.
    fn send<'a>(
        &self,
        pieces: impl Iterator<Item = (usize, &'a [u8])>,
        outbox: &SyncSender<Pooled<Packet>>,
    ) {
        let mut found = Vec::with_capacity(FOUND);
        for (offset, piece) in pieces {
            let packet = self.read(offset, piece, &mut found);
            let last = packet.bad.is_some();
            if outbox.send(packet).is_err() || last {
                return;
            }
        }
    }

    fn read(&self, offset: usize, piece: &[u8], found: &mut Vec<Message>) -> Pooled<Packet> {
        let mut packet = self.packets.acquire();
        packet.bytes = piece.len();
        let Config {
            format, skip_bad, ..
        } = *self.config;
        let read = format.frames(piece, |at, frame| {
            let arrived = self.started.map_or(0, nanos_since);
            match format.read(frame, found) {
                Ok(()) => packet.messages.extend(found.iter().map(|&message| {
                    let mut inbound = self.messages.acquire();
                    *inbound = Inbound { message, arrived };
                    inbound
                })),
                Err(_) if skip_bad => packet.skipped += 1,
                Err(error) => {
                    return Err(RunError::BadRow {
                        offset: offset + at,
                        error,
                    });
                }
            }
            Ok(())
        });
        packet.bad = read.err();
        packet
    }
}

/// Nanoseconds from `start` to now.
#[inline]
#[must_use]
pub fn nanos_since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

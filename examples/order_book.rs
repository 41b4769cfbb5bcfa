//! An order book fed by market data, with every message and every order from a pool.
//!
//! ```text
//! cargo run --release --example order_book
//! cargo run --release --example order_book -- --messages FILE --threads 3 --capacity 10000
//! cargo run --release --example order_book -- --check
//! cargo run --release --example order_book -- --compare
//! cargo run --release --example order_book -- --format itch --generate FILE
//! ```
//!
//! What it shows: a struct that derives `Poolable` (`src/book.rs`), a pool whose backend is chosen
//! by a flag (`src/run.rs`), handles that give their object back when they drop, objects that are
//! acquired on one thread and released on another (`--threads`), and a bound that is exact to the
//! object (`--capacity`).
//!
//! `FILE` is a LOBSTER message file (`time,type,order id,size,price,direction` and nothing or one more
//! column), a day of Nasdaq's ITCH 5.0, or FIX 4.4 market data. Without it the messages are made up from
//! a seed.
//!
//! The figures come first, then the speed, then the stats of the pools, a `key: value` line each.
//! The messages run twice, the second time with the clock read for each: the rate is that of the
//! first pass, the latency that of the second.
//!
//! Exit codes: 0, all went well; 1, two runs that must agree do not, or the output cannot be
//! written; 2, something given has to change: an option, the file, or a row in it.

#[path = "order_book/allocator.rs"]
mod allocator;

use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use allocator::Allocator;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use pool_core::Backend;
use pool_examples::book::Figures;
use pool_examples::cli::{Failure, PoolArgs, finish};
use pool_examples::format::{Format, Name};
use pool_examples::run::{Config, Outcome, RunError, run};
use pool_examples::{compare, fix, generator, itch, lobster, report};

/// Runs market-data messages through an order book, with every message and every order from a
/// pool, and prints the book's figures, the speed, and the stats of the pools.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 runs disagree, or the output cannot be written; \
                        2 an option, the file, or a row of it has to change."
)]
struct Args {
    /// A file of messages [default: messages made up from --seed]
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,

    /// What the file is, or is made up as [default: what it looks like; made up, lobster]
    #[arg(long, value_name = "NAME", value_enum)]
    format: Option<Name>,

    /// The symbol to read [default: in ITCH all, a book each, and the best are those of the last
    /// message's; in FIX the only one]
    #[arg(long, value_name = "NAME", requires = "messages", value_parser = symbol)]
    symbol: Option<String>,

    /// Also write the made-up messages to a file
    #[arg(long, value_name = "FILE", conflicts_with = "messages")]
    generate: Option<PathBuf>,

    /// How many messages to make up
    #[arg(long, value_name = "N", default_value_t = 1_000_000, conflicts_with = "messages",
          value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    count: u32,

    /// What the made-up messages follow from
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "messages"
    )]
    seed: u64,

    #[command(flatten)]
    pool: PoolArgs,

    /// The most orders that may rest at once [default: no bound]
    #[arg(long, value_name = "N")]
    capacity: Option<usize>,

    /// Threads that read messages for the one that applies them; with 0 that one does it all
    #[arg(long, value_name = "N", default_value_t = 0,
          value_parser = clap::value_parser!(u16).range(0..=256))]
    threads: u16,

    /// Also run every backend, with 0, 1 and 3 threads, and compare the figures
    #[arg(long)]
    check: bool,

    /// Compare with what programs have that use no pool, on one thread
    #[arg(long, conflicts_with_all = ["backend", "batch_size", "capacity", "threads", "check"])]
    compare: bool,

    /// The allocator to run on
    #[arg(long, value_name = "NAME", value_enum, default_value = "system")]
    allocator: Allocator,

    /// Count rows that cannot be read and go on, instead of stopping at the first
    #[arg(long)]
    skip_bad: bool,
}

fn symbol(name: &str) -> Result<String, String> {
    match name.len() {
        1..=32 => Ok(name.to_owned()),
        bytes => Err(format!("a symbol has 1 to 32 bytes, not {bytes}")),
    }
}

impl Args {
    /// The run asked for, of a file in `format`.
    fn config(&self, format: Format) -> Config {
        Config {
            format,
            backend: self.pool.backend,
            batch_size: self.pool.batch_size,
            capacity: self.capacity,
            feeds: usize::from(self.threads),
            skip_bad: self.skip_bad,
            timed: false,
        }
    }

    /// The runs that `--check` compares `config` with.
    fn checks(&self, config: &Config) -> Vec<Config> {
        let mut checks = Vec::new();
        for backend in Backend::ALL {
            for feeds in [0, 1, 3] {
                let batch_size = self.pool.batch_size.filter(|_| backend == Backend::Batched);
                checks.push(Config {
                    backend,
                    batch_size,
                    feeds,
                    ..*config
                });
            }
        }
        checks
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.allocator == Allocator::here() {
        return finish(work(&args));
    }
    let name = args.allocator.name();
    if !args.allocator.is_built_in() {
        return finish(Err(Failure::Input(format!(
            "--allocator {name}: this program was built without it; run it with cargo run --release \
             --example order_book --features {name} -- and the same arguments (on unix)"
        ))));
    }
    match args.allocator.run() {
        Ok(code) => ExitCode::from(code),
        Err(error) => finish(Err(Failure::Run(format!("--allocator {name}: {error}")))),
    }
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let source = Source::open(args)?;
    let config = args.config(source.format);
    let checks = if args.check {
        args.checks(&config)
    } else {
        Vec::new()
    };
    let bar = Bar::new(source.rows().len() * (2 + checks.len()));

    let outcome = source.run(&config, &bar)?;
    let timed = source.run(
        &Config {
            timed: true,
            ..config
        },
        &bar,
    )?;
    agree(&config, &outcome, &config, &timed)?;
    let mut rates = Vec::new();
    for check in checks {
        let checked = source.run(&check, &bar)?;
        agree(&config, &outcome, &check, &checked)?;
        rates.push((check, checked.messages_per_second()));
    }
    drop(bar);
    if outcome.figures.rows == 0 {
        return Err(Failure::Input(match (outcome.skipped, &args.symbol) {
            (0, Some(symbol)) => format!(
                "{source}: no order of {symbol} in it; give another --symbol, or leave it out"
            ),
            (0, None) => format!("{source}: no message about orders in it; give another file"),
            (skipped, _) => {
                let guess = Name::guess(&source.data);
                format!(
                    "{source}: none of its {skipped} rows can be read; --format says what it is, and \
                     it looks like {guess}"
                )
            }
        }));
    }
    if args.compare {
        let table = compare::compare(&config, source.rows(), &outcome.figures, allocator::counted);
        let table = table.map_err(|error| Failure::Run(error.to_string()))?;
        let allocator = Allocator::here().name();
        let rows = outcome.figures.rows;
        return Ok(format!(
            "messages: {rows}, {source}\nallocator: {allocator}\n{table}"
        ));
    }
    Ok(text(args, &outcome, &timed, &rates).expect("a String takes whatever is written"))
}

/// What is printed.
fn text(
    args: &Args,
    outcome: &Outcome,
    timed: &Outcome,
    rates: &[(Config, u64)],
) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    report::figures(&mut out, &outcome.figures)?;
    if args.skip_bad {
        writeln!(out, "skipped: {}", outcome.skipped)?;
    }
    writeln!(
        out,
        "messages_per_second: {}",
        outcome.messages_per_second()
    )?;
    if let Some(latency) = &timed.latency {
        report::latency(&mut out, latency)?;
    }
    writeln!(out, "backend: {}", args.pool.backend)?;
    writeln!(out, "threads: {}", args.threads)?;
    for (name, stats) in &outcome.pools {
        report::pool(&mut out, name, stats)?;
    }
    for (Config { backend, feeds, .. }, rate) in rates {
        writeln!(
            out,
            "check_{backend}_threads_{feeds}_messages_per_second: {rate}"
        )?;
    }
    if args.check {
        writeln!(out, "check: all {} runs agree", rates.len() + 2)?;
    }
    Ok(String::from_utf8(out)?)
}

/// An error unless two runs counted the same and ended with the same book.
fn agree(a: &Config, a_outcome: &Outcome, b: &Config, b_outcome: &Outcome) -> Result<(), Failure> {
    let seen = |outcome: &Outcome| -> (Figures, u64) { (outcome.figures, outcome.skipped) };
    if seen(a_outcome) == seen(b_outcome) {
        return Ok(());
    }
    let mut message = "two runs of the same messages disagree".to_owned();
    for (config, outcome) in [(a, a_outcome), (b, b_outcome)] {
        let Config { backend, feeds, .. } = config;
        let Outcome {
            figures, skipped, ..
        } = outcome;
        let _ = write!(
            message,
            "\n  backend {backend}, threads {feeds}: {figures:?}, skipped {skipped}"
        );
    }
    Err(Failure::Run(message))
}

/// The messages, and what to call where they come from.
struct Source {
    name: String,
    data: Vec<u8>,
    format: Format,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Source {
    /// Reads the file or makes messages up, all of it into memory, so that what is timed later is
    /// the work on the messages alone.
    fn open(args: &Args) -> Result<Source, Failure> {
        let Some(path) = &args.messages else {
            let name = format!("messages made up from seed {}", args.seed);
            let format = args.format.unwrap_or(Name::Lobster);
            let data = generator::file(format, args.seed, args.count as usize);
            let data = data.map_err(|error| {
                Failure::Input(format!(
                    "--count {} is too many: {error}; ask for fewer",
                    args.count
                ))
            })?;
            if let Some(path) = &args.generate {
                std::fs::write(path, &data).map_err(|error| {
                    let path = path.display();
                    let says = "give --generate a file that can be written";
                    Failure::Input(format!("{path}: {error}; {says}"))
                })?;
            }
            return Source::of(name, data, format, None);
        };
        let data = std::fs::read(path).map_err(|error| {
            let instead = "leave --messages out for made-up messages";
            Failure::unreadable(path, &error, instead)
        })?;
        let name = path.display().to_string();
        if data.starts_with(b"\x1f\x8b") {
            return Err(Failure::Input(format!(
                "{name}: the file is compressed; unpack it first: gunzip --keep {name}"
            )));
        }
        let format = args.format.unwrap_or_else(|| Name::guess(&data));
        Source::of(name, data, format, args.symbol.as_deref())
    }

    /// Data in the format of that name, of which one symbol may be asked for.
    fn of(
        name: String,
        data: Vec<u8>,
        format: Name,
        symbol: Option<&str>,
    ) -> Result<Source, Failure> {
        let format = match (format, symbol) {
            (Name::Lobster, None) => Format::Lobster,
            (Name::Lobster, Some(_)) => {
                return Err(Failure::Input(format!(
                    "{name}: a LOBSTER file is about one symbol and does not name it; leave --symbol out"
                )));
            }
            (Name::Itch, None) => Format::Itch(None),
            (Name::Itch, Some(symbol)) => match itch::locate(&data, symbol) {
                Ok(locate) => Format::Itch(Some(locate)),
                Err(named) => {
                    let some = named[..named.len().min(5)].join(", ");
                    return Err(Failure::Input(format!(
                        "{name}: none of its {} messages of type R names {symbol}; give --symbol one of \
                         those named (the first: {some}), or leave it out",
                        named.len()
                    )));
                }
            },
            (Name::Fix, symbol) => Format::Fix(fix::Only::new(&data, symbol)),
        };
        let source = Source { name, data, format };
        if source.rows().is_empty() {
            return Err(Failure::Input(format!(
                "{source}: the file holds no rows; give one that does, or leave --messages out \
                 for made-up messages"
            )));
        }
        Ok(source)
    }

    /// The data up to the end of the last row.
    fn rows(&self) -> &[u8] {
        match self.format {
            Format::Itch(_) => &self.data,
            _ => lobster::trim_end(&self.data),
        }
    }

    fn run(&self, config: &Config, bar: &Bar) -> Result<Outcome, Failure> {
        run(config, self.rows(), &mut |bytes| bar.advance(bytes)).map_err(|error| {
            bar.clear();
            Failure::Input(self.explain(config, &error))
        })
    }

    /// Says what has to change.
    fn explain(&self, config: &Config, error: &RunError) -> String {
        match error {
            RunError::BadRow { offset, error } => {
                let place = self.format.explain(&self.data, *offset, error);
                let guess = Name::guess(&self.data);
                let remedy = match offset {
                    0 if guess != self.format.name() => {
                        format!("the file looks like --format {guess}")
                    }
                    _ => "--skip-bad counts such rows and goes on".to_owned(),
                };
                format!("{self}{place}\n  {remedy}")
            }
            RunError::Full => {
                let capacity = config.capacity.unwrap_or_default();
                let unbounded = Config {
                    capacity: None,
                    feeds: 0,
                    ..*config
                };
                let enough = match run(&unbounded, self.rows(), &mut |_| {}) {
                    Ok(outcome) => format!("--capacity {} is enough", outcome.figures.peak_resting),
                    Err(_) => "raise it".to_owned(),
                };
                format!(
                    "--capacity {capacity} is too small: more orders of {self} rest at once; \
                     {enough}, and without --capacity there is no bound"
                )
            }
            error => error.to_string(),
        }
    }
}

/// A progress bar on standard error, if that is a terminal, and nothing otherwise.
struct Bar(ProgressBar);

impl Bar {
    fn new(bytes: usize) -> Bar {
        let style = ProgressStyle::with_template("{wide_bar} {percent}% {eta}")
            .expect("the template is well-formed");
        Bar(ProgressBar::new(bytes as u64).with_style(style))
    }

    fn advance(&self, bytes: usize) {
        self.0.inc(bytes as u64);
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

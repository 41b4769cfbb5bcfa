//! A pool whose backend and sizes come from a configuration file and from flags.
//!
//! ```text
//! cargo run --release --example choosing_a_backend
//! cargo run --release --example choosing_a_backend -- --config examples/pool.toml
//! cargo run --release --example choosing_a_backend -- --config examples/pool.toml --backend queue
//! ```
//!
//! What it shows: that the backend is a value, so that a deployment chooses it and not the code; one
//! struct of settings that the file and the flags both fill; and errors that say which setting to
//! change, and whether it stands in the file or on the command line. `pool.toml` beside this file
//! lists the settings.
//!
//! A flag wins over the file, and the file over the defaults. The file's batch size is meant for the
//! file's backend: it is set aside where `--backend` names one without batches.
//!
//! The settings come first, with where each is from, then what a short load did with them, a
//! `key: value` line each.
//!
//! Exit codes: 0, all went well; 1, the output cannot be written; 2, an option or the file has to
//! change.

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Parser;
use pool_core::{Backend, Builder, Pool, Poolable};
use pool_examples::cli::{Failure, finish};
use pool_examples::report;
use serde::{Deserialize, Deserializer, de::Error as _};

/// Builds a pool as a TOML file and flags say, uses it for a moment, and prints what was chosen and
/// the stats.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 the output cannot be written; 2 an option or the file \
                  has to change."
)]
struct Args {
    /// A TOML file with a table [pool]; the flags below win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    flags: Settings,

    /// Threads that use the pool
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    pool: Settings,
}

/// What can be said about a pool, by a file or by flags; `None` where nothing was said.
// (A negative number is let through to the parser, whose error names the flag.)
#[derive(Clone, Debug, Default, Deserialize, clap::Args)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    /// What the pool stands on: heap, mutex, queue or batched [default: batched]
    #[arg(long, value_name = "NAME")]
    #[serde(deserialize_with = "by_name")]
    backend: Option<Backend>,

    /// Objects that move between a thread's cache and the depot at a time (batched only)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    batch_size: Option<usize>,

    /// The most objects alive, idle ones included [default: no bound]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    capacity: Option<usize>,

    /// Objects made at once [default: none]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    prefill: Option<usize>,

    /// Memory for how many objects to ask for at a time
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    grow_by: Option<usize>,

    /// Objects that come back when as many are idle are dropped [default: no limit]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_idle: Option<usize>,
}

/// A backend in a file is its name, as on a command line.
fn by_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Backend>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(D::Error::custom)
}

impl Settings {
    /// These, and where nothing is said `others`.
    fn or(&self, others: &Settings) -> Settings {
        Settings {
            backend: self.backend.or(others.backend),
            batch_size: self.batch_size.or(others.batch_size),
            capacity: self.capacity.or(others.capacity),
            prefill: self.prefill.or(others.prefill),
            grow_by: self.grow_by.or(others.grow_by),
            max_idle: self.max_idle.or(others.max_idle),
        }
    }

    /// A builder that was told all of this.
    fn builder<T: Poolable>(&self) -> Builder<T> {
        let mut builder = Pool::builder();
        if let Some(backend) = self.backend {
            builder = builder.backend(backend);
        }
        if let Some(batch_size) = self.batch_size {
            builder = builder.batch_size(batch_size);
        }
        if let Some(capacity) = self.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(prefill) = self.prefill {
            builder = builder.prefill(prefill);
        }
        if let Some(grow_by) = self.grow_by {
            builder = builder.grow_by(grow_by);
        }
        if let Some(max_idle) = self.max_idle {
            builder = builder.max_idle(max_idle);
        }
        builder
    }

    /// Each setting by the name it has in a file, with what was said.
    fn said(&self) -> [(&'static str, Option<String>); 6] {
        let number = |number: Option<usize>| number.map(|number| number.to_string());
        [
            ("backend", self.backend.map(|backend| backend.to_string())),
            ("batch_size", number(self.batch_size)),
            ("capacity", number(self.capacity)),
            ("prefill", number(self.prefill)),
            ("grow_by", number(self.grow_by)),
            ("max_idle", number(self.max_idle)),
        ]
    }
}

/// What was chosen, and where from.
struct Choice {
    /// Of the file, as far as they count.
    file: Settings,
    flags: Settings,
    path: Option<PathBuf>,
}

impl Choice {
    fn read(args: &Args) -> Result<Choice, Failure> {
        let mut file = match &args.config {
            None => Settings::default(),
            Some(path) => {
                let text = std::fs::read_to_string(path).map_err(|error| {
                    let instead = "leave --config out for the defaults";
                    Failure::unreadable(path, &error, instead)
                })?;
                let parsed = toml::from_str::<File>(&text).map_err(|error| {
                    // Shows the line, and says what was expected there.
                    Failure::Input(format!(
                        "{}: {}",
                        path.display(),
                        error.to_string().trim_end()
                    ))
                })?;
                parsed.pool
            }
        };
        if args
            .flags
            .backend
            .is_some_and(|backend| backend != Backend::Batched)
        {
            file.batch_size = None;
        }
        Ok(Choice {
            file,
            flags: args.flags.clone(),
            path: args.config.clone(),
        })
    }

    fn settings(&self) -> Settings {
        self.flags.or(&self.file)
    }
}

impl fmt::Display for Choice {
    /// A line for each setting that was made.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((name, flag), (_, file)) in self.flags.said().into_iter().zip(self.file.said()) {
            if let Some(value) = flag {
                writeln!(f, "{name}: {value} (--{})", name.replace('_', "-"))?;
            } else if let (Some(value), Some(path)) = (file, &self.path) {
                writeln!(f, "{name}: {value} ({})", path.display())?;
            }
        }
        Ok(())
    }
}

/// An object of the pool.
#[derive(Debug, Poolable)]
struct Order {
    id: u64,
    symbol: String,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Runs what `args` ask for, and gives what there is to print.
fn work(args: &Args) -> Result<String, Failure> {
    let choice = Choice::read(args)?;
    let settings = choice.settings();
    let disagree = |error: &dyn fmt::Display| {
        let made = choice.to_string().replace('\n', "\n  ");
        Failure::Input(format!("{error}\n  {}", made.trim_end()))
    };
    for (name, objects) in [("prefill", settings.prefill), ("grow_by", settings.grow_by)] {
        if let Some(objects) = objects.filter(|&objects| objects > MOST) {
            let error = format!("{name} {objects} exceeds {MOST}: lower the {name}");
            return Err(disagree(&error));
        }
    }
    let pool = settings.builder::<Order>().name("orders").build();
    let pool = pool.map_err(|error| disagree(&error))?;
    load(&pool, args.threads);
    Ok(text(&choice, &pool).expect("a String takes whatever is written"))
}

/// Objects that memory is asked for at a time, at most. A pool would ask for as many as it is told to,
/// and where the system has no memory for them, that ends a program.
const MOST: usize = 10_000_000;
/// Objects that a thread holds at once, if the bound lets it.
const BURST: usize = 10;
/// Times that each thread does.
const ROUNDS: u64 = 10_000;

/// Uses the pool from several threads for a moment.
fn load(pool: &Pool<Order>, threads: u16) {
    let burst = BURST.min(pool.capacity().unwrap_or(BURST));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(move || {
                for id in 0..ROUNDS {
                    for order in &mut pool.acquire_many(burst) {
                        order.id = id;
                        order.symbol.push_str("AMZN");
                    }
                }
            });
        }
    });
}

/// What is printed.
fn text(choice: &Choice, pool: &Pool<Order>) -> Result<String, Box<dyn std::error::Error>> {
    let mut out = choice.to_string();
    if choice.settings().backend.is_none() {
        writeln!(out, "backend: {} (default)", pool.backend())?;
    }
    let mut counts = Vec::new();
    report::pool(&mut counts, "orders", &pool.stats())?;
    out.push_str(&String::from_utf8(counts)?);
    Ok(out)
}

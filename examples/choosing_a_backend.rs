//! A pool whose backend and sizes come from a configuration file and from flags.
//!
//! ```text
//! cargo run --release --example choosing_a_backend
//! cargo run --release --example choosing_a_backend -- --config examples/pool.toml
//! cargo run --release --example choosing_a_backend -- --config examples/pool.toml --backend queue
//! ```
//!
//! What it shows: that the backend is a value, so that a deployment chooses it and not the code; a
//! `PoolConfig` that the file fills and another that the flags do, one laid over the other; and errors that say which setting to
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
use pool_core::{Backend, Pool, PoolConfig, Poolable, ResetOn};
use pool_examples::cli::{Failure, finish};
use pool_examples::report;
use serde::Deserialize;

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
    flags: Flags,

    /// Threads that use the pool
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
}

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    pool: PoolConfig,
}

/// What flags say about the pool; `None` where nothing was said.
// (A negative number is let through to the parser, whose error names the flag.)
#[derive(Debug, clap::Args)]
struct Flags {
    /// What the pool stands on: heap, mutex, queue or batched [default: batched]
    #[arg(long, value_name = "NAME")]
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

    /// When an object is wiped: on release or acquire [default: release]
    #[arg(long, value_name = "WHEN")]
    reset_on: Option<ResetOn>,

    /// What the pool is called [default: orders]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

impl Flags {
    fn config(&self) -> PoolConfig {
        let mut config = PoolConfig::default();
        config.backend = self.backend;
        config.batch_size = self.batch_size;
        config.capacity = self.capacity;
        config.prefill = self.prefill;
        config.grow_by = self.grow_by;
        config.max_idle = self.max_idle;
        config.reset_on = self.reset_on;
        config.name = self.name.clone().map(Into::into);
        config
    }
}

/// Each setting by the name it has in a file, with what was said.
fn said(config: &PoolConfig) -> [(&'static str, Option<String>); 8] {
    let number = |number: Option<usize>| number.map(|number| number.to_string());
    [
        ("backend", config.backend.map(|backend| backend.to_string())),
        ("batch_size", number(config.batch_size)),
        ("capacity", number(config.capacity)),
        ("prefill", number(config.prefill)),
        ("grow_by", number(config.grow_by)),
        ("max_idle", number(config.max_idle)),
        ("reset_on", config.reset_on.map(|when| when.to_string())),
        ("name", config.name.as_ref().map(ToString::to_string)),
    ]
}

/// What was chosen, and where from.
struct Choice {
    /// Of the file, as far as it counts.
    file: PoolConfig,
    flags: PoolConfig,
    path: Option<PathBuf>,
}

impl Choice {
    fn read(args: &Args) -> Result<Choice, Failure> {
        let mut file = match &args.config {
            None => PoolConfig::default(),
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
        let flags = args.flags.config();
        if flags
            .backend
            .is_some_and(|backend| backend != Backend::Batched)
        {
            file.batch_size = None;
        }
        Ok(Choice {
            file,
            flags,
            path: args.config.clone(),
        })
    }

    fn settings(&self) -> PoolConfig {
        let mut settings = self.file.clone();
        settings.apply(&self.flags);
        settings
    }
}

impl fmt::Display for Choice {
    /// A line for each setting that was made.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((name, flag), (_, file)) in said(&self.flags).into_iter().zip(said(&self.file)) {
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
    let builder = Pool::<Order>::builder().name("orders");
    let pool = builder.apply(&settings).build();
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

//! The main ideas in a screen.
//!
//! ```text
//! cargo run --release --example quickstart
//! ```
//!
//! What it shows: how a struct says what a fresh one looks like, a pool with a bound, handles that
//! give their object back when they drop, many objects at once, one object with many owners, and
//! what the pool counts. Each step says what it found; the README and the crate's documentation have
//! the rest.

use std::fmt::Write;
use std::process::ExitCode;
use std::thread;

use clap::Parser;
use pool_core::{AcquireError, Backend, Pool, Poolable, Pooled};
use pool_examples::cli::{Failure, finish};

/// Shows the main ideas of the pool in a screen.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {}

#[derive(Debug, Poolable)]
struct Order {
    id: u64,
    symbol: String, // cleared when it comes back; its memory stays
    #[poolable(default = 100)]
    size: u32,
}

fn main() -> ExitCode {
    let Args {} = Args::parse();
    finish(tour().map_err(|error| Failure::Run(error.to_string())))
}

fn tour() -> Result<String, Box<dyn std::error::Error>> {
    let mut out = String::new();
    let pool = Pool::<Order>::builder()
        .backend(Backend::Batched) // a value: a flag or a file may choose
        .capacity(8)
        .name("orders")
        .build()?;

    // A handle is a word wide and owns its object: it borrows nothing and goes where it likes.
    let mut order = pool.acquire();
    order.id = 7;
    order.symbol.push_str("AMZN");
    writeln!(out, "acquired: {order:?}")?;
    thread::spawn(move || drop(order)).join().expect("no panic");

    // It is back, dropped on another thread, and was wiped on its way.
    let order = pool.acquire();
    writeln!(out, "used again: {order:?}")?;
    drop(order);

    // Many at once: one visit to the thread's cache. The bound counts every object there is.
    let mut burst = pool.acquire_many(8);
    for (id, order) in (1..).zip(burst.iter_mut()) {
        order.id = id;
    }
    let refused = pool.try_acquire();
    assert_eq!(refused.unwrap_err(), AcquireError::Exhausted);
    writeln!(out, "with 8 of 8 out: {}", AcquireError::Exhausted)?;
    drop(burst);

    // One object, many owners: it comes back when the last of them drops.
    let mut order = pool.acquire();
    order.symbol.push_str("MSFT");
    let shared = Pooled::into_shared(order);
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || shared.symbol.len())
        })
        .collect();
    drop(shared);
    for reader in readers {
        assert_eq!(reader.join().expect("no panic"), 4);
    }

    let stats = pool.stats();
    assert_eq!((stats.created, stats.idle, stats.in_use), (8, 8, 0));
    writeln!(out, "at the end: {pool:?}")?;
    Ok(out)
}

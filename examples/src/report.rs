//! An outcome as text: a `key: value` line each, in a fixed order, for people and scripts alike.

use std::io::{self, Write};

use hdrhistogram::Histogram;
use pool_core::Stats;

use crate::book::Figures;

/// Writes what the book counted and holds.
///
/// # Errors
///
/// Those of `out`.
pub fn figures(out: &mut dyn Write, figures: &Figures) -> io::Result<()> {
    let numbers = [
        ("rows", figures.rows),
        ("added", figures.added),
        ("reduced", figures.reduced),
        ("removed", figures.removed),
        ("executed", figures.executed),
        ("hidden", figures.hidden),
        ("other", figures.other),
        ("unknown", figures.unknown),
        ("duplicate", figures.duplicate),
        ("resting", figures.resting),
        ("peak_resting", figures.peak_resting),
        ("best_bid", figures.top.best_bid.cast_unsigned()),
        ("bid_size", figures.top.bid_size),
        ("best_ask", figures.top.best_ask.cast_unsigned()),
        ("ask_size", figures.top.ask_size),
        ("bid_shares", figures.bid_shares),
        ("ask_shares", figures.ask_shares),
        ("bid_levels", figures.bid_levels),
        ("ask_levels", figures.ask_levels),
    ];
    for (key, number) in numbers {
        writeln!(out, "{key}: {number}")?;
    }
    writeln!(out, "top_of_book_fnv1a: {:016x}", figures.top_of_book_fnv1a)
}

/// Writes what share of the messages took no longer than how many nanoseconds.
///
/// # Errors
///
/// Those of `out`.
pub fn latency(out: &mut dyn Write, latency: &Histogram<u64>) -> io::Result<()> {
    for (name, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)] {
        writeln!(
            out,
            "latency_ns_{name}: {}",
            latency.value_at_quantile(quantile)
        )?;
    }
    Ok(())
}

/// Writes a pool's stats, each key with the pool's name in front.
///
/// # Errors
///
/// Those of `out`.
pub fn pool(out: &mut dyn Write, name: &str, stats: &Stats) -> io::Result<()> {
    let counts = [
        ("created", stats.created),
        ("destroyed", stats.destroyed),
        ("idle", stats.idle),
        ("in_use", stats.in_use),
        ("cached", stats.cached),
        ("exchanges", stats.exchanges),
        ("revocations", stats.revocations),
        ("discarded", stats.discarded),
        ("waits", stats.waits),
    ];
    for (key, count) in counts {
        writeln!(out, "{name}_{key}: {count}")?;
    }
    Ok(())
}

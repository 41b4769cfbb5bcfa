//! The same messages with and without a pool, on one thread: a table, and what it comes to. Called by
//! `order_book`, which has the allocator that counts.

use std::error::Error;
use std::io::{self, Write};

use crate::book::Figures;
use crate::run::{Config, Home, run_in};

/// Each runs so often, in turn with the others; the middle rate counts, and the best tail.
const RUNS: usize = 5;
const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
/// In percent: less of a difference is noise, and so is what not every run shows.
const NOISE: f64 = 5.0;

/// What was measured of a home.
#[derive(Clone, Debug)]
struct Row {
    home: Home,
    /// Messages a second, of each run.
    rates: Vec<u64>,
    /// Nanoseconds, at [`QUANTILES`].
    tail: [u64; 4],
    allocations: f64,
    peak: i64,
}

/// Runs the messages in every home, each of which must end with the same `figures`. `counted`
/// gives how often its argument allocates, and the most bytes that it holds.
///
/// # Errors
///
/// When one does not, or cannot run.
pub fn compare(
    config: &Config,
    data: &[u8],
    figures: &Figures,
    counted: fn(&mut dyn FnMut()) -> (i64, i64),
) -> Result<String, Box<dyn Error>> {
    let mut rows: Vec<_> = Home::all()
        .into_iter()
        .map(|home| Row {
            home,
            rates: Vec::new(),
            tail: [u64::MAX; 4],
            allocations: 0.0,
            peak: 0,
        })
        .collect();
    for _ in 0..RUNS {
        for row in &mut rows {
            let outcome = run_in(row.home, config, data)?;
            row.rates.push(outcome.messages_per_second());
            if outcome.figures != *figures {
                let (home, found) = (row.home, outcome.figures);
                return Err(format!("{home} disagrees: {found:?}, not {figures:?}").into());
            }
            let timed = Config {
                timed: true,
                ..*config
            };
            let latency = run_in(row.home, &timed, data)?.latency;
            let latency = latency.expect("it was asked for");
            for (best, quantile) in row.tail.iter_mut().zip(QUANTILES) {
                *best = latency.value_at_quantile(quantile).min(*best);
            }
        }
    }
    for row in &mut rows {
        let (calls, peak) = counted(&mut || drop(run_in(row.home, config, data)));
        row.allocations = calls as f64 / figures.rows.max(1) as f64;
        row.peak = peak;
    }
    let mut out = Vec::new();
    table(&mut out, &rows).expect("a Vec takes whatever is written");
    Ok(String::from_utf8(out).expect("it was written as text") + &verdict(&rows))
}

fn table(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "{:14} {:>12} {:>7} {:>7} {:>8} {:>9} {:>12} {:>9}",
        "orders in",
        "messages/s",
        "p50 ns",
        "p99 ns",
        "p99.9 ns",
        "p99.99 ns",
        "allocs/msg",
        "peak KiB"
    )?;
    for row in rows {
        let [p50, p99, p999, p9999] = row.tail;
        writeln!(
            out,
            "{:14} {:>12} {p50:>7} {p99:>7} {p999:>8} {p9999:>9} {:>12.4} {:>9}",
            row.home,
            middle(&row.rates),
            row.allocations,
            row.peak / 1_024
        )?;
    }
    Ok(())
}

fn middle<T: Copy + PartialOrd>(numbers: &[T]) -> T {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("rates are numbers"));
    sorted[sorted.len() / 2]
}

/// What the fastest pool gives over each row without one, in a line.
fn verdict(rows: &[Row]) -> String {
    let pools = rows.iter().filter(|row| row.home.is_pool());
    let pool = pools
        .max_by_key(|row| middle(&row.rates))
        .expect("there are pools");
    let (mut text, mut gives) = (String::new(), false);
    for hand in rows {
        if !matches!(hand.home, Home::Boxes | Home::Slab) {
            continue;
        }
        let more = |pool: u64, hand: u64| 100.0 * pool as f64 / hand.max(1) as f64 - 100.0;
        let rates = pool.rates.iter().zip(&hand.rates);
        let gains: Vec<_> = rates.map(|(&pool, &hand)| more(pool, hand)).collect();
        let least = gains.iter().copied().fold(f64::INFINITY, f64::min);
        let most = gains.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let gain = middle(&gains);
        let word = match () {
            () if gain >= NOISE && least > 0.0 => "faster than",
            () if gain <= -NOISE && most < 0.0 => "slower than",
            () => "no faster than",
        };
        gives |= word == "faster than";
        text += &format!(
            "; {word} {} ({gain:+.0} % messages/s, {least:+.0} to {most:+.0}; {:+.4} allocations a message)",
            hand.home,
            pool.allocations - hand.allocations,
        );
    }
    let opening = if gives {
        ""
    } else {
        "the pool gives no speed here: "
    };
    format!("{opening}{} is{}\n", pool.home, &text[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_where_the_pool_gives_nothing() {
        let row = |home, rates: [u64; 3]| Row {
            home,
            rates: rates.to_vec(),
            tail: [100; 4],
            allocations: 0.5,
            peak: 0,
        };
        let says = |boxes, slab| {
            let pool = row(Home::Unsync, [1_000; 3]);
            verdict(&[row(Home::Boxes, boxes), row(Home::Slab, slab), pool])
        };
        let nothing = says([970; 3], [1_200; 3]);
        assert!(
            nothing.starts_with("the pool gives no speed here: pool unsync is no faster than Box")
        );
        assert!(nothing.contains("; slower than Vec of indices (-17 % messages/s"));
        // Faster in the middle, but not in every run.
        let noisy = says([800, 800, 1_010], [800; 3]);
        assert!(
            noisy.starts_with("pool unsync is no faster than Box"),
            "{noisy}"
        );
        assert!(noisy.contains("; faster than Vec of indices (+25 % messages/s, +25 to +25;"));
    }
}

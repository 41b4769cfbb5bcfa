//! The figures as tables: built once from the results, printed by `main` and put into the page by
//! `report`.

use std::fmt;

use comfy_table::CellAlignment;
use comfy_table::presets::NOTHING;
use pool_bench::duel::Spread;

use crate::results::{Figure, Latency, Operation, Percentiles, Place, Results};
use crate::words::{self, count};

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// What it shows.
    pub(crate) title: String,
    /// The heads of the columns.
    pub(crate) head: Vec<String>,
    /// The cells; the first of each row is a name, the others are numbers.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: impl Into<String>, head: &[&str]) -> Self {
        Table {
            title: title.into(),
            head: head.iter().map(|&head| head.to_owned()).collect(),
            rows: Vec::new(),
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table
            .load_style(NOTHING)
            .set_header(&self.head)
            .add_rows(&self.rows);
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{}", self.title)?;
        table
            .lines()
            .try_for_each(|line| writeln!(f, " {}", line.trim_end()))
    }
}

fn quartiles(spread: Spread, digits: usize) -> String {
    format!("{:.digits$} to {:.digits$}", spread.lower, spread.upper)
}

fn number(nanos: f64) -> String {
    if nanos < 1000.0 {
        format!("{nanos:.1}")
    } else {
        count(nanos.round() as u64)
    }
}

/// Everyone in the case.
pub(crate) fn figures(results: &Results) -> Table {
    let mut table = Table::new(
        "An object in the case, acquired, used and released",
        &[
            "contender",
            "ns",
            "quartiles",
            "over box",
            "quartiles",
            "M objects/s",
            "rounds",
        ],
    );
    for figure in &results.figures {
        let left_out = match figure.left_out {
            0 => String::new(),
            left_out => format!(" ({left_out} disturbed)"),
        };
        table.rows.push(vec![
            figure.entrant.to_string(),
            number(figure.ns.median),
            quartiles(figure.ns, 1),
            format!("{:.2}", figure.over_box.median),
            quartiles(figure.over_box, 2),
            format!("{:.1}", figure.millions_a_second),
            format!("{}{left_out}", figure.rounds),
        ]);
    }
    table
}

/// Everyone in the case, on each allocator.
pub(crate) fn allocators(all: &[Results]) -> Table {
    let mut table = Table::new(
        "Nanoseconds an object, and that over box, by the program's allocator",
        &["contender"],
    );
    for results in all {
        let name = results.allocator.name();
        table.head.extend([name.to_owned(), "over box".to_owned()]);
    }
    for figure in &all[0].figures {
        let mut row = vec![figure.entrant.to_string()];
        for results in all {
            let same = |other: &&Figure| other.entrant == figure.entrant;
            let same = results.figures.iter().find(same);
            let same = same.expect("the same case has the same contenders");
            row.push(number(same.ns.median));
            row.push(format!("{:.2}", same.over_box.median));
        }
        table.rows.push(row);
    }
    table
}

/// Nanoseconds against threads, a column each.
pub(crate) fn threads(results: &Results) -> Table {
    let mut counts: Vec<_> = results.threads.iter().map(|point| point.threads).collect();
    counts.dedup();
    let mut table = Table::new("Nanoseconds an object, by threads", &["contender"]);
    table.head.extend(counts.iter().map(usize::to_string));
    let first = results
        .threads
        .iter()
        .filter(|point| Some(&point.threads) == counts.first());
    for entrant in first.map(|point| point.entrant) {
        let mut row = vec![entrant.to_string()];
        let points = results
            .threads
            .iter()
            .filter(|point| point.entrant == entrant);
        row.extend(points.map(|point| number(point.ns.median)));
        table.rows.push(row);
    }
    table
}

/// The batched pool, by batch size.
pub(crate) fn batches(results: &Results) -> Table {
    let mut table = Table::new(
        "The batched pool, by batch size",
        &["batch size", "ns", "quartiles", "exchanges a 1,000 objects"],
    );
    for point in &results.batches {
        table.rows.push(vec![
            point.batch_size.to_string(),
            number(point.ns.median),
            quartiles(point.ns, 1),
            format!("{:.2}", point.exchanges),
        ]);
    }
    table
}

/// Times of single operations at some places.
pub(crate) fn latency(latency: &Latency, title: &str, places: &[Place]) -> Table {
    let mut table = Table::new(
        title,
        &[
            "operation",
            "count",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "p99.99",
            "worst of 1M",
            "max",
        ],
    );
    let row = |name: String, ns: &Percentiles| {
        let times = ns
            .named()
            .map(|(_, time)| time.map_or_else(|| "-".to_owned(), words::ns));
        let mut row = vec![name, count(ns.count)];
        row.extend(times);
        row
    };
    for series in latency
        .series
        .iter()
        .filter(|series| places.contains(&series.place))
    {
        let name = format!(
            "{}: {}",
            series.entrant,
            what(series.place, series.operation)
        );
        table.rows.push(row(name, &series.ns));
    }
    table
        .rows
        .push(row("the clock alone".to_owned(), &latency.clock));
    table
}

/// What was timed, in a few words.
fn what(place: Place, operation: Operation) -> String {
    let operation = operation.name();
    match place {
        Place::Steady | Place::Housekeeping | Place::Crowded | Place::Exhausted => {
            operation.to_owned()
        }
        Place::Exchange => format!("{operation} with exchange"),
        Place::Growth => format!("{operation} with growth"),
        Place::Revocation if operation == Operation::Trim.name() => "trim that revokes".to_owned(),
        Place::Revocation => format!("{operation} after revocation"),
    }
}

/// What happened in the loops of a place.
pub(crate) fn events(latency: &Latency, title: &str, place: Place) -> Table {
    let mut table = Table::new(
        title,
        &[
            "contender",
            "acquires",
            "made",
            "exchanges",
            "revocations",
            "preempted",
            "slept",
        ],
    );
    let warm = latency
        .series
        .iter()
        .filter(|series| series.place == place && series.operation == Operation::Acquire);
    let known = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), count);
    for series in warm {
        let events = series.events;
        table.rows.push(vec![
            series.entrant.to_string(),
            count(series.ns.count),
            known(events.created),
            known(events.exchanges),
            known(events.revocations),
            count(events.preempted),
            count(events.slept),
        ]);
    }
    table
}

/// Cold against warm.
pub(crate) fn growth(results: &Results) -> Table {
    let objects = results.growth.first().map_or(0, |growth| growth.objects);
    let mut table = Table::new(
        format!(
            "A burst of {} objects, the first time and the second, ns an object",
            count(objects as u64)
        ),
        &["contender", "cold", "quartiles", "warm", "quartiles"],
    );
    for growth in &results.growth {
        table.rows.push(vec![
            growth.entrant.to_string(),
            number(growth.cold_ns.median),
            quartiles(growth.cold_ns, 1),
            number(growth.warm_ns.median),
            quartiles(growth.warm_ns, 1),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_names_left_and_numbers_right() {
        let mut table = Table::new("Title", &["who", "ns"]);
        table
            .rows
            .push(vec!["long name".to_owned(), "4.0".to_owned()]);
        table.rows.push(vec!["box".to_owned(), "120.0".to_owned()]);
        assert_eq!(
            table.to_string(),
            "Title\n  who           ns\n  long name    4.0\n  box        120.0\n"
        );
    }
}

//! The figures as tables: built once from the results, printed by `main` and put into the page by
//! `report`.

use std::fmt;

use comfy_table::CellAlignment;
use comfy_table::presets::NOTHING;
use pool_bench::duel::Spread;

use crate::results::{Figure, Operation, Percentiles, Place, Results};
use crate::words::{count, ns};

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
    /// A table whose heads are separated by bars.
    fn new(title: &str, head: &str, rows: impl Iterator<Item = Vec<String>>) -> Self {
        Table {
            title: title.to_owned(),
            head: head.split(" | ").map(str::to_owned).collect(),
            rows: rows.collect(),
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
        let mut lines = table.lines();
        lines.try_for_each(|line| writeln!(f, " {}", line.trim_end()))
    }
}

/// A row whose first cell is a name.
fn row(name: impl fmt::Display, cells: impl IntoIterator<Item = String>) -> Vec<String> {
    [name.to_string()].into_iter().chain(cells).collect()
}

fn number(nanos: f64) -> String {
    match nanos {
        ..1000.0 => format!("{nanos:.1}"),
        _ => count(nanos.round() as u64),
    }
}

fn quartiles(spread: Spread) -> String {
    format!("{:.1} to {:.1}", spread.lower, spread.upper)
}

/// Every contender in the case.
pub(crate) fn figures(results: &Results) -> Table {
    let rows = results.figures.iter().map(|figure| {
        let over = figure.over_box;
        let left_out = match figure.left_out {
            0 => String::new(),
            left_out => format!(" ({left_out} disturbed)"),
        };
        let cells = [
            number(figure.ns.median),
            quartiles(figure.ns),
            format!("{:.2}", over.median),
            format!("{:.2} to {:.2}", over.lower, over.upper),
            format!("{:.1}", figure.millions_a_second),
            format!("{}{left_out}", figure.rounds),
        ];
        row(figure.entrant, cells)
    });
    let head = "contender | ns | quartiles | over box | quartiles | M objects/s | rounds";
    Table::new(
        "An object in the case, acquired, used and released",
        head,
        rows,
    )
}

/// Every contender in the case, on each allocator.
pub(crate) fn allocators(all: &[Results]) -> Table {
    let rows = all[0].figures.iter().map(|figure| {
        let same = |other: &&Figure| other.entrant == figure.entrant;
        let same = all
            .iter()
            .filter_map(|results| results.figures.iter().find(same));
        let cell = |one: &Figure| [number(one.ns.median), format!("{:.2}", one.over_box.median)];
        row(figure.entrant, same.flat_map(cell))
    });
    let names = all.iter().map(|results| results.allocator.name());
    let head: String = names.map(|name| format!(" | {name} | over box")).collect();
    let title = "Nanoseconds an object, and that over box, by the program's allocator";
    Table::new(title, &format!("contender{head}"), rows)
}

/// Nanoseconds against threads, a column each.
pub(crate) fn threads(results: &Results) -> Table {
    let counts = results.thread_counts();
    let entrants = results
        .threads
        .iter()
        .filter(|point| point.threads == counts[0]);
    let rows = entrants.map(|Figure { entrant, .. }| {
        let points = results
            .threads
            .iter()
            .filter(|point| point.entrant == *entrant);
        row(entrant, points.map(|point| number(point.ns.median)))
    });
    let head: String = counts.iter().map(|count| format!(" | {count}")).collect();
    Table::new(
        "Nanoseconds an object, by threads",
        &format!("contender{head}"),
        rows,
    )
}

/// The batched pool, by batch size.
pub(crate) fn batches(results: &Results) -> Table {
    let rows = results.batches.iter().map(|point| {
        let exchanges = format!("{:.2}", point.exchanges.unwrap_or_default());
        let cells = [number(point.ns.median), quartiles(point.ns), exchanges];
        row(point.entrant.batch_size.unwrap_or_default(), cells)
    });
    let head = "batch size | ns | quartiles | exchanges a 1,000 objects";
    Table::new("The batched pool, by batch size", head, rows)
}

/// Times of single operations at some places; none if nothing was timed there.
pub(crate) fn latency(results: &Results, title: &str, places: &[Place]) -> Table {
    let timed = results
        .latency
        .series
        .iter()
        .filter(|series| places.contains(&series.place));
    let timed = timed.map(|series| (format!("{}: {}", series.entrant, series.what()), series.ns));
    let mut timed: Vec<_> = timed.collect();
    if !timed.is_empty() {
        timed.push(("the clock alone".to_owned(), results.latency.clock));
    }
    let rows = timed.into_iter().map(|(name, times)| {
        let known = times
            .known()
            .map(|time| time.map_or_else(|| "-".to_owned(), ns));
        row(name, [count(times.count)].into_iter().chain(known))
    });
    let head = format!("operation | count | {}", Percentiles::NAMES.join(" | "));
    Table::new(title, &head, rows)
}

/// Events in the loops of a place.
pub(crate) fn events(results: &Results, title: &str, place: Place) -> Table {
    let known = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), count);
    let loops = results
        .latency
        .series
        .iter()
        .filter(|series| series.place == place);
    let acquires = loops.filter(|series| series.operation == Operation::Acquire);
    let rows = acquires.map(|series| {
        let events = series.events;
        let cells = [
            count(series.ns.count),
            known(events.created),
            known(events.exchanges),
            known(events.revocations),
            count(events.preempted),
            count(events.slept),
        ];
        row(series.entrant, cells)
    });
    let head = "contender | acquires | created | exchanges | revocations | preempted | slept";
    Table::new(title, head, rows)
}

/// Cold against warm.
pub(crate) fn growth(results: &Results) -> Table {
    let rows = results.growth.iter().map(|growth| {
        let spreads = [growth.cold_ns, growth.warm_ns];
        row(
            growth.entrant,
            spreads
                .into_iter()
                .flat_map(|ns| [number(ns.median), quartiles(ns)]),
        )
    });
    let objects = results
        .growth
        .first()
        .map_or(0, |growth| growth.objects as u64);
    let objects = count(objects);
    let title =
        format!("A burst of {objects} objects, the first time and the second, ns an object");
    Table::new(
        &title,
        "contender | cold | quartiles | warm | quartiles",
        rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_names_left_and_numbers_right() {
        let rows = [("long name", "4.0"), ("box", "120.0")];
        let rows = rows.map(|(name, ns)| row(name, [ns.to_owned()]));
        let table = Table::new("Title", "contender | ns", rows.into_iter());
        assert_eq!(
            table.to_string(),
            "Title\n  contender     ns\n  long name    4.0\n  box        120.0\n"
        );
    }
}

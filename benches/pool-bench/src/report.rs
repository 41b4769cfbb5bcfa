//! The page: everything in one file, with charts and their tables, for light and dark. It loads
//! nothing and runs no script. This module says what is on it, section by section; the template
//! says how that is written as HTML. Called by `main`.

use askama::Template;
use strum::{EnumMessage, VariantArray};

use crate::case::Kind;
use crate::chart::{Line, Lines, against_threads, style};
use crate::results::{Operation, Percentiles, Place, Results, Series};
use crate::table::{self, Table};
use crate::words::nanos;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    results: &'a Results,
    style: String,
    verdict: &'a str,
    reasons: &'a [String],
    kinds: Vec<(&'static str, &'static str)>,
    sections: Vec<(&'static str, Vec<Part>)>,
    reading: String,
}

/// A part of a section.
enum Part {
    Text(Vec<String>),
    /// A chart, and its caption.
    Picture(Lines, &'static str),
    Shown(Table),
    /// A table that the reader has to open.
    Folded(Table),
}

impl Part {
    fn is_empty(&self) -> bool {
        match self {
            Part::Text(paragraphs) => paragraphs.is_empty(),
            Part::Picture(chart, _) => chart.lines.iter().all(|line| line.dashed),
            Part::Shown(table) | Part::Folded(table) => table.rows.is_empty(),
        }
    }
}

/// The page.
pub(crate) fn html(results: &Results) -> String {
    let mut kinds: Vec<_> = results
        .figures
        .iter()
        .map(|figure| figure.entrant.kind)
        .collect();
    kinds.dedup();
    let meaning = |kind: Kind| (kind.name(), kind.get_documentation().unwrap_or_default());
    let mut sections = sections(results);
    for (_, parts) in &mut sections {
        parts.retain(|part| !part.is_empty());
    }
    sections.retain(|(_, parts)| !parts.is_empty());
    let (verdict, reasons) = results
        .advice
        .text
        .split_first()
        .expect("there is always a verdict");
    let page = Page {
        results,
        style: style() + include_str!("../templates/report.css"),
        verdict,
        reasons,
        kinds: kinds.into_iter().map(meaning).collect(),
        sections,
        reading: nanos(results.latency.reading_ns),
    };
    page.render().expect("a String takes whatever is written")
}

fn sections(results: &Results) -> Vec<(&'static str, Vec<Part>)> {
    use Part::{Folded, Picture, Shown, Text};
    use Place::{Crowded, Housekeeping, Steady};

    let kinds = Kind::VARIANTS;
    let folded = |title, places: &[Place]| Folded(table::latency(results, title, places));
    let events = |title, place| Shown(table::events(results, title, place));
    vec![
        (
            "Throughput against threads",
            vec![
                Picture(against_threads(results, kinds, true), ""),
                Picture(
                    against_threads(results, kinds, false),
                    "The same as time: what an object costs each lane. Threads beyond the cores take \
                     turns, so that a lane's time grows with their number, with any pool.",
                ),
                Folded(table::threads(results)),
            ],
        ),
        (
            "Cost against batch size",
            vec![
                Picture(
                    against_batch_size(results),
                    "Dashed: contenders without batches, as measured in the case.",
                ),
                Folded(table::batches(results)),
            ],
        ),
        (
            "Single operations, to the slowest",
            vec![
                Text(results.spikes[..1].to_vec()),
                Picture(
                    acquires(results, Steady),
                    "Acquires in a warm loop. The clock alone is the floor: no contender can be below.",
                ),
                events("Events meanwhile in the warm loops", Steady),
                folded("Warm loops", &[Steady]),
                Picture(
                    beside_housekeeping(results),
                    "Acquires in a warm loop while another thread calls reserve and trim every 200 µs \
                     (beside the box it only wakes up); dashed, without that thread.",
                ),
                events("Events meanwhile", Housekeeping),
                folded("Beside a housekeeping thread", &[Housekeeping]),
                Picture(
                    rare(results),
                    "The batched pool where an operation has more to do than a hit.",
                ),
                folded("Where an operation has more to do", &Place::RARE),
                Picture(
                    acquires(results, Crowded),
                    "Acquires with threads twice the cores, or as many as the case has.",
                ),
                folded("Threads twice the cores", &[Crowded]),
            ],
        ),
        (
            "What the spikes are made of",
            vec![Text(results.spikes[1..].to_vec())],
        ),
        (
            "Cold against warm",
            vec![
                Picture(
                    cold_and_warm(results),
                    "The same burst twice: from a pool without an object, and again.",
                ),
                Folded(table::growth(results)),
            ],
        ),
    ]
}

/// A chart of nanoseconds.
fn chart(
    title: String,
    across: &'static str,
    places: impl IntoIterator<Item: ToString>,
    lines: Vec<Line>,
) -> Lines {
    Lines {
        title,
        places: places.into_iter().map(|place| place.to_string()).collect(),
        across,
        up: "an object",
        millions: false,
        lines,
        beyond: None,
    }
}

fn against_batch_size(results: &Results) -> Lines {
    let points = &results.batches;
    let mut lines = vec![Line {
        name: "batched".to_owned(),
        look: "batched",
        heights: points.iter().map(|point| Some(point.ns.median)).collect(),
        dashed: points.is_empty(),
    }];
    let others = [Kind::Mutex, Kind::Queue, Kind::Box, Kind::Vec, Kind::Words];
    for figure in others.into_iter().filter_map(|kind| results.figure(kind)) {
        lines.push(Line {
            name: figure.entrant.to_string(),
            look: figure.entrant.kind.name(),
            heights: vec![Some(figure.ns.median); points.len()],
            dashed: true,
        });
    }
    let title = format!("Nanoseconds an object against batch size: {}", results.case);
    let places = points.iter().filter_map(|point| point.entrant.batch_size);
    chart(title, "batch size", places, lines)
}

fn cold_and_warm(results: &Results) -> Lines {
    let lines = results.growth.iter().map(|growth| Line {
        name: growth.entrant.to_string(),
        look: growth.entrant.kind.name(),
        heights: vec![Some(growth.cold_ns.median), Some(growth.warm_ns.median)],
        dashed: false,
    });
    let title = table::growth(results).title;
    chart(
        title,
        "",
        ["the first burst", "the second"],
        lines.collect(),
    )
}

/// A line for each series that is chosen, and the clock's.
fn percentiles<'a>(
    results: &'a Results,
    title: &str,
    line: impl FnMut(&'a Series) -> Option<Line>,
) -> Lines {
    let clock = Line {
        name: "the clock alone".to_owned(),
        look: "clock",
        heights: heights(&results.latency.clock),
        dashed: true,
    };
    let lines = results
        .latency
        .series
        .iter()
        .filter_map(line)
        .chain([clock])
        .collect();
    let across = "share of operations that took no longer";
    let title = format!("{title}: {}", results.case);
    Lines {
        up: "an operation",
        ..chart(title, across, Percentiles::NAMES, lines)
    }
}

fn heights(ns: &Percentiles) -> Vec<Option<f64>> {
    ns.known()
        .iter()
        .map(|time| time.map(|time| time as f64))
        .collect()
}

fn line(series: &Series, name: String) -> Line {
    use Operation::{Acquire, Release, Trim};

    // Where only the batched pool is shown, the looks of other contenders tell operations apart.
    let look = match (series.place, series.operation) {
        _ if series.entrant.cooperates => Kind::Unsync,
        (Place::Exchange, Acquire) => Kind::Queue,
        (Place::Exchange, _) => Kind::Unsync,
        (Place::Growth, _) => Kind::Heap,
        (Place::Revocation, Trim) => Kind::Box,
        (Place::Revocation, Release) => Kind::Vec,
        (Place::Revocation, _) => Kind::Mutex,
        (Place::Exhausted, _) => Kind::Words,
        _ => series.entrant.kind,
    };
    Line {
        name,
        look: look.name(),
        heights: heights(&series.ns),
        dashed: false,
    }
}

fn acquires(results: &Results, place: Place) -> Lines {
    percentiles(
        results,
        &format!("Acquires, {place:?}").to_lowercase(),
        |series| {
            let chosen = series.place == place && series.operation == Operation::Acquire;
            chosen.then(|| line(series, series.entrant.to_string()))
        },
    )
}

/// The warm loop beside a thread that keeps house, and without.
fn beside_housekeeping(results: &Results) -> Lines {
    let kinds = [Kind::Batched, Kind::Mutex, Kind::Queue, Kind::Box];
    percentiles(
        results,
        "Acquires beside a thread that reserves and trims",
        |series| {
            let (alone, dashed) = match series.place {
                Place::Housekeeping => ("", false),
                Place::Steady => (", alone", true),
                _ => return None,
            };
            let chosen =
                series.operation == Operation::Acquire && kinds.contains(&series.entrant.kind);
            let line = |name| Line {
                dashed,
                ..line(series, name)
            };
            chosen.then(|| line(format!("{}{alone}", series.entrant)))
        },
    )
}

/// The batched pool where an operation has more to do, and its acquire in a warm loop.
fn rare(results: &Results) -> Lines {
    percentiles(
        results,
        "The batched pool where an operation has more to do",
        |series| {
            let warm = series.place == Place::Steady && series.operation == Operation::Acquire;
            let chosen = series.entrant.kind == Kind::Batched;
            let chosen = chosen && (warm || Place::RARE.contains(&series.place));
            let warm = if warm { ", warm" } else { "" };
            chosen.then(|| line(series, series.what() + warm))
        },
    )
}

//! The page: everything in one file, with charts and their tables, for light and dark. It loads
//! nothing and runs no script. Called by `main`.

use crate::advice::Verdict;
use crate::case::Kind;
use crate::chart::{
    Line, Lines, Pair, Pairs, Scale, Whose, cost_against_threads, escaped, style,
    throughput_against_threads,
};
use crate::results::{Operation, Percentiles, Place, Results, Series};
use crate::table::{self, Table};
use crate::words::{nanos, round_nanos};

/// Every kind, in the order of the charts.
const KINDS: [Kind; 8] = [
    Kind::Batched,
    Kind::Mutex,
    Kind::Queue,
    Kind::Heap,
    Kind::Unsync,
    Kind::Box,
    Kind::Vec,
    Kind::Words,
];

/// The page.
pub(crate) fn html(results: &Results) -> String {
    let title = escaped(&format!("pool-bench: {}", results.case));
    let body = [
        head(results),
        advice(results),
        case(results),
        against_threads(results),
        against_batch_size(results),
        tail(results),
        cold_and_warm(results),
        method(results),
    ]
    .concat();
    let style = style() + include_str!("report.css");
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}</main>
</body>
</html>
"#
    )
}

fn head(results: &Results) -> String {
    let mut head = format!(
        "<header>\n<h1>pool-bench</h1>\n<p class=\"lead\">{}</p>\n<p class=\"fine\">{}<br><code>{}</code></p>\n",
        escaped(&results.case.to_string()),
        escaped(&format!(
            "{}; on {}",
            results.circumstances, results.allocator
        )),
        escaped(&results.command),
    );
    for warning in results.warnings() {
        head += &format!("<p class=\"warning\">{}</p>\n", escaped(warning));
    }
    head + "</header>\n"
}

fn advice(results: &Results) -> String {
    let verdict = match results.advice.verdict {
        Verdict::UsePool => "A pool pays here",
        Verdict::AllocatePlainly => "A pool does not pay here",
        Verdict::MeasureAgain => "The rounds disagree",
        Verdict::NothingToCompare => "Nothing to compare",
    };
    let mut section = format!("<section class=\"advice\">\n<h2>{verdict}</h2>\n");
    if let Some(code) = &results.advice.code {
        section += &format!("<pre><code>{}</code></pre>\n", escaped(code));
    }
    section + &paragraphs(&results.advice.text) + "</section>\n"
}

fn paragraphs(text: &[String]) -> String {
    let paragraph = |text: &String| format!("<p>{}</p>\n", escaped(text));
    text.iter().map(paragraph).collect()
}

fn case(results: &Results) -> String {
    let mut section = open("The case");
    section += &shown(&table::figures(results));
    section += "<dl>\n";
    let mut kinds: Vec<Kind> = results
        .figures
        .iter()
        .map(|figure| figure.entrant.kind)
        .collect();
    kinds.dedup();
    for kind in kinds {
        section += &format!(
            "<dt style=\"color: var(--{name})\">{name}</dt><dd>{}</dd>\n",
            escaped(kind.meaning()),
            name = kind.name(),
        );
    }
    section + "</dl>\n</section>\n"
}

fn against_threads(results: &Results) -> String {
    if results.threads.is_empty() {
        return String::new();
    }
    open("Throughput against threads")
        + &figure(&throughput_against_threads(results, &KINDS).svg(), "")
        + &figure(
            &cost_against_threads(results, &KINDS).svg(),
            "The same as time: what an object costs each lane. Threads beyond the cores take turns, so \
             there a lane's time grows with their number whatever it does.",
        )
        + &folded(&table::threads(results))
        + "</section>\n"
}

fn against_batch_size(results: &Results) -> String {
    if results.batches.is_empty() {
        return String::new();
    }
    let mut lines = vec![Line {
        name: "batched".to_owned(),
        whose: Whose::Of(Kind::Batched),
        heights: results
            .batches
            .iter()
            .map(|point| Some(point.ns.median))
            .collect(),
        dashed: false,
    }];
    for kind in [Kind::Mutex, Kind::Queue, Kind::Box, Kind::Vec, Kind::Words] {
        if let Some(figure) = results
            .figures
            .iter()
            .find(|figure| figure.entrant.kind == kind)
        {
            lines.push(Line {
                name: figure.entrant.to_string(),
                whose: Whose::Of(kind),
                heights: vec![Some(figure.ns.median); results.batches.len()],
                dashed: true,
            });
        }
    }
    let chart = Lines {
        title: format!("Nanoseconds an object against batch size: {}", results.case),
        places: results
            .batches
            .iter()
            .map(|point| point.batch_size.to_string())
            .collect(),
        across: "batch size",
        up: "an object",
        unit: round_nanos,
        scale: Scale::Powers,
        lines,
        beyond: None,
    };
    open("Cost against batch size")
        + &figure(
            &chart.svg(),
            "Dashed: those that have no batches, as measured in the case.",
        )
        + &folded(&table::batches(results))
        + "</section>\n"
}

fn tail(results: &Results) -> String {
    let latency = &results.latency;
    let mut section = open("Single operations, to the slowest");
    section += &paragraphs(&results.spikes[..1.min(results.spikes.len())]);
    let warm = of_places(results, &[Place::Steady], Operation::Acquire, Series::short);
    section += &figure(
        &percentile_chart(results, "Acquires in a warm loop", warm).svg(),
        "Acquires in a warm loop. The clock alone is the floor: what no contender can be below.",
    );
    let events = "What happened meanwhile in the warm loops";
    section += &shown(&table::events(latency, events, Place::Steady));
    section += &folded(&table::latency(latency, "Warm loops", &[Place::Steady]));
    section += &housekeeping(results);
    let places = [
        Place::Exchange,
        Place::Growth,
        Place::Revocation,
        Place::Exhausted,
    ];
    let mut special = Vec::new();
    for series in &latency.series {
        let ours = series.entrant.kind == Kind::Batched;
        if ours && (places.contains(&series.place) || is_warm_acquire(series)) {
            special.push(line(series, series.long()));
        }
    }
    if !special.is_empty() {
        section += &figure(
            &percentile_chart(
                results,
                "The batched pool where an operation has more to do",
                special,
            )
            .svg(),
            "The batched pool where an operation has more to do than a hit.",
        );
    }
    section += &folded(&table::latency(
        latency,
        "Where an operation has more to do",
        &places,
    ));
    let crowded = of_places(
        results,
        &[Place::Crowded],
        Operation::Acquire,
        Series::short,
    );
    if !crowded.is_empty() {
        section += &figure(
            &percentile_chart(results, "Acquires with threads twice the cores", crowded).svg(),
            "Acquires with threads twice the cores, or as many as the case has.",
        );
        section += &folded(&table::latency(
            latency,
            "Threads twice the cores",
            &[Place::Crowded],
        ));
    }
    section += "<h3>What the spikes are made of</h3>\n";
    section += &paragraphs(results.spikes.get(1..).unwrap_or_default());
    section + "</section>\n"
}

/// The warm loop beside a thread that keeps house, and without.
fn housekeeping(results: &Results) -> String {
    let kinds = [Kind::Batched, Kind::Mutex, Kind::Queue, Kind::Box];
    let mut lines = Vec::new();
    for series in &results.latency.series {
        let alone = match series.place {
            Place::Housekeeping => "",
            Place::Steady => ", alone",
            _ => continue,
        };
        if series.operation == Operation::Acquire && kinds.contains(&series.entrant.kind) {
            lines.push(Line {
                dashed: series.place == Place::Steady,
                ..line(series, format!("{}{alone}", series.entrant))
            });
        }
    }
    let title = "Acquires beside a thread that reserves and trims every 200 µs";
    let latency = &results.latency;
    figure(
        &percentile_chart(results, title, lines).svg(),
        "Acquires in a warm loop while another thread calls reserve and trim every 200 µs (beside the box it only \
         wakes up); dashed, without that thread.",
    ) + &shown(&table::events(
        latency,
        "What happened meanwhile",
        Place::Housekeeping,
    )) + &folded(&table::latency(
        latency,
        "Beside a housekeeping thread",
        &[Place::Housekeeping],
    ))
}

fn is_warm_acquire(series: &Series) -> bool {
    series.place == Place::Steady && series.operation == Operation::Acquire
}

impl Series {
    fn short(&self) -> String {
        self.entrant.to_string()
    }

    /// The place and the operation.
    fn long(&self) -> String {
        let operation = self.operation.name();
        match self.place {
            Place::Steady => format!("{operation}, warm"),
            Place::Housekeeping => format!("{operation}, kept"),
            Place::Crowded => format!("{operation}, crowded"),
            Place::Exchange => format!("{operation}, exchange"),
            Place::Growth => format!("{operation}, growth"),
            Place::Revocation if self.operation == Operation::Trim => "trim".to_owned(),
            Place::Revocation => format!("{operation}, revoked"),
            Place::Exhausted => "refusal".to_owned(),
        }
    }
}

fn of_places(
    results: &Results,
    places: &[Place],
    operation: Operation,
    name: fn(&Series) -> String,
) -> Vec<Line> {
    let series = results.latency.series.iter();
    let wanted =
        series.filter(|series| places.contains(&series.place) && series.operation == operation);
    wanted.map(|series| line(series, name(series))).collect()
}

fn line(series: &Series, name: String) -> Line {
    Line {
        name,
        whose: match series.place {
            // The colour of a contender that is not in such a chart.
            _ if series.entrant.cooperates => Whose::Of(Kind::Unsync),
            Place::Steady | Place::Housekeeping | Place::Crowded => Whose::Of(series.entrant.kind),
            place => Whose::At(place, series.operation),
        },
        heights: heights(&series.ns),
        dashed: false,
    }
}

/// The percentiles as heights, those that are known.
fn heights(ns: &Percentiles) -> Vec<Option<f64>> {
    let height = |(_, time): (&str, Option<u64>)| time.map(|time| time as f64);
    ns.named().into_iter().map(height).collect()
}

fn percentile_chart(results: &Results, title: &str, mut lines: Vec<Line>) -> Lines {
    let clock = &results.latency.clock;
    lines.push(Line {
        name: "the clock alone".to_owned(),
        whose: Whose::Clock,
        heights: heights(clock),
        dashed: true,
    });
    Lines {
        title: format!("{title}: {}", results.case),
        places: clock
            .named()
            .into_iter()
            .map(|(name, ..)| name.to_owned())
            .collect(),
        across: "share of operations that took no longer",
        up: "an operation",
        unit: round_nanos,
        scale: Scale::Powers,
        lines,
        beyond: None,
    }
}

fn cold_and_warm(results: &Results) -> String {
    let table = table::growth(results);
    let pair = |growth: &crate::results::Growth| Pair {
        name: growth.entrant.to_string(),
        whose: Whose::Of(growth.entrant.kind),
        lengths: [growth.cold_ns.median, growth.warm_ns.median],
    };
    let chart = Pairs {
        title: table.title.clone(),
        meaning: ["cold", "warm"],
        pairs: results.growth.iter().map(pair).collect(),
    };
    open("Cold against warm")
        + &figure(&chart.svg(), &table.title)
        + &folded(&table)
        + "</section>\n"
}

fn method(results: &Results) -> String {
    let mut section = open("How it was measured");
    for paragraph in [
        "All contenders take turns, slice by slice of about 2 ms, in an order that rotates; a figure is \
         the median over the rounds, beside it the quartiles. Ratios are taken within each round. \
         Threads live as long as the comparison, so what they cache is warm.",
        "Same-thread figures are time on a core, unless a thread slept; those of threads that wait for \
         each other are the wall's, without rounds in which one was preempted, if enough others are \
         left.",
        "An object is written in its first word when it is acquired, and that word is wiped when it \
         comes back to a pool. The box control gets memory as it is, neither made nor reset, which \
         is in its favour; it is measured on the allocator of the program.",
        "Cold bursts begin with a fresh pool, after the allocator has given free memory back to the \
         system where it can be told to (glibc). Places where an operation has more to do are set up \
         one operation at a time, and the pool's counts confirm that it was of the kind named.",
    ] {
        section += &format!("<p>{}</p>\n", escaped(paragraph));
    }
    let clock = format!(
        "One reading of the clock takes {}. Each time of a single operation has one in it, and none is \
         corrected for it.",
        nanos(results.latency.reading_ns)
    );
    section + &format!("<p>{}</p>\n</section>\n", escaped(&clock))
}

fn open(title: &str) -> String {
    format!("<section>\n<h2>{}</h2>\n", escaped(title))
}

fn figure(svg: &str, caption: &str) -> String {
    let caption = match caption {
        "" => String::new(),
        caption => format!("<figcaption>{}</figcaption>\n", escaped(caption)),
    };
    format!("<figure>\n{svg}{caption}</figure>\n")
}

fn shown(table: &Table) -> String {
    format!("<h3>{}</h3>\n{}", escaped(&table.title), rows(table))
}

fn folded(table: &Table) -> String {
    format!(
        "<details><summary>{}, in figures</summary>\n{}</details>\n",
        escaped(&table.title),
        rows(table)
    )
}

fn rows(table: &Table) -> String {
    let mut html = String::from("<div class=\"scroll\"><table>\n<thead><tr>");
    for head in &table.head {
        html += &format!("<th scope=\"col\">{}</th>", escaped(head));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        html += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            html += &match column {
                0 => format!("<th scope=\"row\">{}</th>", escaped(cell)),
                _ => format!("<td>{}</td>", escaped(cell)),
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table></div>\n"
}

//! Prints what the criterion benches measured last as a page of tables in Markdown, with our ratio beside every
//! figure, and below them what `ratios` and `pool-bench` wrote. `ci/tables.sh` makes `TABLES.md` with it; a test here
//! compares that with what others quote.
//!
//! ```text
//! cargo bench -p pool-benches
//! cargo run --release -p pool-benches --bin ratios -- --json ratios.json
//! cargo run --release -p pool-benches --bin tables -- --ratios ratios.json > tables.md
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::env;
use std::fmt::{self, Write as _};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser;
use pool_bench::duel::Spread;
use pool_bench::report::Circumstances;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Prints what the criterion benches measured last as tables in Markdown.
///
/// A cell is nanoseconds an object (in `queues_as_pools`, a burst), and in brackets what ours takes
/// over what this one does: below 1, ours is faster. Where ours is slower, the ratio is in bold.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only groups whose name begins with one of these
    #[arg(value_name = "GROUP")]
    groups: Vec<String>,

    /// Rows to take for ours: the first of these that a group has
    #[arg(long, value_name = "ROW", default_values_t = ["batched".to_owned(), "derived".to_owned()])]
    ours: Vec<String>,

    /// Criterion's directory, if it is not where this program was built
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,

    /// What `ratios --json` wrote, for a table of it
    #[arg(long, value_name = "FILE")]
    ratios: Option<PathBuf>,

    /// The results.json of `pool-bench`, for a table of how long single operations took
    #[arg(long, value_name = "FILE")]
    tail: Option<PathBuf>,
}

/// Rows measured further apart than this may not have met the same machine.
const ONE_RUN: Duration = Duration::from_secs(2 * 60 * 60);

/// A figure whose confidence interval is wider than this share of it is marked.
const NOISE: f64 = 0.1;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let directory = match &arguments.from {
        Some(directory) => directory.clone(),
        None => criterions_directory()?,
    };
    let all = read_figures(&directory)?;
    if all.is_empty() {
        return Err(format!(
            "there are no figures in {}: run `cargo bench -p pool-benches` first, or say with --from \
             where criterion's directory is",
            directory.display()
        ));
    }
    let groups = wanted(&all, &arguments.groups)?;
    warn_of_age(groups.iter().flat_map(|(_, figures)| figures.iter()));
    print!("{}", head(&Circumstances::here()));
    for (name, figures) in groups {
        print!("\n{}", Table::new(name, figures, &arguments.ours));
    }
    if let Some(path) = &arguments.ratios {
        print!("\n{}", read_json::<Ratios>(path)?);
    }
    if let Some(path) = &arguments.tail {
        print!("\n{}", read_json::<Tail>(path)?);
    }
    Ok(())
}

/// What stands above the tables.
fn head(circumstances: &Circumstances) -> String {
    format!(
        "# What every contender took\n\n\
         {circumstances}; on the system's allocator, where a row names no other. Written by `ci/tables.sh`. What the rows \
         and columns are, and the rules, is in `benches/README.md`. The machine's speed changes, so within a table a \
         difference of a tenth says nothing.\n\n\
         A cell is nanoseconds an object (in `queues_as_pools`, a burst), the spread where it is above a tenth, and in \
         brackets what ours, the row in bold, takes over what this one does: below 1, ours is faster. Where ours is \
         slower, the ratio is in bold.\n"
    )
}

/// Where criterion writes when cargo runs it, as far as that can be known.
fn criterions_directory() -> Result<PathBuf, String> {
    if let Some(home) = env::var_os("CRITERION_HOME") {
        return Ok(home.into());
    }
    let program = env::current_exe().map_err(|error| format!("where is this program? {error}"))?;
    // target/release/tables
    match program.ancestors().nth(2) {
        Some(target) => Ok(target.join("criterion")),
        None => Err("say with --from where criterion's directory is".into()),
    }
}

/// What is known of one row in one column.
#[derive(Debug)]
struct Figure {
    row: String,
    column: String,
    /// Nanoseconds an object.
    nanos: f64,
    /// Half the confidence interval, as a share of the figure.
    noise: f64,
    measured: SystemTime,
}

type Groups = BTreeMap<String, Vec<Figure>>;

fn wanted<'a>(all: &'a Groups, only: &[String]) -> Result<Vec<(&'a str, &'a [Figure])>, String> {
    for name in only {
        if !all.keys().any(|group| group.starts_with(name)) {
            let known: Vec<_> = all.keys().map(String::as_str).collect();
            return Err(format!(
                "no group that was measured begins with {name:?}; there are: {}",
                known.join("; ")
            ));
        }
    }
    let is_wanted =
        |group: &str| only.is_empty() || only.iter().any(|name| group.starts_with(name));
    Ok(all
        .iter()
        .filter(|(group, _)| is_wanted(group))
        .map(|(group, figures)| (group.as_str(), figures.as_slice()))
        .collect())
}

fn warn_of_age<'a>(figures: impl Iterator<Item = &'a Figure> + Clone) {
    let first = figures.clone().map(|figure| figure.measured).min();
    let last = figures.map(|figure| figure.measured).max();
    let (Some(first), Some(last)) = (first, last) else {
        return;
    };
    let apart = last.duration_since(first).unwrap_or_default();
    if apart > ONE_RUN {
        eprintln!(
            "warning: these rows were measured up to {} hours apart; for ratios of one run, remove \
             criterion's directory and run `cargo bench -p pool-benches` again",
            apart.as_secs() / 3600
        );
    }
}

/// Of criterion's `benchmark.json`.
#[derive(Debug, Deserialize)]
struct Benchmark {
    group_id: String,
    function_id: Option<String>,
    value_str: Option<String>,
    throughput: Option<Throughput>,
}

#[derive(Debug, Deserialize)]
struct Throughput {
    #[serde(rename = "Elements")]
    elements: Option<u64>,
}

/// Of criterion's `estimates.json`.
#[derive(Debug, Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Debug, Deserialize)]
struct Estimate {
    confidence_interval: Interval,
    point_estimate: f64,
}

#[derive(Debug, Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

fn read_figures(directory: &Path) -> Result<Groups, String> {
    let mut groups = Groups::new();
    collect(directory, &mut groups)?;
    Ok(groups)
}

/// Looks for the last measurement of every row, which lies in a directory called `new`.
fn collect(directory: &Path, groups: &mut Groups) -> Result<(), String> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(cannot_read(directory, &error)),
    };
    for entry in entries {
        let path = entry
            .map_err(|error| cannot_read(directory, &error))?
            .path();
        if path.ends_with("new") && path.join("benchmark.json").exists() {
            let (group, figure) = read_figure(&path)?;
            groups.entry(group).or_default().push(figure);
        } else if path.is_dir() {
            collect(&path, groups)?;
        }
    }
    Ok(())
}

fn read_figure(directory: &Path) -> Result<(String, Figure), String> {
    let benchmark: Benchmark = read_json(&directory.join("benchmark.json"))?;
    let estimates_file = directory.join("estimates.json");
    let Estimates { median } = read_json(&estimates_file)?;
    let measured = fs::metadata(&estimates_file)
        .and_then(|metadata| metadata.modified())
        .map_err(|error| cannot_read(&estimates_file, &error))?;
    let objects = benchmark
        .throughput
        .and_then(|throughput| throughput.elements)
        .unwrap_or(1);
    let Interval {
        lower_bound,
        upper_bound,
    } = median.confidence_interval;
    let figure = Figure {
        row: benchmark.function_id.unwrap_or_default(),
        column: benchmark.value_str.unwrap_or_default(),
        nanos: median.point_estimate / objects as f64,
        noise: (upper_bound - lower_bound) / 2.0 / median.point_estimate,
        measured,
    };
    Ok((benchmark.group_id, figure))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        format!(
            "{} does not hold the figures that it should ({error}); remove it and measure again",
            path.display()
        )
    })
}

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {error}", path.display())
}

/// A group, its rows from fast to slow.
#[derive(Debug)]
struct Table<'a> {
    name: &'a str,
    columns: Vec<&'a str>,
    rows: Vec<(&'a str, Vec<Option<&'a Figure>>)>,
    /// Which row is ours, if the group has one.
    ours: Option<usize>,
}

impl<'a> Table<'a> {
    fn new(name: &'a str, figures: &'a [Figure], ours: &[String]) -> Self {
        let mut columns: Vec<_> = figures.iter().map(|figure| &*figure.column).collect();
        columns.sort_by(|one, other| natural_order(one, other));
        columns.dedup();
        let mut names: Vec<_> = figures.iter().map(|figure| &*figure.row).collect();
        names.sort_unstable();
        names.dedup();
        let cell = |row: &str, column: &str| {
            figures
                .iter()
                .find(|figure| figure.row == row && figure.column == column)
        };
        let mut rows: Vec<_> = names
            .into_iter()
            .map(|row| {
                let cells = columns.iter().map(|column| cell(row, column));
                (row, cells.collect::<Vec<_>>())
            })
            .collect();
        let first =
            |cells: &[Option<&Figure>]| cells.iter().flatten().next().map(|cell| cell.nanos);
        rows.sort_by(|one, other| {
            first(&one.1)
                .partial_cmp(&first(&other.1))
                .unwrap_or(Ordering::Equal)
        });
        let ours = ours
            .iter()
            .find_map(|ours| rows.iter().position(|(row, _)| row == ours));
        Table {
            name,
            columns,
            rows,
            ours,
        }
    }

    fn our_figure(&self, column: usize) -> Option<&'a Figure> {
        self.rows[self.ours?].1[column]
    }
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}\n", self.name)?;
        writeln!(f, "| | {} |", self.columns.join(" | "))?;
        writeln!(f, "| --- |{}", " ---: |".repeat(self.columns.len()))?;
        for (place, (row, cells)) in self.rows.iter().enumerate() {
            let is_ours = self.ours == Some(place);
            let marked = if is_ours { "**" } else { "" };
            write!(f, "| {marked}{}{marked} |", escaped(row))?;
            for (column, cell) in cells.iter().enumerate() {
                let ours = self.our_figure(column).filter(|_| !is_ours);
                match cell {
                    Some(figure) => write!(f, " {} |", shown(figure, ours))?,
                    None => write!(f, " |")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A cell: the figure, how far it is to be trusted if not far, and ours over it.
fn shown(figure: &Figure, ours: Option<&Figure>) -> String {
    let mut text = number(figure.nanos);
    if figure.noise > NOISE {
        let percent = figure.noise * 100.0;
        write!(text, " ±{percent:.0}%").expect("strings take all");
    }
    if let Some(ours) = ours {
        let ratio = ours.nanos / figure.nanos;
        let bold = if ratio > 1.0 { "**" } else { "" };
        write!(text, " ({bold}{ratio:.2}{bold})").expect("strings take all");
    }
    text
}

/// A name as Markdown shows it, which takes `Vec<T>` for HTML.
fn escaped(name: &str) -> String {
    name.replace('<', "\\<")
}

/// Nanoseconds with as many places as mean something.
fn number(nanos: f64) -> String {
    if nanos < 100.0 {
        format!("{nanos:.2}")
    } else if nanos < 10_000.0 {
        format!("{nanos:.0}")
    } else {
        format!("{:.0}k", nanos / 1000.0)
    }
}

/// By numbers where there are numbers: 2 before 10, 1,000 before 1,000,000.
fn natural_order(one: &str, other: &str) -> Ordering {
    natord::compare(&one.replace(',', ""), &other.replace(',', ""))
}

/// Of what `ratios` writes.
#[derive(Debug, Deserialize)]
struct Ratios {
    circumstances: Circumstances,
    lines: Vec<Ratio>,
}

#[derive(Debug, Deserialize)]
struct Ratio {
    row: String,
    ours: String,
    other: String,
    target: Option<f64>,
    ours_ns: Spread,
    other_ns: Spread,
    ratio: Spread,
    undisturbed: f64,
}

impl fmt::Display for Ratios {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "## ratios\n\n`ratios`: {}. A ratio above its bound is in bold.\n",
            self.circumstances
        )?;
        writeln!(
            f,
            "| row | ns | other ns | ratio | quartiles | least | at most | what / over what |"
        )?;
        writeln!(f, "| --- | ---: | ---: | ---: | --- | ---: | ---: | --- |")?;
        for line in &self.lines {
            let Spread {
                lower,
                median,
                upper,
                ..
            } = line.ratio;
            let bound = line
                .target
                .map_or(String::new(), |target| format!("{target:.2}"));
            let marked = if line.target.is_some_and(|target| median > target) {
                "**"
            } else {
                ""
            };
            writeln!(
                f,
                "| {} | {} | {} | {marked}{median:.2}{marked} | {lower:.2} to {upper:.2} | {:.2} | {bound} | {} / {} |",
                line.row,
                number(line.ours_ns.median),
                number(line.other_ns.median),
                line.undisturbed,
                escaped(&line.ours),
                escaped(&line.other),
            )?;
        }
        Ok(())
    }
}

/// Of what `pool-bench` writes.
#[derive(Debug, Deserialize)]
struct Tail {
    command: String,
    circumstances: Circumstances,
    latency: Latency,
}

#[derive(Debug, Deserialize)]
struct Latency {
    clock: Percentiles,
    series: Vec<Series>,
}

#[derive(Debug, Deserialize)]
struct Series {
    place: String,
    operation: String,
    entrant: Entrant,
    ns: Percentiles,
}

#[derive(Debug, Deserialize)]
struct Entrant {
    kind: String,
    cooperates: bool,
}

#[derive(Debug, Deserialize)]
struct Percentiles {
    count: u64,
    p50: u64,
    p99: u64,
    p99_9: u64,
    p99_99: u64,
    max: u64,
}

impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (command, circumstances) = (&self.command, &self.circumstances);
        writeln!(
            f,
            "## tail\n\n`{command}`: {circumstances}. Nanoseconds of one operation, the reading of the clock included; no \
             figure where fewer than ten operations took longer.\n"
        )?;
        writeln!(
            f,
            "| place | operation | of | p50 | p99 | p99.9 | p99.99 | longest |"
        )?;
        writeln!(f, "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")?;
        writeln!(f, "| the clock alone | | |{}", self.latency.clock)?;
        for Series {
            place,
            operation,
            entrant,
            ns,
        } in &self.latency.series
        {
            let Entrant { kind, cooperates } = entrant;
            if !cooperates && ["batched", "box"].contains(&&**kind) {
                writeln!(f, "| {place} | {operation} | {kind} |{ns}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Percentiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = [
            (2, self.p50),
            (100, self.p99),
            (1_000, self.p99_9),
            (10_000, self.p99_99),
        ];
        for (share, time) in shares {
            match self.count / share {
                ..10 => write!(f, " |")?,
                _ => write!(f, " {time} |")?,
            }
        }
        write!(f, " {} |", self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(row: &str, column: &str, nanos: f64) -> Figure {
        Figure {
            row: row.into(),
            column: column.into(),
            nanos,
            noise: 0.0,
            measured: SystemTime::UNIX_EPOCH,
        }
    }

    #[test]
    fn columns_are_in_the_order_of_their_numbers() {
        let mut columns = [
            "burst 1,000,000",
            "burst 10",
            "burst 1,000",
            "burst 1, work 10",
            "burst 1, work 2",
        ];
        columns.sort_by(|one, other| natural_order(one, other));
        assert_eq!(
            columns,
            [
                "burst 1, work 2",
                "burst 1, work 10",
                "burst 10",
                "burst 1,000",
                "burst 1,000,000"
            ]
        );
    }

    #[test]
    fn our_ratio_stands_beside_every_figure_and_a_loss_is_bold() {
        let figures = [
            figure("batched", "1 thread", 4.0),
            figure("batched", "2 threads", 5.0),
            figure("no pool", "1 thread", 2.0),
            figure("Mutex<Vec>", "2 threads", 50.0),
        ];
        let table = Table::new("some group", &figures, &["batched".into()]);
        let expected = "\
            ## some group\n\n\
            | | 1 thread | 2 threads |\n\
            | --- | ---: | ---: |\n\
            | no pool | 2.00 (**2.00**) | |\n\
            | **batched** | 4.00 | 5.00 |\n\
            | Mutex\\<Vec> | | 50.00 (0.10) |\n";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn a_noisy_figure_says_so() {
        let noisy = Figure {
            noise: 0.256,
            ..figure("a", "b", 12_345.6)
        };
        assert_eq!(shown(&noisy, None), "12k ±26%");
    }

    #[test]
    fn what_criterion_wrote_is_read_per_object() {
        let home = tempfile::tempdir().expect("a directory");
        let row = home
            .path()
            .join("growth")
            .join("batched")
            .join("cold")
            .join("new");
        fs::create_dir_all(&row).expect("a directory");
        let benchmark = r#"{"group_id":"growth","function_id":"batched","value_str":"cold",
            "throughput":{"Elements":10},"full_id":"x","directory_name":"x","title":"x"}"#;
        fs::write(row.join("benchmark.json"), benchmark).expect("a file");
        let interval = r#"{"confidence_level":0.95,"lower_bound":90.0,"upper_bound":110.0}"#;
        let estimates = format!(
            r#"{{"mean":null,"median":{{"confidence_interval":{interval},"point_estimate":100.0,"standard_error":1.0}}}}"#
        );
        fs::write(row.join("estimates.json"), estimates).expect("a file");
        let groups = read_figures(home.path()).expect("figures");
        let figure = &groups["growth"][0];
        assert_eq!((figure.nanos, figure.noise), (10.0, 0.1));
        assert_eq!((&*figure.row, &*figure.column), ("batched", "cold"));
    }

    #[test]
    fn a_ratio_above_its_bound_is_bold() {
        let spread = r#"{"least":1.0,"lower":1.1,"median":1.2,"upper":1.3}"#;
        let line = |row: &str, target: &str| {
            format!(
                r#"{{"row":"{row}","ours":"ours","other":"a Vec","target":{target},"ours_ns":{spread},
                "other_ns":{spread},"ratio":{spread},"undisturbed":1.25,"rounds":3,"left_out":0}}"#
            )
        };
        let json = format!(
            r#"{{"circumstances":{{"machine":"m","cores":2,"system":"s","compiler":"c","commit":"d"}},
            "lines":[{},{},{}]}}"#,
            line("lost", "1.15"),
            line("met", "1.5"),
            line("known", "null"),
        );
        let page = serde_json::from_str::<Ratios>(&json)
            .expect("ratios")
            .to_string();
        let rows: Vec<_> = page.lines().skip(6).collect();
        assert_eq!(
            rows,
            [
                "| lost | 1.20 | 1.20 | **1.20** | 1.10 to 1.30 | 1.25 | 1.15 | ours / a Vec |",
                "| met | 1.20 | 1.20 | 1.20 | 1.10 to 1.30 | 1.25 | 1.50 | ours / a Vec |",
                "| known | 1.20 | 1.20 | 1.20 | 1.10 to 1.30 | 1.25 |  | ours / a Vec |",
            ]
        );
        assert_eq!(
            cell(&format!("\n{page}"), "ratios / lost / other ns"),
            Some(1.2)
        );
    }

    #[test]
    fn a_percentile_that_too_few_operations_exceed_is_left_out() {
        let ns = r#"{"count":15000,"p50":20,"p90":30,"p99":40,"p99_9":50,"p99_99":60,"max":70}"#;
        let series = |kind: &str, cooperates: bool| {
            format!(
                r#"{{"place":"growth","operation":"acquire","ns":{ns},
                "entrant":{{"kind":"{kind}","batch_size":null,"cooperates":{cooperates}}}}}"#
            )
        };
        let json = format!(
            r#"{{"command":"pool-bench","latency":{{"clock":{ns},"series":[{},{},{}]}},
            "circumstances":{{"machine":"m","cores":2,"system":"s","compiler":"c","commit":"d"}}}}"#,
            series("batched", false),
            series("batched", true),
            series("mutex", false),
        );
        let page = serde_json::from_str::<Tail>(&json)
            .expect("times")
            .to_string();
        let rows: Vec<_> = page.lines().skip(6).collect();
        assert_eq!(
            rows,
            [
                "| the clock alone | | | 20 | 40 | 50 | | 70 |",
                "| growth | acquire | batched | 20 | 40 | 50 | | 70 |",
            ]
        );
    }

    #[test]
    fn a_group_that_was_not_measured_is_an_error_that_names_those_that_were() {
        let mut groups = Groups::new();
        groups.insert("growth".into(), Vec::new());
        let error = wanted(&groups, &["grwth".into()]).expect_err("no such group");
        assert!(
            error.contains("grwth") && error.contains("growth"),
            "{error}"
        );
    }

    /// Nanoseconds of a cell of `TABLES.md`, named by group, row and column.
    fn cell(page: &str, reference: &str) -> Option<f64> {
        let [group, row, column]: [&str; 3] = reference
            .split(" / ")
            .map(str::trim)
            .collect::<Vec<_>>()
            .try_into()
            .ok()?;
        let group = page
            .split("\n## ")
            .find(|part| part.lines().next() == Some(group))?;
        let mut lines = group.lines().filter(|line| line.starts_with('|'));
        let column = lines
            .next()?
            .split('|')
            .position(|cell| cell.trim() == column)?;
        let mut rows = lines.map(|line| line.split('|').collect::<Vec<_>>());
        let cells = rows.find(|cells| cells[1].trim().trim_matches('*') == row)?;
        let figure = cells[column].split_whitespace().next()?;
        match figure.strip_suffix('k') {
            Some(thousands) => thousands
                .parse::<f64>()
                .ok()
                .map(|thousands| thousands * 1000.0),
            None => figure.parse().ok(),
        }
    }

    /// The times in a paragraph as they are written, each with its unit in nanoseconds.
    fn times(paragraph: &str) -> Vec<(&str, f64)> {
        let words: Vec<_> = paragraph.split_whitespace().collect();
        let number = |at: usize| {
            let digits = words[at].trim_matches(|letter: char| !letter.is_ascii_digit());
            digits.parse::<f64>().is_ok().then_some(digits)
        };
        let mut times = Vec::new();
        for at in 1..words.len() {
            let unit = match words[at].trim_matches(|letter: char| !letter.is_alphabetic()) {
                "ns" => 1.0,
                "µs" => 1000.0,
                _ => continue,
            };
            if at >= 3 && words[at - 2] == "to" {
                times.extend(number(at - 3).map(|digits| (digits, unit)));
            }
            times.extend(number(at - 1).map(|digits| (digits, unit)));
        }
        times
    }

    /// What is wrong with the times that a text quotes. Each has a cell, named in a comment of its paragraph, to which
    /// it is rounded: `<!-- figures: group / row / column; group / row / column -->`.
    fn wrong(text: &str, page: &str) -> Vec<String> {
        let mut wrong = Vec::new();
        let prose = text.split("```").step_by(2);
        for paragraph in prose.flat_map(|part| part.split("\n\n")) {
            let (said, comment) = match paragraph.split_once("<!-- figures:") {
                Some((before, rest)) => match rest.split_once("-->") {
                    Some((comment, after)) => (format!("{before}{after}"), comment),
                    None => (paragraph.to_owned(), ""),
                },
                None => (paragraph.to_owned(), ""),
            };
            let references: Vec<_> = comment
                .split(';')
                .filter(|one| !one.trim().is_empty())
                .collect();
            let times = times(&said);
            if times.len() != references.len() {
                let (times, cells) = (times.len(), references.len());
                wrong.push(format!(
                    "{times} times and {cells} references in {paragraph:?}"
                ));
                continue;
            }
            for ((digits, unit), reference) in times.into_iter().zip(references) {
                let decimals = digits
                    .split_once('.')
                    .map_or(0, |(_, decimals)| decimals.len());
                let half = unit / 2.0 / 10_f64.powi(decimals as i32);
                let quoted = digits.parse::<f64>().expect("digits") * unit;
                match cell(page, reference) {
                    Some(nanos) if (nanos - quoted).abs() <= half => {}
                    found => wrong.push(format!(
                        "{digits} is quoted of{reference}, where {found:?} ns is"
                    )),
                }
            }
        }
        wrong
    }

    #[test]
    fn what_readme_and_guide_quote_is_in_the_tables() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join("benches/TABLES.md")).expect("the tables");
        let guide = fs::read_dir(root.join("docs")).expect("the guide");
        let chapters = guide.map(|entry| entry.expect("an entry").path());
        let chapters = chapters.filter(|path| path.extension().is_some_and(|md| md == "md"));
        let mut read = 0;
        for path in chapters.chain([root.join("README.md")]) {
            let text = fs::read_to_string(&path).expect("a page");
            assert_eq!(wrong(&text, &page), [""; 0], "{}", path.display());
            read += 1;
        }
        assert!(read > 10, "the guide has {read} pages");
    }

    #[test]
    fn a_quote_that_is_not_in_the_tables_is_found() {
        let figures = [
            figure("some malloc", "1 thread", 19.6),
            figure("batched", "1 thread", 34_400.0),
        ];
        let page = format!(
            "# Title\n\n{}",
            Table::new("group", &figures, &["batched".into()])
        );
        let some = "<!-- figures: group / some malloc / 1 thread -->";
        let both = "<!-- figures: group / some malloc / 1 thread; group / batched / 1 thread -->";
        for (text, faults) in [
            (format!("It takes 20 ns. {some}"), 0),
            (format!("It takes 19.6 ns, {some} no more."), 0),
            (format!("From 0.020 to 34 µs. {both}"), 0),
            ("No time, and ```code of 3 ns```".to_owned(), 0),
            (format!("It takes 19 ns. {some}"), 1),
            (format!("It takes 19.7 ns. {some}"), 1),
            ("It takes 20 ns.".to_owned(), 1),
            (format!("It takes long. {some}"), 1),
            (
                "It takes 20 ns. <!-- figures: group / other / 1 thread -->".to_owned(),
                1,
            ),
        ] {
            assert_eq!(
                wrong(&text, &page).len(),
                faults,
                "{text}: {:?}",
                wrong(&text, &page)
            );
        }
    }
}

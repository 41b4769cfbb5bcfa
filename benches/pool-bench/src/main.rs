//! Measures a user's case: which pool fits it, with which batch size, and whether a pool pays at all.
//!
//! ```text
//! cargo run --release -p pool-bench -- --object-size 256 --threads 4 --burst 32
//! cargo run --release -p pool-bench -- --pattern pipeline --quick --json
//! cargo run --release -p pool-bench -- chart --out chart.svg
//! ```
//!
//! ```text
//! args ──► case ──► lane ──► measure ─┬► results ──► advice, explain ──► table, chart, report
//! checked  plain    loops    latency  │  plain       what follows,       terminal, SVG, HTML
//!          data     on       growth   │  data        in words
//!                   threads           └► results.json
//! ```
//!
//! Exit codes: 0, all went well; 1, the results cannot be written; 2, something given has to change.

mod allocator;
mod args;
mod case;
mod watch;
mod lane;
mod measure;
mod latency;
mod growth;
mod results;
mod advice;
mod explain;
mod words;
mod table;
mod chart;
mod report;

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use pool_bench::duel::cores;
use pool_bench::payload::FILLED;
use pool_bench::report::Circumstances;

use crate::advice::{Advice, Findings, advise};
use crate::allocator::Allocator;
use crate::args::{Arguments, Command, Measure};
use crate::case::Plan;
use crate::results::{Place, Results};
use crate::table::Table;

/// Why there is nothing to show.
enum Failure {
    /// Something given has to change; the message says what.
    Input(String),
    /// What was measured cannot be written.
    Output(String),
    /// Another process has said why, and ended with this code.
    Told(u8),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.command {
        Some(Command::Chart { results, out }) => draw(results, out),
        None => work(&arguments.measure),
    };
    match done.and_then(|text| print(&text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(message)) => fail(2, &message),
        Err(Failure::Output(message)) => fail(1, &message),
        Err(Failure::Told(code)) => ExitCode::from(code),
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    say(&format!("error: {message}"));
    ExitCode::from(code)
}

/// Tells the user something that is no result.
fn say(message: &str) {
    // If even this cannot be written, the exit code has to say it all.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Prints all there is to print, in one go.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // The reader has seen enough, as `head` has.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::Output(format!(
            "cannot write to standard output: {error}"
        ))),
        Ok(()) => Ok(()),
    }
}

/// Measures, writes the files, and gives what there is to print.
fn work(measure: &Measure) -> Result<String, Failure> {
    let plan = measure.plan().map_err(Failure::Input)?;
    let allocators = &measure.allocator.0[..];
    if allocators != [Allocator::here()] {
        return on_each(measure, allocators);
    }
    FILLED.set(plan.case.buffers).expect("set here alone");
    // Before the seconds are spent.
    let folder = Folder::open(&measure.out).map_err(Failure::Input)?;
    let results = measured(&plan);
    for warning in results.warnings() {
        say(&format!("warning: {warning}"));
    }
    let json = json(&results);
    let mut written = Vec::new();
    for (name, content) in [
        ("results.json", &json),
        ("report.html", &report::html(&results)),
    ] {
        written.push(folder.write(name, content).map_err(Failure::Output)?);
    }
    let written = format!("written: {}", written.join(", "));
    if measure.json {
        say(&written);
        return Ok(json);
    }
    Ok(format!("{}\n{written}\n", text(&results)))
}

/// Measures on each allocator, in a process of its own, and gives what there is to print.
fn on_each(measure: &Measure, allocators: &[Allocator]) -> Result<String, Failure> {
    let mut all: Vec<Results> = Vec::new();
    for allocator in allocators {
        let failed = |error: &dyn std::fmt::Display| {
            Failure::Output(format!("cannot measure on {allocator}: {error}"))
        };
        let out = match allocators {
            [_] => measure.out.clone(),
            _ => measure.out.join(allocator.name()),
        };
        let mut command = allocator.command().map_err(|error| failed(&error))?;
        // What comes later overrides.
        let command = command
            .args(std::env::args_os().skip(1))
            .args(["--json", "--allocator", allocator.name(), "--out"])
            .arg(out)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        let output = command.output().map_err(|error| failed(&error))?;
        match output.status.code() {
            Some(0) => {}
            // It has said why, in the words that this process would use.
            Some(2) => return Err(Failure::Told(2)),
            Some(1) => return Err(Failure::Told(1)),
            _ => return Err(failed(&output.status)),
        }
        all.push(serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))?);
    }
    match &all[..] {
        [one] if measure.json => Ok(json(one)),
        [one] => Ok(text(one)),
        _ if measure.json => Ok(json(&all)),
        _ => {
            let verdicts = all.iter().map(|one| format!("{}\n", one.advice.text[0]));
            let table = table::allocators(&all);
            Ok(format!(
                "{}\n{}\n{table}",
                verdicts.collect::<String>(),
                all[0].case
            ))
        }
    }
}

fn json(results: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(results).expect("numbers and names") + "\n"
}

/// Everything that a plan asks for.
fn measured(plan: &Plan) -> Results {
    let bar = Bar::new();
    let time = |share: f64| Duration::from_secs_f64(plan.seconds * share);
    let (figures, batches) = bar.during("the case", 0.0, 0.4, |progress| {
        measure::figures(plan, time(0.4), progress)
    });
    let threads = bar.during("threads", 0.4, 0.25, |progress| {
        measure::at_threads(plan, &figures, time(0.25), progress)
    });
    let latency = bar.during("latency", 0.65, 0.25, |progress| {
        latency::latency(plan, time(0.25), progress)
    });
    let growth = bar.during("cold and warm", 0.9, 0.1, |progress| {
        growth::growth(plan, time(0.1), progress)
    });
    let advice = advise(&Findings {
        case: plan.case,
        allocator: Allocator::here(),
        cores: cores(),
        figures: &figures,
        threads: &threads,
        batches: &batches,
        latency: &latency,
        growth: &growth,
    });
    Results {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: command_line(),
        quick: plan.quick,
        optimised: !cfg!(debug_assertions),
        allocator: Allocator::here(),
        circumstances: Circumstances::here(),
        case: plan.case,
        spikes: explain::explain(plan.case, cores(), &latency),
        figures,
        threads,
        batches,
        latency,
        growth,
        advice,
    }
}

/// The arguments as they were given, behind the program's name.
fn command_line() -> String {
    let arguments = std::env::args_os().skip(1);
    let words = arguments.map(|word| format!(" {}", word.to_string_lossy()));
    "pool-bench".to_owned() + &words.collect::<String>()
}

/// What the terminal shows.
fn text(results: &Results) -> String {
    let latency = &results.latency;
    let Advice {
        text: said, code, ..
    } = &results.advice;
    let (verdict, reasons) = said.split_first().expect("there is always a verdict");
    let mut text = format!(
        "{verdict}\n\n{}\n{}; on {}\n\n",
        results.case, results.circumstances, results.allocator
    );
    let tables: Vec<Table> = vec![
        table::figures(results),
        table::threads(results),
        table::batches(results),
        table::latency(
            latency,
            "Single operations in a warm loop",
            &[Place::Steady],
        ),
        table::latency(
            latency,
            "The same beside a thread that reserves and trims every 200 µs",
            &[Place::Housekeeping],
        ),
        table::latency(
            latency,
            "Single operations, the rare and the crowded",
            &[
                Place::Exchange,
                Place::Growth,
                Place::Revocation,
                Place::Exhausted,
                Place::Crowded,
            ],
        ),
        table::growth(results),
    ];
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        text += &format!("{table}\n");
    }
    text += "Advice\n";
    for reason in reasons {
        text += &textwrap::indent(&textwrap::fill(reason, 96), "  ");
        text += "\n\n";
    }
    if let Some(code) = code {
        text += &format!("  {code}\n\n");
    }
    text.trim_end().to_owned() + "\n"
}

/// Draws the chart of a README from the results of an earlier run.
fn draw(results: &Path, out: &Path) -> Result<String, Failure> {
    let path = results.display();
    let text = fs::read_to_string(results).map_err(|error| {
        Failure::Input(format!(
            "{path}: {error}; give the results.json of a run with --results, or run pool-bench first"
        ))
    })?;
    let results: Results = serde_json::from_str(&text).map_err(|error| {
        Failure::Input(format!(
            "{path}: {error}; it is no results.json of this version of pool-bench: measure again"
        ))
    })?;
    for warning in results.warnings() {
        say(&format!("warning: of the run that is drawn: {warning}"));
    }
    let svg =
        chart::standalone(&results).map_err(|error| Failure::Input(format!("{path}: {error}")))?;
    fs::write(out, svg).map_err(|error| Failure::Input(unwritable(out, &error)))?;
    Ok(format!("written: {}\n", out.display()))
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot write {}: {error}; give another place with --out",
        path.display()
    )
}

/// Where the files go; known to be writable.
struct Folder(PathBuf);

impl Folder {
    fn open(path: &Path) -> Result<Self, String> {
        let unwritable = |error: io::Error| unwritable(path, &error);
        fs::create_dir_all(path).map_err(unwritable)?;
        for name in ["results.json", "report.html"] {
            let file = path.join(name);
            if file.is_dir() {
                return Err(format!(
                    "cannot write {}: it is a folder; give another place with --out",
                    file.display()
                ));
            }
            let unfinished = Self::unfinished(path, name);
            fs::File::create(&unfinished).map_err(unwritable)?;
            fs::remove_file(&unfinished).map_err(unwritable)?;
        }
        Ok(Folder(path.to_owned()))
    }

    fn unfinished(path: &Path, name: &str) -> PathBuf {
        path.join(format!(".{name}.{}", std::process::id()))
    }

    /// Writes a file as a whole: whoever reads it finds the old or the new.
    fn write(&self, name: &str, content: &str) -> Result<String, String> {
        let (file, unfinished) = (self.0.join(name), Self::unfinished(&self.0, name));
        let written = fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, &file));
        if let Err(error) = written {
            // What is left of it, if anything.
            let _ = fs::remove_file(&unfinished);
            return Err(unwritable(&file, &error));
        }
        Ok(file.display().to_string())
    }
}

/// A progress bar on standard error, if that is a terminal, and nothing otherwise.
struct Bar(ProgressBar);

impl Bar {
    const STEPS: f64 = 1000.0;

    fn new() -> Self {
        let style = ProgressStyle::with_template("{msg:<14} {wide_bar} {percent}% {eta}")
            .expect("a template that is well formed");
        Bar(ProgressBar::new(Self::STEPS as u64).with_style(style))
    }

    /// Runs a part of the work, which is so much of the whole.
    fn during<R>(
        &self,
        name: &'static str,
        from: f64,
        share: f64,
        part: impl FnOnce(&dyn Fn(f64)) -> R,
    ) -> R {
        self.0.set_message(name);
        part(&|done| {
            let position = (from + share * done) * Self::STEPS;
            self.0.set_position(position as u64);
        })
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

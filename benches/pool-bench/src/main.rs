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
//! Exit codes: 0, all went well; 1, the results cannot be written; 2, an argument has to change.

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

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio, id};

use clap::Parser;
use pool_bench::payload::FILLED;
use pool_bench::report::Circumstances;

use crate::advice::Advice;
use crate::allocator::Allocator;
use crate::args::{Arguments, Command, Measure};
use crate::case::Plan;
use crate::results::{Place, Results};
use crate::watch::Budget;

/// Why there is nothing to show.
enum Failure {
    /// An argument has to change; the message says which.
    Input(String),
    /// The results cannot be written.
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
    let (code, message) = match done.and_then(|text| print(&text)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Told(code)) => return ExitCode::from(code),
        Err(Failure::Output(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
    };
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
    let printed = stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush());
    match printed {
        // The reader has seen enough, as `head` has.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::Output(format!(
            "cannot write to standard output: {error}"
        ))),
        _ => Ok(()),
    }
}

/// The files that a run leaves in its folder.
const FILES: [&str; 2] = ["results.json", "report.html"];

/// Measures, writes the files, and gives what there is to print.
fn work(measure: &Measure) -> Result<String, Failure> {
    let plan = measure.plan().map_err(Failure::Input)?;
    let allocators = &measure.allocator.0[..];
    if allocators != [Allocator::here()] {
        return on_each(measure, allocators);
    }
    FILLED.set(plan.case.buffers).expect("set here alone");
    // Before the seconds are spent.
    check_folder(&measure.out).map_err(Failure::Input)?;
    let results = measured(&plan);
    for warning in results.warnings() {
        say(&format!("warning: {warning}"));
    }
    let json = json(&results);
    let paths = FILES.map(|name| measure.out.join(name));
    for (path, content) in paths.iter().zip([&json, &report::html(&results)]) {
        replace(path, content).map_err(|error| Failure::Output(unwritable(path, &error)))?;
    }
    let written = format!("written: {}, {}", paths[0].display(), paths[1].display());
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
        command
            .args(env::args_os().skip(1))
            .args(["--json", "--allocator", allocator.name()]);
        command
            .arg("--out")
            .arg(out)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        let output = command.output().map_err(|error| failed(&error))?;
        match output.status.code() {
            Some(0) => {}
            // It has said why, in the words that this process would use.
            Some(code @ 1..=2) => return Err(Failure::Told(code as u8)),
            _ => return Err(failed(&output.status)),
        }
        all.push(serde_json::from_slice(&output.stdout).map_err(|error| failed(&error))?);
    }
    Ok(match &all[..] {
        [one] if measure.json => json(one),
        [one] => text(one),
        _ if measure.json => json(&all),
        _ => {
            let verdicts = all.iter().map(|one| format!("{}\n", one.advice.text[0]));
            let verdicts: String = verdicts.collect();
            format!("{verdicts}\n{}\n{}", all[0].case, table::allocators(&all))
        }
    })
}

fn json(results: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(results).expect("numbers and names") + "\n"
}

/// Everything that a plan asks for.
fn measured(plan: &Plan) -> Results {
    let budget = &Budget::new(plan.seconds);
    let (figures, batches) = measure::figures(plan, budget, 0.4);
    let words = env::args_os()
        .skip(1)
        .map(|word| format!(" {}", word.to_string_lossy()));
    let mut results = Results {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: format!("pool-bench{}", words.collect::<String>()),
        quick: plan.quick,
        optimised: !cfg!(debug_assertions),
        allocator: Allocator::here(),
        circumstances: Circumstances::here(),
        case: plan.case,
        threads: measure::at_threads(plan, &figures, budget, 0.25),
        latency: latency::latency(plan, budget, 0.25),
        growth: growth::growth(plan, budget, 0.1),
        figures,
        batches,
        spikes: Vec::new(),
        advice: Advice::default(),
    };
    results.spikes = explain::explain(&results);
    results.advice = advice::advise(&results);
    results
}

/// What the terminal shows.
fn text(results: &Results) -> String {
    let Advice {
        text: said, code, ..
    } = &results.advice;
    let (verdict, reasons) = said.split_first().expect("there is always a verdict");
    let mut text = format!(
        "{verdict}\n\n{}\n{}; on {}\n\n",
        results.case, results.circumstances, results.allocator
    );
    let latency = |title, places: &[Place]| table::latency(results, title, places);
    let rare = [&Place::RARE[..], &[Place::Crowded]].concat();
    let tables = [
        table::figures(results),
        table::threads(results),
        table::batches(results),
        latency("Single operations in a warm loop", &[Place::Steady]),
        latency(
            "The same beside a thread that reserves and trims every 200 µs",
            &[Place::Housekeeping],
        ),
        latency("Single operations, the rare and the crowded", &rare),
        table::growth(results),
    ];
    for table in tables.iter().filter(|table| !table.rows.is_empty()) {
        text += &format!("{table}\n");
    }
    text += "Advice\n";
    for reason in reasons
        .iter()
        .map(|reason| textwrap::fill(reason, 96))
        .chain(code.clone())
    {
        text += &format!("{}\n\n", textwrap::indent(&reason, "  "));
    }
    text.trim_end().to_owned() + "\n"
}

/// Draws the chart of a README from the results of an earlier run.
fn draw(results: &Path, out: &Path) -> Result<String, Failure> {
    let wrong = |error: &dyn std::fmt::Display, remedy: &str| {
        Failure::Input(format!("{}: {error}{remedy}", results.display()))
    };
    let text = fs::read_to_string(results).map_err(|error| {
        let remedy = "; give the results.json of a run with --results, or run pool-bench first";
        wrong(&error, remedy)
    })?;
    let results: Results = serde_json::from_str(&text).map_err(|error| {
        wrong(
            &error,
            "; it is no results.json of this version of pool-bench: measure again",
        )
    })?;
    for warning in results.warnings() {
        say(&format!("warning: of the run that is drawn: {warning}"));
    }
    let svg = chart::standalone(&results).map_err(|error| wrong(&error, ""))?;
    fs::write(out, svg).map_err(|error| Failure::Input(unwritable(out, &error)))?;
    Ok(format!("written: {}\n", out.display()))
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!(
        "cannot write {}: {error}; give another place with --out",
        path.display()
    )
}

/// Makes sure that the files can be written into a folder.
fn check_folder(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
    for path in FILES.map(|name| folder.join(name)) {
        if path.is_dir() {
            return Err(unwritable(&path, &"it is a folder"));
        }
        let unfinished = path.with_extension(id().to_string());
        let tried = fs::write(&unfinished, "").and_then(|()| fs::remove_file(&unfinished));
        tried.map_err(|error| unwritable(folder, &error))?;
    }
    Ok(())
}

/// Writes a file as a whole: a reader finds the old or the new.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    let unfinished = path.with_extension(id().to_string());
    let written = fs::write(&unfinished, content).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // What is left of it, if anything.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

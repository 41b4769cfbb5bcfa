//! Measures every speed claim of the project as a ratio within one run.
//!
//! ```text
//! cargo run --release -p pool-benches --bin ratios
//! cargo run --release -p pool-benches --bin ratios -- --quick --only one-vec --only many
//! ```

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use pool_bench::cold;
use pool_bench::duel::Effort;
use pool_bench::report::{Circumstances, Line, Report, head};
use pool_bench::rows::{COLD, ROWS, Row};

/// Measures every speed claim of the project as a ratio within one run.
///
/// Both sides of a row do the same work, in slices of milliseconds by turns; the ratio is taken
/// round by round, and its median counts.
#[derive(Debug, Parser)]
struct Arguments {
    /// Rounds a row; rows with more threads than cores take a tenth
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    rounds: Option<u32>,

    /// Short slices and few rounds: a smoke test, not a measurement
    #[arg(long)]
    quick: bool,

    /// Only this row; may be given several times
    #[arg(long, value_name = "ROW", value_parser = row_names(), hide_possible_values = true)]
    only: Vec<String>,

    /// Write the figures to this file too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Say what the rows are, and measure nothing
    #[arg(long, conflicts_with_all = ["rounds", "quick", "json"])]
    list: bool,
}

fn row_names() -> PossibleValuesParser {
    PossibleValuesParser::new(ROWS.iter().map(|row| row.name))
}

fn main() -> ExitCode {
    cold::serve(&COLD);
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let wanted = |row: &&Row| {
        arguments.only.is_empty() || arguments.only.iter().any(|only| only == row.name)
    };
    let rows: Vec<_> = ROWS.iter().filter(wanted).collect();
    if arguments.list {
        for row in rows {
            let target = match row.target {
                Some(target) => format!("at most {target:.2}"),
                None => String::new(),
            };
            println!(
                "{:<18} {target:<12}  {} / {}",
                row.name, row.ours, row.other
            );
        }
        return Ok(());
    }

    // Before the minutes are spent.
    let json = match &arguments.json {
        Some(path) => {
            let file = File::create(path);
            Some((
                path,
                file.map_err(|error| format!("cannot write {}: {error}", path.display()))?,
            ))
        }
        None => None,
    };
    if cfg!(debug_assertions) {
        eprintln!(
            "warning: built without optimisation; add --release for figures that mean anything"
        );
    }

    let (millis, rounds) = if arguments.quick { (1, 15) } else { (2, 301) };
    let effort = Effort {
        slice: Duration::from_millis(millis),
        rounds: arguments.rounds.map_or(rounds, |rounds| rounds as usize),
    };
    let circumstances = Circumstances::here();
    println!("{circumstances}\n\n{}", head());
    let mut lines = Vec::new();
    for row in rows {
        let line = Line::new(row, measure(row, effort));
        println!("{line}");
        lines.push(line);
    }

    if let Some((path, mut file)) = json {
        let report = Report {
            circumstances,
            lines,
        };
        writeln!(file, "{}", report.to_json())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

fn measure(row: &Row, effort: Effort) -> pool_bench::duel::Outcome {
    // Draws nothing where nobody watches.
    let bar = ProgressBar::new(100);
    let style = ProgressStyle::with_template("{msg:<18} {wide_bar} {percent}%");
    bar.set_style(style.expect("a template that is well formed"));
    bar.set_message(row.name);
    let outcome = (row.duel)().run(effort, |done| bar.set_position((done * 100.0) as u64));
    bar.finish_and_clear();
    outcome
}

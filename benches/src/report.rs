//! What was measured, as a table for people and as JSON.

use std::fmt;
use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::duel::{Outcome, cores};
#[cfg(feature = "allocators")]
use crate::rows::Row;

/// Where and with what it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Circumstances {
    /// The processor's name.
    pub machine: String,
    /// Cores that threads may run on.
    pub cores: usize,
    /// The operating system's kernel.
    pub system: String,
    /// The compiler.
    pub compiler: String,
    /// The commit, and whether something was changed since.
    pub commit: String,
}

impl Circumstances {
    /// Those of this run.
    #[must_use]
    pub fn here() -> Self {
        let unknown = || String::from("unknown");
        // Of what was built, wherever it is run from.
        let sources = env!("CARGO_MANIFEST_DIR");
        let describe = [
            "-C",
            sources,
            "describe",
            "--always",
            "--dirty",
            "--exclude=*",
        ];
        let machine = fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| {
            let line = info.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        });
        Circumstances {
            machine: machine.unwrap_or_else(unknown),
            cores: cores(),
            system: said_by("uname", &["-srm"]).unwrap_or_else(unknown),
            compiler: env!("POOL_BENCH_RUSTC").to_owned(),
            commit: said_by("git", &describe).unwrap_or_else(unknown),
        }
    }
}

fn said_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !said.is_empty()).then_some(said)
}

impl fmt::Display for Circumstances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Circumstances {
            machine,
            cores,
            system,
            compiler,
            commit,
        } = self;
        write!(
            f,
            "{machine}, {cores} cores; {system}; {compiler}; commit {commit}"
        )
    }
}

/// One line.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The row's name.
    pub row: &'static str,
    /// What was measured.
    pub ours: &'static str,
    /// What it was compared with.
    pub other: &'static str,
    /// The most that the ratio may be.
    pub target: Option<f64>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Line {
    /// The line of a row.
    #[cfg(feature = "allocators")]
    #[must_use]
    pub fn new(row: &Row, outcome: Outcome) -> Self {
        Line {
            row: row.name,
            ours: row.ours,
            other: row.other,
            target: row.target,
            outcome,
        }
    }

    fn verdict(&self) -> &'static str {
        match self.target {
            None => "",
            Some(target) if self.outcome.ratio.median <= target => "met",
            Some(_) => "MISSED",
        }
    }
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Where and with what.
    pub circumstances: Circumstances,
    /// What came of it, row by row.
    pub lines: Vec<Line>,
}

impl Report {
    /// The run as JSON.
    ///
    /// # Panics
    ///
    /// Never: numbers and names.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and names")
    }
}

/// The head of the table, for lines to follow.
pub fn head() -> String {
    format!(
        "{:<18} {:>8} {:>8} {:>7} {:>15} {:>7} {:>8} {:<6}  {}",
        "row", "ns", "other ns", "ratio", "quartiles", "least", "at most", "", "what / over what"
    )
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome {
            ours_ns,
            other_ns,
            ratio,
            undisturbed,
            left_out,
            ..
        } = self.outcome;
        let quartiles = format!("{:.3} - {:.3}", ratio.lower, ratio.upper);
        let target = self
            .target
            .map_or(String::new(), |target| format!("{target:.2}"));
        write!(
            f,
            "{:<18} {:>8.2} {:>8.2} {:>7.3} {quartiles:>15} {undisturbed:>7.3} {target:>8} {:<6}  {} / {}",
            self.row,
            ours_ns.median,
            other_ns.median,
            ratio.median,
            self.verdict(),
            self.ours,
            self.other,
        )?;
        if left_out > 0 {
            write!(f, " ({left_out} disturbed rounds left out)")?;
        }
        Ok(())
    }
}

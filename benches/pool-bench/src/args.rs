//! The command line: what may be asked for, and what goes together. Everything is checked here,
//! before anything is measured; each message says what to change.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use pool_bench::duel::cores;
use pool_bench::payload::BUFFERS;
use pool_core::Pool;
use serde::{Deserialize, Serialize};

use crate::allocator::Choice;
use crate::case::{Case, Entrant, Kind, OWNING_SIZES, Pattern, Plan, SIZES};

/// Measures your case: which pool fits it, with which batch size, and whether a pool pays at all.
///
/// All contenders do the same work in turns of milliseconds. Beside the pools there are always
/// controls without a pool. The figures come as a table, as results.json, and as a page with charts,
/// report.html. The first line is the verdict.
#[derive(Debug, Parser)]
#[command(
    name = "pool-bench",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 success; 1 the results cannot be written; 2 an argument has to change."
)]
pub(crate) struct Arguments {
    /// What to do instead of measuring.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// What to measure.
    #[command(flatten)]
    pub(crate) measure: Measure,
}

/// What to do instead of measuring.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draws the cost of an object against threads, from the results of an earlier run, as an SVG
    /// for a README
    Chart {
        /// The results.json of a run
        #[arg(
            long,
            value_name = "FILE",
            default_value = "target/pool-bench/results.json"
        )]
        results: PathBuf,

        /// The file to write
        #[arg(long, value_name = "FILE.svg")]
        out: PathBuf,
    },
}

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// What the program to be pooled does.
    #[command(flatten)]
    workload: Workload,

    /// A TOML file that says the same as the flags from object-size to capacity, under their names;
    /// what both say has to agree
    #[arg(long = "workload", value_name = "FILE")]
    file: Option<PathBuf>,

    /// A pool to measure; several with commas or by repetition [default: all that the pattern
    /// allows]. The controls (box, and vec or words) are always measured
    #[arg(long, value_enum, value_name = "NAME", value_delimiter = ',')]
    backend: Vec<Kind>,

    /// A batch size of the batched pool; several with commas or by repetition [default: 64, or less
    /// with a small capacity]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    batch_size: Vec<usize>,

    /// The allocator of the program, from which every pool has its memory: system, or, if built in,
    /// jemalloc or mimalloc; or all, which measures on each in turn
    #[arg(
        long,
        value_name = "NAME",
        default_value = "system",
        overrides_with = "allocator"
    )]
    pub(crate) allocator: Choice,

    /// How long to measure, about
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    duration: f64,

    /// A few seconds: a smoke test, not a measurement
    #[arg(long, conflicts_with = "duration")]
    quick: bool,

    /// The folder for results.json and report.html
    #[arg(
        long,
        value_name = "DIR",
        default_value = "target/pool-bench",
        overrides_with = "out"
    )]
    pub(crate) out: PathBuf,

    /// Print the results as JSON, and nothing else, on standard output
    #[arg(long, overrides_with = "json")]
    pub(crate) json: bool,
}

/// The case, as flags or as a file; everything has a default.
#[derive(Args, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Workload {
    /// Bytes of an object: 8, 16, 32, 64, 128, 256, 1024, 4096, 16384 or 65536; with buffers 128,
    /// 256, 1024 or 4096 [default: 64, with buffers 128]
    #[arg(long, value_name = "BYTES")]
    object_size: Option<usize>,

    /// Buffers that each object owns: the bytes that are written into each, up to four with commas
    /// [default: none]
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    buffers: Option<Vec<usize>>,

    /// Threads, all of them together [default: as many as cores; pipeline: 2]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Objects acquired before the first is released or sent [default: 1]
    #[arg(long, value_name = "N")]
    burst: Option<usize>,

    /// Other work for each burst, in tokens of 2 to 3 ns [default: 0]
    #[arg(long, value_name = "TOKENS")]
    work: Option<u64>,

    /// How objects travel [default: same-thread]
    #[arg(long, value_enum)]
    pattern: Option<Pattern>,

    /// Objects of 100 that another thread releases, with pattern same-thread [default: 0]
    #[arg(long, value_name = "PERCENT")]
    remote: Option<usize>,

    /// The capacity of the pools, in objects [default: none]
    #[arg(long, value_name = "N")]
    capacity: Option<usize>,
}

impl Workload {
    /// What a file and the flags say together.
    fn with_file(&self, path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            format!("cannot read {name}: {error}; give a TOML file with --workload")
        })?;
        let file: Workload = toml::from_str(&text).map_err(|error| {
            format!(
                "{name} is no workload: {error}; give what the flags from object-size to capacity \
                 say, each at most once, such as burst = 32"
            )
        })?;
        let json = |workload| serde_json::to_value(workload).expect("numbers and names");
        let (mut both, file) = (json(self), json(&file));
        let said = file.as_object().into_iter().flatten();
        for (key, said) in said.filter(|(_, said)| !said.is_null()) {
            let flag = &mut both[key.as_str()];
            if !flag.is_null() && flag != said {
                return Err(format!(
                    "{key} is {flag} on the command line and {said} in {name}: leave one out"
                ));
            }
            flag.clone_from(said);
        }
        Ok(serde_json::from_value(both).expect("as two workloads say"))
    }

    fn case(&self) -> Result<Case, String> {
        let given = self.buffers.as_deref().unwrap_or_default();
        let mut buffers = [0; BUFFERS];
        if given.len() > BUFFERS {
            return Err(format!(
                "{} buffers: an object has room for {BUFFERS}; give several as one of their sum",
                given.len()
            ));
        }
        for (place, &size) in buffers.iter_mut().zip(given) {
            *place = within("a buffer of size", size, 1..=1 << 20)?;
        }
        let pattern = self.pattern.unwrap_or(Pattern::SameThread);
        let threads = match pattern {
            Pattern::SameThread => cores(),
            Pattern::Pipeline => 2,
            Pattern::FanOut => cores().max(2),
        };
        Ok(Case {
            object_size: self
                .object_size
                .unwrap_or(if given.is_empty() { 64 } else { 128 }),
            buffers,
            threads: within("threads", self.threads.unwrap_or(threads), 1..=1024)?,
            burst: within("burst", self.burst.unwrap_or(1), 1..=100_000)?,
            work: within("work", self.work.unwrap_or(0), 0..=1_000_000)?,
            pattern,
            remote: within("remote", self.remote.unwrap_or(0), 0..=100)?,
            capacity: self.capacity,
        })
    }
}

fn within<N: PartialOrd + fmt::Display>(
    name: &str,
    given: N,
    range: RangeInclusive<N>,
) -> Result<N, String> {
    if range.contains(&given) {
        return Ok(given);
    }
    let (least, most) = range.into_inner();
    Err(format!(
        "{name} {given} is out of range: give {least} to {most}"
    ))
}

/// Seconds that a smoke test measures.
const QUICK: f64 = 3.0;

/// Bytes that one contender may hold at once.
const MEMORY: usize = 256 << 20;

/// Batch sizes that are always compared.
const LADDER: [usize; 6] = [1, 4, 16, 64, 256, 1024];

impl Measure {
    /// What was asked for, if it goes together.
    ///
    /// # Errors
    ///
    /// A message that says what does not, and what to change.
    pub(crate) fn plan(&self) -> Result<Plan, String> {
        let case = match &self.file {
            Some(file) => self.workload.with_file(file)?.case()?,
            None => self.workload.case()?,
        };
        let kinds = self.kinds(case)?;
        let batch_sizes = self.batch_sizes(case, &kinds)?;
        check(case, batch_sizes.iter().copied().max().unwrap_or(0))?;
        Ok(Plan {
            case,
            entrants: entrants(case, &kinds, &batch_sizes),
            threads: thread_counts(case),
            batch_sizes: ladder(case, &batch_sizes),
            seconds: match self.quick {
                true => QUICK,
                false => within("duration", self.duration, 1.0..=3600.0)?,
            },
            quick: self.quick,
        })
    }

    /// The pools asked for, or all that the pattern allows.
    fn kinds(&self, case: Case) -> Result<Vec<Kind>, String> {
        let unfit = if case.crosses() {
            Some(format!(
                "pattern {}, {} % remote: its objects cannot leave their thread; drop unsync, or use \
                 --pattern same-thread without --remote",
                case.pattern, case.remote
            ))
        } else if case.capacity.is_some() && case.threads > 1 {
            Some(format!(
                "capacity and {} threads: each thread has a pool of its own, so nothing bounds them \
                 together; drop unsync or the capacity, or use --threads 1",
                case.threads
            ))
        } else {
            None
        };
        let asked_for = |kind: &&Kind| self.backend.contains(kind);
        let fits =
            |kind: &&Kind| **kind != Kind::Unsync || unfit.is_none() && case.capacity.is_none();
        let pools = Kind::value_variants().iter();
        match &unfit {
            Some(reason) if asked_for(&&Kind::Unsync) => {
                Err(format!("backend unsync with {reason}"))
            }
            _ if self.backend.is_empty() => Ok(pools.filter(fits).copied().collect()),
            _ => Ok(pools.filter(asked_for).copied().collect()),
        }
    }

    /// The batch sizes asked for, or the default; none without a batched pool.
    fn batch_sizes(&self, case: Case, kinds: &[Kind]) -> Result<Vec<usize>, String> {
        if !kinds.contains(&Kind::Batched) {
            return match self.batch_size.first() {
                None => Ok(Vec::new()),
                Some(batch_size) => Err(format!(
                    "batch size {batch_size} without a pool that has batches: drop the batch size \
                     or add --backend batched"
                )),
            };
        }
        let mut sizes = Vec::new();
        for &batch_size in &self.batch_size {
            // The library's own limits, in its own words.
            let pool = Pool::<u64>::builder().batch_size(batch_size).build();
            pool.map_err(|error| error.to_string())?;
            if !sizes.contains(&batch_size) {
                sizes.push(batch_size);
            }
        }
        if sizes.is_empty() {
            sizes.push(case.default_batch_size());
        }
        Ok(sizes)
    }
}

/// Whether a case can be measured, with such a batch size.
fn check(case: Case, batch_size: usize) -> Result<(), String> {
    check_size(case)?;
    let Case {
        threads,
        burst,
        pattern,
        remote,
        ..
    } = case;
    if remote > 0 && pattern != Pattern::SameThread {
        return Err(format!(
            "remote {remote} with pattern {pattern}: there another thread releases every object; \
             drop remote, or use --pattern same-thread"
        ));
    }
    if remote > 0 && threads == 1 {
        return Err(format!(
            "remote {remote} with 1 thread: there is no other to release on; use --threads 2 or \
             more, or drop remote"
        ));
    }
    if pattern == Pattern::Pipeline && !threads.is_multiple_of(2) {
        let fewer = if threads > 1 {
            format!("{} or ", threads - 1)
        } else {
            String::new()
        };
        return Err(format!(
            "pattern pipeline with {threads} threads: it takes them in pairs, one that acquires and \
             one that releases; use --threads {fewer}{}",
            threads + 1
        ));
    }
    if pattern == Pattern::FanOut && threads == 1 {
        return Err(
            "pattern fan-out with 1 thread: there is nobody to send to; use --threads 2 or \
                    more"
                .to_owned(),
        );
    }
    if let Some(capacity) = case.capacity {
        let pool = Pool::<u64>::builder().capacity(capacity).build();
        pool.map_err(|error| error.to_string())?;
        let in_hand = case.lanes() * (burst + usize::from(remote > 0));
        if capacity < in_hand {
            return Err(format!(
                "capacity {capacity} with {threads} threads and bursts of {burst}: threads that hold \
                 part of their burst would wait for each other for ever; use --capacity {in_hand} or \
                 more"
            ));
        }
    }
    let bytes = memory(case, batch_size);
    if bytes > MEMORY {
        return Err(format!(
            "{threads} threads with bursts of {burst} and batches of {batch_size} of {} bytes each \
             take {} MiB a contender, and no more than {} are allowed: lower the burst, the batch \
             size, the size of object and buffers, or the threads",
            case.bytes(),
            bytes >> 20,
            MEMORY >> 20
        ));
    }
    Ok(())
}

fn check_size(case: Case) -> Result<(), String> {
    let size = case.object_size;
    let (built, what): (&[usize], _) = match case.owns_buffers() {
        false => (&SIZES, ""),
        true => (&OWNING_SIZES, " with buffers"),
    };
    if built.contains(&size) {
        return Ok(());
    }
    let sizes: Vec<_> = built.iter().map(usize::to_string).collect();
    let remedy = match built.iter().find(|&&larger| larger > size) {
        Some(larger) => format!("{larger} is the next above"),
        None => "larger objects cost what the largest do: nothing moves them".to_owned(),
    };
    Err(format!(
        "object size {size}{what}: the program is built for {} only; {remedy}",
        sizes.join(", ")
    ))
}

/// The contenders: the pools in all their sizes, then the controls.
fn entrants(case: Case, kinds: &[Kind], batch_sizes: &[usize]) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    for &kind in kinds {
        if kind != Kind::Batched {
            entrants.push(Entrant::of(kind));
            continue;
        }
        for batched in batch_sizes.iter().copied().map(Entrant::batched) {
            entrants.push(batched);
            if case.burst > 1 && !case.crosses() {
                entrants.push(Entrant {
                    at_once: true,
                    ..batched
                });
            }
        }
    }
    let control = if case.crosses() {
        Kind::Words
    } else {
        Kind::Vec
    };
    entrants.extend([Kind::Box, control].map(Entrant::of));
    entrants
}

/// Bytes that a contender holds: objects in use, and idle ones in caches.
fn memory(case: Case, batch_size: usize) -> usize {
    let objects = case.in_use() + Entrant::batched(batch_size).cached(case.threads);
    objects.saturating_mul(case.bytes())
}

/// 1, 2, 4 and so on, to twice the cores and as far as the case goes, with the case's own among them.
fn thread_counts(case: Case) -> Vec<usize> {
    let most = case.threads.max(2 * cores());
    let powers = (0..usize::BITS).map(|power| 1 << power);
    let mut counts: Vec<_> = powers.take_while(|&threads| threads <= most).collect();
    counts.push(case.threads);
    counts.retain(|&threads| check(case.with_threads(threads), 0).is_ok());
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The ladder, the size whose cache just holds a burst, and what was asked for.
fn ladder(case: Case, batch_sizes: &[usize]) -> Vec<usize> {
    if batch_sizes.is_empty() {
        return Vec::new();
    }
    let mut sizes = LADDER.to_vec();
    sizes.push(case.burst.div_ceil(2));
    sizes.retain(|&batch_size| memory(case, batch_size) <= MEMORY);
    sizes.extend(batch_sizes);
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(line: &str) -> Result<Plan, String> {
        let words = ["pool-bench"].into_iter().chain(line.split_whitespace());
        let arguments = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
        arguments.measure.plan()
    }

    fn names(plan: &Plan) -> String {
        let names: Vec<_> = plan.entrants.iter().map(Entrant::to_string).collect();
        names.join(", ")
    }

    #[test]
    fn everything_has_a_default() {
        let plan = plan("").unwrap();
        assert_eq!(plan.case, Case::default().with_threads(cores()));
        assert_eq!(
            names(&plan),
            "batched 64, mutex, queue, heap, unsync, box, vec"
        );
        assert_eq!(plan.batch_sizes, LADDER);
    }

    #[test]
    fn backends_and_batch_sizes_come_in_lists() {
        let line = "--backend batched,queue --backend mutex --batch-size 8,32 --burst 4";
        let plan = plan(line).unwrap();
        assert_eq!(
            names(&plan),
            "batched 8, batched 8 at once, batched 32, batched 32 at once, mutex, queue, box, vec"
        );
        assert_eq!(plan.batch_sizes, [1, 2, 4, 8, 16, 32, 64, 256, 1024]);
    }

    #[test]
    fn threads_are_swept_as_far_as_the_case_goes_and_the_pattern_allows() {
        let threads = |line| plan(line).unwrap().threads;
        let most = (2 * cores()).max(77);
        let swept = threads("--threads 77");
        assert!(swept.starts_with(&[1, 2, 4]) && swept.contains(&77));
        assert!(swept.is_sorted() && *swept.last().unwrap() <= most);
        let pairs = threads("--pattern pipeline --threads 6");
        assert!(pairs.iter().all(|threads| threads.is_multiple_of(2)));
        assert!(threads("--pattern fan-out --threads 3").starts_with(&[2, 3]));
        assert_eq!(threads("--threads 4 --burst 10 --capacity 40"), [1, 2, 4]);
    }

    /// Arguments that do not go together, and the remedy that the message names.
    const REFUSED: &str = "
        --object-size 100                                   => 8, 16, 32, 64, 128
        --object-size 100                                   => 128 is the next above
        --object-size 0                                     => 8 is the next above
        --object-size 100000                                => 65536
        --object-size 8 --buffers 9                         => 128, 256, 1024, 4096
        --pattern pipeline --threads 3                      => use --threads 2 or 4
        --pattern pipeline --threads 1                      => use --threads 2
        --pattern fan-out --threads 1                       => use --threads 2 or more
        --pattern pipeline --backend unsync                 => --pattern same-thread
        --backend mutex --batch-size 8                      => drop the batch size
        --backend unsync --batch-size 8                     => add --backend batched
        --batch-size 0                                      => use 1 or more
        --batch-size 100000                                 => use a smaller batch
        --capacity 0                                        => use 1 or more
        --threads 4 --burst 10 --capacity 39                => use --capacity 40 or more
        --threads 4 --backend unsync --capacity 40          => use --threads 1
        --object-size 65536 --burst 100000                  => lower the burst
        --quick --duration 5                                => cannot be used with
        --duration soon                                     => invalid float literal
        --duration 0.1                                      => give 1 to 3600
        --threads 0                                         => give 1 to 1024
        --burst 0                                           => give 1 to 100000
        --work 1000001                                      => give 0 to 1000000
        --remote 101 --threads 2                            => give 0 to 100
        --remote 10 --threads 1                             => use --threads 2 or more
        --remote 10 --pattern pipeline                      => drop remote
        --remote 10 --threads 2 --backend unsync            => without --remote
        --remote 10 --threads 2 --burst 10 --capacity 21    => use --capacity 22 or more
        --buffers 1,2,3,4,5                                 => room for 4
        --buffers 100,0                                     => give 1 to 1048576
        --buffers 100 --object-size 64                      => 128 is the next above
        --buffers 1000000 --burst 1000                      => size of object and buffers
        --backend stack                                     => batched, mutex, queue, heap, unsync
        --backend box                                       => batched, mutex, queue, heap, unsync
        --workload /no/such/file.toml                       => cannot read /no/such/file.toml
        chart                                               => --out";

    #[test]
    fn what_cannot_go_together_says_what_to_change() {
        for case in REFUSED.trim().lines() {
            let (line, remedy) = case.split_once("=>").unwrap();
            let message = plan(line).expect_err(line);
            assert!(message.contains(remedy.trim()), "{case}: {message}");
        }
    }

    /// The plan of a file with such a text and of flags beside it.
    fn with_file(text: &str, flags: &str) -> Result<Plan, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.toml");
        fs::write(&path, text).unwrap();
        plan(&format!("--workload {} {flags}", path.display()))
    }

    #[test]
    fn a_file_says_what_flags_say() {
        let text = "object-size = 256\nbuffers = [100, 20]\nremote = 25\nburst = 8\nwork = 5";
        let by_file = with_file(text, "--threads 2 --burst 8 --capacity 3000")
            .unwrap()
            .case;
        let flags = "--object-size 256 --buffers 100,20 --remote 25 --burst 8 --work 5";
        let by_flags = plan(&format!("{flags} --threads 2 --capacity 3000"))
            .unwrap()
            .case;
        assert_eq!(by_file, by_flags);
        assert_eq!(by_file.buffers, [100, 20, 0, 0]);
        assert_eq!(
            by_file.to_string(),
            "2 threads, objects of 256 bytes with buffers of 100 + 20, same-thread, 25 % released on \
             another thread, bursts of 8, 5 tokens of work a burst, capacity 3000"
        );
    }

    #[test]
    fn a_file_that_is_wrong_is_refused_with_its_name_and_the_remedy() {
        for (text, flags, says) in [
            (
                "burst = 8",
                "--burst 9",
                "burst is 9 on the command line and 8 in",
            ),
            ("burst = 8", "--burst 9", "orders.toml: leave one out"),
            ("bursts = 8", "", "orders.toml is no workload"),
            ("bursts = 8", "", "unknown field `bursts`, expected one of"),
            ("burst = \"many\"", "", "invalid type: string"),
            ("burst = -1", "", "line 1"),
            ("burst = 8\nburst = 9", "", "duplicate key"),
            ("burst 8", "", "orders.toml is no workload"),
            ("pattern = \"circle\"", "", "unknown variant `circle`"),
            ("threads = 0", "", "give 1 to 1024"),
            (
                "burst = 10\ncapacity = 39",
                "--threads 4",
                "use --capacity 40",
            ),
            (
                "pattern = \"pipeline\"",
                "--threads 3",
                "use --threads 2 or 4",
            ),
        ] {
            let message = with_file(text, flags).expect_err(text);
            assert!(message.contains(says), "{text}: no {says:?} in {message}");
        }
    }
}

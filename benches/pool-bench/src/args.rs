//! The command line: what may be asked for, and what goes together. Everything is checked here,
//! before anything is measured; each message says what to change.

use std::fmt;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use pool_bench::duel::cores;
use pool_bench::payload::BUFFERS;
use pool_core::Pool;
use serde::Deserialize;

use crate::allocator::Choice;
use crate::case::{Case, Entrant, Kind, OWNING_SIZES, Pattern, Plan, SIZES};

/// Measures your case: which pool fits it, with which batch size, and whether a pool pays at all.
///
/// All contenders do the same work in turns of milliseconds. Beside the pools there are always
/// controls without a pool. The figures come as a table, as results.json, and as a page with charts,
/// report.html; advice in plain words comes last.
#[derive(Debug, Parser)]
#[command(
    name = "pool-bench",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 success; 1 the results cannot be written; 2 something given has to \
                  change."
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

    /// A TOML file that says the same as the flags from object-size to capacity, under their names; what both say
    /// has to agree
    #[arg(long = "workload", value_name = "FILE")]
    file: Option<PathBuf>,

    /// A pool to measure: batched, mutex, queue, heap or unsync; several with commas or by
    /// repetition [default: all that the pattern allows]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = pool_named)]
    backend: Vec<Kind>,

    /// A batch size of the batched pool; several with commas or by repetition [default: 64,
    /// or less with a small capacity]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    batch_size: Vec<usize>,

    /// The allocator of the program, from which every pool has its memory: system, or, if built in, jemalloc or
    /// mimalloc; or all, which measures on each in turn
    #[arg(
        long,
        value_name = "NAME",
        default_value = "system",
        overrides_with = "allocator"
    )]
    pub(crate) allocator: Choice,

    /// How long to measure, about
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
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

/// The case, as flags or as a file; what is not said has a default.
#[derive(Args, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Workload {
    /// Bytes of an object: 8, 16, 32, 64, 128, 256, 1024, 4096, 16384 or 65536; with buffers 128, 256, 1024 or 4096
    /// [default: 64, with buffers 128]
    #[arg(long, value_name = "BYTES")]
    object_size: Option<usize>,

    /// Buffers that each object owns: the bytes that are written into each, up to four with commas [default: none]
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

    /// The bound of the pools, in objects [default: none]
    #[arg(long, value_name = "N")]
    capacity: Option<usize>,
}

impl Workload {
    /// What a file says, where the flags say nothing else.
    fn with_file(&self, path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = fs::read_to_string(path).map_err(|error| {
            format!("cannot read {name}: {error}; give a TOML file with --workload")
        })?;
        let file: Workload = toml::from_str(&text).map_err(|error| {
            format!("{name} is no workload: {error}; give what the flags from object-size to capacity say, each at \
                     most once, such as burst = 32")
        })?;
        macro_rules! either {
            ($($field:ident),*) => {
                Workload { $($field: match (&self.$field, file.$field) {
                    (Some(flag), Some(said)) if *flag != said => {
                        return Err(format!(
                            "{} is {flag:?} on the command line and {said:?} in {name}: leave one out",
                            stringify!($field).replace('_', "-"),
                        ));
                    }
                    (flag, said) => flag.clone().or(said),
                }),* }
            };
        }
        Ok(either!(
            object_size,
            buffers,
            threads,
            burst,
            work,
            pattern,
            remote,
            capacity
        ))
    }

    fn case(&self) -> Result<Case, String> {
        let buffers = self.buffers.as_deref().unwrap_or_default();
        let pattern = self.pattern.unwrap_or(Pattern::SameThread);
        let case = Case {
            object_size: self
                .object_size
                .unwrap_or(if buffers.is_empty() { 64 } else { 128 }),
            buffers: checked_buffers(buffers)?,
            threads: self.threads.unwrap_or_else(|| default_threads(pattern)),
            burst: self.burst.unwrap_or(1),
            work: self.work.unwrap_or(0),
            pattern,
            remote: self.remote.unwrap_or(0),
            capacity: self.capacity,
        };
        within("threads", case.threads, 1..=1024)?;
        within("burst", case.burst, 1..=100_000)?;
        within("work", case.work, 0..=1_000_000)?;
        within("remote", case.remote, 0..=100)?;
        check_size(case)?;
        check_threads(case)?;
        check_capacity(case)?;
        Ok(case)
    }
}

fn within<N: Copy + PartialOrd + fmt::Display>(
    name: &str,
    given: N,
    range: RangeInclusive<N>,
) -> Result<(), String> {
    if range.contains(&given) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    Err(format!(
        "{name} {given} is out of range: give {least} to {most}"
    ))
}

fn checked_buffers(given: &[usize]) -> Result<[usize; BUFFERS], String> {
    let mut buffers = [0; BUFFERS];
    if given.len() > BUFFERS {
        return Err(format!(
            "{} buffers: an object has room for {BUFFERS}; give several as one of their sum",
            given.len()
        ));
    }
    for (place, &size) in buffers.iter_mut().zip(given) {
        within("a buffer of size", size, 1..=1 << 20)?;
        *place = size;
    }
    Ok(buffers)
}

fn pool_named(name: &str) -> Result<Kind, String> {
    let named = |kind: &Kind| kind.name().eq_ignore_ascii_case(name);
    Kind::POOLS.into_iter().find(named).ok_or_else(|| {
        let names = Kind::POOLS.map(Kind::name).join(", ");
        let remedy = match name {
            "box" | "vec" | "words" => "controls are always measured, where the pattern allows",
            _ => "name one of these",
        };
        format!("the pools are {names}; {remedy}")
    })
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "give seconds as a number, such as 10 or 2.5".to_owned())?;
    if (1.0..=3600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("give 1 to 3600 seconds".to_owned())
    }
}

/// Seconds that a smoke test measures.
const QUICK: f64 = 3.0;

/// Bytes that one contender may hold at once.
const MEMORY: usize = 256 << 20;

/// Batch sizes that cost is shown against.
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
        within_memory(case, &batch_sizes)?;
        let entrants = entrants(case, &kinds, &batch_sizes);
        let ladder = if kinds.contains(&Kind::Batched) {
            ladder(case, &batch_sizes)
        } else {
            Vec::new()
        };
        Ok(Plan {
            case,
            entrants,
            threads: thread_counts(case),
            batch_sizes: ladder,
            seconds: if self.quick { QUICK } else { self.duration },
            quick: self.quick,
        })
    }

    /// The pools asked for, or all that the pattern allows.
    fn kinds(&self, case: Case) -> Result<Vec<Kind>, String> {
        let stays = !case.crosses();
        if !stays && self.backend.contains(&Kind::Unsync) {
            return Err(format!(
                "backend unsync with pattern {}, {} % remote: its objects cannot leave their thread; drop \
                 unsync, or use --pattern same-thread without --remote",
                case.pattern, case.remote
            ));
        }
        if case.capacity.is_some() && self.backend.contains(&Kind::Unsync) && case.threads > 1 {
            return Err(format!(
                "backend unsync with capacity and {} threads: each thread has a pool of its own, so \
                 nothing bounds them together; drop unsync or the capacity, or use --threads 1",
                case.threads
            ));
        }
        let mut kinds = Vec::new();
        for kind in Kind::POOLS {
            let fits = stays && case.capacity.is_none() || kind != Kind::Unsync;
            let wanted = if self.backend.is_empty() {
                fits
            } else {
                self.backend.contains(&kind)
            };
            if wanted {
                kinds.push(kind);
            }
        }
        Ok(kinds)
    }

    /// The batch sizes asked for, or the default.
    fn batch_sizes(&self, case: Case, kinds: &[Kind]) -> Result<Vec<usize>, String> {
        let batched = kinds.contains(&Kind::Batched);
        let builder_of = kinds
            .iter()
            .filter(|&&kind| batched == (kind == Kind::Batched));
        let backend = builder_of.filter_map(|kind| kind.backend()).next();
        let mut sizes = Vec::new();
        for &batch_size in &self.batch_size {
            let Some(backend) = backend else {
                return Err(format!(
                    "batch size {batch_size} without a pool that has batches: drop the batch size \
                     or add --backend batched"
                ));
            };
            // The library's own words, and its own limits.
            let pool = Pool::<u64>::builder()
                .backend(backend)
                .batch_size(batch_size);
            pool.build().map_err(|error| error.to_string())?;
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

fn default_threads(pattern: Pattern) -> usize {
    match pattern {
        Pattern::SameThread => cores(),
        Pattern::Pipeline => 2,
        Pattern::FanOut => cores().max(2),
    }
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
        "object size {size}{what} is none that this program is built for, which are {}; {remedy}",
        sizes.join(", ")
    ))
}

fn check_threads(case: Case) -> Result<(), String> {
    let Case {
        threads, pattern, ..
    } = case;
    if case.remote > 0 && pattern != Pattern::SameThread {
        return Err(format!(
            "remote {} with pattern {pattern}: there another thread releases every object; drop remote, or use \
             --pattern same-thread",
            case.remote
        ));
    }
    match pattern {
        Pattern::SameThread if threads == 1 && case.remote > 0 => Err(format!(
            "remote {} with 1 thread: there is no other to release on; use --threads 2 or more, or drop remote",
            case.remote
        )),
        Pattern::SameThread => Ok(()),
        Pattern::Pipeline if threads.is_multiple_of(2) => Ok(()),
        Pattern::Pipeline => {
            let remedy = match threads {
                1 => "2".to_owned(),
                _ => format!("{} or {}", threads - 1, threads + 1),
            };
            Err(format!(
                "pattern pipeline with {threads} threads: it takes them in pairs, one that acquires \
                 and one that releases; use --threads {remedy}"
            ))
        }
        Pattern::FanOut if threads >= 2 => Ok(()),
        Pattern::FanOut => Err(
            "pattern fan-out with 1 thread: there is nobody to send to; use --threads 2 or more"
                .to_owned(),
        ),
    }
}

fn check_capacity(case: Case) -> Result<(), String> {
    let Some(capacity) = case.capacity else {
        return Ok(());
    };
    let pool = Pool::<u64>::builder().capacity(capacity);
    pool.build().map_err(|error| error.to_string())?;
    let sent = usize::from(case.remote > 0);
    let in_hand = case.lanes() * (case.burst + sent);
    if capacity < in_hand {
        let Case { threads, burst, .. } = case;
        return Err(format!(
            "capacity {capacity} with {threads} threads and bursts of {burst}: threads that hold part \
             of their burst would wait for each other for ever; use --capacity {in_hand} or more"
        ));
    }
    Ok(())
}

/// Who competes: the pools in all their sizes, then the controls.
fn entrants(case: Case, kinds: &[Kind], batch_sizes: &[usize]) -> Vec<Entrant> {
    let mut entrants = Vec::new();
    for &kind in kinds {
        if kind != Kind::Batched {
            entrants.push(Entrant::of(kind));
            continue;
        }
        for &batch_size in batch_sizes {
            entrants.push(Entrant::batched(batch_size));
            if case.burst > 1 && !case.crosses() {
                entrants.push(Entrant::batched(batch_size).at_once());
            }
        }
    }
    entrants.push(Entrant::of(Kind::Box));
    entrants.push(Entrant::of(match case.crosses() {
        false => Kind::Vec,
        true => Kind::Words,
    }));
    entrants
}

/// Bytes that a contender holds: objects in use, and idle ones in caches.
fn memory(case: Case, batch_size: usize) -> usize {
    let objects = case.in_use() + Entrant::batched(batch_size).cached(case.threads);
    objects.saturating_mul(case.bytes())
}

fn within_memory(case: Case, batch_sizes: &[usize]) -> Result<(), String> {
    let largest = batch_sizes.iter().copied().max().unwrap_or(0);
    let bytes = memory(case, largest);
    if bytes <= MEMORY {
        return Ok(());
    }
    let Case { threads, burst, .. } = case;
    let each = case.bytes();
    Err(format!(
        "{threads} threads with bursts of {burst} and batches of {largest} of {each} bytes each \
         take {} MiB a contender, and no more than {} are allowed: lower the burst, the batch size, the \
         size of object and buffers, or the threads",
        bytes >> 20,
        MEMORY >> 20
    ))
}

/// 1, 2, 4 and so on, to twice the cores and as far as the case goes, with the case's own among them.
fn thread_counts(case: Case) -> Vec<usize> {
    let most = case.threads.max(2 * cores());
    let powers = std::iter::successors(Some(1_usize), |threads| Some(threads * 2));
    let mut counts: Vec<_> = powers.take_while(|&threads| threads <= most).collect();
    counts.push(case.threads);
    counts.sort_unstable();
    counts.dedup();
    counts.retain(|&threads| {
        let case = case.with_threads(threads);
        check_threads(case).is_ok() && check_capacity(case).is_ok() && memory(case, 0) <= MEMORY
    });
    counts
}

/// The ladder and what was asked for, within reason.
fn ladder(case: Case, batch_sizes: &[usize]) -> Vec<usize> {
    let mut sizes = LADDER.to_vec();
    // With this one a cache just holds a burst.
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

    /// The message that `line` is refused with.
    fn refusal(line: &str) -> String {
        match plan(line) {
            Ok(plan) => panic!("{line} is accepted: {plan:?}"),
            Err(message) => message,
        }
    }

    #[test]
    fn everything_has_a_default() {
        let plan = plan("").unwrap();
        assert_eq!(plan.case.object_size, 64);
        assert_eq!(plan.case.threads, cores());
        let kinds: Vec<_> = plan.entrants.iter().map(|entrant| entrant.kind).collect();
        let pools = Kind::POOLS.into_iter();
        assert_eq!(
            kinds,
            pools.chain([Kind::Box, Kind::Vec]).collect::<Vec<_>>()
        );
        assert_eq!(plan.batch_sizes, LADDER);
    }

    #[test]
    fn backends_and_batch_sizes_come_in_lists() {
        let plan =
            plan("--backend batched,queue --backend mutex --batch-size 8,32 --burst 4").unwrap();
        let names: Vec<_> = plan.entrants.iter().map(Entrant::to_string).collect();
        assert_eq!(
            names,
            [
                "batched 8",
                "batched 8 at once",
                "batched 32",
                "batched 32 at once",
                "mutex",
                "queue",
                "box",
                "vec"
            ]
        );
        assert_eq!(plan.batch_sizes, [1, 2, 4, 8, 16, 32, 64, 256, 1024]);
    }

    #[test]
    fn threads_are_swept_to_twice_the_cores_and_to_the_case() {
        let plan = plan("--threads 77").unwrap();
        assert!(plan.threads.contains(&1) && plan.threads.contains(&64));
        assert_eq!(plan.threads.last(), Some(&(2 * cores()).max(77)));
        assert!(plan.threads.is_sorted());
    }

    #[test]
    fn patterns_sweep_only_threads_that_they_can_use() {
        let pairs = plan("--pattern pipeline --threads 6").unwrap();
        assert!(
            pairs
                .threads
                .iter()
                .all(|threads| threads.is_multiple_of(2))
        );
        let fan = plan("--pattern fan-out --threads 3").unwrap();
        assert_eq!(fan.threads[..2], [2, 3]);
    }

    #[test]
    fn a_size_that_is_not_built_names_those_that_are() {
        let message = refusal("--object-size 100");
        assert!(message.contains("8, 16, 32, 64, 128"), "{message}");
        assert!(message.contains("128 is the next above"), "{message}");
        assert!(refusal("--object-size 0").contains("8 is the next above"));
        assert!(refusal("--object-size 100000").contains("65536"));
        assert!(refusal("--object-size 8 --buffers 9").contains("128, 256, 1024, 4096"));
    }

    #[test]
    fn what_cannot_go_together_says_what_to_change() {
        for (line, remedy) in [
            ("--pattern pipeline --threads 3", "use --threads 2 or 4"),
            ("--pattern pipeline --threads 1", "use --threads 2"),
            ("--pattern fan-out --threads 1", "use --threads 2 or more"),
            (
                "--pattern pipeline --backend unsync",
                "--pattern same-thread",
            ),
            (
                "--backend mutex --batch-size 8",
                "drop the batch size or use backend batched",
            ),
            ("--backend unsync --batch-size 8", "add --backend batched"),
            ("--batch-size 0", "use 1 or more"),
            ("--batch-size 100000", "use a smaller batch"),
            ("--capacity 0", "use 1 or more"),
            (
                "--threads 4 --burst 10 --capacity 39",
                "use --capacity 40 or more",
            ),
            (
                "--threads 4 --backend unsync --capacity 40",
                "use --threads 1",
            ),
            ("--object-size 65536 --burst 100000", "lower the burst"),
            ("--quick --duration 5", "cannot be used with"),
            ("--duration soon", "give seconds as a number"),
            ("--duration 0.1", "give 1 to 3600 seconds"),
            ("--threads 0", "give 1 to 1024"),
            ("--burst 0", "give 1 to 100000"),
            ("--work 1000001", "give 0 to 1000000"),
            ("--remote 101 --threads 2", "give 0 to 100"),
            ("--remote 10 --threads 1", "use --threads 2 or more"),
            ("--remote 10 --pattern pipeline", "drop remote"),
            (
                "--remote 10 --threads 2 --backend unsync",
                "without --remote",
            ),
            (
                "--remote 10 --threads 2 --burst 10 --capacity 21",
                "use --capacity 22 or more",
            ),
            ("--buffers 1,2,3,4,5", "room for 4"),
            ("--buffers 100,0", "give 1 to 1048576"),
            ("--buffers 100 --object-size 64", "128 is the next above"),
            (
                "--buffers 1000000 --burst 1000",
                "size of object and buffers",
            ),
            ("--backend stack", "batched, mutex, queue, heap, unsync"),
            ("--backend box", "controls are always measured"),
            ("chart", "--out"),
        ] {
            let message = refusal(line);
            assert!(
                message.contains(remedy),
                "{line}: no {remedy:?} in {message}"
            );
        }
    }

    /// A file with such a text, as `--workload` takes it; it goes with the folder.
    fn file(text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.toml");
        fs::write(&path, text).unwrap();
        let flag = format!("--workload {}", path.display());
        (folder, flag)
    }

    #[test]
    fn a_file_says_what_flags_say() {
        let text = "object-size = 256\nbuffers = [100, 20]\nremote = 25\nburst = 8\nwork = 5\ncapacity = 3000\n";
        let (_folder, flag) = file(text);
        let by_file = plan(&format!("{flag} --threads 2 --burst 8")).unwrap().case;
        let by_flags =
            "--object-size 256 --buffers 100,20 --remote 25 --burst 8 --work 5 --capacity 3000";
        let by_flags = plan(&format!("{by_flags} --threads 2")).unwrap().case;
        assert_eq!(by_file, by_flags);
        assert_eq!(by_file.buffers, [100, 20, 0, 0]);
        assert_eq!(
            by_file.to_string(),
            "2 threads, objects of 256 bytes with buffers of 100 + 20, same-thread, 25 % released on another \
             thread, bursts of 8, 5 tokens of work a burst, capacity 3000"
        );
    }

    #[test]
    fn a_file_that_is_wrong_is_refused_with_its_name_and_the_remedy() {
        for (text, flags, says) in [
            (
                "burst = 8",
                "--burst 9",
                &["burst is 9 on the command line and 8 in", "leave one out"][..],
            ),
            (
                "bursts = 8",
                "",
                &[
                    "orders.toml is no workload",
                    "unknown field `bursts`",
                    "`burst`",
                ],
            ),
            ("burst = \"many\"", "", &["invalid type: string", "line 1"]),
            ("burst = -1", "", &["orders.toml", "line 1"]),
            ("burst = 8\nburst = 9", "", &["duplicate key"]),
            ("burst 8", "", &["orders.toml is no workload", "line 1"]),
            (
                "pattern = \"circle\"",
                "",
                &["unknown variant `circle`", "same-thread"],
            ),
            ("threads = 0", "", &["give 1 to 1024"]),
            (
                "threads = 4\nburst = 10\ncapacity = 39",
                "",
                &["use --capacity 40 or more"],
            ),
            (
                "pattern = \"pipeline\"",
                "--threads 3",
                &["use --threads 2 or 4"],
            ),
        ] {
            let (_folder, flag) = file(text);
            let message = refusal(&format!("{flag} {flags}"));
            for says in says {
                assert!(message.contains(says), "{text}: no {says:?} in {message}");
            }
        }
        let message = refusal("--workload /no/such/file.toml");
        assert!(
            message.contains("cannot read /no/such/file.toml"),
            "{message}"
        );
    }

    #[test]
    fn a_capacity_that_just_holds_every_burst_will_do() {
        let plan = plan("--threads 4 --burst 10 --capacity 40").unwrap();
        assert_eq!(plan.threads, [1, 2, 4]);
    }
}

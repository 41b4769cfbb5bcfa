//! The pinned threads: nobody is interrupted alone or with cooperation, and every core sees the housekeeper
//! else.

use std::process::Output;

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, stdout, value};

fn pinned(args: &[&str]) -> Output {
    Program("pinned").run(args)
}

/// How often the threads of a run were interrupted.
fn interruptions(output: &Output, run: &str) -> usize {
    let line = stdout(output)
        .lines()
        .find(|line| line.starts_with(run))
        .unwrap_or_else(|| panic!("no {run} in {}", stdout(output)));
    let fields: Vec<_> = line.split_whitespace().skip(1).collect();
    let points: Vec<u64> = fields.iter().map(|field| field.parse().unwrap()).collect();
    assert_eq!(points.len(), 6, "{line}");
    assert!(points[..5].is_sorted(), "{line}");
    fields[5].parse().unwrap()
}

#[test]
fn nobody_is_interrupted_with_cooperation() {
    for backend in ["batched", "mutex", "queue", "heap"] {
        let output = pinned(&["--pairs", "50000", "--every", "20", "--backend", backend]);
        assert_succeeds(&output);
        assert_eq!(interruptions(&output, "alone"), 0);
        assert_eq!(interruptions(&output, "cooperate"), 0);
        let interrupts = backend == "batched" && cfg!(target_os = "linux");
        if interrupts || backend == "mutex" {
            let by_default = interruptions(&output, "interrupt");
            assert_eq!(by_default > 0, interrupts, "{backend}: {by_default}");
        }
        assert!(
            ["yes", "no"].contains(&value(&output, "pinned").split([',', ' ']).next().unwrap())
        );
        assert!(value(&output, "first_message_ns").contains("after warm"));
    }
}

#[test]
fn more_threads_than_cores_are_told() {
    let output = pinned(&["--pairs", "100", "--threads", "200"]);
    assert_succeeds(&output);
    let placement = value(&output, "pinned");
    assert!(
        placement.contains("share a core") || placement.starts_with("no"),
        "{placement}"
    );
}

#[test]
fn options_have_limits_and_it_may_be_read_in_part() {
    assert_fails(&pinned(&["--threads", "0"]), 2, &["--threads"]);
    assert_fails(&pinned(&["--every", "0"]), 2, &["--every"]);
    let output = pinned(&["--batch-size", "8", "--backend", "mutex"]);
    assert_fails(&output, 2, &["batch"]);
    assert_leaves_quietly(Program("pinned"), &["--pairs", "100"]);
}

//! The fan-out: every consumer sees every message, and each message is one object.

use std::process::Output;

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, number, value};

fn fan_out(args: &[&str]) -> Output {
    Program("fan_out").run(&[&["--count", "5000"], args].concat())
}

const FINDINGS: [[&str; 2]; 3] = [
    ["spread", "widest"],
    ["tape", "shares"],
    ["flow", "removed"],
];

#[test]
fn every_consumer_sees_every_message() {
    let expected = fan_out(&[]);
    assert_succeeds(&expected);
    for args in [
        &["--consumers", "7"][..],
        &["--consumers", "7", "--capacity", "1"],
        &["--consumers", "7", "--backend", "heap"],
        &["--consumers", "7", "--backend", "mutex", "--capacity", "2"],
        &["--consumers", "7", "--backend", "queue", "--capacity", "3"],
        &["--consumers", "7", "--batch-size", "4"],
    ] {
        let output = fan_out(args);
        assert_succeeds(&output);
        for n in 0..7 {
            let [kind, finding] = FINDINGS[n % 3];
            assert_eq!(number(&output, &format!("{kind}_{n}_seen")), 5_000);
            let found = value(&output, &format!("{kind}_{n}_{finding}"));
            let first = value(&expected, &format!("{kind}_{}_{finding}", n % 3));
            assert_eq!(found, first, "{args:?}: {kind}_{n}");
            assert_ne!(found, "0");
        }
    }
    let one = fan_out(&["--consumers", "1"]);
    assert_succeeds(&one);
    assert_eq!(number(&one, "spread_0_seen"), 5_000);
}

#[test]
fn a_message_is_one_object_however_many_see_it() {
    for consumers in ["1", "3", "16"] {
        let output = fan_out(&["--consumers", consumers, "--capacity", "8"]);
        assert_succeeds(&output);
        assert!(number(&output, "updates_created") <= 8);
        assert_eq!(number(&output, "updates_in_use"), 0);
        assert_eq!(number(&output, "updates_destroyed"), 0);
    }
    // Without keeping any, exactly one for each message.
    let output = fan_out(&["--consumers", "5", "--backend", "heap"]);
    assert_eq!(number(&output, "updates_created"), 5_000);
    assert_eq!(number(&output, "updates_destroyed"), 5_000);
}

#[test]
fn the_slowest_consumer_holds_the_publisher_back() {
    let args = ["--count", "200", "--capacity", "4", "--slow", "200"];
    let output = Program("fan_out").run(&args);
    assert_succeeds(&output);
    assert!(number(&output, "updates_waits") > 0);
    assert!(number(&output, "updates_created") <= 4);
    assert_eq!(number(&output, "flow_2_seen"), 200);
}

#[test]
fn a_bad_choice_is_an_error() {
    for (args, says) in [
        (&["--consumers", "0"][..], &["--consumers", "1..=64"][..]),
        (&["--consumers", "65"], &["--consumers", "1..=64"]),
        (&["--capacity", "0"], &["--capacity"]),
        (&["--batch-size", "0"], &["batch size 0", "use 1 or more"]),
        (
            &["--backend", "queue", "--batch-size", "2"],
            &["batch size 2", "queue"],
        ),
        (&["--backend", "ring"], &["heap, mutex, queue, batched"]),
    ] {
        assert_fails(&Program("fan_out").run(args), 2, says);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    assert_leaves_quietly(Program("fan_out"), &["--count", "1000"]);
}

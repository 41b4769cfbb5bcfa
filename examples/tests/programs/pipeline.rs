//! The pipeline: the same orders whatever the pools are, never more objects than the bound, and a
//! gateway that fails without anybody waiting for ever.

use std::fs;
use std::process::Output;

use crate::{
    Program, assert_fails, assert_leaves_quietly, assert_succeeds, file, number, stdout, value,
};

fn pipeline(args: &[&str]) -> Output {
    Program("pipeline").run(args)
}

/// Runs 20,000 messages with `args`; gives the output and the orders that were written.
fn orders(args: &[&str]) -> (Output, String) {
    let (_folder, path) = file("what was there before is overwritten");
    let output = pipeline(&[&["--count", "20000", "--orders", &path], args].concat());
    assert_succeeds(&output);
    (output, fs::read_to_string(path).unwrap())
}

#[test]
fn what_is_ordered_depends_on_the_messages_alone() {
    let (output, expected) = orders(&[]);
    assert_eq!(number(&output, "messages"), 20_000);
    assert_eq!(number(&output, "orders"), expected.lines().count());
    assert_eq!(number(&output, "order_bytes"), expected.len());
    assert!(expected.lines().count() > 20, "{expected}");
    let (mut bought, mut sold) = (0, 0);
    for (line, at) in expected.lines().zip(1..) {
        let fields: Vec<_> = line.split(',').collect();
        let [number, side, size, price] = fields[..] else {
            panic!("{line}");
        };
        assert_eq!(number.parse(), Ok(at), "{line}");
        assert!(price.parse::<i64>().unwrap() > 0, "{line}");
        let size: usize = size.parse().unwrap();
        match side {
            "buy" => bought += size,
            "sell" => sold += size,
            _ => panic!("{line}"),
        }
    }
    assert_eq!(number(&output, "shares_bought"), bought);
    assert_eq!(number(&output, "shares_sold"), sold);

    for args in [
        &["--backend", "heap"][..],
        &["--backend", "mutex", "--capacity", "1"],
        &["--backend", "queue", "--capacity", "2"],
        &["--batch-size", "1", "--capacity", "3"],
        &["--capacity", "100000"],
        &["--rate", "1000000"],
    ] {
        assert_eq!(orders(args).1, expected, "{args:?}");
    }
    assert_ne!(orders(&["--seed", "2"]).1, expected);
}

#[test]
fn the_bound_holds_and_all_comes_back() {
    for backend in ["heap", "mutex", "queue", "batched"] {
        let (output, _) = orders(&["--capacity", "4", "--backend", backend]);
        assert_eq!(value(&output, "backend"), backend);
        for pool in ["ticks", "orders"] {
            let count = |key| number(&output, &format!("{pool}_{key}"));
            assert_eq!(count("in_use"), 0, "{backend}: {pool}");
            assert_eq!(
                count("created") - count("destroyed"),
                count("idle"),
                "{backend}: {pool}"
            );
            assert!(
                backend == "heap" || count("created") <= 4,
                "{backend}: {pool}"
            );
        }
    }
    // With one message at a time the feed has to wait for the strategy.
    let (output, _) = orders(&["--capacity", "1"]);
    assert!(number(&output, "ticks_waits") > 0);
    assert_eq!(number(&output, "ticks_created"), 1);
}

#[test]
fn a_rate_is_kept() {
    // 2,000 messages at 10,000 a second: no sooner than in 0.2 s, however fast the machine is.
    let output = pipeline(&["--count", "2000", "--rate", "10000"]);
    assert_succeeds(&output);
    assert!(number(&output, "messages_per_second") <= 10_100);
}

// If the gateway just went away, the strategy would wait for orders that lie in its ring.
#[cfg(target_os = "linux")]
#[test]
fn a_gateway_that_fails_ends_the_other_stages() {
    for capacity in ["1", "1000"] {
        for backend in ["heap", "mutex", "queue", "batched"] {
            let args = ["--count", "20000", "--orders", "/dev/full"];
            let choices = ["--capacity", capacity, "--backend", backend];
            let output = pipeline(&[args, choices].concat());
            assert_fails(&output, 1, &["cannot write /dev/full", "No space left"]);
        }
    }
}

#[test]
fn a_bad_choice_is_an_error_with_a_remedy() {
    for (args, says) in [
        (
            &["--backend", "stack"][..],
            &["--backend", "heap, mutex, queue, batched"][..],
        ),
        (
            &["--backend", "heap", "--batch-size", "8"],
            &["batch size 8", "heap"],
        ),
        (&["--capacity", "0"], &["--capacity", "1..=1000000"]),
        (&["--count", "many"], &["--count", "many"]),
        (&["--rate", "0"], &["--rate"]),
        (
            &["--orders", "no/such/folder/orders"],
            &["--orders no/such/folder/orders: ", "leave --orders out"],
        ),
        (&["--speed"], &["--speed"]),
    ] {
        assert_fails(&pipeline(args), 2, says);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    assert_leaves_quietly(Program("pipeline"), &["--count", "1000"]);
    assert!(stdout(&pipeline(&["--count", "1000"])).contains("latency_ns_p99.9: "));
}

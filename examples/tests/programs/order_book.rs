//! The order book: what it prints where, and how it ends.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::process::Output;

use pool_examples::format::Name;
use pool_examples::generator;

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, file, stdout, value};

fn order_book(args: &[&str]) -> Output {
    Program("order_book").run(args)
}

const FIGURES: [&str; 20] = [
    "rows",
    "added",
    "reduced",
    "removed",
    "executed",
    "hidden",
    "other",
    "unknown",
    "duplicate",
    "resting",
    "peak_resting",
    "best_bid",
    "bid_size",
    "best_ask",
    "ask_size",
    "bid_shares",
    "ask_shares",
    "bid_levels",
    "ask_levels",
    "top_of_book_fnv1a",
];

/// The lines of the figures alone.
fn figures(output: &Output) -> Vec<&str> {
    stdout(output).lines().take(FIGURES.len()).collect()
}

#[test]
fn the_lines_come_in_the_order_promised() {
    let output = order_book(&["--count", "2000", "--threads", "2"]);
    assert_succeeds(&output);
    let lines: Vec<_> = stdout(&output)
        .lines()
        .map(|line| line.split_once(": ").expect("key: value"))
        .collect();
    let speed = [
        "messages_per_second",
        "latency_ns_p50",
        "latency_ns_p99",
        "latency_ns_p99.9",
        "latency_ns_max",
        "backend",
        "threads",
        "orders_created",
    ];
    let expected = FIGURES.iter().chain(&speed);
    assert!(
        lines
            .iter()
            .map(|(key, _)| key)
            .zip(expected)
            .all(|(key, expected)| key == expected)
    );
    assert_eq!(value(&output, "rows"), "2000");
    assert_eq!(value(&output, "top_of_book_fnv1a").len(), 16);
    assert_eq!(value(&output, "backend"), "batched");
    assert_eq!(value(&output, "orders_in_use"), value(&output, "resting"));
    assert_eq!(value(&output, "messages_in_use"), "0");
    assert_eq!(value(&output, "packets_in_use"), "0");
}

#[test]
fn a_seed_is_a_stream() {
    let run = |seed| order_book(&["--count", "3000", "--seed", seed]);
    assert_eq!(figures(&run("5")), figures(&run("5")));
    assert_ne!(figures(&run("5")), figures(&run("6")));
    // And it is the stream that `generator` writes.
    let (_folder, path) = file(generator::text(5, 3_000).unwrap());
    assert_eq!(
        figures(&run("5")),
        figures(&order_book(&["--messages", &path]))
    );
}

#[test]
fn every_backend_can_be_named() {
    let expected = order_book(&["--count", "3000"]);
    for backend in ["heap", "mutex", "queue", "batched"] {
        for threads in ["0", "1", "3"] {
            let output = order_book(&[
                "--count",
                "3000",
                "--backend",
                backend,
                "--threads",
                threads,
            ]);
            assert_succeeds(&output);
            assert_eq!(figures(&output), figures(&expected));
            assert_eq!(value(&output, "backend"), backend);
        }
    }
    let output = order_book(&["--count", "3000", "--batch-size", "16"]);
    assert_eq!(figures(&output), figures(&expected));
}

#[test]
fn check_says_that_all_runs_agree() {
    let output = order_book(&["--count", "3000", "--check", "--batch-size", "8"]);
    assert_succeeds(&output);
    assert_eq!(value(&output, "check"), "all 14 runs agree");
    for backend in ["heap", "mutex", "queue", "batched"] {
        for threads in [0, 1, 3] {
            value(
                &output,
                &format!("check_{backend}_threads_{threads}_messages_per_second"),
            );
        }
    }
}

#[test]
fn line_ends_and_a_missing_last_one_make_no_difference() {
    let unix = String::from_utf8(generator::text(6, 500).unwrap()).unwrap();
    let (_folder, path) = file(&unix);
    let expected = order_book(&["--messages", &path]);
    assert_succeeds(&expected);
    for other in [
        unix.replace('\n', "\r\n"),
        unix.trim_end().to_owned(),
        format!("{unix}\n"),
        format!("{unix}\r\n\r\n"),
        unix.replace('\n', ",null\n"),
    ] {
        let (_folder, path) = file(other);
        for threads in ["0", "3"] {
            let output = order_book(&["--messages", &path, "--threads", threads]);
            assert_succeeds(&output);
            assert_eq!(figures(&output), figures(&expected));
        }
    }
}

#[test]
fn a_bad_row_is_shown_with_its_place() {
    let good = "34200.1,1,1,100,33585400,1\n";
    for (row, column, says) in [
        (
            "time,type,id,size,price,direction",
            1,
            "expected a time in seconds",
        ),
        (
            "34200.1,8,1,100,33585400,1",
            9,
            "expected a message type from 1 to 7",
        ),
        (
            "34200.1,1,1,-100,33585400,1",
            13,
            "expected the size of a new order",
        ),
        ("34200.1,1,1,100", 16, "expected the price of a new order"),
        (
            "34200.1,1,1,99999999999999999999999,1,1",
            13,
            "found \"99999999999999999999999\"",
        ),
        ("", 1, "found an empty row"),
    ] {
        let (_folder, path) = file(format!("{good}{good}{row}\n{good}"));
        for threads in ["0", "1", "3"] {
            let output = order_book(&["--messages", &path, "--threads", threads]);
            let place = format!("error: {path}:3:{column}: field ");
            assert_fails(&output, 2, &[&place, says, ", found ", "--skip-bad"]);
        }
    }
}

#[test]
fn bytes_of_any_kind_are_a_bad_row_too() {
    let (_folder, path) =
        file([&b"34200.1,1,1,100,33585400,1\n"[..], b"\xff\x00\x1b[2J\xfe"].concat());
    let output = order_book(&["--messages", &path]);
    assert_fails(
        &output,
        2,
        &[":2:1: field 1: expected ", r#"found "\xff\x00\x1b[2J\xfe""#],
    );
}

#[test]
fn skip_bad_counts_and_goes_on() {
    let (_folder, path) = file(
        "time,type,id,size,price,direction\n34200.1,1,1,100,5,1\nnonsense\n34200.1,3,1,100,5,1\n",
    );
    for threads in ["0", "2"] {
        let output = order_book(&["--messages", &path, "--skip-bad", "--threads", threads]);
        assert_succeeds(&output);
        assert_eq!(value(&output, "rows"), "2");
        assert_eq!(value(&output, "skipped"), "2");
        assert_eq!(value(&output, "removed"), "1");
    }
    let (_folder, path) = file("all\nof it\n");
    let output = order_book(&["--messages", &path, "--skip-bad"]);
    assert_fails(&output, 2, &[&path, "none of its 2 rows can be read"]);
}

#[test]
fn a_file_without_messages_is_an_error_with_a_remedy() {
    for content in ["", "\n", "\r\n\r\n"] {
        let (_folder, path) = file(content);
        let output = order_book(&["--messages", &path]);
        assert_fails(
            &output,
            2,
            &[&path, "holds no rows", "leave --messages out"],
        );
    }
    let output = order_book(&["--messages", "no such file"]);
    assert_fails(
        &output,
        2,
        &["error: no such file: ", "leave --messages out"],
    );
    let folder = tempfile::tempdir().unwrap();
    let output = order_book(&["--messages", folder.path().to_str().unwrap()]);
    assert_fails(&output, 2, &["error: ", "leave --messages out"]);
}

#[test]
fn what_is_generated_reads_back_whatever_it_is() {
    for format in ["lobster", "itch", "fix"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("day");
        let path = path.to_str().unwrap();
        let made = order_book(&["--count", "2000", "--format", format, "--generate", path]);
        assert_succeeds(&made);
        let read = order_book(&["--messages", path]);
        assert_succeeds(&read);
        assert_eq!(figures(&read), figures(&made), "{format}");
        let output = order_book(&["--messages", path, "--symbol", "POOL"]);
        if format == "lobster" {
            assert_fails(&output, 2, &["one symbol", "leave --symbol out"]);
        } else {
            assert_eq!(figures(&output), figures(&made), "{format}");
            let output = order_book(&["--messages", path, "--symbol", "OTHER"]);
            assert_fails(&output, 2, &[path, "OTHER", "--symbol"]);
        }
        // And as what it is not.
        let wrong = if format == "itch" { "fix" } else { "itch" };
        let output = order_book(&["--messages", path, "--format", wrong]);
        let looks = format!("looks like --format {format}");
        assert_fails(&output, 2, &[path, "expected ", &looks]);
    }
    let output = order_book(&["--count", "10", "--generate", "/no such/folder/day"]);
    assert_fails(&output, 2, &["/no such/folder/day", "--generate"]);
}

#[test]
fn a_broken_itch_file_is_shown_with_its_byte() {
    let good = generator::file(Name::Itch, 1, 50).unwrap();
    // Behind the messages of type S and R comes the first order, of type A.
    let first = 2 + 12 + 2 + 39;
    assert_eq!(good[first..first + 3], [0, 36, b'A']);
    let with = |at: usize, byte| {
        let mut data = good.clone();
        data[first + at] = byte;
        data
    };
    for (data, byte, says) in [
        (
            good[..first + 20].to_vec(),
            0,
            "the end after 20 of 38 bytes: the file is cut short",
        ),
        (good[..first + 1].to_vec(), 0, "the two bytes of a length"),
        (good[..first + 2].to_vec(), 0, "the type of a message"),
        (with(2, b'z'), 2, "a message type of ITCH 5.0, found 'z'"),
        (with(0, 9), 0, "found 2340, where 'A' has 36"),
        (with(2 + 19, b'?'), 21, "a side, 'B' or 'S', found '?'"),
    ] {
        let (_folder, path) = file(data);
        for threads in ["0", "3"] {
            let output = order_book(&["--messages", &path, "--threads", threads]);
            let place = format!("{path}: byte {}: expected ", first + byte);
            assert_fails(&output, 2, &[&place, says, "--skip-bad"]);
        }
    }
    let (_folder, path) = file(with(2 + 19, b'?'));
    let output = order_book(&["--messages", &path, "--skip-bad"]);
    assert_eq!(value(&output, "skipped"), "1");
    let (_folder, path) = file(b"\x1f\x8b\x08");
    assert_fails(&order_book(&["--messages", &path]), 2, &["gunzip", &path]);
}

#[test]
fn a_broken_fix_message_is_shown_with_its_number_and_tag() {
    let good = String::from_utf8(generator::file(Name::Fix, 1, 30).unwrap()).unwrap();
    let third = good.match_indices("8=FIX").nth(2).unwrap().0;
    let (before, rest) = good.split_at(third);
    let sum = rest.find("\x0110=").unwrap() + 4;
    let mut wrong_sum = rest.to_owned();
    let told = if &rest[sum..sum + 3] == "000" {
        "001"
    } else {
        "000"
    };
    wrong_sum.replace_range(sum..sum + 3, told);
    for (rest, tag, says) in [
        (wrong_sum, 10, "add up to"),
        (rest.replacen("35=X", "35=Y", 1), 10, "add up to"),
        (
            rest.replacen("FIX.4.4", "FIX.4.2", 1),
            8,
            "expected 8=FIX.4.4",
        ),
        (rest.replacen("\x019=", "\x019=1", 1), 9, "BodyLength"),
        (
            rest.replacen("\x019=", "\x019=x", 1),
            9,
            "the length of the body",
        ),
        (rest[..40].to_owned(), 9, "cut short"),
    ] {
        let (_folder, path) = file(format!("{before}{rest}"));
        for threads in ["0", "2"] {
            let output = order_book(&["--messages", &path, "--threads", threads]);
            let place = format!("{path}: message 3 (byte {third}): tag {tag}: expected ");
            assert_fails(&output, 2, &[&place, says, "--skip-bad"]);
        }
        let output = order_book(&["--messages", &path, "--skip-bad"]);
        assert_eq!(value(&output, "skipped"), "1");
    }
    // Line ends between the messages are as good.
    let (_folder, path) = file(good.replace("8=FIX", "\n8=FIX").trim_start());
    assert_eq!(value(&order_book(&["--messages", &path]), "rows"), "30");
    let (_folder, path) = file(good.replace('\x01', "|"));
    assert_fails(&order_book(&["--messages", &path]), 2, &["SOH", "tr '|'"]);
}

#[test]
fn a_comparison_has_a_row_for_each_home_and_a_last_word() {
    let output = order_book(&["--count", "3000", "--format", "itch", "--compare"]);
    assert_succeeds(&output);
    let lines: Vec<_> = stdout(&output).lines().collect();
    assert_eq!(value(&output, "allocator"), "system");
    for home in ["Box", "Vec of indices", "pool unsync", "pool batched"] {
        let row = lines.iter().find_map(|line| line.strip_prefix(home));
        let row: Vec<_> = row.expect(home).split_whitespace().collect();
        assert_eq!(row.len(), 7, "{row:?}");
        let allocations: f64 = row[5].parse().unwrap();
        // Of 3,000 messages, a third are new orders.
        assert_eq!(allocations > 1.0, home == "Box", "{home}: {allocations}");
        assert!(row[6].parse::<u32>().unwrap() > 0, "{row:?}");
    }
    let last = lines.last().unwrap();
    assert!(
        last.contains("pool ") && last.contains(" than Vec of indices ("),
        "{last}"
    );
    let output = order_book(&["--compare", "--threads", "2"]);
    assert_fails(&output, 2, &["--compare", "--threads"]);
}

#[test]
fn an_allocator_that_is_not_built_in_says_how_to_get_it() {
    for name in ["jemalloc", "mimalloc"] {
        let output = order_book(&["--count", "500", "--compare", "--allocator", name]);
        if output.status.success() {
            assert_eq!(value(&output, "allocator"), name);
        } else {
            assert_fails(&output, 2, &[&format!("--features {name}")]);
        }
    }
    assert_fails(&order_book(&["--allocator", "none"]), 2, &["jemalloc"]);
}

#[test]
fn a_bad_choice_is_an_error_that_names_the_good_ones() {
    let output = order_book(&["--backend", "stack"]);
    assert_fails(
        &output,
        2,
        &["--backend", "stack", "heap, mutex, queue, batched"],
    );
    let output = order_book(&["--backend", "queue", "--batch-size", "8"]);
    assert_fails(&output, 2, &["batch size 8", "queue"]);
    let output = order_book(&["--batch-size", "0"]);
    assert_fails(&output, 2, &["batch size 0"]);
    let output = order_book(&["--capacity", "0"]);
    assert_fails(&output, 2, &["capacity 0"]);
    let output = order_book(&["--count", "0"]);
    assert_fails(&output, 2, &["--count"]);
    let output = order_book(&["--threads", "100000"]);
    assert_fails(&output, 2, &["--threads", "0..=256"]);
    let output = order_book(&["--messages", "file", "--seed", "3"]);
    assert_fails(&output, 2, &["--messages", "--seed"]);
}

#[test]
fn a_capacity_too_small_names_one_that_is_enough() {
    let count = ["--count", "4000"];
    let unbounded = order_book(&count);
    let peak: usize = value(&unbounded, "peak_resting").parse().unwrap();
    for threads in ["0", "3"] {
        let run = |capacity: usize| {
            let capacity = capacity.to_string();
            order_book(&[&count[..], &["--capacity", &capacity, "--threads", threads]].concat())
        };
        let output = run(peak);
        assert_succeeds(&output);
        assert_eq!(figures(&output), figures(&unbounded));
        let (small, enough) = (
            format!("--capacity {}", peak - 1),
            format!("--capacity {peak}"),
        );
        assert_fails(&run(peak - 1), 2, &[&small, "is too small", &enough]);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    assert_leaves_quietly(Program("order_book"), &["--count", "1000"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = Command::new(Program("order_book").path())
        .args(["--count", "1000"])
        .stdout(full)
        .output()
        .unwrap();
    assert_fails(&output, 1, &["standard output"]);
}

//! Settings from a file and from flags: which wins, and what a mistake in either says.

use std::process::Output;

use crate::{
    Program, assert_fails, assert_leaves_quietly, assert_succeeds, file, number, stdout, value,
};

fn choose(args: &[&str]) -> Output {
    Program("choosing_a_backend").run(args)
}

#[test]
fn a_flag_wins_over_the_file_and_the_file_over_the_defaults() {
    let output = choose(&[]);
    assert_succeeds(&output);
    assert_eq!(value(&output, "backend"), "batched (default)");
    assert_eq!(number(&output, "orders_in_use"), 0);

    let (_folder, path) =
        file("[pool]\nbackend = \"mutex\"\ncapacity = 50\nprefill = 20 # no more\n");
    let from_file = |value: &str| format!("{value} ({path})");
    let output = choose(&["--config", &path]);
    assert_succeeds(&output);
    assert_eq!(value(&output, "backend"), from_file("mutex"));
    assert_eq!(value(&output, "capacity"), from_file("50"));
    assert_eq!(number(&output, "orders_created"), 20);

    let args = ["--config", &path, "--backend", "queue", "--prefill", "30"];
    let output = choose(&args);
    assert_succeeds(&output);
    assert_eq!(value(&output, "backend"), "queue (--backend)");
    assert_eq!(value(&output, "prefill"), "30 (--prefill)");
    assert_eq!(value(&output, "capacity"), from_file("50"));
    assert_eq!(number(&output, "orders_created"), 30);
}

#[test]
fn every_setting_can_be_made_in_either_place() {
    let settings = [
        ("backend", "batched", "batched"),
        ("batch_size", "4", "4"),
        ("capacity", "1_000", "1000"),
        ("prefill", "40", "40"),
        ("grow_by", "16", "16"),
        ("max_idle", "60", "60"),
        ("reset_on", "acquire", "acquire"),
        ("name", "messages", "messages"),
    ];
    let mut text = "[pool]\n".to_owned();
    let mut flags = Vec::new();
    for (name, in_file, plain) in settings {
        let is_text = ["backend", "reset_on", "name"].contains(&name);
        let quote = if is_text { "\"" } else { "" };
        text += &format!("{name} = {quote}{in_file}{quote}\n");
        flags.extend([format!("--{}", name.replace('_', "-")), plain.to_owned()]);
    }
    let (_folder, path) = file(text);
    let by_file = choose(&["--config", &path]);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let by_flags = choose(&flags);
    for output in [&by_file, &by_flags] {
        assert_succeeds(output);
        for (name, _, plain) in settings {
            let said = value(output, name);
            assert_eq!(said.split(' ').next(), Some(plain), "{name}");
        }
        assert!(number(output, "orders_idle") <= 60);
        assert!(number(output, "orders_created") >= 40);
    }
}

#[test]
fn the_file_in_the_repository_is_good() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pool.toml");
    let output = choose(&["--config", path]);
    assert_succeeds(&output);
    assert_eq!(number(&output, "orders_created"), 1_000);
    for backend in ["heap", "mutex", "queue"] {
        // The batch size in the file is meant for the backend in the file.
        let output = choose(&["--config", path, "--backend", backend]);
        assert_succeeds(&output);
        assert!(!stdout(&output).contains("batch_size"));
    }
}

#[test]
fn an_empty_file_says_nothing() {
    for text in ["", "# nothing\n", "[pool]\n"] {
        let (_folder, path) = file(text);
        let output = choose(&["--config", &path]);
        assert_succeeds(&output);
        assert_eq!(value(&output, "backend"), "batched (default)");
    }
}

#[test]
fn a_mistake_in_the_file_is_shown_with_its_place() {
    for (text, says) in [
        (
            "[pool]\nbackend = \"stack\"\n",
            &[
                "line 2",
                "backend = \"stack\"",
                "heap, mutex, queue, batched",
            ][..],
        ),
        ("[pool]\nbackend = 3\n", &["line 2", "backend = 3", "heap"]),
        (
            "[pool]\ncapcity = 10\n",
            &["line 2", "unknown field `capcity`", "`capacity`"],
        ),
        ("[pol]\ncapacity = 10\n", &["line 1", "`pol`", "`pool`"]),
        ("capacity = 10\n", &["line 1", "`capacity`", "`pool`"]),
        (
            "[pool]\ncapacity = \"ten\"\n",
            &["line 2", "capacity = \"ten\"", "string \"ten\""],
        ),
        (
            "[pool]\nprefill = -1\n",
            &["line 2", "prefill = -1", "`-1`"],
        ),
        ("[pool]\ncapacity = 1.5\n", &["line 2", "capacity = 1.5"]),
        (
            "[pool]\ncapacity = 1\ncapacity = 2\n",
            &["line 3", "capacity", "duplicate key"],
        ),
        ("[pool\n", &["line 1"]),
    ] {
        let (_folder, path) = file(text);
        let place = format!("error: {path}: ");
        let output = choose(&["--config", &path]);
        assert_fails(&output, 2, &[&[place.as_str()], says].concat());
    }
}

#[test]
fn settings_that_disagree_are_shown_with_where_each_is_from() {
    let (_folder, path) = file("[pool]\nbackend = \"queue\"\ncapacity = 10\n");
    let output = choose(&["--config", &path, "--prefill", "64"]);
    let capacity = format!("capacity: 10 ({path})");
    assert_fails(
        &output,
        2,
        &[
            "prefill 64 exceeds capacity 10",
            &capacity,
            "prefill: 64 (--prefill)",
        ],
    );
    let output = choose(&["--config", &path, "--batch-size", "8"]);
    assert_fails(
        &output,
        2,
        &["batch size 8", "use backend batched", "(--batch-size)"],
    );
    for flag in ["--prefill", "--grow-by"] {
        let output = choose(&[flag, "99999999999999999"]);
        assert_fails(&output, 2, &["exceeds 10000000", "lower the", flag]);
    }
    for flag in ["--capacity", "--batch-size", "--grow-by"] {
        assert_fails(&choose(&[flag, "0"]), 2, &[&format!("0 ({flag})")]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error_with_a_remedy() {
    let output = choose(&["--config", "no such file"]);
    assert_fails(&output, 2, &["no such file: ", "leave --config out"]);
    let folder = tempfile::tempdir().unwrap();
    let output = choose(&["--config", folder.path().to_str().unwrap()]);
    assert_fails(&output, 2, &["leave --config out"]);
    let (_folder, path) = file(b"[pool]\ncapacity = 1 # \xff\n");
    let output = choose(&["--config", &path]);
    assert_fails(&output, 2, &[&path, "UTF-8"]);
}

#[test]
fn a_bad_flag_is_an_error_that_names_it() {
    let output = choose(&["--backend", "stack"]);
    assert_fails(&output, 2, &["--backend", "heap, mutex, queue, batched"]);
    for flag in ["--capacity", "--prefill", "--batch-size"] {
        assert_fails(&choose(&[flag, "-3"]), 2, &[flag]);
        assert_fails(&choose(&[flag, "ten"]), 2, &[flag, "ten"]);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    assert_leaves_quietly(Program("choosing_a_backend"), &[]);
}

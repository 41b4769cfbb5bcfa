//! The program as a user meets it: what it refuses and how, what it prints where, and the files it
//! leaves. Figures are not looked at: a timing is never a test.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn pool_bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pool-bench"))
}

fn run(arguments: &[&str]) -> Output {
    pool_bench()
        .args(arguments)
        .output()
        .expect("the program runs")
}

/// A run that is as short as can be, into `folder`, with `more` arguments.
fn quick(folder: &Path, more: &[&str]) -> Output {
    let mut command = pool_bench();
    command.args(["--quick", "--out"]).arg(folder).args(more);
    command.output().expect("the program runs")
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[track_caller]
fn assert_refused(output: &Output, says: &[&str]) {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    assert_eq!(stdout(output), "");
    for says in says {
        assert!(
            stderr(output).contains(says),
            "no {says:?} in {}",
            stderr(output)
        );
    }
    assert!(!stderr(output).contains("panicked"), "{}", stderr(output));
}

/// The names of the contenders of a run, in their order.
fn contenders(results: &Value) -> Vec<String> {
    let figures = results["figures"].as_array().expect("a list of figures");
    let name = |figure: &Value| figure["entrant"]["kind"].as_str().unwrap().to_owned();
    figures.iter().map(name).collect()
}

/// That a page or picture gets nothing from elsewhere, and runs nothing.
#[track_caller]
fn assert_self_contained(text: &str) {
    let text = text.replace(r#"xmlns="http://www.w3.org/2000/svg""#, "");
    for foreign in [
        "http:", "https:", "//cdn", "src=", "href=", "url(", "@import", "<script", "<link",
    ] {
        assert!(!text.contains(foreign), "{foreign} in it");
    }
}

/// That every element is closed, in order.
#[track_caller]
fn assert_well_formed(markup: &str) {
    const EMPTY: [&str; 3] = ["meta", "br", "!DOCTYPE"];
    let mut open = Vec::new();
    for piece in markup.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("every tag ends");
        let name = tag
            .split([' ', '\n', '/'])
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes something else");
        } else if !tag.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "never closed");
}

#[test]
fn mistakes_are_refused_with_the_remedy() {
    // What is refused, and how, is tested where it is read; here is that it is said, by whomever.
    for (arguments, says) in [
        (
            &["--object-size", "100"][..],
            &["8, 16, 32", "128 is the next above"][..],
        ),
        (&["--batch-size", "0"], &["use 1 or more"]),
        (
            &["--workload", "/no/such.toml"],
            &["cannot read", "--workload"],
        ),
        (&["--no-such-flag"], &["--no-such-flag"]),
        (&["chart"], &["--out"]),
    ] {
        assert_refused(&run(arguments), says);
    }
}

#[test]
fn a_place_that_cannot_be_written_is_said_before_measuring() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    // If it measured first, this would take an hour.
    let output = run(&[
        "--duration",
        "3600",
        "--out",
        file.join("below").to_str().unwrap(),
    ]);
    assert_refused(&output, &["cannot write", "--out"]);

    fs::create_dir_all(folder.path().join("taken/report.html")).unwrap();
    let taken = folder.path().join("taken");
    let output = run(&["--duration", "3600", "--out", taken.to_str().unwrap()]);
    assert_refused(&output, &["it is a folder", "--out"]);
}

#[test]
fn a_run_leaves_results_and_a_page_that_needs_nothing_else() {
    let folder = folder();
    let out = folder.path().join("new/folder");
    let output = quick(&out, &["--burst", "4", "--threads", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let results = fs::read_to_string(out.join("results.json")).unwrap();
    let results: Value = serde_json::from_str(&results).expect("results.json is JSON");
    let pools = ["batched", "batched", "mutex", "queue", "heap", "unsync"];
    assert_eq!(contenders(&results), [&pools[..], &["box", "vec"]].concat());
    assert_eq!(results["case"]["burst"], 4);
    for part in ["threads", "batches", "growth"] {
        assert!(!results[part].as_array().unwrap().is_empty(), "no {part}");
    }
    // What is shown in several places was measured once.
    let case = |entrant: &Value| {
        let figures = results["figures"].as_array().unwrap();
        let figure = figures.iter().find(|figure| figure["entrant"] == *entrant);
        figure.expect("it took part")["ns"].clone()
    };
    for point in results["threads"].as_array().unwrap() {
        if point["threads"] == 2 {
            assert_eq!(point["ns"], case(&point["entrant"]));
        }
    }
    let batches = results["batches"].as_array().unwrap();
    let own = batches
        .iter()
        .find(|point| point["entrant"]["batch_size"] == 64);
    assert_eq!(
        own.expect("it took part")["ns"],
        case(&results["figures"][0]["entrant"])
    );
    let verdict = results["advice"]["text"][0].as_str().unwrap();
    assert!(stdout(&output).starts_with(verdict), "{}", stdout(&output));

    let places = results["latency"]["series"].as_array().unwrap();
    for place in [
        "steady",
        "housekeeping",
        "crowded",
        "exchange",
        "growth",
        "revocation",
        "exhausted",
    ] {
        let of = |series: &&Value| series["place"] == place;
        let timed: Vec<_> = places.iter().filter(of).collect();
        assert!(!timed.is_empty(), "no times at {place}");
        for series in timed {
            assert!(series["ns"]["count"].as_u64().unwrap() > 0, "{series}");
            assert!(series["ns"]["worst_of_a_million"].is_u64(), "{series}");
            if place == "housekeeping" && series["entrant"]["kind"] == "batched" {
                let revocations = series["events"]["revocations"].as_u64().unwrap();
                let cooperates = series["entrant"]["cooperates"].as_bool().unwrap();
                assert_eq!(revocations == 0, cooperates, "who keeps house? {series}");
            }
        }
    }

    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert_self_contained(&page);
    assert_well_formed(&page);
    assert!(page.contains("prefers-color-scheme: dark"));
    assert!(page.matches("<svg").count() >= 6, "charts are missing");
    let reasons = results["advice"]["text"].as_array().unwrap();
    assert!(!reasons.is_empty());
    for table in [
        "An object in the case",
        "by batch size",
        "warm loop",
        "beside a thread that reserves and trims",
        "p99.99",
        "worst of 1M",
        "Advice",
    ] {
        assert!(
            stdout(&output).contains(table),
            "no {table:?} in {}",
            stdout(&output)
        );
    }
    let left = fs::read_dir(&out).unwrap().count();
    assert_eq!(left, 2, "something unfinished was left behind");
}

#[test]
fn the_allocator_is_chosen_and_named() {
    let folder = folder();
    let line = ["--allocator", "all", "--backend", "batched", "--json"];
    let output = quick(folder.path(), &line);
    if !cfg!(any(feature = "jemalloc", feature = "mimalloc")) {
        assert_refused(&output, &["built without", "--features jemalloc,mimalloc"]);
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    let all = all.as_array().expect("one for each allocator");
    assert!(all.len() > 1);
    for results in all {
        let name = results["allocator"].as_str().unwrap();
        let verdict = results["advice"]["text"][0].as_str().unwrap();
        assert!(verdict.contains(name), "{verdict}");
        let page = folder.path().join(name).join("report.html");
        assert!(page.is_file(), "no {}", page.display());
    }
    let last = all.last().unwrap()["allocator"].as_str().unwrap();
    let output = quick(
        folder.path(),
        &["--backend", "batched", "--allocator", last],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let verdict = stdout(&output).lines().next().unwrap();
    assert!(verdict.contains(last), "{verdict}");
    assert!(folder.path().join("report.html").is_file());
}

#[test]
fn a_warm_loop_neither_grows_nor_exchanges() {
    let folder = folder();
    let output = quick(
        folder.path(),
        &["--backend", "batched", "--burst", "16", "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    let series = results["latency"]["series"].as_array().unwrap();
    let warm =
        |series: &&Value| series["place"] == "steady" && series["entrant"]["kind"] == "batched";
    let warm: Vec<_> = series.iter().filter(warm).collect();
    assert_eq!(warm.len(), 2, "acquire and release");
    for series in warm {
        for event in ["created", "exchanges", "revocations"] {
            assert_eq!(series["events"][event], 0, "{event} in a warm loop");
        }
    }
}

#[test]
fn objects_that_cross_threads_are_measured_without_what_cannot_cross() {
    for (pattern, threads) in [("pipeline", "2"), ("fan-out", "3")] {
        let folder = folder();
        let line = [
            "--pattern",
            pattern,
            "--threads",
            threads,
            "--object-size",
            "8",
            "--work",
            "5",
            "--json",
        ];
        let output = quick(folder.path(), &line);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            contenders(&results),
            ["batched", "mutex", "queue", "heap", "box", "words"]
        );
        assert_eq!(results["case"]["pattern"], pattern);
    }
}

#[test]
fn a_bound_just_above_what_is_in_hand_holds_nobody_up() {
    let folder = folder();
    let line = [
        "--threads",
        "3",
        "--burst",
        "5",
        "--capacity",
        "15",
        "--object-size",
        "65536",
        "--json",
    ];
    let output = quick(folder.path(), &line);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!contenders(&results).contains(&"unsync".to_owned()));
}

#[test]
fn a_workload_is_read_from_a_file_and_no_burst_exceeds_its_bound() {
    let folder = folder();
    let file = folder.path().join("orders.toml");
    let text = "object-size = 256\nbuffers = [300, 20]\nremote = 25\nburst = 8\nthreads = 3\ncapacity = 40\n";
    fs::write(&file, text).unwrap();
    let output = quick(
        folder.path(),
        &["--workload", file.to_str().unwrap(), "--json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        contenders(&results),
        ["batched", "mutex", "queue", "heap", "box", "words"]
    );
    assert_eq!(
        results["case"]["buffers"],
        serde_json::json!([300, 20, 0, 0])
    );
    assert_eq!(results["case"]["remote"], 25);
    for burst in results["growth"].as_array().unwrap() {
        assert_eq!(burst["objects"], 40);
    }
}

#[test]
fn the_chart_is_drawn_from_results_and_needs_nothing_else() {
    let folder = folder();
    let output = quick(folder.path(), &["--threads", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (results, svg) = (
        folder.path().join("results.json"),
        folder.path().join("chart.svg"),
    );
    let chart = |out: &Path| {
        let mut command = pool_bench();
        command
            .args(["chart", "--results"])
            .arg(&results)
            .arg("--out")
            .arg(out);
        command.output().expect("the program runs")
    };
    let output = chart(&svg);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let picture = fs::read_to_string(&svg).unwrap();
    assert_self_contained(&picture);
    assert_well_formed(&picture);
    for name in [
        "batched 64",
        "mutex",
        "queue",
        "heap",
        "box",
        "prefers-color-scheme",
    ] {
        assert!(picture.contains(name), "no {name}");
    }

    assert_refused(
        &chart(&folder.path().join("no/such/folder.svg")),
        &["cannot write", "--out"],
    );
    fs::write(&results, "{}").unwrap();
    assert_refused(&chart(&svg), &["results.json", "measure again"]);
    fs::remove_file(&results).unwrap();
    assert_refused(&chart(&svg), &["results.json", "--results"]);
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let folder = folder();
    let mut command = pool_bench();
    command
        .args(["--quick", "--backend", "mutex", "--out"])
        .arg(folder.path());
    let mut program = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(program.stdout.take());
    let output = program.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}

//! The examples as a user meets them: what they print where, and how they end.

mod choosing_a_backend;
mod connections;
mod fan_out;
mod net_frames;
mod observe;
mod order_book;
mod pinned;
mod pipeline;
mod quickstart;
mod shutdown;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// An example, by name.
#[derive(Clone, Copy)]
struct Program(&'static str);

impl Program {
    /// Where it is: two folders above this test; built first, should it not be there (as when only
    /// this test was asked for).
    fn path(self) -> PathBuf {
        static BUILT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
        let test = std::env::current_exe().expect("a test knows where it is");
        let profile = test
            .parent()
            .and_then(Path::parent)
            .expect("a test is in PROFILE/deps");
        let path =
            profile
                .join("examples")
                .join(format!("{}{}", self.0, std::env::consts::EXE_SUFFIX));
        let mut built = BUILT.lock().unwrap();
        if built.get_or_insert_default().insert(self.0) && !path.exists() {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["build", "--package", "pool-examples", "--example", self.0]);
            if profile.ends_with("release") {
                cargo.arg("--release");
            }
            assert!(cargo.status().expect("cargo runs").success());
        }
        path
    }

    fn run(self, args: &[&str]) -> Output {
        end_of(self.start(args))
    }

    /// Starts it with all its streams in hand.
    fn start(self, args: &[&str]) -> Child {
        Command::new(self.path())
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }
}

/// Waits for a program to end; one that does not is killed, and the test fails.
#[track_caller]
fn end_of(mut child: Child) -> Output {
    let start = Instant::now();
    // What these print fits a pipe, so none of them waits to be read.
    while child
        .try_wait()
        .expect("a child can be waited for")
        .is_none()
    {
        if start.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
            let output = child.wait_with_output().expect("it was killed");
            panic!("it does not end: {}{}", stdout(&output), stderr(&output));
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().expect("it has ended")
}

/// A folder with a file in it, and the file's path.
fn file(content: impl AsRef<[u8]>) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// What stands behind `key` on standard output.
#[track_caller]
fn value<'a>(output: &'a Output, key: &str) -> &'a str {
    stdout(output)
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("no {key} in {}{}", stdout(output), stderr(output)))
}

/// The number behind `key` on standard output.
#[track_caller]
fn number(output: &Output, key: &str) -> usize {
    value(output, key).parse().expect("a whole number")
}

#[track_caller]
fn assert_succeeds(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    assert_eq!(
        stderr(output),
        "",
        "no progress bar, as this is no terminal"
    );
}

/// Nothing that looks like a result, and an error that says all of `says`.
#[track_caller]
fn assert_fails(output: &Output, code: i32, says: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    assert_eq!(stdout(output), "");
    for says in says {
        assert!(
            stderr(output).contains(says),
            "no {says:?} in {}",
            stderr(output)
        );
    }
}

/// Nobody reads what it prints: no error, no panic.
#[track_caller]
fn assert_leaves_quietly(program: Program, args: &[&str]) {
    let mut child = program.start(args);
    drop(child.stdout.take());
    assert_succeeds(&end_of(child));
}

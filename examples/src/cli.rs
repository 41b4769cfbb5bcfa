//! What the examples have in common as programs: how they end, and the flags that choose a pool.
//!
//! Called by the programs beside `src/`. All that a program has to say comes out in one go at its
//! end, so that standard output holds a whole result or none.

use std::io::{self, ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use pool_core::{Backend, Builder, Pool, Poolable, Recycle};

/// Why a program has nothing to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something the user gave has to change; the message says what. Exit code 2.
    Input(String),
    /// What was asked for went wrong on the way. Exit code 1.
    Run(String),
}

impl Failure {
    /// A file that was given cannot be read; `instead` is what else can be done.
    #[must_use]
    pub fn unreadable(path: &Path, error: &io::Error, instead: &str) -> Failure {
        let remedy = match error.kind() {
            ErrorKind::NotFound => "give the path of a file that is there",
            ErrorKind::IsADirectory => "give one of the files in it",
            _ => "give a file that can be read",
        };
        let path = path.display();
        Failure::Input(format!("{path}: {error}; {remedy}, or {instead}"))
    }
}

/// Ends a program: prints what it found, or the error it met, and gives the exit code.
///
/// A reader that leaves early, as `head` does, is no error.
#[must_use]
pub fn finish(result: Result<String, Failure>) -> ExitCode {
    match result {
        Ok(text) => match print(&text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(1, &format!("cannot write to standard output: {error}")),
        },
        Err(Failure::Input(message)) => fail(2, &message),
        Err(Failure::Run(message)) => fail(1, &message),
    }
}

/// Prints `text` at once, for what cannot wait for the end of the program.
///
/// # Errors
///
/// Those of standard output, except that nobody reads it any more.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    // If even this cannot be written, the code has to say it all.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::from(code)
}

/// The flags that choose what a pool stands on.
#[derive(Clone, Copy, Debug, Args)]
pub struct PoolArgs {
    /// What the pools stand on: heap, mutex, queue or batched
    #[arg(long, value_name = "NAME", default_value_t = Backend::Batched)]
    pub backend: Backend,

    /// Objects that move between a thread's cache and the depot at a time (batched only)
    #[arg(long, value_name = "N")]
    pub batch_size: Option<usize>,
}

impl PoolArgs {
    /// A builder that these choices were made on.
    pub fn builder<T: Poolable>(&self) -> Builder<T> {
        self.choose(Pool::builder())
    }

    /// Makes these choices on `builder`.
    pub fn choose<T, L: Recycle<T> + ?Sized>(&self, builder: Builder<T, L>) -> Builder<T, L> {
        let builder = builder.backend(self.backend);
        match self.batch_size {
            Some(batch_size) => builder.batch_size(batch_size),
            None => builder,
        }
    }
}

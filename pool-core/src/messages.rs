//! Every message that a user of this crate can read, in one file: `tests/messages.txt`. A change shows in its diff.
//!
//! `POOL_MESSAGES=overwrite cargo test -p pool-core --lib messages` writes it anew. Read it through then: a message is
//! lower case, says what is wrong with which value, and names the remedy.

use core::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use std::{env, fs};

use crate::error::BuildErrorKind;
use crate::object::Refusal;
use crate::{AcquireError, Backend, Pool, Pooled, Recall, ResetOn, unsync};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.txt");

/// The first kind if there is none before, else the next. A match, so that the compiler asks for a kind that is added.
fn next_build_error(before: Option<&BuildErrorKind>) -> Option<BuildErrorKind> {
    use BuildErrorKind as Kind;

    Some(match before {
        None => Kind::ZeroBatchSize,
        Some(Kind::ZeroBatchSize) => Kind::BatchSizeTooLarge {
            batch_size: 100_000,
            most: 65_536,
        },
        Some(Kind::BatchSizeTooLarge { .. }) => Kind::BatchSizeWithoutBatches {
            batch_size: 32,
            backend: Backend::Mutex,
        },
        Some(Kind::BatchSizeWithoutBatches { .. }) => Kind::ZeroCapacity,
        Some(Kind::ZeroCapacity) => Kind::ZeroGrowBy,
        Some(Kind::ZeroGrowBy) => Kind::PrefillAboveCapacity {
            prefill: 64,
            capacity: 10,
        },
        Some(Kind::PrefillAboveCapacity { .. }) => Kind::PrefillWithoutCreate { prefill: 64 },
        Some(Kind::PrefillWithoutCreate { .. }) => Kind::PrefillAboveMaxIdle {
            prefill: 64,
            max_idle: 10,
        },
        Some(Kind::PrefillAboveMaxIdle { .. }) => Kind::BatchSizeAboveMaxIdle {
            batch_size: 32,
            max_idle: 10,
        },
        Some(Kind::BatchSizeAboveMaxIdle { .. }) => Kind::TooMuchMemory {
            what: "prefill",
            objects: 1_000_000,
            node_size: 4_112,
        },
        Some(Kind::TooMuchMemory { .. }) => Kind::MemoryWithHeap,
        Some(Kind::MemoryWithHeap) => Kind::ChoiceWithoutPages { choice: "locked" },
        Some(Kind::ChoiceWithoutPages { .. } | Kind::Refused(_)) => return None,
    })
}

fn panic_of<R>(call: impl FnOnce() -> R) -> String {
    let caught = catch_unwind(AssertUnwindSafe(|| drop(call())));
    let said = caught.expect_err("it panics");
    match said.downcast::<String>() {
        Ok(said) => *said,
        Err(said) => (*said.downcast::<&str>().expect("a text")).to_owned(),
    }
}

fn messages() -> String {
    let mut list = Vec::new();
    let mut section = |name: &str, messages: Vec<String>| list.push((name.to_owned(), messages));

    let mut kinds = Vec::new();
    while let Some(kind) = next_build_error(kinds.last()) {
        kinds.push(kind);
    }
    kinds.extend(Refusal::samples().into_iter().map(BuildErrorKind::Refused));
    let build = |kind| crate::BuildError::from(kind).to_string();
    section("BuildError", kinds.into_iter().map(build).collect());

    section(
        "Parse…Error",
        vec![
            "stack".parse::<Backend>().unwrap_err().to_string(),
            "drop".parse::<ResetOn>().unwrap_err().to_string(),
            "never".parse::<Recall>().unwrap_err().to_string(),
        ],
    );

    let errors = [
        AcquireError::Exhausted,
        AcquireError::Timeout,
        AcquireError::Closed,
        AcquireError::Saturated,
    ];
    let mut acquire: Vec<_> = errors.iter().map(ToString::to_string).collect();
    let pool = Pool::<u64>::builder();
    let pool = pool.capacity(1).track_holders(true).build().unwrap();
    let held = pool.acquire();
    let late = pool
        .acquire_timeout(Duration::ZERO)
        .unwrap_err()
        .to_string();
    let place = pool.holders()[0].location.to_string();
    let (before, _) = late.split_once(&place).expect("the place of the oldest");
    acquire.push(format!("{before}src/server.rs:12:30, 5s ago"));
    section("AcquireError", acquire);

    let pool = Pool::<u64>::builder();
    let pool = pool.capacity(2).max_waiting(0).name("orders");
    let pool = pool.build().unwrap();
    let two = pool.acquire_many(2);
    let full = pool.attach(7).unwrap_err().to_string();
    let saturated = panic_of(|| pool.acquire());
    let too_many = panic_of(|| pool.acquire_many(3));
    let out = |expected: usize| {
        let late = pool.wait_idle(Some(Duration::ZERO)).unwrap_err();
        assert_eq!(late.in_use(), expected);
        late.to_string()
    };
    let two_out = out(2);
    drop(two);
    let mut burst = pool.acquire_many(2);
    let split = panic_of(|| drop(burst.split_off(3)));
    drop(burst);
    let mut shared = Pooled::into_shared(pool.acquire());
    let other = shared.clone();
    let one_out = out(1);
    pool.close();
    let closed = pool.attach(7).unwrap_err().to_string();
    section("AttachError", vec![full, closed]);
    section("WaitIdleError", vec![one_out, two_out]);

    let single = unsync::Pool::<u64>::builder().capacity(1).build().unwrap();
    let only = single.acquire();
    section(
        "panics",
        vec![
            saturated,
            panic_of(|| pool.acquire()),
            too_many,
            panic_of(|| pool.acquire_many(2)),
            split,
            panic_of(|| *crate::SharedPooled::make_mut(&mut shared)),
            panic_of(|| single.acquire()),
            panic_of(|| single.acquire_many(2)),
        ],
    );
    drop((held, other, only));

    let mut text = String::new();
    for (name, messages) in list {
        let _ = writeln!(text, "{name}\n");
        for message in messages {
            let _ = writeln!(text, "- {message}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len() + 1);
    text
}

#[test]
fn messages_are_as_they_were_read() {
    let messages = messages();
    if env::var_os("POOL_MESSAGES").is_some_and(|how| how == "overwrite") {
        fs::write(FILE, &messages).unwrap();
    }
    let read = fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        messages == read,
        "the messages are not those of {FILE}; with POOL_MESSAGES=overwrite this test writes them:\n{messages}"
    );
    for message in messages.lines().filter_map(|line| line.strip_prefix("- ")) {
        let first = message.chars().next();
        assert!(
            first.is_some_and(|c| !c.is_uppercase()) && !message.ends_with('.'),
            "not in lower case and without a full stop: {message}"
        );
    }
}

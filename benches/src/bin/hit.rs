//! The hit by itself, for `ci/hit.sh` to count and look at: `hit pool N` acquires and drops N times,
//! `hit control N` does what is left of that loop without a pool.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;

use pool_bench::contender::{Contender, Pooled};
use pool_bench::payload::{Message, touch};
use pool_core::{Backend, Pool, Poolable};

/// The loop that is counted; found by this name.
#[inline(never)]
fn hit_loop(pool: &Pool<Message>, turns: usize) {
    for turn in 0..turns {
        let mut handle = pool.acquire();
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(Pooled::object(&mut handle), turn as u64) };
    }
}

/// The same without a pool: touch and reset.
#[inline(never)]
fn control_loop(message: &mut Message, turns: usize) {
    for turn in 0..turns {
        // SAFETY: valid for writes.
        unsafe { touch(&raw mut *message, turn as u64) };
        message.reset();
    }
}

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [what, turns] = arguments.as_slice() else {
        return usage();
    };
    let Ok(turns) = turns.parse() else {
        return usage();
    };
    match what.as_str() {
        "pool" => {
            let pool = Pooled::on(Backend::Batched).0;
            hit_loop(black_box(&pool), turns);
            // A hit leaves no trace but the object: the pool that was measured was used.
            assert_eq!(pool.stats().created, 1);
        }
        "control" => control_loop(black_box(&mut Message::init()), turns),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: hit pool|control TURNS");
    ExitCode::FAILURE
}

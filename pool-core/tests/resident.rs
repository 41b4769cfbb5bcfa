//! Memory that the process keeps: a burst, then quiet, and what the system has back after that
//! (netty #9665).
//!
//! In a process of its own, and one test, since what is measured is the process's.
#![cfg(target_os = "linux")]

use std::fs;
use std::time::Duration;

use pool_core::{Backend, Pool, TrimPolicy, unsync};

type Message = [u64; 64];

const BURST: usize = 100_000;

/// What the burst takes in memory, without what a pool adds: 49 MiB.
const BYTES: usize = BURST * size_of::<Message>();

/// Objects in chunks of which an allocator keeps some: 103 KiB.
const SMALL_CHUNK: usize = 200;

fn page() -> usize {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap()
}

/// Bytes of this process that are in memory now.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * page()
}

/// Runs `scenario`, which gives what was resident at its peak and after it was trimmed. `shared` bytes
/// may stay that are in pages with bytes in use.
fn check(name: &str, shared: usize, scenario: impl Fn() -> (usize, usize)) {
    // The allocator's own habits settle in a first run.
    scenario();
    let before = resident();
    let (peak, after) = scenario();
    println!("{name}: {before} bytes before, {peak} at the peak, {after} after");
    assert!(
        peak >= before + BYTES * 9 / 10,
        "{name}: nothing was measured"
    );
    // A tenth: the chunks that the least idle objects are in, and what the allocator keeps of the
    // arrays of pointers.
    assert!(
        after <= before + BYTES / 10 + shared,
        "{name}: {after} bytes are kept"
    );
}

#[test]
fn a_burst_leaves_little_behind() {
    const MIN_IDLE: usize = 100;
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        check(&backend.to_string(), 0, || {
            let pool = Pool::<Message>::builder().backend(backend).build().unwrap();
            let policy = TrimPolicy::idle_for(Duration::ZERO).min_idle(MIN_IDLE);
            let held: Vec<_> = (0..BURST).map(|_| pool.acquire()).collect();
            let peak = resident();
            drop(held);
            let now = std::time::Instant::now();
            pool.trim_by(&policy, now);
            assert_eq!(pool.trim_by(&policy, now), BURST - MIN_IDLE);
            assert_eq!(pool.idle(), MIN_IDLE);
            let after = resident();
            drop(pool.acquire_many(MIN_IDLE));
            assert_eq!(pool.stats().created, BURST, "those left are used again");
            (peak, after)
        });
    }
    check("unsync", 0, || {
        let pool = unsync::Pool::<Message>::new();
        let held: Vec<_> = (0..BURST).map(|_| pool.acquire()).collect();
        let peak = resident();
        drop(held);
        pool.trim(MIN_IDLE);
        (peak, resident())
    });
    // Chunks of a size that allocators keep, below one that stays in use; each two share a page.
    let shared = BURST / SMALL_CHUNK * page();
    check("small chunks", shared, || {
        let builder = Pool::<Message>::builder().grow_by(SMALL_CHUNK);
        let pool = builder.build().unwrap();
        let mut held: Vec<_> = (0..BURST).map(|_| pool.acquire()).collect();
        let peak = resident();
        let last = held.pop();
        drop(held);
        pool.trim(0);
        let after = resident();
        drop(last);
        (peak, after)
    });
}

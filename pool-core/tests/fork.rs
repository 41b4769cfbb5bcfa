//! A process that forks while no thread is inside a call: the child's pools work, or the child would
//! hang for ever (gperftools #499).
#![cfg(target_os = "linux")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend};

use support::{CountedPool, caches, counted, keeps, within_reason};

/// Runs `child` in a child process; fails if it panics or does not end.
fn fork(child: impl FnOnce()) {
    // SAFETY: the child does what this process does at other times too: no lock that it comes to need
    // is held by another thread, the allocator sees to its own.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "no process to be had");
    if pid == 0 {
        let result = catch_unwind(AssertUnwindSafe(child));
        // SAFETY: ends the process, at once: the test harness is the parent's.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    let mut status = 0;
    for _ in 0..30_000 {
        // SAFETY: the child is this thread's to wait for, and `status` is writable.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        assert!(ended >= 0);
        if ended == pid {
            assert!(libc::WIFEXITED(status), "the child was killed");
            assert_eq!(libc::WEXITSTATUS(status), 0, "the child failed");
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    // SAFETY: a child of this process that was not waited for yet.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    panic!("the child hangs");
}

/// All that a child may want; other threads had objects in their caches, and are not there any more.
fn use_pool(pool: &CountedPool, capacity: usize) {
    drop(pool.acquire());
    drop(pool.acquire_many(3));
    let all: Vec<_> = (0..capacity).map(|_| pool.try_acquire().unwrap()).collect();
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    let timed = pool.acquire_timeout(Duration::from_millis(1));
    assert_eq!(timed.err(), Some(AcquireError::Timeout));
    drop(all);
    assert_eq!(pool.stats().in_use, 0);
    pool.flush();
    pool.trim(1);
    drop(pool.drain());
    // Threads of its own.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| drop((pool.try_acquire(), pool.try_acquire())));
        }
    });
    assert_eq!(pool.stats().in_use, 0);
}

/// All in one test: while a child is made, no other thread of this process is inside a call.
#[test]
fn a_child_acquires_and_releases() {
    within_reason(|| {
        for backend in Backend::ALL {
            const CAPACITY: usize = 40;
            let (builder, tally) = counted(backend);
            let pool = builder.capacity(CAPACITY).build().unwrap();
            let (quiet, go) = (Barrier::new(3), Barrier::new(3));
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        drop((pool.acquire(), pool.acquire(), pool.acquire_many(5)));
                        quiet.wait();
                        go.wait();
                        drop(pool.acquire());
                    });
                }
                drop((pool.acquire(), pool.acquire(), pool.acquire_many(5)));
                quiet.wait();
                let cached = pool.stats().cached;
                let alive = tally.alive();
                for _ in 0..3 {
                    fork(|| {
                        use_pool(&pool, CAPACITY);
                        let (builder, tally) = counted(backend);
                        use_pool(&builder.capacity(7).build().unwrap(), 7);
                        assert_eq!(tally.alive(), 0);
                        drop(pool.clone());
                        pool.close();
                        assert!(pool.try_acquire().is_err());
                    });
                    // A child of a child, and one that uses nothing.
                    fork(|| fork(|| use_pool(&pool, CAPACITY)));
                    fork(|| ());
                }
                // Nothing of it is seen here.
                assert_eq!(tally.alive(), alive);
                assert!(!keeps(backend) || pool.idle() == alive);
                use_pool(&pool, CAPACITY);
                go.wait();
                assert!(!caches(backend) || cached > 0);
            });
        }
    });
}

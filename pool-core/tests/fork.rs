//! A process that forks, whatever its other threads do: the child's pools work, where it might have
//! hung for ever (gperftools #499).
#![cfg(target_os = "linux")]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{AcquireError, Backend, Lifecycle, Pool, Recall, TrimPolicy};

use support::{BatchSizeIfAny, caches, counted, keeps, within_reason};

/// Runs `child` in a child process; fails if it panics or does not end.
fn fork(child: impl FnOnce()) {
    // SAFETY: the child does what this process does at other times too: pools come through a fork, the
    // allocator sees to its own locks, and the child comes to need no others.
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

/// Tests fork one at a time: a child is the harness's, output and all.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that a child may want; other threads had objects in their caches, and are not there any more.
fn use_pool<T: Send, L: Lifecycle<T> + Send + Sync>(pool: &Pool<T, L>, capacity: usize) {
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

#[test]
fn a_child_acquires_and_releases() {
    let _alone = alone();
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

/// Other threads are inside calls of every kind when the process forks: in slots, under locks, growing,
/// trimming.
#[test]
fn a_child_of_a_busy_process_acquires_and_releases() {
    let _alone = alone();
    within_reason(|| {
        const CAPACITY: usize = 500;
        /// What the workers have in hand at most; so no more are ever idle.
        const IN_HAND: usize = 4 * 25;
        for backend in Backend::ALL {
            // Objects without a lock of their own, which would not come through.
            let builder = Pool::<Vec<u8>>::builder().backend(backend);
            let pool = builder.capacity(CAPACITY).grow_by(1).build().unwrap();
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                let _stop = StopAtEnd(&stop);
                for worker in 0..4 {
                    let (pool, stop) = (&pool, &stop);
                    scope.spawn(move || {
                        let mut round = worker;
                        while !stop.load(Ordering::Relaxed) {
                            round += 1;
                            let held: Vec<_> = (0..round % 20).map(|_| pool.acquire()).collect();
                            drop(pool.acquire_many(round % 7));
                            drop(held);
                            match round % 64 {
                                0 => pool.trim(5),
                                1 => pool.flush(),
                                2 => drop(pool.drain()),
                                3 => _ = pool.trim_idle_for(Duration::from_micros(10)),
                                _ => {}
                            }
                        }
                    });
                }
                for _ in 0..support::scaled(100) {
                    fork(|| {
                        // What other threads hold is in use for ever here.
                        let held = pool.in_use();
                        // Also what one that trims or drains has taken out, and not dropped yet.
                        assert!(held <= 4 * IN_HAND, "{held} in use");
                        for _ in 0..3 {
                            use_what_is_left(&pool, CAPACITY - held);
                        }
                        assert_eq!(pool.in_use(), held);
                    });
                }
            });
            assert_eq!(pool.in_use(), 0, "{backend}: the parent goes on");
            use_pool(&pool, CAPACITY);
        }
    });
}

/// Locks that a thread has for a few instructions, which the other tests here seldom meet: the period
/// of those who trim by a policy, and the buffers of bursts.
#[test]
fn a_child_finds_no_lock_held_for_a_moment() {
    let _alone = alone();
    within_reason(|| {
        for backend in Backend::ALL {
            let builder = Pool::<u64>::builder().backend(backend);
            // Bursts that are too many for a cache, so that they need a buffer, and little else.
            let pool = builder.batch_size_if_any(backend, 1).build().unwrap();
            let policy = TrimPolicy::idle_for(Duration::from_secs(3_600));
            let now = Instant::now();
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                let _stop = StopAtEnd(&stop);
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        pool.trim_by(&policy, now);
                    }
                });
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        drop(pool.acquire_many(3));
                    }
                });
                for _ in 0..support::scaled(50) {
                    fork(|| {
                        pool.trim_by(&policy, now);
                        drop(pool.acquire_many(3));
                    });
                }
            });
        }
    });
}

/// Has the workers stop, however the test ends.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// As [`use_pool`], in a child whose parent's threads hold some; without threads of its own.
fn use_what_is_left(pool: &Pool<Vec<u8>>, left: usize) {
    drop(pool.acquire());
    drop(pool.acquire_many(3));
    let all: Vec<_> = (0..left).map(|_| pool.try_acquire().unwrap()).collect();
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    let timed = pool.acquire_timeout(Duration::from_millis(1));
    assert_eq!(timed.err(), Some(AcquireError::Timeout));
    drop(all);
    pool.flush();
    pool.trim(1);
    pool.trim_idle_for(Duration::ZERO);
    drop(pool.drain());
}

/// Threads wait when the process forks. Nobody waits in the child; in the parent they are served.
#[test]
fn those_who_wait_are_left_behind() {
    let _alone = alone();
    within_reason(|| {
        for backend in Backend::ALL {
            let (builder, _tally) = counted(backend);
            let pool = builder.capacity(3).build().unwrap();
            let mut held: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
            thread::scope(|scope| {
                let single = scope.spawn(|| drop(pool.acquire()));
                support::until(|| pool.stats().waits == 1);
                let burst = scope.spawn(|| drop(pool.acquire_many(3)));
                support::until(|| pool.stats().waits == 2);
                // One is served, and may not have come for it yet; the other has a part of what it
                // wants.
                held.pop();
                held.pop();
                let mut still = Some(held.pop().unwrap());
                fork(|| {
                    drop(pool.acquire_timeout(Duration::from_secs(10)).unwrap());
                    // The handle of this thread comes back, as it does in the parent.
                    drop(still.take());
                    let all: Vec<_> = (0..3).map(|_| pool.try_acquire().unwrap()).collect();
                    assert!(pool.try_acquire().is_err());
                    drop(all);
                });
                drop(still);
                single.join().unwrap();
                burst.join().unwrap();
            });
            assert_eq!(pool.in_use(), 0);
        }
    });
}

/// A child with threads of its own, of a parent most of whose threads are asleep in a lock or a queue:
/// what they sleep in is not for the child's to trip over.
#[test]
fn threads_of_a_child_of_many_that_wait() {
    let _alone = alone();
    within_reason(|| {
        for backend in Backend::ALL {
            let builder = Pool::<Vec<u8>>::builder().backend(backend).capacity(4);
            let pool = builder.build().unwrap();
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                let _stop = StopAtEnd(&stop);
                for _ in 0..40 {
                    scope.spawn(|| {
                        while !stop.load(Ordering::Relaxed) {
                            let object = pool.acquire_timeout(Duration::from_millis(5));
                            thread::sleep(Duration::from_micros(50));
                            drop(object);
                        }
                    });
                }
                for _ in 0..support::scaled(20) {
                    thread::sleep(Duration::from_micros(300));
                    fork(|| {
                        let builder = Pool::<Vec<u8>>::builder().backend(backend).capacity(2);
                        let own = builder.build().unwrap();
                        thread::scope(|scope| {
                            for _ in 0..8 {
                                scope.spawn(|| {
                                    for _ in 0..200 {
                                        drop(own.acquire_timeout(Duration::from_micros(100)));
                                        drop(own.acquire());
                                    }
                                });
                            }
                        });
                        assert_eq!(own.in_use(), 0);
                    });
                }
            });
        }
    });
}

/// A task that waits behind a thread: in the child the thread is gone, and the task is served.
#[cfg(feature = "async")]
#[test]
fn a_task_behind_a_thread_is_served_in_the_child() {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    let _alone = alone();
    within_reason(|| {
        for backend in Backend::ALL {
            let builder = Pool::<Vec<u8>>::builder().backend(backend).capacity(2);
            let pool = builder.build().unwrap();
            let held = pool.acquire();
            thread::scope(|scope| {
                scope.spawn(|| drop(pool.acquire_many(2)));
                support::until(|| pool.stats().waits == 1);
                let mut task = pin!(pool.acquire_async());
                let mut context = Context::from_waker(Waker::noop());
                assert!(task.as_mut().poll(&mut context).is_pending());
                fork(|| {
                    let polled = task.as_mut().poll(&mut context);
                    assert!(matches!(polled, Poll::Ready(Ok(_))), "{backend}");
                });
                drop(held);
                support::until(|| task.as_mut().poll(&mut context).is_ready());
            });
        }
    });
}

/// The first pool of a process is made in one thread while another forks.
#[test]
fn a_fork_while_the_first_pool_is_made() {
    let _alone = alone();
    within_reason(|| {
        for delay in 0..support::scaled(20) {
            // A process of its own, in which another test may not have made a pool before.
            fork(|| {
                let start = Barrier::new(2);
                thread::scope(|scope| {
                    scope.spawn(|| {
                        start.wait();
                        drop(Pool::<Vec<u8>>::new());
                    });
                    start.wait();
                    thread::sleep(Duration::from_micros(150 * delay as u64));
                    fork(|| drop(Pool::<Vec<u8>>::new().acquire()));
                });
            });
        }
    });
}

#[test]
fn a_child_tracks_holders_on() {
    let _alone = alone();
    within_reason(|| {
        for backend in Backend::ALL {
            let builder = Pool::<String>::builder().backend(backend);
            let pool = builder.capacity(4).track_holders(true).build().unwrap();
            let held = pool.acquire();
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        drop(pool.acquire());
                    }
                });
                for _ in 0..20 {
                    fork(|| {
                        // What the other thread held stays in use.
                        let before = pool.holders().len();
                        assert!((1..=2).contains(&before));
                        let another = pool.acquire();
                        assert_eq!(pool.holders().len(), before + 1);
                        drop(another);
                    });
                }
                over.store(true, Ordering::Relaxed);
            });
            drop(held);
            assert!(pool.holders().is_empty());
        }
    });
}

/// A pool whose threads cooperate: one that is quiet has a cache, and has called `flush` before or not.
fn beside_a_quiet_thread(flushes: bool, f: impl FnOnce(&Pool<u64>)) {
    let builder = Pool::<u64>::builder().recall(Recall::Cooperate);
    let pool = builder.build().unwrap();
    let quiet = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            (0..100).for_each(|_| drop(pool.acquire()));
            if flushes {
                pool.flush();
            }
            quiet.wait();
            quiet.wait();
        });
        quiet.wait();
        f(&pool);
        quiet.wait();
    });
}

#[test]
fn a_cooperating_thread_that_has_flushed_is_not_interrupted() {
    let _alone = alone();
    for flushes in [true, false] {
        beside_a_quiet_thread(flushes, |pool| {
            fork(|| drop(pool.acquire()));
            let interrupted = !flushes && caches(Backend::Batched);
            assert_eq!(pool.stats().revocations, usize::from(interrupted));
        });
    }
}

#[test]
fn a_child_drops_what_a_closed_pool_was_asked_for() {
    let _alone = alone();
    beside_a_quiet_thread(false, |pool| {
        pool.close();
        fork(|| {
            assert!(pool.try_acquire().is_err());
            assert_eq!(pool.idle(), 0);
        });
    });
}

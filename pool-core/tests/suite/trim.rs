//! Pools that shrink: by a policy and a clock of the caller's, on every backend.

use crate::support;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{Backend, TrimPolicy};

use support::{BatchSizeIfAny, CountedPool, at_rest, counted, keeps, panic_of, within_reason};

const AGE: Duration = Duration::from_secs(60);

/// A clock that a test moves on.
struct Clock(Instant);

impl Clock {
    fn new() -> Self {
        Clock(Instant::now())
    }

    /// Trims `pool` by `policy` when `time` more has passed.
    fn after(&mut self, time: Duration, pool: &CountedPool, policy: &TrimPolicy) -> usize {
        self.0 += time;
        pool.trim_by(policy, self.0)
    }
}

/// Acquires `n` objects at once and gives them all back.
fn burst(pool: &CountedPool, n: usize) {
    let held: Vec<_> = (0..n).map(|_| pool.acquire()).collect();
    drop(held);
}

fn on_those_that_keep(scenario: impl Fn(Backend) + Send + 'static) {
    within_reason(move || {
        for backend in Backend::ALL.into_iter().filter(|&backend| keeps(backend)) {
            println!("{backend}");
            scenario(backend);
        }
    });
}

#[test]
fn what_nobody_needed_for_an_age_is_dropped() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let policy = TrimPolicy::idle_for(AGE).min_idle(10);
        let mut clock = Clock::new();
        burst(&pool, 1_000);
        assert_eq!(clock.after(Duration::ZERO, &pool, &policy), 0, "the first");
        assert_eq!(clock.after(AGE / 2, &pool, &policy), 0, "too early");
        assert_eq!(clock.after(AGE / 2, &pool, &policy), 990);
        assert_eq!(at_rest(&pool, &tally).idle, 10);
        assert_eq!(clock.after(AGE, &pool, &policy), 0, "the least are left");
        burst(&pool, 10);
        assert_eq!(tally.created(), 1_000, "they are used again");
    });
}

#[test]
fn what_is_needed_once_an_age_stays() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let policy = TrimPolicy::idle_for(AGE);
        let mut clock = Clock::new();
        burst(&pool, 1_000);
        clock.after(Duration::ZERO, &pool, &policy);
        for _ in 0..5 {
            burst(&pool, 300);
            clock.after(AGE, &pool, &policy);
            let idle = at_rest(&pool, &tally).idle;
            // A batched pool may count a thread's two batches as needed.
            assert!((300..=300 + 2 * 64).contains(&idle), "{idle}");
        }
        assert_eq!(tally.created(), 1_000);
    });
}

/// However many threads there are, and whoever's cache they lie in.
#[test]
fn the_caches_of_quiet_threads_are_found() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.batch_size_if_any(backend, 8).build().unwrap();
        let policy = TrimPolicy::idle_for(AGE);
        let mut clock = Clock::new();
        let (filled, end) = (Barrier::new(5), Barrier::new(5));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    burst(&pool, 16);
                    filled.wait();
                    end.wait();
                });
            }
            filled.wait();
            clock.after(Duration::ZERO, &pool, &policy);
            clock.after(AGE, &pool, &policy);
            assert_eq!(at_rest(&pool, &tally).idle, 0);
            end.wait();
        });
        assert_eq!(tally.alive(), 0);
    });
}

#[test]
fn all_who_trim_share_one_period() {
    on_those_that_keep(|backend| {
        let (builder, _tally) = counted(backend);
        let pool = builder.build().unwrap();
        let (patient, hasty) = (TrimPolicy::idle_for(AGE), TrimPolicy::idle_for(AGE / 4));
        let mut clock = Clock::new();
        burst(&pool, 100);
        clock.after(Duration::ZERO, &pool, &patient);
        assert_eq!(clock.after(AGE / 2, &pool, &patient), 0);
        assert_eq!(clock.after(Duration::ZERO, &pool, &hasty), 100);
        assert_eq!(clock.after(AGE / 2, &pool, &patient), 0);
    });
}

#[test]
fn a_clock_that_goes_back_ends_nothing() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let policy = TrimPolicy::idle_for(AGE);
        let now = Instant::now();
        burst(&pool, 100);
        assert_eq!(pool.trim_by(&policy, now + 2 * AGE), 0);
        assert_eq!(pool.trim_by(&policy, now), 0);
        assert_eq!(tally.alive(), 100);
        assert_eq!(pool.trim_by(&policy, now + 3 * AGE), 100);
    });
}

#[test]
fn what_trim_and_drain_take_is_not_dropped_again() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let policy = TrimPolicy::idle_for(AGE);
        let mut clock = Clock::new();
        burst(&pool, 100);
        clock.after(Duration::ZERO, &pool, &policy);
        pool.trim(40);
        assert_eq!(pool.drain().take(10).count(), 10);
        burst(&pool, 50);
        assert_eq!(
            clock.after(AGE, &pool, &policy),
            0,
            "there were none at a time"
        );
        assert_eq!(clock.after(AGE, &pool, &policy), 50);
        assert_eq!(at_rest(&pool, &tally).idle, 0);
    });
}

/// Objects that were in use when an age began were needed in it, wherever they are at its end.
#[test]
fn what_comes_back_in_an_age_stays_for_that_age() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let policy = TrimPolicy::idle_for(AGE);
        let mut clock = Clock::new();
        let mut held: Vec<_> = (0..150).map(|_| pool.acquire()).collect();
        drop(held.split_off(50));
        assert_eq!(clock.after(Duration::ZERO, &pool, &policy), 0);
        assert_eq!(clock.after(AGE, &pool, &policy), 100);
        drop(held);
        assert_eq!(clock.after(AGE, &pool, &policy), 0);
        assert_eq!(clock.after(AGE, &pool, &policy), 50);
        assert_eq!(at_rest(&pool, &tally).idle, 0);
    });
}

#[test]
fn an_age_of_nothing_drops_what_is_idle_at_every_other_call() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        burst(&pool, 100);
        assert_eq!(pool.trim_idle_for(Duration::ZERO), 0);
        assert_eq!(pool.trim_idle_for(Duration::ZERO), 100);
        assert_eq!(pool.trim_idle_for(Duration::MAX), 0);
        assert_eq!(at_rest(&pool, &tally).idle, 0);
    });
}

#[test]
fn a_panic_in_drop_does_not_keep_a_policy_from_the_others() {
    struct Bomb(usize);
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(self.0 != 50, "a drop that panics");
        }
    }
    on_those_that_keep(|backend| {
        let made = std::sync::atomic::AtomicUsize::new(0);
        let create = move || Bomb(made.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let pool = pool_core::Pool::builder_with(create, |_| ());
        let pool = pool.backend(backend).build().unwrap();
        drop(pool.acquire_many(100));
        pool.trim_idle_for(Duration::ZERO);
        let message = panic_of(|| pool.trim_idle_for(Duration::ZERO));
        assert_eq!(message, "a drop that panics");
        assert_eq!((pool.idle(), pool.stats().destroyed), (0, 100));
    });
}

#[test]
fn the_control_has_nothing_to_drop() {
    let (builder, tally) = counted(Backend::Heap);
    let pool = builder.build().unwrap();
    burst(&pool, 100);
    assert_eq!(pool.trim_idle_for(Duration::ZERO), 0);
    assert_eq!(pool.trim_idle_for(Duration::ZERO), 0);
    assert_eq!(at_rest(&pool, &tally).destroyed, 100);
}

/// Trimming by need while others acquire: nothing is lost, and the bound is exact throughout.
#[test]
fn a_policy_and_busy_threads() {
    on_those_that_keep(|backend| {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(200).build().unwrap();
        thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|worker| {
                    let pool = &pool;
                    scope.spawn(move || {
                        for round in 0..support::scaled(2_000) {
                            burst(pool, (round * 7 + worker * 13) % 50 + 1);
                        }
                    })
                })
                .collect();
            while workers.iter().any(|worker| !worker.is_finished()) {
                pool.trim_idle_for(Duration::from_micros(50));
                thread::yield_now();
            }
        });
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.in_use, 0);
        let all: Vec<_> = (0..200).map(|_| pool.try_acquire().unwrap()).collect();
        assert!(pool.try_acquire().is_err());
        drop(all);
    });
}

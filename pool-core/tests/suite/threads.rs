//! Many threads: an object has one owner at a time, the bound holds at every moment, nothing idle is
//! out of reach, and whoever waits is served. Nothing in here measures time.

use crate::support;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Burst, Pool, Pooled, SharedPooled, Stats};

use support::{
    Counted, CountedPool, Counting, Script, at_rest, caches, counted, keeps, panic_of, scaled,
    until, within_reason,
};

/// Runs each scenario on each backend.
macro_rules! ladder {
    ($($scenario:ident)*) => {
        ladder! { @on heap Heap $($scenario)* }
        ladder! { @on mutex Mutex $($scenario)* }
        ladder! { @on queue Queue $($scenario)* }
        ladder! { @on batched Batched $($scenario)* }
    };
    (@on $module:ident $backend:ident $($scenario:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $scenario() {
                    super::support::within_reason(|| super::$scenario(super::Backend::$backend));
                }
            )*
        }
    };
}

ladder! {
    no_object_has_two_owners
    no_object_of_a_bounded_pool_has_two_owners
    one_takes_and_another_gives_without_growth
    the_bound_is_never_exceeded
    more_threads_than_objects_wait_their_turn
    a_timeout_loses_no_object
    a_burst_that_waits_is_served_among_singles
    bursts_that_wait_for_each_other_are_all_served
    closing_under_load_wakes_everyone
    the_pool_ends_while_others_release
    everything_at_once
    thousands_of_threads_at_once
    exhausted_is_said_only_when_nothing_is_idle
    the_only_object_is_idle_whenever_nobody_holds_it
    objects_of_a_thread_that_is_alive_are_found
    objects_of_a_thread_that_has_ended_are_found
    an_acquirer_that_has_ended_is_not_missed
    scoped_threads_with_objects_that_borrow
    bursts_cross_threads
    shared_objects_cross_threads
    a_pool_whose_trim_and_waits_meet
    pools_used_in_turn
}

/// A random number generator, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn new(seed: usize) -> Self {
        Dice(seed as u64 * 2 + 1)
    }

    /// One of `0..n`.
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Each thread stamps what it acquires, and gives some of it to the next thread, which drops it.
fn pass_around(pool: &CountedPool, threads: usize, rounds: usize) {
    type Handle = Pooled<Counted, Counting>;
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads)
        .map(|_| mpsc::sync_channel::<Handle>(64))
        .unzip();
    thread::scope(|scope| {
        for (n, receiver) in receivers.into_iter().enumerate() {
            let next = senders[(n + 1) % threads].clone();
            scope.spawn(move || {
                let (me, mut dice) = (n + 1, Dice::new(n));
                let mut held = VecDeque::new();
                let mut done = 0;
                while done < rounds {
                    done += 1;
                    if let Ok(object) = pool.try_acquire() {
                        object.claim(me);
                        held.push_back(object);
                    }
                    if held.len() > dice.roll(6) {
                        let object = held.pop_front().unwrap();
                        object.yield_up(me);
                        match dice.roll(3) {
                            0 => drop(next.try_send(object)),
                            1 => held.push_back({
                                object.claim(me);
                                object
                            }),
                            _ => drop(object),
                        }
                    }
                    let received = (dice.roll(4) == 0).then(|| receiver.try_recv().ok());
                    if let Some(object) = received.flatten() {
                        object.claim(me);
                        assert!(object.text.is_empty());
                        object.yield_up(me);
                    }
                }
                for object in held {
                    object.yield_up(me);
                }
            });
        }
        drop(senders);
    });
}

/// ABA in lock-free free lists (heapless #180).
fn no_object_has_two_owners(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    pass_around(&pool, 4, scaled(10_000));
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.in_use, 0);
    drop(pool);
    assert_eq!(tally.alive(), 0);
}

fn no_object_of_a_bounded_pool_has_two_owners(backend: Backend) {
    // Few, so that the caches are searched all the time; with batches of one and of more.
    for capacity in [5, 40] {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(capacity).build().unwrap();
        pass_around(&pool, 4, scaled(5_000));
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
        let all: Vec<_> = (0..capacity).map(|_| pool.try_acquire().unwrap()).collect();
        assert!(pool.try_acquire().is_err());
        drop((all, pool));
        assert_eq!(tally.alive(), 0);
    }
}

/// One thread takes, another gives (stormpot #48, HikariCP #1186).
fn one_takes_and_another_gives_without_growth(backend: Backend) {
    const CHANNEL: usize = 256;
    let batch = 64;
    let builder = Pool::<u64>::builder().backend(backend);
    let pool = builder.build().unwrap();
    let (sender, receiver) = mpsc::sync_channel(CHANNEL);
    thread::scope(|scope| {
        let pool = &pool;
        scope.spawn(move || {
            for n in 0..scaled(1_000_000) as u64 {
                let mut message = pool.acquire();
                *message = n;
                sender.send(message).unwrap();
            }
        });
        scope.spawn(move || {
            for (n, message) in receiver.into_iter().enumerate() {
                assert_eq!(*message, n as u64);
            }
        });
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
    if keeps(backend) {
        // What is on its way and in the two hands, and what two caches have room for; nine batches
        // where one has been visiting for long.
        let most = CHANNEL + 2 + 2 * 9 * batch;
        assert!(stats.created <= most, "{stats:?}");
    }
}

fn the_bound_is_never_exceeded(backend: Backend) {
    const CAPACITY: usize = 8;
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(CAPACITY).build().unwrap();
    let out = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..6 {
            let (pool, out) = (&pool, &out);
            scope.spawn(move || {
                let mut dice = Dice::new(n);
                for _ in 0..scaled(3_000) {
                    let wanted = dice.roll(5);
                    let handles: Vec<_> = match dice.roll(3) {
                        0 => (0..wanted)
                            .filter_map(|_| pool.try_acquire().ok())
                            .collect(),
                        1 => (0..wanted)
                            .filter_map(|_| pool.try_acquire_idle().ok())
                            .collect(),
                        _ => match pool.try_acquire_many(wanted) {
                            Ok(burst) => burst.into_iter().collect(),
                            Err(_) => Vec::new(),
                        },
                    };
                    let now = out.fetch_add(handles.len(), Ordering::SeqCst) + handles.len();
                    assert!(now <= CAPACITY, "{now} are out");
                    out.fetch_sub(handles.len(), Ordering::SeqCst);
                    match dice.roll(8) {
                        0 => handles.into_iter().for_each(Pooled::discard),
                        _ => drop(handles),
                    }
                }
            });
        }
    });
    // The tally has seen every object; it, too, has seen no more alive.
    assert!(tally.most() <= CAPACITY);
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
    assert_eq!(pool.try_acquire_many(CAPACITY).unwrap().len(), CAPACITY);
}

fn more_threads_than_objects_wait_their_turn(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(2).build().unwrap();
    let served = AtomicUsize::new(0);
    let turns = scaled(500);
    thread::scope(|scope| {
        for n in 1..=8 {
            let (pool, served) = (&pool, &served);
            scope.spawn(move || {
                for turn in 0..turns {
                    let object = pool.acquire();
                    object.claim(n);
                    if turn % 16 == 0 {
                        thread::yield_now(); // So that the others come to wait.
                    }
                    object.yield_up(n);
                    served.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(served.into_inner(), 8 * turns);
    assert!(tally.most() <= 2);
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.in_use, 0);
    assert!(stats.waits > 0, "{stats:?}");
}

/// A timed wait expires as an object arrives: one of them has it.
fn a_timeout_loses_no_object(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    thread::scope(|scope| {
        for n in 1..=4 {
            let pool = &pool;
            scope.spawn(move || {
                let mut dice = Dice::new(n);
                for _ in 0..scaled(500) {
                    let timeout = Duration::from_micros(dice.roll(200) as u64);
                    match pool.acquire_timeout(timeout) {
                        Ok(object) => {
                            object.claim(n);
                            if dice.roll(4) == 0 {
                                thread::sleep(Duration::from_micros(dice.roll(100) as u64));
                            }
                            object.yield_up(n);
                        }
                        Err(error) => assert_eq!(error, AcquireError::Timeout),
                    }
                }
            });
        }
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
    assert!(pool.try_acquire().is_ok());
}

fn a_burst_that_waits_is_served_among_singles(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(8).build().unwrap();
    let held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
    let waits = pool.stats().waits;
    thread::scope(|scope| {
        let pool = &pool;
        let waiter = scope.spawn(move || {
            let burst = pool.acquire_many(6);
            assert_eq!(burst.len(), 6);
        });
        until(|| pool.stats().waits > waits);
        // The others go on meanwhile, with what it leaves them.
        let singles: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    for _ in 0..5_000 {
                        drop(pool.try_acquire());
                    }
                })
            })
            .collect();
        for single in singles {
            single.join().unwrap();
        }
        assert!(!waiter.is_finished(), "four are out");
        // Once there are as many, it has them, though the others do not stop.
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    drop(pool.try_acquire());
                }
            });
            drop(held);
            waiter.join().unwrap();
            stop.store(true, Ordering::Relaxed);
        });
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

/// A burst that could not be had took what others looked for meanwhile, and left them asleep.
fn bursts_that_wait_for_each_other_are_all_served(backend: Backend) {
    // All of them wait, so that one lost wake-up is for ever.
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(6).build().unwrap();
    thread::scope(|scope| {
        for n in 1..=6 {
            let pool = &pool;
            scope.spawn(move || {
                let mut dice = Dice::new(n);
                for _ in 0..scaled(300) {
                    let burst = pool.acquire_many(1 + dice.roll(6));
                    burst.iter().for_each(|object| object.claim(n));
                    burst.iter().for_each(|object| object.yield_up(n));
                }
            });
        }
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);

    // One waits for the one object there is; the other asks for two, in vain, again and again.
    for _ in 0..scaled(100) {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(2).build().unwrap();
        let held = pool.acquire();
        drop(pool.acquire());
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..20 {
                    let refused = pool.try_acquire_many(2).err();
                    assert_eq!(refused, Some(AcquireError::Exhausted));
                }
            });
            scope.spawn(|| {
                for _ in 0..20 {
                    drop(pool.acquire());
                }
            });
        });
        drop(held);
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    }
}

/// A burst that could not be had gave back more than there was room for, and lost the rest.
#[test]
fn bursts_in_vain_lose_nothing_beyond_max_idle() {
    for backend in Backend::ALL {
        within_reason(move || {
            let (builder, tally) = counted(backend);
            let pool = builder.capacity(6).max_idle(2).build().unwrap();
            let held = pool.acquire_many(2);
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        for _ in 0..scaled(5_000) {
                            drop(pool.try_acquire_many(5));
                        }
                    });
                    scope.spawn(|| {
                        for _ in 0..scaled(5_000) {
                            drop((pool.try_acquire(), pool.try_acquire()));
                        }
                    });
                }
            });
            drop(held);
            let stats = at_rest(&pool, &tally);
            assert_eq!(stats.in_use, 0, "{backend}: {stats:?}");
            assert!(stats.idle <= 2, "{backend}: {stats:?}");
        });
    }
}

fn closing_under_load_wakes_everyone(backend: Backend) {
    for round in 0..scaled(20) {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(3).build().unwrap();
        thread::scope(|scope| {
            for n in 0..6 {
                let pool = &pool;
                scope.spawn(move || {
                    // Until it is closed; whoever waits then is woken.
                    let ended = || match n % 3 {
                        0 => pool.acquire_timeout(Duration::MAX).map(drop).err(),
                        1 => catch_unwind(AssertUnwindSafe(|| drop(pool.acquire())))
                            .err()
                            .map(|_| AcquireError::Closed),
                        _ => catch_unwind(AssertUnwindSafe(|| drop(pool.acquire_many(2))))
                            .err()
                            .map(|_| AcquireError::Closed),
                    };
                    loop {
                        if let Some(error) = ended() {
                            assert_eq!(error, AcquireError::Closed);
                            break;
                        }
                    }
                });
            }
            until(|| round % 2 == 0 || pool.stats().waits > 0);
            pool.close();
        });
        // A place that a waiter was given and had no time to fill counts as one that came and went.
        let stats = pool.stats();
        assert_eq!((stats.idle, stats.in_use), (0, 0));
        assert_eq!(stats.created, stats.destroyed);
        assert_eq!(tally.alive(), 0);
        assert!(tally.most() <= 3);
    }
}

/// The pool dropped while another thread releases: no use after free, no object left behind.
fn the_pool_ends_while_others_release(backend: Backend) {
    for round in 0..scaled(100) {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let start = Arc::new(Barrier::new(4));
        let releasers: Vec<_> = (0..3)
            .map(|n| {
                let (pool, start) = (pool.clone(), start.clone());
                thread::spawn(move || {
                    let mut held: Vec<_> = (0..20).map(|_| pool.acquire()).collect();
                    drop(held.split_off(10)); // So that there is a cache to be taken away.
                    let burst = pool.acquire_many(5);
                    // One of them ends the pool, or the last of these handles does.
                    let pool = (n == 0).then_some(pool);
                    start.wait();
                    if round % 2 == 0 {
                        drop(pool);
                        drop((held, burst));
                    } else {
                        drop((burst, held));
                        drop(pool);
                    }
                })
            })
            .collect();
        start.wait();
        drop(pool);
        for releaser in releasers {
            releaser.join().unwrap();
        }
        assert_eq!(tally.alive(), 0, "round {round}");
    }
}

/// Whatever is rare, while the others go on.
fn everything_at_once(backend: Backend) {
    for bounded in [false, true] {
        let (builder, tally) = counted(backend);
        let builder = if bounded {
            builder.capacity(30).max_idle(20)
        } else {
            builder
        };
        let pool = builder.build().unwrap();
        let working = AtomicUsize::new(3);
        thread::scope(|scope| {
            let (pool, working) = (&pool, &working);
            for n in 1..=3 {
                scope.spawn(move || {
                    let mut dice = Dice::new(n);
                    for _ in 0..scaled(1_500) {
                        let objects = match dice.roll(3) {
                            0 => pool.try_acquire_many(dice.roll(10)).ok(),
                            _ => None,
                        };
                        let object = pool.try_acquire().ok();
                        let all = || objects.iter().flatten().chain(&object);
                        all().for_each(|object| object.claim(n));
                        all().for_each(|object| object.yield_up(n));
                        drop((object, objects));
                    }
                    working.fetch_sub(1, Ordering::SeqCst);
                });
            }
            scope.spawn(move || {
                let mut dice = Dice::new(7);
                while working.load(Ordering::SeqCst) > 0 {
                    match dice.roll(7) {
                        0 => pool.trim(dice.roll(10)),
                        1 => drop(pool.drain()),
                        // What is taken out lives on beside the pool, which makes others meanwhile.
                        2 if !bounded => {
                            assert!(pool.drain().all(|object| object.text.is_empty()));
                        }
                        3 => pool.flush(),
                        4 => {
                            pool.reserve(dice.roll(20));
                        }
                        5 => drop(pool.clone()),
                        _ => {
                            let stats = pool.stats();
                            assert!(stats.cached <= stats.idle, "{stats:?}");
                            assert!(stats.destroyed <= stats.created, "{stats:?}");
                        }
                    }
                }
            });
        });
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.in_use, 0);
        assert!(!bounded || stats.idle <= 20, "{stats:?}");
        drop(pool);
        assert_eq!(tally.alive(), 0);
    }
}

/// A hard cap on threads panicked in production (sharded-slab #62).
fn thousands_of_threads_at_once(backend: Backend) {
    const THREADS: usize = 2_200;
    let builder = Pool::<u64>::builder().backend(backend);
    let pool = builder.build().unwrap();
    let (arrived, go) = (AtomicUsize::new(0), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            let small = thread::Builder::new().stack_size(64 << 10);
            small
                .spawn_scoped(scope, || {
                    drop((pool.acquire(), pool.acquire()));
                    arrived.fetch_add(1, Ordering::SeqCst);
                    // All of them are alive, with something in their caches.
                    go.wait();
                    drop(pool.acquire());
                })
                .unwrap();
        }
        until(|| arrived.load(Ordering::SeqCst) == THREADS);
        let stats = pool.stats();
        assert_eq!(stats.in_use, 0);
        if caches(backend) {
            assert_eq!(stats.cached, stats.idle);
        }
        // Within reach all the same.
        assert_eq!(pool.drain().len(), stats.idle);
        go.wait();
    });
    let stats = pool.stats();
    assert_eq!(stats.created - stats.destroyed, stats.idle);
    assert_eq!(stats.in_use, 0);
}

/// The pool said "empty" while other threads' caches were full (DPDK).
fn exhausted_is_said_only_when_nothing_is_idle(backend: Backend) {
    // Two objects, and two threads that hold one each at most: there is always one for each.
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(2).build().unwrap();
    thread::scope(|scope| {
        for n in 1..=2 {
            let pool = &pool;
            scope.spawn(move || {
                for turn in 0..scaled(20_000) {
                    let object = pool.try_acquire().unwrap();
                    object.claim(n);
                    object.yield_up(n);
                    if turn % 64 == 0 {
                        Pooled::discard(object);
                    }
                }
            });
        }
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

/// One thread takes the only object and gives it back as fast as it can, while another calls in all
/// caches again and again: wherever that stops the first, the object is its own or idle, so it is had
/// each time, and is the same.
fn the_only_object_is_idle_whenever_nobody_holds_it(backend: Backend) {
    if !keeps(backend) {
        return;
    }
    let pool = Pool::<u64>::builder()
        .backend(backend)
        .capacity(1)
        .build()
        .unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..scaled(20_000) {
                pool.trim(usize::MAX);
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            let object = pool.try_acquire().expect("nobody else has it");
            drop(object);
        }
    });
    let stats = pool.stats();
    assert_eq!((stats.created, stats.idle, stats.in_use), (1, 1, 0));
}

/// Idle threads pinned fifteen objects each (Go's CL 86020043).
fn objects_of_a_thread_that_is_alive_are_found(backend: Backend) {
    const CAPACITY: usize = 100;
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(CAPACITY).build().unwrap();
    let (done, go) = (Barrier::new(2), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            drop((0..CAPACITY).map(|_| pool.acquire()).collect::<Vec<_>>());
            done.wait();
            go.wait(); // Alive, idle and never to be heard of again, until all is over.
            drop(pool.try_acquire());
        });
        done.wait();
        assert!(!caches(backend) || pool.stats().cached > 0);
        let created = tally.created();
        let all: Vec<_> = (0..CAPACITY).map(|_| pool.try_acquire().unwrap()).collect();
        assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
        if keeps(backend) {
            assert_eq!(tally.created(), created);
        }
        drop(all);
        assert_eq!(
            pool.try_acquire_many(CAPACITY).map(|burst| burst.len()),
            Ok(CAPACITY)
        );
        go.wait();
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

/// Destructors of thread-locals may run after `join` has returned.
fn objects_of_a_thread_that_has_ended_are_found(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    for _ in 0..3 {
        thread::scope(|scope| {
            scope.spawn(|| drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>()));
        });
        // What it cached is at the depot, where anyone finds it without searching.
        until(|| pool.stats().cached == 0);
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.revocations, 0);
        if keeps(backend) {
            assert_eq!((stats.created, stats.idle), (10, 10));
            let again: Vec<_> = (0..10).map(|_| pool.try_acquire_idle().unwrap()).collect();
            assert_eq!(tally.created(), 10);
            drop(again);
            pool.flush();
        }
    }
}

/// The acquirer ends, and the handle is dropped elsewhere later (netty #11864).
fn an_acquirer_that_has_ended_is_not_missed(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(10).build().unwrap();
    for _ in 0..20 {
        let handles: Vec<_> = thread::scope(|scope| {
            let acquirer = scope.spawn(|| (0..10).map(|_| pool.acquire()).collect());
            acquirer.join().unwrap()
        });
        assert_eq!(pool.in_use(), 10);
        thread::scope(|scope| {
            scope.spawn(|| drop(handles));
        });
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    }
    if keeps(backend) {
        assert_eq!(tally.created(), 10);
    }
    drop(pool);
    assert_eq!(tally.alive(), 0);
}

/// `T` need not be `'static`, and the ends of threads, which come late, touch no `T`.
fn scoped_threads_with_objects_that_borrow(backend: Backend) {
    for _ in 0..scaled(20) {
        let words: Vec<String> = (0..8).map(|n| format!("word {n}")).collect();
        let seen = Mutex::new(Vec::new());
        {
            let pool = Pool::builder_with(Vec::<&str>::new, |borrowed: &mut Vec<&str>| {
                seen.lock().unwrap().append(borrowed);
            })
            .backend(backend)
            .build()
            .unwrap();
            thread::scope(|scope| {
                for chunk in words.chunks(2) {
                    let pool = &pool;
                    scope.spawn(move || {
                        for word in chunk {
                            pool.acquire().push(word);
                        }
                    });
                }
            });
        }
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, words);
    }
}

fn bursts_cross_threads(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let (sender, receiver) = mpsc::sync_channel::<Burst<Counted, Counting>>(4);
    thread::scope(|scope| {
        let pool = &pool;
        scope.spawn(move || {
            let mut dice = Dice::new(1);
            for _ in 0..scaled(1_000) {
                let mut burst = pool.acquire_many(dice.roll(150));
                for object in &mut burst {
                    object.claim(1);
                    object.text.push('x');
                    object.yield_up(1);
                }
                sender.send(burst).unwrap();
            }
        });
        scope.spawn(move || {
            let mut dice = Dice::new(2);
            for burst in receiver {
                for object in &burst {
                    object.claim(2);
                    assert_eq!(object.text, "x");
                    object.yield_up(2);
                }
                match dice.roll(4) {
                    0 => burst.into_iter().for_each(drop),
                    _ => drop(burst),
                }
            }
        });
    });
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.in_use, 0);
    if keeps(backend) {
        // Six bursts are under way at a time at most; and what two caches had meanwhile.
        assert!(stats.created <= 6 * 150 + 2 * 9 * 64, "{stats:?}");
    }
}

fn shared_objects_cross_threads(backend: Backend) {
    type Shared = SharedPooled<Counted, Counting>;
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(16).build().unwrap();
    let messages = scaled(1_000);
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..3).map(|_| mpsc::sync_channel::<Shared>(4)).unzip();
    thread::scope(|scope| {
        for receiver in receivers {
            scope.spawn(move || {
                for (n, message) in receiver.into_iter().enumerate() {
                    assert_eq!(message.text, n.to_string());
                    drop(message.clone());
                }
            });
        }
        for n in 0..messages {
            let mut message = pool.acquire();
            assert!(message.text.is_empty());
            message.text.push_str(&n.to_string());
            let message = Pooled::into_shared(message);
            for sender in &senders {
                sender.send(message.clone()).unwrap();
            }
        }
        drop(senders);
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
    assert_eq!(tally.resets(), messages);
}

/// Concurrent trim and wait (saluki #371): no wake-up is lost.
fn a_pool_whose_trim_and_waits_meet(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(2).build().unwrap();
    let working = AtomicUsize::new(4);
    thread::scope(|scope| {
        let (pool, working) = (&pool, &working);
        for n in 1..=4 {
            scope.spawn(move || {
                for turn in 0..scaled(500) {
                    let object = pool.acquire();
                    object.claim(n);
                    object.yield_up(n);
                    match turn % 8 {
                        0 => Pooled::discard(object),
                        1 => drop(Pooled::into_shared(object)),
                        _ => drop(object),
                    }
                }
                working.fetch_sub(1, Ordering::SeqCst);
            });
        }
        scope.spawn(move || {
            while working.load(Ordering::SeqCst) > 0 {
                pool.trim(0);
                drop(pool.drain());
            }
        });
    });
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

/// Two pools used in turn on one thread threw away each other's caches (zeropool); here, more than
/// any table of the thread has entries for.
fn pools_used_in_turn(backend: Backend) {
    let pools: Vec<_> = (0..40).map(|_| counted(backend)).collect();
    let pools: Vec<_> = pools
        .into_iter()
        .map(|(builder, tally)| (builder.build().unwrap(), tally))
        .collect();
    for n in [2, 3, 9, 40] {
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10 {
                    for (pool, _) in &pools[..n] {
                        drop((pool.acquire(), pool.acquire()));
                    }
                }
                let exchanges: Vec<_> = pools
                    .iter()
                    .map(|(pool, _)| pool.stats().exchanges)
                    .collect();
                for _ in 0..100 {
                    for (pool, _) in &pools[..n] {
                        drop((pool.acquire(), pool.acquire()));
                    }
                }
                for ((pool, tally), exchanges) in pools.iter().zip(exchanges) {
                    let stats = at_rest(pool, tally);
                    if caches(backend) {
                        assert_eq!(stats.exchanges, exchanges, "each keeps its cache");
                    }
                    if keeps(backend) {
                        assert!(stats.created <= 2, "{stats:?}");
                    }
                }
            });
        });
        // Before the next thread looks.
        until(|| pools.iter().all(|(pool, _)| pool.stats().cached == 0));
    }
}

// What only threads that cache have to show.

fn batched<R>(batch_size: usize, f: impl FnOnce(&Pool<u64>) -> R) -> R {
    let pool = Pool::<u64>::builder().batch_size(batch_size).build();
    f(&pool.unwrap())
}

/// A thread that polls an exhausted pool costs the others a barrier now and then, not each time.
#[cfg(not(pool_no_membarrier))]
#[test]
fn polling_an_exhausted_pool_costs_few_barriers() {
    let builder = Pool::<u64>::builder().capacity(4);
    let pool = builder.build().unwrap();
    let held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
    let polls = 10_000;
    for _ in 0..polls {
        assert!(pool.try_acquire().is_err());
    }
    let stats = pool.stats();
    assert!(stats.revocations <= 1 + polls / 64, "{stats:?}");
    drop(held);

    // And while others use it: what one barrier gathered pays for many operations.
    let stop = AtomicBool::new(false);
    let operations = AtomicUsize::new(0);
    let before = pool.stats().revocations;
    thread::scope(|scope| {
        scope.spawn(|| {
            let held: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
            for _ in 0..scaled(20_000) {
                drop(pool.try_acquire());
                operations.fetch_add(1, Ordering::Relaxed);
            }
            drop(held);
            stop.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                drop(pool.try_acquire());
                operations.fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    let revocations = pool.stats().revocations - before;
    let operations = operations.into_inner();
    assert!(
        revocations <= 10 + operations / 32,
        "{revocations} barriers in {operations} operations"
    );
}

/// Scarcity ends by itself: threads cache again when there is enough.
#[cfg(not(pool_no_membarrier))]
#[test]
fn threads_cache_again_after_a_time_of_need() {
    let pool = Pool::<u64>::builder().capacity(256).build().unwrap();
    let held: Vec<_> = (0..256).map(|_| pool.acquire()).collect();
    assert!(pool.try_acquire().is_err());
    drop(held);
    for _ in 0..1_000 {
        drop(pool.acquire());
    }
    let before = pool.stats();
    assert!(before.cached > 0, "{before:?}");
    for _ in 0..1_000 {
        drop(pool.acquire());
    }
    let after = pool.stats();
    assert_eq!(after.exchanges, before.exchanges);
    assert_eq!(after.revocations, before.revocations);
}

/// A revocation is counted when it pays a barrier, and pays one only if there is a slot that is in use.
#[cfg(not(pool_no_membarrier))]
#[test]
fn only_slots_in_use_are_revoked() {
    for backend in [Backend::Batched, Backend::Queue] {
        let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
        let pool_of_thread = pool.clone();
        let thread = thread::spawn(move || {
            drop(
                (0..100)
                    .map(|_| pool_of_thread.acquire())
                    .collect::<Vec<_>>(),
            );
        });
        thread.join().unwrap();
        let revocations = || pool.stats().revocations;
        pool.trim(0);
        assert_eq!(revocations(), 0, "{backend}: the thread has ended");
        for turn in 1..=3 {
            drop((0..100).map(|_| pool.acquire()).collect::<Vec<_>>());
            pool.trim(0);
            assert_eq!(revocations(), turn, "{backend}");
            pool.trim(0);
            assert_eq!(revocations(), turn, "{backend}: revoked already");
        }
    }
    let pool = Pool::<u64>::builder().backend(Backend::Heap).build();
    let pool = pool.unwrap();
    drop(pool.acquire());
    pool.close();
    assert_eq!(pool.stats().revocations, 1);
}

/// Under a bound on idle objects that two batches reach, one thread may cache, and a flush leaves it that.
#[cfg(not(pool_no_membarrier))]
#[test]
fn one_thread_caches_within_max_idle() {
    const BATCH: usize = 8;
    let builder = Pool::<u64>::builder().batch_size(BATCH);
    let pool = builder.max_idle(2 * BATCH).build().unwrap();
    let object = pool.acquire();
    pool.flush();
    let before = pool.stats().exchanges;
    drop(object);
    let after = pool.stats();
    assert_eq!((after.exchanges, after.cached), (before, 1));
    // One less, and none may: such a batch is refused.
    let builder = Pool::<u64>::builder().batch_size(BATCH);
    assert!(builder.max_idle(2 * BATCH - 1).build().is_err());
}

/// A cache was half as large again as it was asked to be (DPDK f5e1310f16).
#[test]
fn a_cache_is_as_large_as_documented() {
    for batch in [1, 2, 7, 64] {
        batched(batch, |pool| {
            let mut dice = Dice::new(batch);
            pool.reserve(10 * batch);
            // Whatever it does; the history that earns more is longer.
            for _ in 0..20 {
                let n = dice.roll(5 * batch + 2);
                drop((0..n).map(|_| pool.acquire()).collect::<Vec<_>>());
                let stats = pool.stats();
                assert!(stats.cached <= 2 * batch, "batch {batch}: {stats:?}");
                drop(pool.acquire_many(dice.roll(3 * batch + 2)));
                let stats = pool.stats();
                assert!(stats.cached <= 2 * batch, "batch {batch}: {stats:?}");
            }
        });
    }
}

/// Refill and flush thrashed at an edge (DPDK e6e62f6f55).
#[cfg(not(pool_no_membarrier))]
#[test]
fn an_edge_is_visited_once_per_batch() {
    const BATCH: usize = 16;
    batched(BATCH, |pool| {
        drop((0..10 * BATCH).map(|_| pool.acquire()).collect::<Vec<_>>());
        // At every filling of the cache: steps back and forth of all sizes up to a batch, long
        // enough that each of them would show, and not long enough to earn larger exchanges.
        let mut held: Vec<Pooled<u64>> = Vec::new();
        for filling in 0..4 * BATCH {
            for step in [1, 2, BATCH / 2, BATCH - 1, BATCH] {
                let before = pool.stats().exchanges;
                let turns = 4 * BATCH;
                let mut operations = 0;
                for _ in 0..turns {
                    let some: Vec<_> = (0..step).map(|_| pool.acquire()).collect();
                    drop(some);
                    operations += 2 * step;
                }
                let exchanges = pool.stats().exchanges - before;
                assert!(
                    exchanges <= operations / BATCH + 1,
                    "filling {filling}, step {step}: {exchanges} visits in {operations} operations"
                );
            }
            held.push(pool.acquire());
        }
    });
}

/// A burst of a thousand visited the depot thirty times for ever.
#[cfg(not(pool_no_membarrier))]
#[test]
fn a_thread_that_keeps_missing_earns_larger_exchanges() {
    const BATCH: usize = 8;
    const BURST: usize = 1_000;
    batched(BATCH, |pool| {
        let round = || {
            let before = pool.stats().exchanges;
            drop((0..BURST).map(|_| pool.acquire()).collect::<Vec<_>>());
            pool.stats().exchanges - before
        };
        pool.reserve(BURST);
        let at_first = round();
        for _ in 0..100 {
            round();
            // But never more than this.
            let stats = pool.stats();
            assert!(stats.cached <= 9 * BATCH, "{stats:?}");
        }
        let at_last = round();
        assert!(
            4 * at_last <= at_first,
            "{at_first} visits at first, {at_last} at last"
        );

        // It loses them when its cache is taken away.
        assert!(pool.stats().cached > 2 * BATCH);
        pool.trim(BURST);
        drop((0..20 * BATCH).map(|_| pool.acquire()).collect::<Vec<_>>());
        let stats = pool.stats();
        assert!(stats.cached <= 2 * BATCH, "{stats:?}");
    });
}

/// Visits that take and give in turn earn nothing, however many; nor do any, where the objects in caches
/// are counted by what two batches hold.
#[cfg(not(pool_no_membarrier))]
#[test]
fn only_visits_that_are_alike_earn_larger_exchanges() {
    const BATCH: usize = 8;
    batched(BATCH, |pool| {
        drop((0..20 * BATCH).map(|_| pool.acquire()).collect::<Vec<_>>());
        for round in 0..2_000 {
            // Each round takes one batch, then gives one.
            drop((0..=2 * BATCH).map(|_| pool.acquire()).collect::<Vec<_>>());
            let cached = pool.stats().cached;
            assert!((1..=2 * BATCH).contains(&cached), "{cached}, round {round}");
        }
    });
    let builder = Pool::<u64>::builder().batch_size(BATCH).max_idle(1_000);
    let pool = builder.build().unwrap();
    for round in 0..100 {
        drop((0..500).map(|_| pool.acquire()).collect::<Vec<_>>());
        let cached = pool.stats().cached;
        assert!((1..=2 * BATCH).contains(&cached), "{cached}, round {round}");
    }
}

/// A bulk request of exactly the size of the cache always missed (DPDK a2833ecc5e).
#[cfg(not(pool_no_membarrier))]
#[test]
fn a_burst_within_the_cache_is_one_visit_to_it() {
    const BATCH: usize = 32;
    batched(BATCH, |pool| {
        drop((0..20 * BATCH).map(|_| pool.acquire()).collect::<Vec<_>>());
        for n in [1, BATCH / 2, BATCH] {
            drop(pool.acquire_many(n));
            drop(pool.acquire_many(n));
            let before = pool.stats().exchanges;
            for _ in 0..100 {
                drop(pool.acquire_many(n));
            }
            assert_eq!(pool.stats().exchanges, before, "bursts of {n}");
        }
        // Of more than the cache: one visit each way.
        let before = pool.stats().exchanges;
        for _ in 0..100 {
            drop(pool.acquire_many(10 * BATCH));
        }
        assert!(pool.stats().exchanges - before <= 200);
    });
}

/// Thread-ids are used again while older threads still end.
#[test]
fn short_threads_one_after_another() {
    for backend in Backend::ALL {
        within_reason(move || {
            let (builder, tally) = counted(backend);
            let pool = builder.capacity(4).build().unwrap();
            for n in 1..=scaled(1_000) {
                let pool = pool.clone();
                let short = thread::spawn(move || {
                    let (a, b) = (pool.acquire(), pool.acquire());
                    a.claim(n);
                    b.claim(n);
                    a.yield_up(n);
                    b.yield_up(n);
                });
                if n % 2 == 0 {
                    short.join().unwrap();
                }
            }
            until(|| {
                let Stats { idle, in_use, .. } = pool.stats();
                in_use == 0 && (idle > 0 || !keeps(backend))
            });
            assert!(tally.most() <= 4);
        });
    }
}

/// Hooks that panic while others wait, each object's place given to the next.
#[test]
fn panics_under_load_lose_no_place() {
    for backend in Backend::ALL {
        within_reason(move || {
            let tally = support::Tally::new();
            let (makes, resets) = (tally.clone(), AtomicUsize::new(0));
            let script = Script::new(move || makes.object()).reset(move |_| {
                let n = resets.fetch_add(1, Ordering::Relaxed);
                if n % 50 == 49 {
                    // Without a word, and its pages of backtraces.
                    resume_unwind(Box::new("reset went wrong"));
                }
            });
            let pool = Pool::builder_for(script).backend(backend);
            let pool = pool.capacity(2).build().unwrap();
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..scaled(500) {
                            let object = pool.acquire();
                            let _ = catch_unwind(AssertUnwindSafe(|| drop(object)));
                        }
                    });
                }
            });
            assert_eq!(at_rest(&pool, &tally).in_use, 0);
            assert_eq!(pool.try_acquire_many(2).map(|burst| burst.len()), Ok(2));
        });
    }
}

/// A thread that unwinds gives its handles back like any other.
#[test]
fn a_thread_that_panics_gives_back_what_it_holds() {
    for backend in Backend::ALL {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(3).build().unwrap();
        let message = panic_of(|| {
            thread::scope(|scope| {
                let holder = scope.spawn(|| {
                    let _held = (pool.acquire(), pool.acquire_many(2));
                    panic!("on the way");
                });
                let Err(panic) = holder.join();
                resume_unwind(panic);
            });
        });
        assert_eq!(message, "on the way");
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
        assert_eq!(pool.try_acquire_many(3).map(|burst| burst.len()), Ok(3));
    }
}

/// An acquire that found nothing to exchange counted as one, so whoever made its objects itself had a
/// large cache at once.
#[test]
fn making_objects_earns_no_larger_cache() {
    batched(8, |pool| {
        drop((0..1_000).map(|_| pool.acquire()).collect::<Vec<_>>());
        let stats = pool.stats();
        assert!(stats.cached <= 16, "{stats:?}");
    });
}

/// A thread found room in a queue, another took the room, and the object of the first was dropped, though nothing
/// bounds what may be idle.
#[test]
fn a_queue_that_nothing_bounds_keeps_every_object() {
    within_reason(|| {
        let (builder, tally) = counted(Backend::Queue);
        let pool = builder.build().unwrap();
        let rounds = scaled(1_000);
        let (turn, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let hands = [const { Mutex::new(Vec::new()) }; 2];
        let wait_until = |counter: &AtomicUsize, count| {
            while counter.load(Ordering::SeqCst) < count {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            for hand in &hands {
                scope.spawn(|| {
                    for round in 1..=rounds {
                        wait_until(&turn, round);
                        hand.lock().unwrap().clear();
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for round in 1..=rounds {
                let mut objects: Vec<_> = (0..260).map(|_| pool.acquire()).collect();
                // The queue is back at 256 cells, and the next release of each thread asks for the lock.
                pool.trim(usize::MAX);
                for hand in &hands {
                    hand.lock().unwrap().extend(objects.drain(..3));
                }
                drop(objects);
                turn.store(round, Ordering::SeqCst);
                wait_until(&done, 2 * round);
            }
        });
        assert_eq!(at_rest(&pool, &tally).destroyed, 0);
    });
}

/// A thread that uses more pools than it finds at a glance took more permits each time, instead of those it had,
/// until the pool had none and called them all back.
#[test]
fn a_thread_of_many_heap_pools_uses_the_permits_that_it_has() {
    let pools: Vec<_> = (0..80)
        .map(|_| {
            let (builder, _) = counted(Backend::Heap);
            builder.capacity(200).build().unwrap()
        })
        .collect();
    let mut held = Vec::new();
    for _ in 0..10 {
        held.extend(pools.iter().map(Pool::acquire));
    }
    for pool in &pools {
        assert_eq!(pool.stats().in_use, 10);
        assert_eq!(pool.stats().revocations, 0);
    }
}

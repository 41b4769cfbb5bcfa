//! Tasks that wait at a small bound on executors that are in use: tokio, smol's, and a bare `block_on`
//! on each of many threads. A tenth of them give up, or are cancelled, at random points; whatever they
//! had been given must reach the others.
//!
//! What single tasks see, step by step, is in `waiting.rs`.

use crate::support;

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use async_executor::Executor;
use pollster::block_on;
use pool_core::{Acquire, AcquireError, Backend, Pool, Poolable, Pooled};
use support::scaled;

const TASKS: usize = 1_000;
/// Threads that run tasks.
const WORKERS: usize = 4;
/// Tasks that wait before the first object is to be had.
const QUEUED: usize = 20;

/// Numbers that follow from a seed: the generator of Steele, Lea and Flood.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// A tenth of the tasks.
    fn tenth(&mut self) -> HashSet<usize> {
        let mut some = HashSet::new();
        while some.len() < TASKS / 10 {
            some.insert(self.below(TASKS));
        }
        some
    }
}

/// How long a task waits for its object.
#[derive(Clone, Copy, Debug)]
enum Patience {
    Endless,
    /// For as many polls; with 0 its future is dropped as it was made.
    Polls(usize),
    /// Until it is woken: then it has been given its object, and drops the future without a look.
    UntilWoken,
}

impl Patience {
    /// Of each task: a tenth has little.
    fn of_all(random: &mut Random) -> Vec<Patience> {
        let mut all = vec![Patience::Endless; TASKS];
        for (i, task) in random.tenth().into_iter().enumerate() {
            all[task] = match i % 2 {
                0 => Patience::UntilWoken,
                _ => Patience::Polls(random.below(30)),
            };
        }
        all
    }
}

/// An acquire with limited patience.
struct Impatient<'a> {
    acquire: Acquire<'a, Object>,
    patience: Patience,
    polls: usize,
}

impl Future for Impatient<'_> {
    /// `None`: it gave up.
    type Output = Option<Result<Pooled<Object>, AcquireError>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let most = match self.patience {
            Patience::Endless => usize::MAX,
            Patience::Polls(most) => {
                cx.waker().wake_by_ref(); // or nobody would poll it again
                most
            }
            Patience::UntilWoken => 1,
        };
        if self.polls >= most {
            return Poll::Ready(None);
        }
        self.polls += 1;
        Pin::new(&mut self.acquire).poll(cx).map(Some)
    }
}

/// Lets other tasks run `turns` times.
struct Turns(usize);

impl Future for Turns {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

#[derive(Poolable)]
struct Object {
    /// Whether a task has it; never seen set by another.
    held: bool,
}

/// A pool under test, and what its tasks saw.
struct Gate {
    pool: Pool<Object>,
    bound: usize,
    in_hand: AtomicUsize,
    served: AtomicUsize,
    gave_up: AtomicUsize,
}

/// Counts a held object, however the task that holds it ends.
struct InHand<'a>(&'a AtomicUsize);

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Gate {
    fn new(backend: Backend, bound: usize) -> Arc<Gate> {
        let pool = Pool::builder().backend(backend).capacity(bound).build();
        Arc::new(Gate {
            pool: pool.unwrap(),
            bound,
            in_hand: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            gave_up: AtomicUsize::new(0),
        })
    }

    /// A task's whole life: waits, holds what it got for some turns, and gives it back.
    async fn pass(self: Arc<Gate>, patience: Patience, turns: usize) {
        let waits = Impatient {
            acquire: self.pool.acquire_async(),
            patience,
            polls: 0,
        };
        let Some(object) = waits.await else {
            self.gave_up.fetch_add(1, Ordering::SeqCst);
            return;
        };
        let mut object = object.expect("the pool is not closed");
        let others = self.in_hand.fetch_add(1, Ordering::SeqCst);
        let in_hand = InHand(&self.in_hand);
        assert!(others < self.bound, "more objects than the bound");
        assert!(!object.held, "an object with two owners, or not wiped");
        object.held = true;
        Turns(turns).await;
        drop(in_hand);
        drop(object);
        self.served.fetch_add(1, Ordering::SeqCst);
    }

    /// When all tasks are done: nothing is out, nothing is lost, and the whole bound can be had.
    fn assert_at_rest(&self) {
        let stats = self.pool.stats();
        assert_eq!(stats.in_use, 0, "{stats:?}");
        assert_eq!(
            stats.created - stats.destroyed,
            stats.idle + stats.in_use,
            "{stats:?}"
        );
        let all = self.pool.try_acquire_many(self.bound);
        assert_eq!(all.expect("nobody holds any").len(), self.bound);
        assert!(stats.waits >= QUEUED, "this tested nothing: {stats:?}");
    }

    /// The same, and that everyone who was patient was served; of those who were not, some gave up.
    fn assert_all_served(&self, patience: &[Patience]) {
        self.assert_at_rest();
        let (served, gave_up) = (
            self.served.load(Ordering::SeqCst),
            self.gave_up.load(Ordering::SeqCst),
        );
        let impatient = patience
            .iter()
            .filter(|patience| !matches!(patience, Patience::Endless))
            .count();
        assert_eq!(served + gave_up, TASKS);
        assert!((1..=impatient).contains(&gave_up), "{gave_up}");
    }
}

/// Runs `test` on every backend with small bounds, each run with a seed of its own. A run that does not
/// end is one in which somebody waits for what was lost.
fn on_every_backend(test: fn(Arc<Gate>, Random)) {
    let mut seed = 0;
    for backend in Backend::ALL {
        for _ in 0..scaled(2) {
            for bound in [1, 3] {
                seed += 1;
                run(backend, bound, seed, test);
            }
        }
    }
}

fn run(backend: Backend, bound: usize, seed: u64, test: fn(Arc<Gate>, Random)) {
    let gate = Gate::new(backend, bound);
    let run = format!("{backend}, bound {bound}, seed {seed}");
    // All objects are out until some tasks wait, so that there is a queue to leave.
    let all = gate.pool.acquire_many(bound);
    let (ended, ends) = mpsc::channel::<()>();
    let runs = gate.clone();
    let runner = thread::spawn(move || {
        let _ended = ended; // hung up when the test returns or panics
        test(runs, Random(seed));
    });
    let runs_on = |patience| ends.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
    while gate.pool.stats().waits < QUEUED && runs_on(Duration::from_millis(1)) {}
    drop(all);
    if runs_on(Duration::from_secs(120)) {
        panic!("{run}: somebody waits for ever: {:?}", gate.pool);
    }
    assert!(runner.join().is_ok(), "{run}: see above");
}

fn tokio_runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_time()
        .build()
        .unwrap()
}

#[test]
fn all_are_served_on_tokio() {
    on_every_backend(|gate, mut random| {
        let patience = Patience::of_all(&mut random);
        tokio_runtime().block_on(async {
            let tasks: Vec<_> = patience
                .iter()
                .map(|&patience| tokio::spawn(gate.clone().pass(patience, random.below(4))))
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        gate.assert_all_served(&patience);
    });
}

#[test]
fn all_are_served_on_smols_executor() {
    on_every_backend(|gate, mut random| {
        let patience = Patience::of_all(&mut random);
        let executor = Executor::new();
        let tasks: Vec<_> = patience
            .iter()
            .map(|&patience| executor.spawn(gate.clone().pass(patience, random.below(4))))
            .collect();
        run_on_workers(&executor, async {
            for task in tasks {
                task.await;
            }
        });
        gate.assert_all_served(&patience);
    });
}

/// Runs tasks of `executor` on several threads until `end`.
fn run_on_workers(executor: &Executor<'_>, end: impl Future<Output = ()>) {
    /// Tells the workers to stop, also if a task panicked.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let stops = Stop(&stop);
        for _ in 1..WORKERS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    if !executor.try_tick() {
                        thread::yield_now();
                    }
                }
            });
        }
        block_on(executor.run(end));
        drop(stops);
    });
}

#[test]
fn all_are_served_that_block_on_the_future_alone() {
    const THREADS: usize = 50;
    on_every_backend(|gate, mut random| {
        let patience = Patience::of_all(&mut random);
        thread::scope(|scope| {
            for share in patience.chunks(TASKS / THREADS) {
                let turns = random.below(4);
                let gate = &gate;
                scope.spawn(move || {
                    for &patience in share {
                        block_on(gate.clone().pass(patience, turns));
                    }
                });
            }
        });
        gate.assert_all_served(&patience);
    });
}

#[test]
fn what_tokio_aborts_loses_nothing() {
    on_every_backend(|gate, mut random| {
        let aborted = random.tenth();
        tokio_runtime().block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| tokio::spawn(gate.clone().pass(Patience::Endless, random.below(4))))
                .collect();
            // While they run, wherever they are: waiting, served, holding, or done.
            for &task in &aborted {
                for _ in 0..random.below(3) {
                    tokio::task::yield_now().await;
                }
                tasks[task].abort();
            }
            for (task, handle) in tasks.into_iter().enumerate() {
                match handle.await {
                    Ok(()) => {}
                    Err(error) => assert!(error.is_cancelled() && aborted.contains(&task)),
                }
            }
        });
        let served = gate.served.load(Ordering::SeqCst);
        assert!((TASKS - aborted.len()..=TASKS).contains(&served));
        gate.assert_at_rest();
    });
}

#[test]
fn what_tokio_times_out_loses_nothing() {
    on_every_backend(|gate, mut random| {
        let hurried = random.tenth();
        tokio_runtime().block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let pass = gate.clone().pass(Patience::Endless, random.below(4));
                    let patience = match hurried.contains(&task) {
                        true => Duration::from_micros(random.below(3_000) as u64),
                        false => Duration::MAX,
                    };
                    tokio::spawn(tokio::time::timeout(patience, pass))
                })
                .collect();
            for (task, handle) in tasks.into_iter().enumerate() {
                let in_time = handle.await.unwrap().is_ok();
                assert!(in_time || hurried.contains(&task));
            }
        });
        gate.assert_at_rest();
    });
}

#[test]
fn what_smols_executor_cancels_loses_nothing() {
    on_every_backend(|gate, mut random| {
        let cancelled = random.tenth();
        let executor = Executor::new();
        let mut tasks: Vec<_> = (0..TASKS)
            .map(|_| Some(executor.spawn(gate.clone().pass(Patience::Endless, random.below(4)))))
            .collect();
        run_on_workers(&executor, async {
            for &task in &cancelled {
                Turns(random.below(3)).await;
                drop(tasks[task].take()); // which cancels it
            }
            for task in tasks.into_iter().flatten() {
                task.await;
            }
            // A cancelled task's future is dropped by a worker, the next time it is its turn.
            while !executor.is_empty() {
                Turns(1).await;
            }
        });
        let served = gate.served.load(Ordering::SeqCst);
        assert!((TASKS - cancelled.len()..=TASKS).contains(&served));
        gate.assert_at_rest();
    });
}

//! Faults that were found by attack and by reports about other pools: each small input with the right
//! result.

use std::cell::Cell;
use std::collections::HashSet;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

use pool_core::{Acquire, AcquireError, Backend, Lifecycle, Pool, Pooled, ResetOn, unsync};

use crate::support::{
    BatchSizeIfAny, Counting, Script, Tally, at_rest, caches, counted, keeps, until,
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
                    crate::support::within_reason(|| {
                        super::$scenario(pool_core::Backend::$backend);
                    });
                }
            )*
        }
    };
}

ladder! {
    a_task_that_is_given_an_unfit_object_is_served_all_the_same
    a_thread_that_is_given_an_unfit_object_is_served_all_the_same
    tasks_that_are_given_unfit_objects_take_turns
    an_acquire_that_finds_an_unfit_object_keeps_its_place
    a_hundred_thousand_tasks_leave_newest_first
    a_hundred_thousand_tasks_are_polled_again
    a_hundred_thousand_tasks_are_served_and_then_polled
    threads_in_turn_make_no_more_than_two_batches_each
    objects_that_nobody_has_used_are_not_reset
    a_deadline_is_checked_between_unfit_objects
    a_task_dropped_when_served_keeps_within_max_idle
    a_waker_whose_drop_panics_costs_nothing
    a_waker_whose_clone_panics_costs_nothing
    a_drain_drops_all_objects_though_two_of_them_panic
    objects_are_counted_right_while_a_trim_and_a_drain_run
    a_drain_takes_out_exactly_what_is_idle
    five_thousand_pools_in_turn_keep_their_caches
}

/// Counts how often it was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A task that is polled by hand.
struct Task<'a, T, L: Lifecycle<T>> {
    future: Pin<Box<Acquire<'a, T, L>>>,
    woken: Arc<Woken>,
}

impl<'a, T, L: Lifecycle<T>> Task<'a, T, L> {
    /// A task that waits.
    #[track_caller]
    fn waiting(pool: &'a Pool<T, L>) -> Self {
        let mut task = Task {
            future: Box::pin(pool.acquire_async()),
            woken: Arc::default(),
        };
        assert!(task.poll().is_pending(), "the task does not have to wait");
        task
    }

    fn poll(&mut self) -> Poll<Result<Pooled<T, L>, AcquireError>> {
        let waker = Waker::from(self.woken.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn is_woken(&self) -> bool {
        self.woken.0.load(Ordering::SeqCst) > 0
    }

    /// The object that the task was woken for.
    #[track_caller]
    fn take(&mut self) -> Pooled<T, L> {
        assert!(self.is_woken(), "the task was not woken");
        match self.poll() {
            Poll::Ready(object) => object.unwrap(),
            Poll::Pending => panic!("the task was woken and has to wait again"),
        }
    }
}

/// Runs a future to its end on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

// ---- Order of arrival, when objects turn out not to be reusable --------------------------------------

/// How a test's objects are validated.
#[derive(Clone, Copy, Debug)]
enum Fit {
    Never,
    /// Every second one that is asked about, the first not.
    Alternately,
}

impl Fit {
    const ALL: [Fit; 2] = [Fit::Never, Fit::Alternately];

    /// A pool whose objects are reset, and found fit or not, when they are acquired.
    fn pool(self, backend: Backend, capacity: usize) -> Pool<usize, Script<usize>> {
        let (made, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let script = Script::new(move || made.fetch_add(1, Ordering::SeqCst));
        let script = script.judge(move |_| match self {
            Fit::Never => false,
            Fit::Alternately => asked.fetch_add(1, Ordering::SeqCst) % 2 == 1,
        });
        Pool::builder_for(script)
            .backend(backend)
            .capacity(capacity)
            .reset_on(ResetOn::Acquire)
            .build()
            .unwrap()
    }
}

// The task went to the end of the queue, behind one that had come later.
fn a_task_that_is_given_an_unfit_object_is_served_all_the_same(backend: Backend) {
    for fit in Fit::ALL {
        let pool = fit.pool(backend, 1);
        let object = pool.acquire();
        let (mut first, mut second) = (Task::waiting(&pool), Task::waiting(&pool));
        drop(object);
        let object = first.take();
        assert_eq!(*object, 1, "{fit:?}: the unfit object was handed out");
        assert!(!second.is_woken(), "{fit:?}: the second was served as well");
        drop(object);
        let object = second.take();
        assert_eq!(pool.in_use(), 1, "{fit:?}");
        drop(object);
        assert_eq!(pool.in_use(), 0, "{fit:?}");
    }
}

fn a_thread_that_is_given_an_unfit_object_is_served_all_the_same(backend: Backend) {
    const THREADS: usize = 8;
    for fit in Fit::ALL {
        let pool = fit.pool(backend, 1);
        let object = pool.acquire();
        let served = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for i in 0..THREADS {
                let (pool, served) = (&pool, &served);
                scope.spawn(move || {
                    let _object = pool.acquire();
                    served.lock().unwrap().push(i);
                });
                until(|| pool.stats().waits > i);
            }
            drop(object);
        });
        let in_order: Vec<_> = (0..THREADS).collect();
        assert_eq!(*served.lock().unwrap(), in_order, "{fit:?}");
        // Each of them waited once.
        assert_eq!(pool.stats().waits, THREADS, "{fit:?}");
    }
}

// Two of the eight had the object in turn, and the others never.
fn tasks_that_are_given_unfit_objects_take_turns(backend: Backend) {
    const TASKS: usize = 8;
    for fit in Fit::ALL {
        let pool = fit.pool(backend, 1);
        let mut object = pool.acquire();
        let mut tasks: Vec<_> = (0..TASKS).map(|_| Task::waiting(&pool)).collect();
        for turn in 0..20 * TASKS {
            drop(object);
            let woken: Vec<_> = (0..TASKS).filter(|&i| tasks[i].is_woken()).collect();
            assert_eq!(woken, [turn % TASKS], "{fit:?}, turn {turn}");
            object = tasks[turn % TASKS].take();
            tasks[turn % TASKS] = Task::waiting(&pool);
        }
    }
}

// Between the validation that fails and the making of another, the place was given to a task that had
// come later.
fn an_acquire_that_finds_an_unfit_object_keeps_its_place(backend: Backend) {
    type Acquires = fn(&Pool<u64, Script<u64>>) -> Result<Pooled<u64, Script<u64>>, AcquireError>;
    let ways: [Acquires; 3] = [
        |pool| pool.try_acquire(),
        |pool| pool.acquire_timeout(Duration::from_secs(60)),
        |pool| block_on(pool.acquire_async()),
    ];
    if !keeps(backend) {
        return; // Nothing is idle.
    }
    for acquires in ways {
        let (arrived, has_arrived) = mpsc::sync_channel(0);
        let (go_on, may_go_on) = mpsc::channel();
        let stands = Mutex::new(Some((arrived, may_go_on)));
        let script = Script::new(|| 0).judge(move |_| {
            if let Some((arrived, may_go_on)) = stands.lock().unwrap().take() {
                arrived.send(()).unwrap();
                may_go_on.recv().unwrap();
            }
            false
        });
        let builder = Pool::builder_for(script).backend(backend).capacity(1);
        let pool = builder.reset_on(ResetOn::Acquire).build().unwrap();
        drop(pool.acquire());
        thread::scope(|scope| {
            let acquirer = scope.spawn(|| acquires(&pool));
            // It validates the only object, so a task that comes now waits behind it.
            has_arrived.recv().unwrap();
            let mut behind = Task::waiting(&pool);
            go_on.send(()).unwrap();
            let object = acquirer.join().unwrap();
            assert!(object.is_ok(), "overtaken: {object:?}");
            assert!(!behind.is_woken());
            drop(object);
            drop(behind.take());
        });
        assert_eq!(pool.in_use(), 0);
    }
}

// ---- Many waiters ------------------------------------------------------------------------------------
//
// Leaving the queue, another poll and the collection of an object searched the queue of waiters, so that
// twice as many tasks took four times as long. The scenarios have to end; how the time grows from 10,000
// to 100,000 tasks is for a benchmark.

const MANY: usize = 100_000;

fn many_tasks<'a>(pool: &'a Pool<u64>) -> Vec<Pin<Box<Acquire<'a, u64>>>> {
    let mut tasks: Vec<_> = (0..MANY).map(|_| Box::pin(pool.acquire_async())).collect();
    for task in &mut tasks {
        assert!(poll_once(task).is_pending());
    }
    tasks
}

fn poll_once<'a>(task: &mut Pin<Box<Acquire<'a, u64>>>) -> Poll<Result<Pooled<u64>, AcquireError>> {
    let mut context = Context::from_waker(Waker::noop());
    task.as_mut().poll(&mut context)
}

fn numbers(backend: Backend, capacity: usize) -> Pool<u64> {
    let builder = Pool::<u64>::builder().backend(backend);
    builder.capacity(capacity).build().unwrap()
}

fn a_hundred_thousand_tasks_leave_newest_first(backend: Backend) {
    let pool = numbers(backend, 1);
    let object = pool.acquire();
    let mut tasks = many_tasks(&pool);
    while tasks.pop().is_some() {}
    drop(object);
    assert_eq!((pool.in_use(), pool.stats().waits), (0, MANY));
}

fn a_hundred_thousand_tasks_are_polled_again(backend: Backend) {
    let pool = numbers(backend, 1);
    let object = pool.acquire();
    let mut tasks = many_tasks(&pool);
    for task in tasks.iter_mut().rev() {
        assert!(poll_once(task).is_pending());
    }
    drop(tasks);
    drop(object);
    // None of them came to stand in the queue a second time.
    assert_eq!((pool.in_use(), pool.stats().waits), (0, MANY));
}

fn a_hundred_thousand_tasks_are_served_and_then_polled(backend: Backend) {
    let pool = numbers(backend, MANY);
    let held: Vec<_> = (0..MANY).map(|_| pool.acquire()).collect();
    let mut tasks = many_tasks(&pool);
    drop(held);
    let held: Vec<_> = (tasks.iter_mut().rev())
        .map(|task| match poll_once(task) {
            Poll::Ready(object) => object.unwrap(),
            Poll::Pending => panic!("one of the tasks was not served"),
        })
        .collect();
    assert_eq!(pool.in_use(), MANY);
    drop(held);
    assert_eq!(pool.in_use(), 0);
}

// ---- How many objects a pool makes -------------------------------------------------------------------

// The documented bound: the most in use at a time, and two batches for each thread that is alive.
fn threads_in_turn_make_no_more_than_two_batches_each(backend: Backend) {
    const THREADS: usize = 32;
    const BATCH: usize = 64; // The default.
    if !keeps(backend) {
        return; // Each acquire makes an object.
    }
    for peak in [1, 100] {
        let (builder, tally) = counted(backend);
        let pool = builder.build().unwrap();
        let end = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let (pool, end) = (&pool, &end);
                let (done, is_done) = mpsc::channel();
                scope.spawn(move || {
                    for _ in 0..3 {
                        let held: Vec<_> = (0..peak).map(|_| pool.acquire()).collect();
                        drop(held);
                    }
                    done.send(()).unwrap();
                    end.wait(); // Alive, with what it has cached.
                });
                is_done.recv().unwrap();
            }
            let most = match caches(backend) {
                true => peak + THREADS * 2 * BATCH,
                false => peak,
            };
            let created = tally.created();
            end.wait();
            assert!(created <= most, "{created} objects made, {most} documented");
        });
        at_rest(&pool, &tally);
    }
}

// ---- The order of a queue ----------------------------------------------------------------------------

// What a waiter that left had been given went to the end of the queue.
#[test]
fn a_queue_keeps_its_order_when_a_served_task_leaves() {
    let (builder, _) = counted(Backend::Queue);
    let pool = builder.capacity(2).build().unwrap();
    let (first, second) = (pool.acquire(), pool.acquire());
    let ids = [first.id, second.id];
    let task = Task::waiting(&pool);
    drop(first);
    drop(second);
    drop(task);
    let held = [pool.acquire(), pool.acquire()];
    assert_eq!(held.map(|object| object.id), ids);
}

#[test]
fn a_queue_keeps_its_order_when_several_served_tasks_leave() {
    for newest_first in [false, true] {
        let (builder, _) = counted(Backend::Queue);
        let pool = builder.capacity(4).build().unwrap();
        let mut held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
        let tasks = [Task::waiting(&pool), Task::waiting(&pool)];
        // The tasks have 0 and 1, and 2 and 3 are idle.
        held.drain(..).for_each(drop);
        let [one, other] = tasks;
        match newest_first {
            true => drop((other, one)),
            false => drop((one, other)),
        }
        let held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
        let mut ids: Vec<_> = held.iter().map(|object| object.id).collect();
        // What came back before is acquired before; which of the two tasks left first decides about theirs.
        ids[..2].sort_unstable();
        assert_eq!(ids, [0, 1, 2, 3], "the newest first: {newest_first}");
    }
}

// A burst went in the wrong way round.
#[test]
fn a_queue_keeps_the_order_of_a_burst() {
    for capacity in [None, Some(6)] {
        let (builder, _) = counted(Backend::Queue);
        let builder = match capacity {
            Some(capacity) => builder.capacity(capacity),
            None => builder,
        };
        let pool = builder.build().unwrap();
        let ids = |pool: &Pool<_, Counting>| {
            let held: Vec<_> = (0..6).map(|_| pool.acquire()).collect();
            let ids: Vec<_> = held.iter().map(|object| object.id).collect();
            // One by one, in their order.
            held.into_iter().for_each(drop);
            ids
        };
        // By way of the lock at first, then without it.
        for round in 0..3 {
            let burst = pool.acquire_many(6);
            let of_burst: Vec<_> = burst.iter().map(|object| object.id).collect();
            assert_eq!(of_burst, [0, 1, 2, 3, 4, 5], "{capacity:?}, round {round}");
            drop(burst);
            assert_eq!(
                ids(&pool),
                [0, 1, 2, 3, 4, 5],
                "{capacity:?}, round {round}"
            );
        }
    }
}

#[test]
fn a_queue_keeps_the_order_of_a_burst_that_a_task_waits_for() {
    let (builder, _) = counted(Backend::Queue);
    let pool = builder.capacity(6).build().unwrap();
    let burst = pool.acquire_many(6);
    let mut task = Task::waiting(&pool);
    drop(burst);
    let served = task.take();
    let rest: Vec<_> = (0..5).map(|_| pool.acquire()).collect();
    assert!(rest.is_sorted_by_key(|object| object.id), "{rest:?}");
    assert_eq!(served.id, 0, "the oldest is for the first that waits");
}

// ---- Objects that nobody has used --------------------------------------------------------------------

// Each was reset before its first use.
fn objects_that_nobody_has_used_are_not_reset(backend: Backend) {
    let (builder, tally) = counted(backend);
    let builder = builder.prefill(4).reset_on(ResetOn::Acquire);
    let pool = builder.build().unwrap();
    pool.reserve(6);
    let held: Vec<_> = (0..8).map(|_| pool.acquire()).collect();
    assert_eq!(tally.resets(), 0);
    drop(held);
    // Now there are used ones among the new ones, and only those are reset.
    pool.reserve(10);
    drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>());
    let used = if keeps(backend) { 8 } else { 0 };
    assert_eq!(tally.resets(), used);
    at_rest(&pool, &tally);

    let (builder, tally) = counted(backend);
    let builder = builder.prefill(4).reset_on(ResetOn::Acquire);
    let pool = builder.build().unwrap();
    drop(pool.acquire_many(8));
    assert_eq!(tally.resets(), 0, "by a burst");
}

#[test]
fn objects_of_one_thread_that_nobody_has_used_are_not_reset() {
    let tally = Tally::new();
    let builder = unsync::Pool::builder_for(Counting(tally.clone()));
    let builder = builder.prefill(4).reset_on(ResetOn::Acquire);
    let pool = builder.build().unwrap();
    pool.reserve(6);
    let held: Vec<_> = (0..8).map(|_| pool.acquire()).collect();
    assert_eq!(tally.resets(), 0);
    drop(held);
    pool.reserve(10);
    drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>());
    assert_eq!(tally.resets(), 8);
}

// ---- Deadlines ---------------------------------------------------------------------------------------

// All 20 were validated before the deadline was looked at.
fn a_deadline_is_checked_between_unfit_objects(backend: Backend) {
    for capacity in [None, Some(20)] {
        let validated = Arc::new(AtomicUsize::new(0));
        let counts = validated.clone();
        let script = Script::new(|| 0_u64).judge(move |_| {
            counts.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(20));
            false
        });
        let builder = Pool::builder_for(script).backend(backend);
        let builder = match capacity {
            Some(capacity) => builder.capacity(capacity),
            None => builder,
        };
        let pool = builder.reset_on(ResetOn::Acquire).build().unwrap();
        drop((0..20).map(|_| pool.acquire()).collect::<Vec<_>>());
        let acquired = pool.acquire_timeout(Duration::from_millis(50));
        let validated = validated.load(Ordering::SeqCst);
        // The third ends after 60 ms.
        assert!(
            validated <= 3,
            "{validated} validations within {acquired:?}"
        );
        drop(acquired);
        assert_eq!(pool.in_use(), 0);
    }
}

// ---- `max_idle` --------------------------------------------------------------------------------------

// What the cancelled waiter had came on top of two that were idle.
fn a_task_dropped_when_served_keeps_within_max_idle(backend: Backend) {
    let (builder, tally) = counted(backend);
    let builder = builder.batch_size_if_any(backend, 1);
    let pool = builder.capacity(3).max_idle(2).build().unwrap();
    let (first, second, third) = (pool.acquire(), pool.acquire(), pool.acquire());
    let task = Task::waiting(&pool);
    drop(first);
    assert!(task.is_woken());
    drop(second);
    // Until threads may cache again.
    for _ in 0..64 {
        drop(pool.acquire());
    }
    drop(third);
    drop(task);
    let stats = pool.stats();
    assert!(stats.idle <= 2, "{stats:?}");
    assert_eq!((stats.in_use, tally.alive()), (0, stats.idle), "{stats:?}");
}

// ---- Wakers that panic -------------------------------------------------------------------------------

/// Where the next waker of this thread panics, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Nowhere,
    Clone,
    Drop,
}

thread_local! {
    static PANICS: Cell<At> = const { Cell::new(At::Nowhere) };
}

fn reach(at: At) {
    if PANICS.get() == at {
        PANICS.set(At::Nowhere);
        panic!("an executor's fault");
    }
}

/// A waker that does nothing, or panics. One with another number does not wake the same task.
fn waker(number: usize) -> Waker {
    unsafe fn clone(data: *const ()) -> RawWaker {
        reach(At::Clone);
        RawWaker::new(data, &VTABLE)
    }
    unsafe fn wake(_data: *const ()) {}
    unsafe fn drop(_data: *const ()) {
        reach(At::Drop);
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop);
    // SAFETY: the functions use nothing behind the pointer, and may be called by any thread.
    unsafe { Waker::new(ptr::without_provenance(number), &VTABLE) }
}

/// A task in whose first poll, second poll, poll when it is served, or cancellation a waker panics.
#[derive(Clone, Copy, Debug)]
enum During {
    FirstPoll,
    SecondPoll,
    ServedPoll,
    CancelWaiting,
    CancelServed,
}

fn a_waker_that_panics_costs_nothing(backend: Backend, at: At) {
    for during in [
        During::FirstPoll,
        During::SecondPoll,
        During::ServedPoll,
        During::CancelWaiting,
        During::CancelServed,
    ] {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(1).build().unwrap();
        let mut object = Some(pool.acquire());
        let mut future = Some(Box::pin(pool.acquire_async()));
        let mut number = 0;
        // Whatever the outcome is: a panic may come through, and need not.
        let mut poll = |armed: bool, future: &mut Option<Pin<Box<Acquire<'_, _, _>>>>| {
            number += 1;
            let waker = waker(number);
            let Some(future) = future else { return };
            PANICS.set(if armed { at } else { At::Nowhere });
            let polled = catch_unwind(AssertUnwindSafe(|| {
                let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
                // An object that was had goes back.
                PANICS.set(At::Nowhere);
                polled.is_ready()
            }));
            PANICS.set(At::Nowhere);
            drop(polled);
        };
        let cancel = |future: &mut Option<_>| {
            PANICS.set(at);
            let cancelled = catch_unwind(AssertUnwindSafe(|| *future = None));
            PANICS.set(At::Nowhere);
            drop(cancelled);
        };
        match during {
            During::FirstPoll => poll(true, &mut future),
            During::SecondPoll => {
                poll(false, &mut future);
                poll(true, &mut future);
            }
            During::ServedPoll => {
                poll(false, &mut future);
                object = None;
                poll(true, &mut future);
            }
            During::CancelWaiting => {
                poll(false, &mut future);
                cancel(&mut future);
            }
            During::CancelServed => {
                poll(false, &mut future);
                object = None;
                cancel(&mut future);
            }
        }
        // The next that waits is served, now or when the object comes back.
        if object.is_some() {
            let mut behind = Task::waiting(&pool);
            drop(future);
            drop(object);
            drop(behind.take());
        } else {
            drop(future);
        }
        let stats = pool.stats();
        assert_eq!(stats.in_use, 0, "{during:?}: {stats:?}");
        assert_eq!(tally.alive(), stats.idle, "{during:?}: {stats:?}");
        assert!(pool.try_acquire().is_ok(), "{during:?}");
    }
}

// At the poll that found its future served, the object was in use for ever.
fn a_waker_whose_drop_panics_costs_nothing(backend: Backend) {
    a_waker_that_panics_costs_nothing(backend, At::Drop);
}

fn a_waker_whose_clone_panics_costs_nothing(backend: Backend) {
    a_waker_that_panics_costs_nothing(backend, At::Clone);
}

// ---- Objects whose drop panics -----------------------------------------------------------------------

/// Says so when it is dropped; those with an odd number panic then.
struct Panicking(usize, Arc<Mutex<Vec<usize>>>);

impl Drop for Panicking {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
        if self.0 % 2 == 1 {
            std::panic::panic_any(self.0);
        }
    }
}

/// All four were dropped, and the panic that went on is that of the first which had one.
#[track_caller]
fn the_first_panic_goes_on(dropped: &Mutex<Vec<usize>>, drops: impl FnOnce()) {
    let panic = catch_unwind(AssertUnwindSafe(drops)).unwrap_err();
    let mut dropped = std::mem::take(&mut *dropped.lock().unwrap());
    let first = dropped.iter().find(|number| *number % 2 == 1);
    assert_eq!(panic.downcast_ref(), first);
    dropped.sort_unstable();
    assert_eq!(dropped, [0, 1, 2, 3]);
}

fn a_drain_drops_all_objects_though_two_of_them_panic(backend: Backend) {
    if !keeps(backend) {
        return; // Nothing is idle.
    }
    let (dropped, made) = (Arc::<Mutex<Vec<_>>>::default(), AtomicUsize::new(0));
    let of_pool = dropped.clone();
    let script =
        Script::new(move || Panicking(made.fetch_add(1, Ordering::SeqCst), of_pool.clone()));
    let pool = Pool::builder_for(script).backend(backend).prefill(4);
    let pool = pool.build().unwrap();
    the_first_panic_goes_on(&dropped, || drop(pool.drain()));
    let stats = pool.stats();
    assert_eq!((stats.destroyed, stats.idle, stats.in_use), (4, 0, 0));
}

// The process was aborted by the second panic.
#[test]
fn a_drain_of_one_thread_drops_all_objects_though_two_of_them_panic() {
    let dropped = Arc::<Mutex<Vec<_>>>::default();
    let (of_pool, made) = (dropped.clone(), Rc::new(Cell::new(0)));
    let make = move || Panicking(made.replace(made.get() + 1), of_pool.clone());
    let builder = unsync::Pool::builder_with(make, |_| ()).prefill(4);
    let pool = builder.build().unwrap();
    the_first_panic_goes_on(&dropped, || drop(pool.drain()));
    let stats = pool.stats();
    assert_eq!((stats.destroyed, stats.idle, stats.in_use), (4, 0, 0));
}

// ---- Large trims and drains --------------------------------------------------------------------------

/// A pool whose objects are numbered.
fn numbered(backend: Backend) -> Pool<usize, Script<usize>> {
    let made = AtomicUsize::new(0);
    let script = Script::new(move || made.fetch_add(1, Ordering::SeqCst));
    let builder = Pool::builder_for(script).backend(backend);
    builder.build().unwrap()
}

// All were taken out under the lock, at once; taken out in steps, they have to add up all the same.
fn objects_are_counted_right_while_a_trim_and_a_drain_run(backend: Backend) {
    let pool = numbered(backend);
    let (working, end) = (AtomicUsize::new(0), AtomicBool::new(false));
    let drained = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            while !end.load(Ordering::SeqCst) {
                let held = (pool.acquire(), pool.acquire());
                assert_ne!(*held.0, *held.1);
                drop(held);
                working.fetch_add(1, Ordering::SeqCst);
            }
        });
        let mut drained = HashSet::new();
        let idle = if keeps(backend) { MANY } else { 0 };
        for round in 0..3 {
            // Some may be in hand.
            assert!(pool.reserve(MANY) + 2 >= idle, "round {round}");
            let before = working.load(Ordering::SeqCst);
            until(|| working.load(Ordering::SeqCst) > before);
            pool.trim(MANY / 2);
            for number in pool.drain() {
                assert!(drained.insert(number), "object {number} left twice");
            }
        }
        end.store(true, Ordering::SeqCst);
        worker.join().unwrap();
        drained
    });
    let stats = pool.stats();
    assert_eq!(stats.in_use, 0);
    assert_eq!(stats.created - stats.destroyed, stats.idle, "{stats:?}");
    assert!(stats.destroyed >= drained.len(), "{stats:?}");
    let idle = stats.idle;
    for number in pool.drain() {
        assert!(!drained.contains(&number), "object {number} left twice");
    }
    let stats = pool.stats();
    assert_eq!((stats.idle, stats.destroyed), (0, stats.created), "{idle}");
}

fn a_drain_takes_out_exactly_what_is_idle(backend: Backend) {
    let pool = numbered(backend);
    let held = pool.acquire_many(10);
    let idle = pool.reserve(MANY);
    assert_eq!(idle, if keeps(backend) { MANY } else { 0 });
    let drain = pool.drain();
    assert_eq!(drain.len(), idle);
    let numbers: HashSet<_> = drain.collect();
    assert_eq!(numbers.len(), idle);
    assert!(held.iter().all(|object| !numbers.contains(&**object)));
    assert_eq!((pool.idle(), pool.in_use()), (0, 10));
    drop(held);
    pool.reserve(MANY);
    pool.trim(7);
    assert_eq!(pool.idle(), if keeps(backend) { 7 } else { 0 });
}

// ---- Many pools --------------------------------------------------------------------------------------

// Beyond some pools, a thread has to look its caches up elsewhere. None may be lost.
fn five_thousand_pools_in_turn_keep_their_caches(backend: Backend) {
    const POOLS: usize = 5_000;
    let tally = Tally::new();
    let pools: Vec<_> = (0..POOLS)
        .map(|_| {
            let builder = Pool::builder_for(Counting(tally.clone())).backend(backend);
            builder.grow_by(1).build().unwrap()
        })
        .collect();
    let use_each = || pools.iter().for_each(|pool| drop(pool.acquire()));
    let exchanges = || -> usize { pools.iter().map(|pool| pool.stats().exchanges).sum() };
    use_each();
    let before = exchanges();
    use_each();
    if keeps(backend) {
        assert_eq!((tally.created(), tally.destroyed()), (POOLS, 0));
    }
    if caches(backend) {
        // Found in the cache the second time, and not in the depot.
        assert_eq!(exchanges(), before);
        assert!(pools.iter().all(|pool| pool.stats().cached == 1));
    }
    drop(pools);
    assert_eq!(tally.alive(), 0);
}

// ---- Threads of another priority ---------------------------------------------------------------------

#[cfg(target_os = "linux")]
mod real_time {
    use std::io::Error;
    use std::sync::PoisonError;

    use super::*;

    ladder! { a_real_time_thread_waits_for_a_preempted_one }

    /// The calling thread, on this core only.
    fn pin(core: usize) {
        // SAFETY: a set of cores is plain data, and empty when it is zero.
        let mut cores: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the core is one that this process runs on, so within the set.
        unsafe { libc::CPU_SET(core, &mut cores) };
        // SAFETY: reads the set, which is as large as is said.
        let pinned = unsafe { libc::sched_setaffinity(0, size_of_val(&cores), &raw const cores) };
        assert_eq!(pinned, 0, "{}", Error::last_os_error());
    }

    /// Makes the calling thread one that no normal thread preempts; `false` if it may not.
    fn become_real_time() -> bool {
        let priority = libc::sched_param { sched_priority: 1 };
        // SAFETY: reads the priority.
        unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) == 0 }
    }

    // It spun and yielded while the thread that it had preempted was inside its slot. A yield never lets a
    // thread of a lower class run, so that took until the kernel stepped in, after a second, if it does: one
    // call in ten to a hundred. All of them together take seconds if the thread sleeps instead.
    fn a_real_time_thread_waits_for_a_preempted_one(backend: Backend) {
        // One at a time: the others would be on the same core.
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: takes nothing.
        let core = unsafe { libc::sched_getcpu() };
        let core = usize::try_from(core).unwrap();
        let (pool, end) = (numbers(backend, 1), AtomicBool::new(false));
        let (done, is_done) = mpsc::channel::<()>();
        // On any core, and not stopped by a test that fails: else the threads would never end.
        let watchdog = thread::spawn(move || {
            if let Err(mpsc::RecvTimeoutError::Timeout) =
                is_done.recv_timeout(Duration::from_secs(60))
            {
                eprintln!("{backend}: a real-time thread waits for one that it keeps from running");
                std::process::abort();
            }
        });
        thread::scope(|scope| {
            scope.spawn(|| {
                pin(core);
                while !end.load(Ordering::SeqCst) {
                    for _ in 0..1_000 {
                        drop(pool.acquire());
                    }
                }
            });
            scope.spawn(|| {
                pin(core);
                if become_real_time() {
                    for _ in 0..1_000 {
                        // Meanwhile the other works, and is preempted wherever it is.
                        thread::sleep(Duration::from_micros(200));
                        pool.trim(usize::MAX);
                        thread::sleep(Duration::from_micros(200));
                        let _ = pool.stats();
                        thread::sleep(Duration::from_micros(200));
                        drop(pool.try_acquire());
                    }
                } else {
                    let error = Error::last_os_error();
                    println!("skipped: no real-time threads ({error})");
                }
                end.store(true, Ordering::SeqCst);
            });
        });
        drop(done);
        watchdog.join().unwrap();
        assert_eq!(pool.in_use(), 0);
    }
}

//! Memory: what allocates and what does not, counted by the allocator itself.
//!
//! All in one test, since what is counted is the process's: nothing else runs meanwhile.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use crossbeam_queue::ArrayQueue;

use pool_core::{Backend, Burst, Pool, Pooled, ResetOn, unsync};

use support::{caches, keeps};

struct CountingAllocator;

/// Blocks that were asked for, ever.
static BLOCKS: AtomicUsize = AtomicUsize::new(0);
/// Blocks and bytes that were not given back.
static LIVE_BLOCKS: AtomicIsize = AtomicIsize::new(0);
static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    /// Those of them that this thread asked for.
    static OWN_BLOCKS: Cell<usize> = const { Cell::new(0) };
}

fn counted_in(bytes: usize) {
    OWN_BLOCKS.set(OWN_BLOCKS.get() + 1);
    BLOCKS.fetch_add(1, Ordering::Relaxed);
    LIVE_BLOCKS.fetch_add(1, Ordering::Relaxed);
    LIVE_BYTES.fetch_add(bytes as isize, Ordering::Relaxed);
}

fn counted_out(bytes: usize) {
    LIVE_BLOCKS.fetch_sub(1, Ordering::Relaxed);
    LIVE_BYTES.fetch_sub(bytes as isize, Ordering::Relaxed);
}

// SAFETY: the system's allocator, and some counts.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted_in(layout.size());
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        counted_in(layout.size());
        // SAFETY: by contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        counted_out(layout.size());
        // SAFETY: by contract.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        counted_out(layout.size());
        counted_in(size);
        // SAFETY: by contract.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// How many blocks are asked for while `f` runs, by all threads.
fn blocks_of(f: impl FnOnce()) -> usize {
    let before = BLOCKS.load(Ordering::SeqCst);
    f();
    BLOCKS.load(Ordering::SeqCst) - before
}

/// How many blocks this thread asks for while `f` runs.
fn own_blocks_of(f: impl FnOnce()) -> usize {
    let before = OWN_BLOCKS.get();
    f();
    OWN_BLOCKS.get() - before
}

fn live() -> (isize, isize) {
    (
        LIVE_BLOCKS.load(Ordering::SeqCst),
        LIVE_BYTES.load(Ordering::SeqCst),
    )
}

/// What `f` leaves behind, when it was run before.
fn left_behind(mut f: impl FnMut()) -> (isize, isize) {
    f();
    f();
    let (blocks, bytes) = live();
    f();
    let (blocks_after, bytes_after) = live();
    (blocks_after - blocks, bytes_after - bytes)
}

type Message = [u64; 8];

/// What one takes in a pool, in bytes, as documented.
const NODE: usize = size_of::<(usize, [u32; 2], Message)>();

/// Those that promise to allocate nothing.
const QUIET: [Backend; 3] = [Backend::Mutex, Backend::Queue, Backend::Batched];

fn bounded(backend: Backend, capacity: usize) -> Pool<Message> {
    let builder = Pool::<Message>::builder().backend(backend);
    builder.capacity(capacity).build().unwrap()
}

/// One that has made all its objects.
fn filled(backend: Backend, capacity: usize) -> Pool<Message> {
    let builder = Pool::<Message>::builder().backend(backend);
    builder
        .capacity(capacity)
        .prefill(capacity)
        .build()
        .unwrap()
}

#[test]
fn memory() {
    for backend in QUIET {
        println!("{backend}");
        one_thread_asks_for_nothing(backend);
        resets_on_acquire_ask_for_nothing(backend);
        two_threads_ask_for_nothing(backend);
        bursts_of_two_threads_ask_for_nothing(backend);
        a_burst_of_none_asks_for_nothing(backend);
        bursts_at_a_time_ask_for_nothing(backend);
        what_leaves_and_joins_uses_the_same_memory(backend);
        reserve_and_trim_do_not_grow(backend);
        trim_gives_memory_back(backend);
        memory_that_is_there_is_used_first(backend);
        what_is_missing_is_asked_for_at_once(backend);
        steps_start_small_again_after_a_trim(backend);
        a_trim_frees_what_bursts_came_in(backend);
        a_trim_that_drops_nothing_takes_no_memory_away(backend);
        exhaustion_asks_for_nothing(backend);
        waits_ask_for_nothing(backend);
        #[cfg(feature = "async")]
        for tracks_holders in [false, true] {
            what_services_call_asks_for_nothing(backend, tracks_holders);
        }
    }
    for backend in Backend::ALL {
        println!("{backend}");
        a_warm_thread_asks_for_nothing(backend);
    }
    caches_without_a_bound_ask_for_nothing();
    a_trim_frees_the_caches_of_threads_that_are_gone();
    the_control_asks_for_every_object();
    the_pool_for_one_thread_asks_for_nothing();
    for backend in Backend::ALL {
        println!("{backend}");
        the_end_gives_everything_back(backend);
        pools_one_after_another_stay_flat(backend);
        threads_one_after_another_stay_flat(backend);
    }
    a_thread_of_many_pools_stays_flat();
    what_an_object_and_a_pool_take();
    five_thousand_pools_in_turn_leave_nothing_behind();
    for backend in Backend::ALL {
        println!("{backend}");
        #[cfg(feature = "async")]
        tasks_that_have_waited_leave_nothing_behind(backend);
        threads_that_have_waited_leave_nothing_behind(backend);
    }
}

/// A fresh thread's first acquires and drops, once it is warm: whether the objects are there already, or the bound
/// allows only some.
fn a_warm_thread_asks_for_nothing(backend: Backend) {
    let of_the_objects = if keeps(backend) { 0 } else { 1 };
    for (prefill, capacity) in [(0, 1_000), (500, 1_000), (10, 10)] {
        let builder = Pool::<Message>::builder().backend(backend);
        let builder = builder.capacity(capacity).prefill(prefill);
        let pool = builder.build().unwrap();
        // A batch.
        let n = (capacity / 8).clamp(1, 64);
        let mut held = Vec::with_capacity(n);
        thread::scope(|scope| {
            scope.spawn(|| {
                pool.warm();
                // Of this thread: the one that waits for it may ask for some.
                assert_eq!(own_blocks_of(|| pool.warm()), 0, "again");
                for n in [1, n, 1, n] {
                    let blocks = own_blocks_of(|| {
                        held.extend((0..n).map(|_| pool.acquire()));
                        held.clear();
                    });
                    assert_eq!(blocks, n * of_the_objects, "{prefill} of {capacity}");
                }
            });
        });
    }
}

/// One by one, within a cache and beyond it, and in bursts.
fn one_thread_asks_for_nothing(backend: Backend) {
    let pool = bounded(backend, 1_000);
    let mut held = Vec::with_capacity(1_000);
    let mut round = || {
        for n in [1, 10, 63, 64, 65, 129, 500, 1_000] {
            held.extend((0..n).map(|_| pool.acquire()));
            held.clear();
            drop(pool.acquire_many(n));
            let mut burst = pool.acquire_many(n);
            burst[n - 1][0] = 7;
            held.push(pool.try_acquire_idle().unwrap_or_else(|_| {
                drop(burst);
                pool.acquire()
            }));
            held.clear();
        }
        pool.flush();
    };
    // Until it has earned what it can.
    for _ in 0..100 {
        round();
    }
    let blocks = blocks_of(|| (0..100).for_each(|_| round()));
    assert_eq!(blocks, 0);
}

fn resets_on_acquire_ask_for_nothing(backend: Backend) {
    let builder = Pool::<Message>::builder().backend(backend);
    let builder = builder.reset_on(ResetOn::Acquire).capacity(300);
    let pool = builder.build().unwrap();
    let mut held = Vec::with_capacity(300);
    let mut round = || {
        held.extend((0..300).map(|_| pool.acquire()));
        held.clear();
        drop(pool.acquire_many(100));
        drop(pool.acquire_many(300));
    };
    for _ in 0..100 {
        round();
    }
    assert_eq!(blocks_of(|| (0..100).for_each(|_| round())), 0);
}

/// Runs `make` and `take` on two threads with a queue between them, again and again, until they have
/// done so without asking for a block. That takes a few times: how much is under way at once, and so
/// how many batches and buffers it takes, is chance.
fn settles_over_a_queue<T: Send>(
    length: usize,
    rounds: usize,
    make: impl Fn() -> T + Sync,
    take: impl Fn(T) + Sync,
) {
    let queue = ArrayQueue::<T>::new(length);
    let (phase, settled) = (Barrier::new(3), AtomicBool::new(false));
    let in_phases = |f: &dyn Fn()| {
        while !settled.load(Ordering::SeqCst) {
            phase.wait();
            (0..rounds).for_each(|_| f());
            phase.wait();
            phase.wait(); // Counted now; the end of the thread is none of this.
        }
    };
    let mut blocks = Vec::with_capacity(20);
    thread::scope(|scope| {
        scope.spawn(|| {
            in_phases(&|| {
                let mut value = make();
                while let Err(back) = queue.push(value) {
                    value = back;
                    thread::yield_now();
                }
            });
        });
        scope.spawn(|| {
            in_phases(&|| {
                while queue.pop().map(&take).is_none() {
                    thread::yield_now();
                }
            });
        });
        while !settled.load(Ordering::SeqCst) {
            phase.wait();
            blocks.push(blocks_of(|| {
                phase.wait();
            }));
            let over = blocks.ends_with(&[0, 0]) || blocks.len() == blocks.capacity();
            settled.store(over, Ordering::SeqCst);
            phase.wait();
        }
    });
    assert!(blocks.ends_with(&[0, 0]), "blocks asked for: {blocks:?}");
}

/// One acquires, the other drops: every object makes its way through the depot.
fn two_threads_ask_for_nothing(backend: Backend) {
    let pool = filled(backend, 2_000);
    let before = pool.stats().exchanges;
    settles_over_a_queue(256, 20_000, || pool.acquire(), drop);
    if caches(backend) {
        assert!(pool.stats().exchanges > before + 100);
    }
}

fn a_burst_of_none_asks_for_nothing(backend: Backend) {
    let pool = bounded(backend, 100);
    let round = || {
        drop(pool.acquire_many(32));
        assert!(pool.acquire_many(0).is_empty());
    };
    (0..100).for_each(|_| round());
    assert_eq!(blocks_of(|| (0..1_000).for_each(|_| round())), 0);
}

/// Several bursts at a time, of which a cache keeps the buffer of one.
fn bursts_at_a_time_ask_for_nothing(backend: Backend) {
    let pool = filled(backend, 1_000);
    let round = || {
        let [one, other] = [(); 2].map(|()| pool.acquire_many(4));
        drop((one, pool.acquire_many(4), other));
    };
    (0..10).for_each(|_| round());
    assert_eq!(blocks_of(|| (0..100).for_each(|_| round())), 0);
}

fn bursts_of_two_threads_ask_for_nothing(backend: Backend) {
    let pool = filled(backend, 2_000);
    // As many buffers as there can be bursts at a time, and as large.
    drop((0..12).map(|_| pool.acquire_many(150)).collect::<Vec<_>>());
    for n in [1, 32, 150] {
        let take = |burst: Burst<Message>| assert_eq!(burst.len(), n);
        settles_over_a_queue(4, 2_000, || pool.acquire_many(n), take);
    }
}

fn what_leaves_and_joins_uses_the_same_memory(backend: Backend) {
    let pool = bounded(backend, 100);
    let mut held = Vec::with_capacity(100);
    let mut round = || {
        for _ in 0..100 {
            assert_eq!(Pooled::detach(pool.acquire()), [0; 8]);
            Pooled::discard(pool.acquire());
            held.push(pool.attach([1; 8]).unwrap());
        }
        for handle in held.drain(..) {
            assert_eq!(Pooled::detach(handle), [1; 8]);
        }
    };
    round();
    assert_eq!(blocks_of(|| (0..100).for_each(|_| round())), 0);
    assert_eq!((pool.idle(), pool.in_use()), (0, 0));
}

/// Memory kept after a burst (netty #9665): chunks without an object are freed, and nothing else is.
fn trim_gives_memory_back(backend: Backend) {
    const CHUNK: usize = 64;
    let builder = Pool::<Message>::builder().backend(backend).grow_by(CHUNK);
    let pool = builder.build().unwrap();
    let node = NODE as isize;
    drop(pool.acquire());
    pool.trim(0);
    let (blocks, bytes) = live();
    let mut held: Vec<_> = (0..100 * CHUNK).map(|_| pool.acquire()).collect();
    for (index, message) in held.iter_mut().enumerate() {
        message[0] = index as u64;
    }
    let (_, full) = live();
    // One object of each tenth chunk stays in use.
    let mut index = 0;
    held.retain(|_| {
        index += 1;
        index % (10 * CHUNK) == 0
    });
    pool.trim(0);
    let (_, thinned) = live();
    // Beside the objects, a few arrays of pointers come and go.
    let freed = 90 * CHUNK as isize * node - 4096;
    assert!(full - thinned >= freed, "{} of {freed}", full - thinned);
    for (at, message) in held.iter().enumerate() {
        assert_eq!(message[0] as usize, (at + 1) * 10 * CHUNK - 1);
    }
    // The rest of their chunks is used before more is asked for.
    let more: Vec<_> = (0..10 * (CHUNK - 1)).map(|_| pool.acquire()).collect();
    let (_, refilled) = live();
    assert!(refilled - thinned < CHUNK as isize * node);
    drop((more, held));
    pool.trim(0);
    let (blocks_after, bytes_after) = live();
    assert!(blocks_after - blocks <= 8, "{}", blocks_after - blocks);
    assert!(bytes_after - bytes <= 4096, "{}", bytes_after - bytes);
}

/// What is reserved and trimmed in turn takes no more each time.
fn reserve_and_trim_do_not_grow(backend: Backend) {
    let builder = Pool::<Message>::builder().backend(backend);
    let pool = builder.build().unwrap();
    let cycle = || {
        assert_eq!(pool.reserve(1_000), 1_000);
        drop(pool.acquire_many(700));
        drop((0..200).map(|_| pool.acquire()).collect::<Vec<_>>());
        pool.trim(0);
    };
    (0..10).for_each(|_| cycle());
    let (_, before) = live();
    (0..200).for_each(|_| cycle());
    let (_, after) = live();
    assert!(after <= before, "{} bytes more", after - before);
}

/// What was never used of a chunk counts, and what is vacant of it, when the pool makes sure of memory.
fn memory_that_is_there_is_used_first(backend: Backend) {
    const CHUNK: usize = 64;
    let chunk = (CHUNK * NODE) as isize;
    let builder = Pool::<Message>::builder().backend(backend).grow_by(CHUNK);
    let pool = builder.build().unwrap();
    let (_, none) = live();
    let kept = pool.acquire();
    drop((0..9).map(|_| pool.acquire()).collect::<Vec<_>>());
    // The chunk stays, and no part of it is lost.
    pool.trim(0);
    let (_, one) = live();
    assert!(one - none >= chunk);
    // At first part of it was never used, then all of it was.
    for _ in 0..2 {
        assert_eq!(pool.reserve(CHUNK - 1), CHUNK - 1);
        let (_, full) = live();
        assert!(full - one < chunk, "{} bytes more", full - one);
        pool.trim(0);
    }
    drop(kept);
    pool.trim(0);
    // What was never used of a chunk does not keep it.
    drop(pool.acquire());
    let (_, begun) = live();
    pool.trim(0);
    let (_, after) = live();
    assert!(begun - after >= chunk, "{} bytes less", begun - after);
}

fn what_is_missing_is_asked_for_at_once(backend: Backend) {
    let builder = Pool::<Message>::builder().backend(backend).grow_by(1);
    let pool = builder.build().unwrap();
    // One node, used over and over.
    (0..1_000).for_each(|_| Pooled::discard(pool.acquire()));
    let blocks = blocks_of(|| assert_eq!(pool.reserve(1_000), 1_000));
    // A chunk, and arrays of pointers.
    assert!(blocks < 100, "{blocks} blocks");
}

fn steps_start_small_again_after_a_trim(backend: Backend) {
    let pool = bounded(backend, 10_000);
    let small = pool.acquire();
    let (_, before) = live();
    for _ in 0..10 {
        assert_eq!(pool.reserve(5_000), 5_000);
        pool.trim(0);
    }
    // A step is as large as what is left after the trims: not as what there was, and not one object.
    let mut held = vec![small];
    let blocks = blocks_of(|| held.extend((0..999).map(|_| pool.acquire())));
    assert!(blocks < 100, "{blocks} blocks");
    let (_, after) = live();
    let objects = (1_000 * NODE) as isize;
    assert!(after - before < 3 * objects, "{} bytes", after - before);
}

/// A large burst's array of pointers is as large.
fn a_trim_frees_what_bursts_came_in(backend: Backend) {
    let builder = Pool::<Message>::builder().backend(backend);
    let pool = builder.build().unwrap();
    drop(pool.acquire());
    pool.trim(0);
    let (_, before) = live();
    drop(pool.acquire_many(10_000));
    pool.trim(0);
    let (_, after) = live();
    assert!(after - before <= 4096, "{} bytes more", after - before);
}

/// Neither the arrays in which batches travel, nor those of bursts.
fn a_trim_that_drops_nothing_takes_no_memory_away(backend: Backend) {
    let pool = filled(backend, 1_000);
    let mut held = Vec::with_capacity(1_000);
    let mut round = || {
        held.extend((0..1_000).map(|_| pool.acquire()));
        held.clear();
        drop(pool.acquire_many(500));
    };
    for _ in 0..10 {
        round();
        pool.trim(1_000);
    }
    assert_eq!(blocks_of(round), 0);
}

fn exhaustion_asks_for_nothing(backend: Backend) {
    let pool = bounded(backend, 10);
    let held: Vec<_> = (0..9).map(|_| pool.acquire()).collect();
    let round = || {
        let last = pool.try_acquire().unwrap();
        assert!(pool.try_acquire().is_err());
        assert!(pool.try_acquire_idle().is_err());
        assert!(pool.try_acquire_many(2).is_err());
        assert_eq!(pool.stats().in_use, 10);
        drop(last);
        assert!(pool.try_acquire_many(2).is_err());
    };
    (0..100).for_each(|_| round());
    assert_eq!(blocks_of(|| (0..1_000).for_each(|_| round())), 0);
    drop(held);
}

/// Two threads and one object: each time it is given to one that waits for it.
fn waits_ask_for_nothing(backend: Backend) {
    const ROUNDS: usize = 200;
    let pool = filled(backend, 1);
    let (turn, held) = (Barrier::new(2), Barrier::new(2));
    let waits = |rounds: usize| {
        for _ in 0..rounds {
            let object = pool.acquire();
            held.wait();
            let before = pool.stats().waits;
            turn.wait();
            while pool.stats().waits == before {
                thread::yield_now();
            }
            drop(object);
            held.wait();
        }
    };
    let blocks = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..=2 * ROUNDS {
                held.wait();
                turn.wait();
                drop(pool.acquire());
                held.wait();
            }
        });
        waits(ROUNDS);
        let blocks = blocks_of(|| waits(ROUNDS));
        waits(1); // Before the thread ends, which is none of this.
        blocks
    });
    assert_eq!(blocks, 0);
}

/// Entries, many at once and waiting until none is in use: served at once, after a wait, and not at all.
#[cfg(feature = "async")]
fn what_services_call_asks_for_nothing(backend: Backend, tracks_holders: bool) {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    const SHORT: Duration = Duration::from_micros(1);
    let builder = Pool::<Message>::builder().backend(backend).capacity(8);
    let pool = builder.track_holders(tracks_holders).build().unwrap();
    let make = || [1; 8];
    let round = || {
        let context = &mut Context::from_waker(Waker::noop());
        // Served at once.
        drop(pool.entry_timeout(SHORT).unwrap().or_insert_with(make));
        drop(pool.acquire_many_timeout(3, SHORT).unwrap());
        assert!(pin!(pool.entry_async()).poll(context).is_ready());
        assert!(pin!(pool.acquire_many_async(3)).poll(context).is_ready());
        pool.wait_idle(None).unwrap();
        assert!(pin!(pool.wait_idle_async()).poll(context).is_ready());
        // A place, filled or not.
        assert!(Pooled::detach(pool.acquire()).len() == 8);
        drop(pool.attach([2; 8]).unwrap());
        // Not served in time.
        let mut held = pool.acquire_many(8);
        assert!(pool.entry_timeout(SHORT).is_err());
        assert!(pool.acquire_many_timeout(3, SHORT).is_err());
        assert!(pool.wait_idle(Some(SHORT)).is_err());
        assert!(pin!(pool.entry_async()).poll(context).is_pending());
        assert!(pin!(pool.acquire_many_async(3)).poll(context).is_pending());
        assert!(pin!(pool.wait_idle_async()).poll(context).is_pending());
        // Served after a wait, each by a release.
        let mut one = pin!(pool.entry_async());
        let mut many = pin!(pool.acquire_many_async(3));
        let mut idle = pin!(pool.wait_idle_async());
        assert!(one.as_mut().poll(context).is_pending());
        assert!(many.as_mut().poll(context).is_pending());
        assert!(idle.as_mut().poll(context).is_pending());
        drop(held.pop());
        drop(held);
        let Poll::Ready(Ok(entry)) = one.poll(context) else {
            panic!("a task was not served");
        };
        let Poll::Ready(Ok(burst)) = many.poll(context) else {
            panic!("a task was not served");
        };
        drop((entry, burst));
        assert!(idle.poll(context).is_ready());
    };
    (0..100).for_each(|_| round());
    let blocks = blocks_of(|| (0..100).for_each(|_| round()));
    assert_eq!(blocks, 0, "{backend}, {tracks_holders}");
}

fn caches_without_a_bound_ask_for_nothing() {
    for batch_size in [1, 8, 64] {
        let builder = Pool::<Message>::builder().batch_size(batch_size);
        let pool = builder.build().unwrap();
        let mut held = Vec::with_capacity(2_000);
        let mut round = || {
            for n in [1, batch_size, 3 * batch_size, 1_000] {
                held.extend((0..n).map(|_| pool.acquire()));
                held.clear();
                drop(pool.acquire_many(n));
            }
        };
        (0..100).for_each(|_| round());
        assert_eq!(blocks_of(|| (0..100).for_each(|_| round())), 0);
        // What another thread takes and gives, too.
        pool.reserve(3_000);
        settles_over_a_queue(256, 20_000, || pool.acquire(), drop);
    }
}

/// The caches are kept for the next threads, but not for ever.
fn a_trim_frees_the_caches_of_threads_that_are_gone() {
    const THREADS: usize = 32;
    let builder = Pool::<Message>::builder().batch_size(64);
    let pool = builder.build().unwrap();
    drop(pool.acquire());
    let all = Arc::new(Barrier::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (pool, all) = (pool.clone(), all.clone());
            thread::spawn(move || {
                drop(pool.acquire());
                all.wait();
            })
        })
        .collect();
    // Joined, not scoped: then what is local to them has ended as well.
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    pool.flush();
    let (_, before) = live();
    pool.trim(usize::MAX);
    let (_, after) = live();
    // As documented: nine batches of pointers for each.
    let caches_of_all = (THREADS * 9 * 64 * size_of::<usize>()) as isize;
    let freed = before - after;
    if caches(Backend::Batched) {
        assert!(freed >= caches_of_all, "{freed} bytes of {caches_of_all}");
    }
}

/// As fast as the allocator under it, and no faster.
fn the_control_asks_for_every_object() {
    let pool = bounded(Backend::Heap, 100);
    drop(pool.acquire());
    let blocks = blocks_of(|| (0..1_000).for_each(|_| drop(pool.acquire())));
    assert_eq!(blocks, 1_000);
    let blocks = blocks_of(|| {
        for _ in 0..1_000 {
            assert_eq!(Pooled::detach(pool.acquire()), [0; 8]);
        }
    });
    assert_eq!(blocks, 1_000);
}

fn the_pool_for_one_thread_asks_for_nothing() {
    let builder = unsync::Pool::<Message>::builder();
    let pool = builder.capacity(500).build().unwrap();
    let mut held = Vec::with_capacity(500);
    let mut round = || {
        held.extend((0..500).map(|_| pool.acquire()));
        held.clear();
        assert_eq!(unsync::Pooled::detach(pool.acquire()), [0; 8]);
        held.push(pool.attach([1; 8]).unwrap());
        unsync::Pooled::discard(held.pop().unwrap());
        let (mut large, small) = (pool.acquire_many(400), pool.acquire_many(100));
        held.extend(std::iter::from_fn(|| large.pop()).take(10));
        drop((large, small));
        held.clear();
    };
    // Twice, until the arrays of both bursts have room for the larger.
    (0..2).for_each(|_| round());
    assert_eq!(blocks_of(|| (0..100).for_each(|_| round())), 0);
    drop((held, pool));
    // It grows in ever larger steps.
    let pool = unsync::Pool::<Message>::new();
    let mut held = Vec::with_capacity(10_000);
    let blocks = blocks_of(|| held.extend((0..10_000).map(|_| pool.acquire())));
    assert!(blocks < 40, "{blocks} blocks");
    drop((held, pool));
    let left = left_behind(|| {
        let pool = unsync::Pool::<String>::new();
        let held: Vec<_> = (0..100).map(|_| pool.acquire()).collect();
        drop((0..50).map(|_| pool.acquire()).collect::<Vec<_>>());
        drop(pool);
        drop(held);
    });
    assert_eq!(left, (0, 0));
}

/// Leak checkers blame idle objects (openDAQ #1261).
fn the_end_gives_everything_back(backend: Backend) {
    for order in 0..6 {
        let left = left_behind(|| {
            // On threads that end, so that what threads remember of a pool is gone as well.
            let end = thread::spawn(move || {
                let builder = Pool::<String>::builder().backend(backend);
                let pool = builder.prefill(50).build().unwrap();
                let (quiet, go) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
                let other = thread::spawn({
                    let (pool, quiet, go) = (pool.clone(), quiet.clone(), go.clone());
                    move || {
                        let held: Vec<_> = (0..150).map(|_| pool.acquire()).collect();
                        drop((0..150).map(|_| pool.acquire()).collect::<Vec<_>>());
                        let pool = (order % 2 == 0).then_some(pool);
                        quiet.wait();
                        go.wait();
                        drop((held, pool));
                    }
                });
                quiet.wait();
                let mut held: Vec<_> = (0..100).map(|_| pool.acquire()).collect();
                held[0].push_str("a text with memory of its own");
                let burst = pool.acquire_many(40);
                let shared = Pooled::into_shared(pool.acquire());
                drop(held.split_off(50));
                match order {
                    0 | 1 => {
                        // Here the handles first, and then the pool; there later.
                        drop((held, burst, shared));
                        drop(pool);
                        go.wait();
                    }
                    2 | 3 => {
                        drop(pool);
                        drop((burst, held, shared));
                        go.wait();
                    }
                    _ => {
                        // There first.
                        go.wait();
                        other.join().unwrap();
                        drop(pool);
                        drop((shared, burst, held));
                        return;
                    }
                }
                other.join().unwrap();
            });
            end.join().unwrap();
        });
        assert_eq!(left, (0, 0), "order {order}");
    }
}

/// 10,000 pools made and dropped on one thread (HikariCP #2311).
fn pools_one_after_another_stay_flat(backend: Backend) {
    let round = || {
        let pool = bounded(backend, 10);
        drop((pool.acquire(), pool.acquire(), pool.acquire_many(3)));
        let held = pool.acquire();
        drop(pool);
        drop(held);
    };
    (0..500).for_each(|_| round());
    let (blocks, bytes) = live();
    (0..10_000).for_each(|_| round());
    let (blocks_after, bytes_after) = live();
    // What a thread remembers of the last few is forgotten from time to time.
    assert!(
        blocks_after - blocks < 50,
        "{} blocks",
        blocks_after - blocks
    );
    assert!(
        bytes_after - bytes < 50_000,
        "{} bytes",
        bytes_after - bytes
    );
}

/// 10,000 short threads (netty #14884).
fn threads_one_after_another_stay_flat(backend: Backend) {
    let pool = bounded(backend, 100);
    let round = || {
        let pool = pool.clone();
        let short = thread::spawn(move || drop((pool.acquire(), pool.acquire())));
        short.join().unwrap();
    };
    (0..100).for_each(|_| round());
    let (blocks, bytes) = live();
    let threads = match backend {
        Backend::Batched => 10_000,
        _ => 2_000, // They keep less of a thread, or nothing.
    };
    (0..threads).for_each(|_| round());
    let (blocks_after, bytes_after) = live();
    assert!(
        blocks_after - blocks < 50,
        "{} blocks",
        blocks_after - blocks
    );
    assert!(
        bytes_after - bytes < 50_000,
        "{} bytes",
        bytes_after - bytes
    );
    if keeps(backend) {
        assert!(pool.stats().created <= 4);
    }
}

/// And with pools that are alive all the time, and those that come and go among them.
fn a_thread_of_many_pools_stays_flat() {
    let pools: Vec<_> = (0..100).map(|_| bounded(Backend::Batched, 10)).collect();
    let round = || {
        for pool in &pools {
            drop(pool.acquire());
        }
        let short = bounded(Backend::Batched, 10);
        drop(short.acquire());
    };
    (0..500).for_each(|_| round());
    let (_, bytes) = live();
    (0..1_000).for_each(|_| round());
    let (_, bytes_after) = live();
    assert!(
        bytes_after - bytes < 200_000,
        "{} bytes",
        bytes_after - bytes
    );
}

/// As documented: 16 bytes with each object; two batches of words with each thread that caches.
fn what_an_object_and_a_pool_take() {
    for backend in [Backend::Mutex, Backend::Batched] {
        let builder = Pool::<Message>::builder().backend(backend);
        let pool = builder.grow_by(10_000).build().unwrap();
        let mut held = Vec::with_capacity(10_000);
        let (_, before) = live();
        held.extend((0..10_000).map(|_| pool.acquire()));
        let (_, after) = live();
        let most = 10_000 * NODE + 16 * 1_024;
        assert!(
            after - before <= most as isize,
            "{backend}: {} bytes for 10,000 objects",
            after - before
        );
        drop(held);
    }
    for backend in Backend::ALL {
        let (_, before) = live();
        let unused = Pool::<Message>::builder().backend(backend).build().unwrap();
        let (_, after) = live();
        let taken = after - before;
        assert!(taken <= 12 * 1_024, "{backend}: {taken} bytes for a pool");
        drop(unused);
    }
    let (_, before) = live();
    let unused = unsync::Pool::<Message>::new();
    let (_, after) = live();
    assert!(after - before <= 1_024, "unsync: {} bytes", after - before);
    drop(unused);
}

/// Used twice each by a thread that ends.
fn five_thousand_pools_in_turn_leave_nothing_behind() {
    let left = left_behind(|| {
        let end = thread::spawn(|| {
            let pools: Vec<_> = (0..5_000)
                .map(|_| Pool::<Message>::builder().grow_by(1).build().unwrap())
                .collect();
            for _ in 0..2 {
                pools.iter().for_each(|pool| drop(pool.acquire()));
            }
        });
        end.join().unwrap();
    });
    assert_eq!(left, (0, 0));
}

/// The queue of waiters, and that of those served, kept the memory of the most that ever waited.
#[cfg(feature = "async")]
fn tasks_that_have_waited_leave_nothing_behind(backend: Backend) {
    use std::future::Future;
    use std::task::{Context, Waker};

    const CAPACITY: usize = 1_000;
    let pool = filled(backend, CAPACITY);
    let wait = |tasks: usize| {
        let held: Vec<_> = (0..CAPACITY).map(|_| pool.acquire()).collect();
        let mut waiting: Vec<_> = (0..tasks).map(|_| Box::pin(pool.acquire_async())).collect();
        let mut context = Context::from_waker(Waker::noop());
        for task in &mut waiting {
            assert!(task.as_mut().poll(&mut context).is_pending());
        }
        // As many as can be are served, the others leave before.
        drop(waiting.split_off(tasks.min(CAPACITY)));
        drop(held);
        drop(waiting);
        pool.trim(0);
    };
    wait(1);
    let (blocks, bytes) = live();
    wait(100_000);
    let (blocks_after, bytes_after) = live();
    assert!(
        bytes_after - bytes <= 4_096 && blocks_after - blocks <= 8,
        "{backend}: {} bytes in {} blocks",
        bytes_after - bytes,
        blocks_after - blocks
    );
}

/// What threads slept on was kept, as much as was ever needed at a time.
fn threads_that_have_waited_leave_nothing_behind(backend: Backend) {
    let pool = bounded(backend, 1);
    let wait = |threads: usize| {
        let object = pool.acquire();
        let before = pool.stats().waits;
        let waiting: Vec<_> = (0..threads)
            .map(|_| {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            })
            .collect();
        while pool.stats().waits < before + threads {
            thread::yield_now();
        }
        drop(object);
        // Joined, not scoped: then what is local to them has ended as well.
        waiting
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        pool.trim(0);
    };
    wait(1);
    let (blocks, bytes) = live();
    wait(64);
    let (blocks_after, bytes_after) = live();
    assert!(
        bytes_after - bytes <= 4_096 && blocks_after - blocks <= 8,
        "{backend}: {} bytes in {} blocks",
        bytes_after - bytes,
        blocks_after - blocks
    );
}

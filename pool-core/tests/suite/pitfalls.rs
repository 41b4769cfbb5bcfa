//! What went wrong in other pools, each turned into a test of its kind.
//!
//! Most kinds are tested where they belong, beside what they are about; the table says where, and a test
//! in here sees to it that what the table names is there. What had no test yet has one below.
//!
//! | reported | what went wrong there | tested here by |
//! | --- | --- | --- |
//! | **Identity** | | |
//! | RUSTSEC-2020-0142 | guards `Send` and `Sync` without the right bounds | `types.rs` (the table), `ui_pool.rs` |
//! | heapless #180 | ABA in a lock-free list: two owners | `threads.rs` `no_object_has_two_owners`, `no_object_of_a_bounded_pool_has_two_owners` |
//! | armada #1324 | a handle given to another pool | `contract.rs` `a_handle_given_to_another_pool_goes_home`, `burst.rs` `bursts_of_two_pools_may_exchange_handles` |
//! | netty #9433 | two threads recycle one object | `ui_pool.rs` (use after drop), `contract.rs` `a_raw_pointer_is_a_handle_again` |
//! | **Hooks** | | |
//! | lockfree-object-pool | init under the lock: a deadlock | `contract.rs` `create_may_use_the_same_pool`, `reset_may_use_the_same_pool`, `the_judge_may_use_the_same_pool`, `drop_may_use_the_same_pool` |
//! | nexus-pool | a reset panicked, and the slot was lost | `contract.rs` `a_panic_in_reset_costs_its_object`, `a_panic_in_reset_on_acquire_costs_its_object`, `a_panic_in_the_judge_costs_its_object` |
//! | go-commons-pool #25 | and those who waited hung | `contract.rs` `a_waiter_is_served_when_a_reset_panics`, `a_waiter_is_served_when_a_drop_panics` |
//! | commons-pool #346 | a creation failed, and the permit was lost | `contract.rs` `a_panic_in_create_costs_nothing`, `a_waiter_is_served_when_a_create_panics` |
//! | mohu #210 | a poisoned mutex killed the pool | `contract.rs` `a_panic_in_reset_costs_its_object`, `threads.rs` `panics_under_load_lose_no_place` |
//! | kryo #665 | the reset ran when others saw the object | `contract.rs` `reset_on_release_comes_before_the_object_is_seen`, `reset_on_acquire_comes_before_the_object_is_used` |
//! | folly 85b4ece6d | the reset ran again on a retry | `contract.rs` `a_reset_runs_exactly_once_a_use`, `resets_across_threads_are_exact` |
//! | **Stale state** | | |
//! | actix-web #1062, naga #947 | a field forgotten in the reset | `what_a_former_user_left_is_gone`, `derive_properties.rs` `named_structs` |
//! | nalix #331 | nested maps not cleared | `what_a_former_user_left_is_gone`, `poolable.rs` `nested` |
//! | poolshark | an `Option` left `Some` | `what_a_former_user_left_is_gone` |
//! | **Threads** | | |
//! | thread_local #74 | thread-locals used in a destructor | `tls.rs` `a_handle_in_a_thread_local_comes_back`, `a_destructor_may_use_the_pool` |
//! | thread_local #75 | a thread's id used again while it still ran | `tls.rs` `many_ends_at_once`, `the_end_of_a_scoped_thread_comes_late` |
//! | sharded-slab #62 | a hard cap on threads | `five_thousand_threads_are_slower_at_most` |
//! | netty #14884 | short threads leave memory behind | `alloc.rs` `threads_one_after_another_stay_flat`, `threads.rs` `short_threads_one_after_another` |
//! | HikariCP #2311 | dead pools stay in thread-locals | `alloc.rs` `pools_one_after_another_stay_flat`, `a_thread_of_many_pools_stays_flat` |
//! | zeropool | two pools on a thread throw away each other's caches | `threads.rs` `pools_used_in_turn` |
//! | netty #11864 | the acquirer ends before the handle | `threads.rs` `an_acquirer_that_has_ended_is_not_missed` |
//! | gperftools #499 | a fork under load hangs | `fork.rs` `a_child_of_a_busy_process_acquires_and_releases` |
//! | **Bound and memory** | | |
//! | DPDK, documented | "empty" while other caches are full | `threads.rs` `objects_of_a_thread_that_is_alive_are_found`, `exhausted_is_said_only_when_nothing_is_idle` |
//! | Go CL 86020043 | idle threads pin objects | `threads.rs` `objects_of_a_thread_that_is_alive_are_found`, `contract.rs` `flush_moves_and_loses_nothing`, `trim_keeps_so_many` |
//! | stormpot #48, HikariCP #1186 | one takes, another gives: growth | `threads.rs` `one_takes_and_another_gives_without_growth` |
//! | golang #23199 | one huge message pins memory | `contract.rs` `what_is_not_reusable_is_dropped`, `derive.rs` `max_capacity_gives_back_what_is_beyond` |
//! | netty #9665 | memory kept after a burst | `contract.rs` `trim_keeps_so_many`, `alloc.rs` `trim_gives_memory_back` |
//! | DPDK f5e1310f16 | the cache was 1.5 times what was asked for | `threads.rs` `a_cache_is_as_large_as_documented` |
//! | bdlcc | `reserve` counted objects in use | `contract.rs` `reserve_counts_idle_objects_only` |
//! | object-pool | objects beyond the bound were kept | `contract.rs` `capacity_counts_idle_objects_too`, `threads.rs` `the_bound_is_never_exceeded` |
//! | **Order and speed** | | |
//! | DPDK 459531c958 | the hot objects thrown away, the cold kept | `contract.rs` `what_comes_back_last_comes_first_or_last`, `trim_drops_what_was_idle_longest` |
//! | DPDK e6e62f6f55 | refill and flush in turn at an edge | `threads.rs` `an_edge_is_visited_once_per_batch` |
//! | DPDK a2833ecc5e | a bulk of exactly the cache always missed | `a_bulk_as_large_as_the_cache_is_one_visit_at_most` |
//! | crossbeam #398 | a `SegQueue` allocates in steady state | `a_queue_without_a_bound_asks_for_nothing`, `alloc.rs` `one_thread_asks_for_nothing` |
//! | crossbeam #112, regex-automata | large objects copied, or on the stack | `contract.rs` `objects_larger_than_the_stack`, `derive.rs` `larger_than_the_stack` |
//! | zeropool, DPDK | shared counters slow each operation | `ci/counts.sh` counts instructions, none of them shared |
//! | jboss-threads #191 | neighbours share lines | the rows of the program `ratios` with threads |
//! | fastrace #74, OpenSM | slower than a `Vec` | the rows of the program `ratios` beside a `Vec` |
//! | **End of life** | | |
//! | bdlcc, cl_qpool | destroyed while still out | `contract.rs` `handles_outlive_the_pool`, `every_object_is_destroyed_once_whoever_is_last` |
//! | many | the pool dropped while another releases | `threads.rs` `the_pool_ends_while_others_release` |
//! | openDAQ #1261 | leak checkers blame idle objects | `alloc.rs` `the_end_gives_everything_back` |
//! | many | forgotten handles | `contract.rs` `a_forgotten_handle_counts_as_in_use` |
//! | **Waiting** | | |
//! | many | a cancelled waiter had been chosen | `waiting.rs` `a_task_that_is_dropped_when_served_passes_the_object_on` |
//! | saluki #371 | trim and wait at a time | `threads.rs` `a_pool_whose_trim_and_waits_meet` |
//! | many | a wait ends as an object arrives | `threads.rs` `a_timeout_loses_no_object`, `waiting.rs` `a_wait_that_times_out_passes_on_what_it_had` |
//! | deadpool #42 | close while others wait | `contract.rs` `closing_wakes_who_waits`, `waiting.rs` `close_sends_threads_and_tasks_away` |
//! | **Derives** | | |
//! | serde #1331, bytemuck #192 | a renamed crate, a re-export | `derive_hygiene.rs` `renamed` |
//! | RustCrypto utils #1505 | the trait not in scope | `derive_hygiene.rs` `bare`, `inherent` |
//! | utils #878, educe #17, rust #80871 | bounds on skipped fields, none on `Option<T>`, associated types | `derive.rs` `generics_ask_only_for_what_fields_need` |
//! | utils #702 | an enum whose reset did nothing | `derive.rs` `enum_in_another_variant_becomes_fresh` |
//! | derivative #82 | packed structs | `derive.rs` `packed_structs_are_assigned` |
//! | rkyv #192 | raw identifiers | `derive_hygiene.rs` `names` |
//! | facet #116 | fields out of `macro_rules!` | `derive_hygiene.rs` `by_macro` |
//! | rust #84243 | defaults of type and const parameters | `derive_hygiene.rs` `generic` |
//! | clap #4951, luminance #446, thiserror #72 | lints in generated code, deprecated fields | `derive_hygiene.rs` `linted`, `names` |
//! | thiserror #14, valuable #47 | attributes ignored; errors in the wrong place | `derive_ui.rs` `every_mistake_is_explained` |
//! | num-derive #57 | names of std taken | `derive_hygiene.rs` `bare`, `inherent` |
#![cfg(not(loom))]

use crate::support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use pool_core::{Backend, Pool, Poolable, Pooled, ResetOn};

use support::{caches, until};

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
                    super::$scenario(pool_core::Backend::$backend);
                }
            )*
        }
    };
}

ladder! {
    what_a_former_user_left_is_gone
    five_thousand_threads_are_slower_at_most
}

/// Counts the blocks that each thread asks for.
struct Counting;

thread_local! {
    static BLOCKS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = BLOCKS.try_with(|blocks| blocks.set(blocks.get() + 1));
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        unsafe { System.dealloc(block, layout) }
    }
}

// Where a thread-local asks the allocator for memory, that cannot count by one.
#[cfg_attr(not(all(windows, target_env = "gnu")), global_allocator)]
static ALLOCATOR: Counting = Counting;

/// A request as a server keeps it; nothing in here says how it is wiped.
#[derive(Debug, PartialEq, Poolable)]
struct Request {
    path: String,
    headers: HashMap<String, BTreeMap<u32, Vec<String>>>,
    user: Option<String>,
    state: State,
    body: Box<[u8; 16]>,
    retries: (u8, Vec<Option<u64>>),
    // The field that was added last.
    trace: u128,
}

#[derive(Debug, PartialEq, Poolable)]
enum State {
    #[poolable(initial)]
    New {
        since: u64,
    },
    Authorised(String),
}

impl Request {
    /// Leaves something in every field.
    fn fill(&mut self, secret: &str) {
        self.path.push_str(secret);
        let nested = BTreeMap::from([(7, vec![secret.to_owned()])]);
        self.headers.insert(secret.to_owned(), nested);
        self.user = Some(secret.to_owned());
        self.state = State::Authorised(secret.to_owned());
        self.body.fill(0xee);
        self.retries = (9, vec![Some(1), None]);
        self.trace = u128::MAX;
    }
}

/// Fields forgotten in a reset written by hand leaked between requests (actix-web #1062, naga #947);
/// nested maps were not cleared (nalix #331); an `Option` was left `Some` (poolshark). Whichever way an
/// object goes back, and whenever it is wiped.
fn what_a_former_user_left_is_gone(backend: Backend) {
    for reset_on in [ResetOn::Release, ResetOn::Acquire] {
        let builder = Pool::<Request>::builder().backend(backend).capacity(3);
        let pool = builder.reset_on(reset_on).build().unwrap();
        let ways: [fn(&Pool<Request>); 6] = [
            |pool| pool.acquire().fill("alone"),
            |pool| {
                let mut burst = pool.acquire_many(3);
                burst.iter_mut().for_each(|request| request.fill("burst"));
            },
            |pool| {
                let mut request = pool.acquire();
                request.fill("shared");
                let shared = Pooled::into_shared(request);
                drop((shared.clone(), shared));
            },
            |pool| {
                let pool = pool.clone();
                let other = thread::spawn(move || {
                    let mut request = pool.acquire();
                    request.fill("another thread");
                    request
                });
                drop(other.join().unwrap());
            },
            |pool| {
                let mut request = pool.acquire();
                request.fill("unwound");
                let unwound = thread::spawn(move || {
                    let _request = request;
                    std::panic::resume_unwind(Box::new(()));
                });
                assert!(unwound.join().is_err());
            },
            |pool| {
                let mut request = Request::init();
                request.fill("attached");
                drop(pool.attach(request).ok());
            },
        ];
        for way in ways {
            way(&pool);
            let all = pool.acquire_many(3);
            for request in &all {
                assert_eq!(**request, Request::init(), "{reset_on:?}");
            }
            drop(all);
            let all: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
            assert!(all.iter().all(|request| **request == Request::init()));
            // Room for what is attached.
            drop(all);
            pool.trim(2);
        }
    }
}

/// A hard cap on threads panicked in production (sharded-slab #62). As many as the report had, all alive
/// and all with objects of their own.
fn five_thousand_threads_are_slower_at_most(backend: Backend) {
    const THREADS: usize = 5_000;
    let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
    let (arrived, go) = (AtomicUsize::new(0), Barrier::new(THREADS + 1));
    thread::scope(|scope| {
        for n in 0..THREADS {
            let (pool, arrived, go) = (&pool, &arrived, &go);
            let small = thread::Builder::new().stack_size(32 << 10);
            let spawned = small.spawn_scoped(scope, move || {
                let mut held = pool.acquire();
                drop(pool.acquire());
                *held = n as u64;
                arrived.fetch_add(1, Ordering::SeqCst);
                go.wait();
                assert_eq!(*held, n as u64);
            });
            spawned.unwrap();
        }
        until(|| arrived.load(Ordering::SeqCst) == THREADS);
        assert_eq!(pool.in_use(), THREADS);
        go.wait();
    });
    until(|| pool.in_use() == 0);
}

/// A bulk request of exactly the size of the cache always missed (DPDK a2833ecc5e).
#[test]
fn a_bulk_as_large_as_the_cache_is_one_visit_at_most() {
    const BATCH: usize = 16;
    let builder = Pool::<u64>::builder().batch_size(BATCH);
    let pool = builder.build().unwrap();
    pool.reserve(8 * BATCH);
    for n in [
        BATCH - 1,
        BATCH,
        BATCH + 1,
        2 * BATCH - 1,
        2 * BATCH,
        2 * BATCH + 1,
    ] {
        for _ in 0..20 {
            let before = pool.stats();
            let burst = pool.acquire_many(n);
            let between = pool.stats();
            drop(burst);
            let after = pool.stats();
            assert_eq!(before.created, after.created, "{n} of {}", before.idle);
            assert!(between.exchanges - before.exchanges <= 1, "{n} at once");
            assert!(after.exchanges - between.exchanges <= 1, "{n} at once");
            if caches(Backend::Batched) && n <= 2 * BATCH && before.cached >= n {
                assert_eq!(before.exchanges, after.exchanges, "{n} were at hand");
            }
        }
    }
}

/// `SegQueue` allocates a block every few pushes (crossbeam #398). A pool's queue does not.
#[test]
fn a_queue_without_a_bound_asks_for_nothing() {
    const RELEASES: usize = 3_000;
    let blocks = |backend| {
        let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
        let release = || drop(pool.acquire());
        (0..100).for_each(|_| release());
        let before = BLOCKS.get();
        (0..RELEASES).for_each(|_| release());
        BLOCKS.get() - before
    };
    assert_eq!(blocks(Backend::Queue), 0);
    assert_eq!(blocks(Backend::Mutex), 0);
    assert_eq!(blocks(Backend::Batched), 0);
}

/// What the table at the head of this file names is there to be run.
#[test]
fn the_table_names_tests_that_exist() {
    const FOLDERS: [&str; 3] = ["tests/suite", "tests", "../compile-fail/tests"];
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut file, mut named) = (String::new(), 0);
    let rows = include_str!("pitfalls.rs").lines();
    for row in rows.filter_map(|line| line.strip_prefix("//! | ")) {
        file.replace_range(.., "pitfalls.rs");
        // The last column; its words in backticks are files, and tests in the file named before.
        let tested = row.rsplit(" | ").next().unwrap_or_default();
        for name in tested.split('`').skip(1).step_by(2) {
            if name.ends_with(".rs") {
                file.replace_range(.., name);
                continue;
            }
            if ["ratios", "ci/counts.sh", "Vec"].contains(&name) {
                continue; // Not tests.
            }
            let text = FOLDERS
                .iter()
                .find_map(|folder| fs::read_to_string(package.join(folder).join(&file)).ok())
                .unwrap_or_else(|| panic!("{file} is in none of {FOLDERS:?}"));
            let is_there = [
                format!("fn {name}("),
                format!("mod {name} "),
                format!("    {name},"),
            ]
            .iter()
            .any(|item| text.contains(item));
            assert!(is_there, "{file} has no {name}");
            named += 1;
        }
    }
    assert!(named > 70, "{named}");
}

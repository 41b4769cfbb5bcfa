//! The ladder: what every backend promises, from the first acquire to the end of the pool. Each
//! scenario runs once per backend, as `heap::…`, `mutex::…`, `queue::…` and `batched::…`.

use crate::support;

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use pool_core::{
    AcquireError, Backend, Lifecycle, Place, Pool, Poolable, Pooled, Ready, ResetOn, SharedPooled,
};

use support::{
    BatchSizeIfAny, Counted, Counting, Script, Tally, at_rest, caches, counted, keeps, message,
    panic_of, until, within_reason,
};

/// Runs each scenario on each backend. One that is left out is dead code, and warned about.
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
    smoke
    an_idle_object_is_reused
    what_comes_back_last_comes_first_or_last
    clones_are_one_pool
    a_pool_tells_what_it_was_told

    capacity_counts_idle_objects_too
    exhausted_only_at_the_bound
    acquiring_idle_objects_makes_none
    a_timed_acquire_at_the_bound_times_out
    a_timed_acquire_takes_what_is_there

    an_attached_object_is_as_any_other
    attaching_at_the_bound_gives_the_value_back
    a_detached_object_leaves_as_it_is
    a_discarded_object_is_dropped_without_a_reset
    a_raw_pointer_is_a_handle_again
    a_handle_given_to_another_pool_goes_home

    reserve_counts_idle_objects_only
    reserve_stops_at_the_bound
    reserve_stops_at_max_idle
    prefill_makes_objects_at_once
    prefill_that_panics_leaves_nothing
    drain_takes_out_everything_idle
    drain_dropped_half_way_drops_the_rest
    trim_keeps_so_many
    trim_drops_what_was_idle_longest
    flush_moves_and_loses_nothing
    max_idle_is_exact
    max_idle_of_nothing_keeps_nothing
    memory_of_detached_objects_is_used_again

    a_burst_is_had_and_given_back_at_once
    a_burst_is_all_or_nothing
    a_burst_larger_than_the_bound_is_refused
    a_burst_resets_what_was_used_and_nothing_else
    bursts_and_flushes_keep_max_idle
    handles_of_a_burst_go_their_own_ways
    what_a_burst_rejects_is_replaced
    a_panic_in_a_burst_costs_its_object
    a_closed_pool_gives_no_burst

    a_shared_object_comes_back_with_its_last_handle
    shared_handles_of_two_objects_are_told_apart

    a_closed_pool_gives_nothing
    closing_drops_what_is_idle_now_and_the_rest_later
    closing_twice_does_nothing
    closing_wakes_who_waits

    reset_on_release_comes_before_the_object_is_seen
    reset_on_acquire_comes_before_the_object_is_used
    a_reset_runs_exactly_once_a_use
    the_judge_is_asked_after_the_reset
    what_is_not_reusable_is_dropped
    what_is_not_reusable_on_acquire_is_replaced

    a_panic_in_create_costs_nothing
    a_panic_in_reset_costs_its_object
    a_panic_in_reset_on_acquire_costs_its_object
    a_panic_in_the_judge_costs_its_object
    a_panic_in_drop_of_an_object_costs_nothing_else
    a_panic_in_drop_does_not_keep_trim_from_the_others
    a_panic_in_drop_at_the_end_frees_the_pool
    a_second_panic_never_comes
    a_waiter_is_served_when_a_create_panics
    a_waiter_is_served_when_a_reset_panics
    a_waiter_is_served_when_a_drop_panics
    a_waiter_is_served_by_a_detach_and_a_discard

    create_may_use_the_same_pool
    reset_may_use_the_same_pool
    the_judge_may_use_the_same_pool
    drop_may_use_the_same_pool
    drop_may_use_the_same_pool_in_trim_drain_and_close
    a_hook_may_close_the_pool
    reset_may_drop_the_last_pool
    an_object_may_own_a_handle_of_its_pool

    handles_outlive_the_pool
    a_handle_that_ends_elsewhere_ends_the_pool
    every_object_is_destroyed_once_whoever_is_last
    the_lifecycle_goes_after_the_last_object_and_once
    a_forgotten_handle_counts_as_in_use

    objects_without_size
    objects_with_alignment
    large_objects
    objects_larger_than_the_stack
    objects_that_borrow
}

fn smoke(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    assert_eq!(tally.created(), 0);

    let mut object = pool.acquire();
    assert!(object.text.is_empty());
    object.text.push_str("used");
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.created, stats.idle, stats.in_use), (1, 0, 1));

    drop(object);
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.idle, usize::from(keeps(backend)));
    assert_eq!(stats.in_use, 0);

    assert!(pool.acquire().text.is_empty());
    drop(pool);
    assert_eq!(tally.alive(), 0);
}

fn an_idle_object_is_reused(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    for _ in 0..1_000 {
        let (a, b) = (pool.acquire(), pool.acquire());
        assert_ne!(a.id, b.id);
    }
    at_rest(&pool, &tally);
    let created = if keeps(backend) { 2 } else { 2_000 };
    assert_eq!(tally.created(), created);
}

/// The hot object comes first where there is a stack; a cache that kept the cold ones was a bug
/// (DPDK 459531c958). A queue says in its name what it does.
fn what_comes_back_last_comes_first_or_last(backend: Backend) {
    let (builder, _tally) = counted(backend);
    let pool = builder.build().unwrap();
    // More than a cache has room for, so that batches go to the depot and come back.
    let handles: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
    let released: Vec<_> = handles.iter().map(|object| object.id).collect();
    for handle in handles {
        drop(handle);
    }
    let mut expected = released;
    match backend {
        Backend::Heap => return,
        Backend::Queue => {}
        Backend::Mutex | Backend::Batched => expected.reverse(),
    }
    let again: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
    let acquired: Vec<_> = again.iter().map(|object| object.id).collect();
    assert_eq!(acquired, expected);
}

fn clones_are_one_pool(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(2).build().unwrap();
    let clone = pool.clone();
    let held = (pool.acquire(), clone.acquire());
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    assert_eq!(clone.try_acquire().err(), Some(AcquireError::Exhausted));
    drop(pool);
    drop(held);
    at_rest(&clone, &tally);
    drop(clone.try_acquire().unwrap());
    drop(clone);
    assert_eq!(tally.alive(), 0);
}

fn a_pool_tells_what_it_was_told(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.name("orders").capacity(7).build().unwrap();
    assert_eq!(pool.backend(), backend);
    assert_eq!(pool.name(), Some("orders"));
    assert_eq!(pool.capacity(), Some(7));
    assert!(Arc::ptr_eq(&pool.lifecycle().0, &tally));
    let shown = format!("{pool:?}");
    assert!(shown.contains("orders") && shown.contains("7"), "{shown}");
    let object = pool.acquire();
    assert_eq!(Pooled::pool(&object).unwrap().name(), Some("orders"));
}

/// Overflow objects that were kept (object-pool), and what `capacity` means: objects alive.
fn capacity_counts_idle_objects_too(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(3).build().unwrap();
    for round in 0..10 {
        let handles: Vec<_> = (0..3).map(|_| pool.try_acquire().unwrap()).collect();
        assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
        at_rest(&pool, &tally);
        drop(handles);
        let stats = at_rest(&pool, &tally);
        assert!(stats.idle <= 3, "round {round}: {stats:?}");
    }
    assert_eq!(tally.most(), 3);
}

fn exhausted_only_at_the_bound(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    for _ in 0..1_000 {
        let object = pool.try_acquire().unwrap();
        assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
        assert_eq!(pool.try_acquire_idle().err(), Some(AcquireError::Exhausted));
        drop(object);
    }
    at_rest(&pool, &tally);
}

fn acquiring_idle_objects_makes_none(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    assert_eq!(pool.try_acquire_idle().err(), Some(AcquireError::Exhausted));
    assert_eq!(tally.created(), 0);
    drop(pool.acquire());
    assert_eq!(pool.try_acquire_idle().is_ok(), keeps(backend));
    assert_eq!(tally.created(), 1);
    at_rest(&pool, &tally);
}

fn a_timed_acquire_at_the_bound_times_out(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    let object = pool.acquire();
    for timeout in [Duration::ZERO, Duration::from_millis(1)] {
        let refused = pool.acquire_timeout(timeout);
        assert_eq!(refused.err(), Some(AcquireError::Timeout));
    }
    drop(object);
    drop(pool.acquire_timeout(Duration::ZERO).unwrap());
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.waits, 2);
}

fn a_timed_acquire_takes_what_is_there(backend: Backend) {
    let (builder, _tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    // Made, then found idle, with no time and with more than the clock can count.
    for timeout in [Duration::ZERO, Duration::MAX] {
        assert!(pool.acquire_timeout(timeout).is_ok());
    }
}

fn an_attached_object_is_as_any_other(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut value = tally.object();
    value.text.push_str("from elsewhere");
    let object = pool.attach(value).unwrap();
    assert_eq!(object.text, "from elsewhere");
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.created, stats.in_use), (1, 1));
    drop(object);
    if keeps(backend) {
        let object = pool.acquire();
        assert_eq!((object.id, object.resets), (0, 1));
        assert!(object.text.is_empty());
    }
    at_rest(&pool, &tally);
}

fn attaching_at_the_bound_gives_the_value_back(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    let held = pool.attach(tally.object()).unwrap();
    let mut value = tally.object();
    value.text.push_str("kept");
    let refused = pool.attach(value).unwrap_err();
    assert_eq!(refused.reason(), AcquireError::Exhausted);
    assert!(!refused.to_string().is_empty() && !format!("{refused:?}").is_empty());
    let value = refused.into_inner();
    assert_eq!(value.text, "kept");
    // An object that is idle takes its place under the bound as well.
    drop(held);
    assert_eq!(pool.attach(value).is_err(), keeps(backend));
}

fn a_detached_object_leaves_as_it_is(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    let mut object = pool.acquire();
    object.text.push_str("kept");
    let value: Counted = Pooled::detach(object);
    assert_eq!(value.text, "kept");
    assert_eq!(tally.resets(), 0);
    let stats = pool.stats();
    assert_eq!((stats.created, stats.destroyed), (1, 1));
    assert_eq!((stats.idle, stats.in_use, stats.discarded), (0, 0, 0));
    let next = pool.try_acquire().unwrap();
    assert_ne!(next.id, value.id);
    drop((next, pool));
    assert_eq!(tally.alive(), 1);
    drop(value);
    assert_eq!(tally.alive(), 0);
}

fn a_discarded_object_is_dropped_without_a_reset(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    Pooled::discard(pool.acquire());
    assert_eq!((tally.alive(), tally.resets()), (0, 0));
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.destroyed, stats.discarded), (1, 1));
    assert!(pool.try_acquire().is_ok());
}

fn a_raw_pointer_is_a_handle_again(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut object = pool.acquire();
    object.text.push_str("through");
    let id = object.id;
    let raw = Pooled::into_raw(object);
    at_rest(&pool, &tally);
    // SAFETY: from `into_raw` just above, and taken back once.
    let object: Pooled<Counted, Counting> = unsafe { Pooled::from_raw(raw) };
    assert_eq!((object.id, object.text.as_str()), (id, "through"));
    drop(object);
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.in_use, 0);
}

/// A handle of pool B cannot be given to pool A (armada #1324): it has only one way, its own.
fn a_handle_given_to_another_pool_goes_home(backend: Backend) {
    let (builder, tally_a) = counted(backend);
    let a = builder.build().unwrap();
    let (builder, tally_b) = counted(backend);
    let b = builder.build().unwrap();
    let (mut from_a, mut from_b) = (a.acquire(), b.acquire());
    std::mem::swap(&mut from_a, &mut from_b);
    drop(from_a);
    assert_eq!((a.in_use(), b.in_use()), (1, 0));
    // Swapping the objects themselves is the user's right: each goes where its place is.
    let mut again = b.acquire();
    std::mem::swap(&mut *from_b, &mut *again);
    drop((from_b, again));
    assert_eq!((a.in_use(), b.in_use()), (0, 0));
    drop((a, b));
    assert_eq!((tally_a.alive(), tally_b.alive()), (0, 0));
}

/// `reserve(50)` with 100 out created nothing (bdlcc).
fn reserve_counts_idle_objects_only(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let held: Vec<_> = (0..100).map(|_| pool.acquire()).collect();
    let reserved = if keeps(backend) { 50 } else { 0 };
    assert_eq!(pool.reserve(50), reserved);
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.created, stats.idle), (100 + reserved, reserved));

    // What is idle already counts, wherever it lies.
    assert_eq!(pool.reserve(20), reserved);
    assert_eq!(tally.created(), 100 + reserved);
    let more: Vec<_> = (0..reserved).map(|_| pool.acquire()).collect();
    assert_eq!(tally.created(), 100 + reserved);
    drop((held, more));
    let stats = at_rest(&pool, &tally);
    assert_eq!(pool.reserve(60), stats.idle);
}

fn reserve_stops_at_the_bound(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(10).build().unwrap();
    let held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
    assert_eq!(pool.reserve(100), if keeps(backend) { 6 } else { 0 });
    assert_eq!(pool.reserve(usize::MAX), if keeps(backend) { 6 } else { 0 });
    at_rest(&pool, &tally);
    drop(held);
}

fn reserve_stops_at_max_idle(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.max_idle(5).build().unwrap();
    assert_eq!(pool.reserve(100), if keeps(backend) { 5 } else { 0 });
    at_rest(&pool, &tally);
}

fn prefill_makes_objects_at_once(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(500).prefill(500).build().unwrap();
    let made = if keeps(backend) { 500 } else { 0 };
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.created, stats.idle, stats.cached), (made, made, 0));
    let held: Vec<_> = (0..500).map(|_| pool.try_acquire().unwrap()).collect();
    assert_eq!(tally.created(), 500);
    assert!(pool.try_acquire().is_err());
    drop(held);
}

fn prefill_that_panics_leaves_nothing(backend: Backend) {
    let tally = Tally::new();
    let makes = tally.clone();
    let script = Script::new(move || {
        assert!(makes.created() < 5, "out of objects");
        makes.object()
    });
    let builder = Pool::builder_for(script).backend(backend).prefill(10);
    if keeps(backend) {
        assert_eq!(panic_of(|| builder.build()), "out of objects");
    } else {
        drop(builder.build().unwrap());
    }
    assert_eq!(tally.alive(), 0);
}

fn drain_takes_out_everything_idle(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut handles: Vec<_> = (0..300).map(|_| pool.acquire()).collect();
    let held = handles.pop();
    drop(handles);
    let drained: Vec<Counted> = pool.drain().collect();
    assert_eq!(drained.len(), if keeps(backend) { 299 } else { 0 });
    assert!(drained.iter().all(|object| object.resets == 1));
    let stats = pool.stats();
    assert_eq!((stats.idle, stats.cached, stats.in_use), (0, 0, 1));
    assert_eq!(stats.destroyed, 299);
    assert_eq!(pool.drain().len(), 0);
    drop(drained);
    at_rest(&pool, &tally);
    drop(held);
    drop(pool.acquire());
    at_rest(&pool, &tally);
}

fn drain_dropped_half_way_drops_the_rest(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(100).build().unwrap();
    drop((0..100).map(|_| pool.acquire()).collect::<Vec<_>>());
    let mut drain = pool.drain();
    let size = drain.len();
    let first = drain.next();
    assert_eq!(first.is_some(), keeps(backend));
    assert_eq!(drain.len(), size.saturating_sub(1));
    drop(drain);
    assert_eq!(tally.alive(), usize::from(keeps(backend)));
    drop(first);
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.idle, stats.in_use), (0, 0));
    drop(
        (0..100)
            .map(|_| pool.try_acquire().unwrap())
            .collect::<Vec<_>>(),
    );
}

/// Memory kept after a burst (netty #9665).
fn trim_keeps_so_many(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    drop((0..1_000).map(|_| pool.acquire()).collect::<Vec<_>>());
    for keep in [2_000, 1_000, 999, 500, 65, 64, 63, 1, 0, 0] {
        pool.trim(keep);
        let stats = at_rest(&pool, &tally);
        let left = if keeps(backend) { keep.min(1_000) } else { 0 };
        assert_eq!((stats.idle, stats.cached), (left, 0));
    }
    drop(pool.acquire());
    at_rest(&pool, &tally);
}

fn trim_drops_what_was_idle_longest(backend: Backend) {
    let (builder, _tally) = counted(backend);
    let pool = builder.build().unwrap();
    let handles: Vec<_> = (0..10).map(|_| pool.acquire()).collect();
    for handle in handles {
        drop(handle); // In the order of their numbers.
    }
    pool.trim(4);
    let mut left: Vec<_> = pool.drain().map(|object| object.id).collect();
    left.sort_unstable();
    assert_eq!(
        left,
        if keeps(backend) {
            vec![6, 7, 8, 9]
        } else {
            vec![]
        }
    );
    // And those left are in their order still, however the batches lie.
    let (builder, _tally) = counted(backend);
    let pool = builder.batch_size_if_any(backend, 4).build().unwrap();
    let handles: Vec<_> = (0..40).map(|_| pool.acquire()).collect();
    for handle in handles {
        drop(handle);
    }
    for keep in [39, 28, 24, 18, 17, 8] {
        pool.trim(keep);
    }
    let mut left: Vec<_> = pool.drain().map(|object| object.id).collect();
    left.sort_unstable();
    let newest = if keeps(backend) { 32..40 } else { 0..0 };
    assert_eq!(left, newest.collect::<Vec<_>>());
}

fn flush_moves_and_loses_nothing(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>());
    let before = at_rest(&pool, &tally);
    assert_eq!(before.cached, if caches(backend) { 10 } else { 0 });
    pool.flush();
    let after = at_rest(&pool, &tally);
    assert_eq!((after.idle, after.cached), (before.idle, 0));
    pool.flush();
    drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>());
    assert_eq!(tally.created(), if keeps(backend) { 10 } else { 20 });
}

fn max_idle_is_exact(backend: Backend) {
    for max_idle in [1, 2, 10, 127, 128, 129, 200, 300, 999] {
        let (builder, tally) = counted(backend);
        let pool = builder.max_idle(max_idle).build().unwrap();
        for _ in 0..3 {
            drop((0..1_000).map(|_| pool.acquire()).collect::<Vec<_>>());
            let stats = at_rest(&pool, &tally);
            let kept = if keeps(backend) { max_idle } else { 0 };
            assert_eq!((stats.idle, stats.in_use), (kept, 0), "max_idle {max_idle}");
        }
    }
}

fn max_idle_of_nothing_keeps_nothing(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.max_idle(0).capacity(3).build().unwrap();
    for _ in 0..10 {
        drop((0..3).map(|_| pool.acquire()).collect::<Vec<_>>());
        assert_eq!(at_rest(&pool, &tally).idle, 0);
    }
    assert_eq!(pool.reserve(3), 0);
}

fn memory_of_detached_objects_is_used_again(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut places = std::collections::HashSet::new();
    for _ in 0..1_000 {
        let object = pool.acquire();
        places.insert(&raw const *object as usize);
        drop(Pooled::detach(object));
    }
    if keeps(backend) {
        assert_eq!(places.len(), 1);
    }
    at_rest(&pool, &tally);
}

fn a_burst_is_had_and_given_back_at_once(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    // Within a cache, more than one has room for, and from both cache and depot.
    for n in [0, 1, 10, 64, 128, 129, 1_000, 500, 1] {
        let burst = pool.acquire_many(n);
        assert_eq!((burst.len(), burst.is_empty()), (n, n == 0));
        let ids: std::collections::HashSet<_> = burst.iter().map(|object| object.id).collect();
        assert_eq!(ids.len(), n);
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.in_use, n);
        drop(burst);
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    }
    if keeps(backend) {
        assert_eq!(tally.created(), 1_000);
    }
}

fn a_burst_is_all_or_nothing(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(10).build().unwrap();
    let held = pool.acquire();
    drop((pool.acquire(), pool.acquire()));
    let before = at_rest(&pool, &tally);
    let refused = pool.try_acquire_many(10).err();
    assert_eq!(refused, Some(AcquireError::Exhausted));
    let after = at_rest(&pool, &tally);
    assert_eq!((after.idle, after.in_use), (before.idle, before.in_use));
    // Two that are idle and seven that are made.
    let burst = pool.try_acquire_many(9).unwrap();
    assert_eq!(burst.len(), 9);
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    drop((burst, held));
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

fn a_burst_larger_than_the_bound_is_refused(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(3).build().unwrap();
    let refused = pool.try_acquire_many(4).err();
    assert_eq!(refused, Some(AcquireError::Exhausted));
    // To wait for it would be to wait for ever.
    let message = panic_of(|| pool.acquire_many(4));
    assert!(message.contains("capacity 3"), "{message}");
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
    assert_eq!(pool.acquire_many(3).len(), 3);
}

/// Fresh objects were wiped too when a burst was acquired.
fn a_burst_resets_what_was_used_and_nothing_else(backend: Backend) {
    for reset_on in [ResetOn::Release, ResetOn::Acquire] {
        let (builder, tally) = counted(backend);
        let pool = builder.reset_on(reset_on).build().unwrap();
        let mut burst = pool.acquire_many(3);
        assert_eq!(tally.resets(), 0);
        for object in &mut burst {
            object.text.push_str("secret");
        }
        drop(burst);
        let on_release = if reset_on == ResetOn::Release { 3 } else { 0 };
        assert_eq!(tally.resets(), on_release);
        let burst = pool.acquire_many(5);
        assert!(burst.iter().all(|object| object.text.is_empty()));
        let reused = if keeps(backend) { 3 } else { 0 };
        let on_acquire = if reset_on == ResetOn::Acquire {
            reused
        } else {
            0
        };
        assert_eq!(tally.resets(), on_release + on_acquire);
        assert_eq!(tally.judged(), on_release + on_acquire);
    }
}

/// What a flush or a burst moved from a cache to the depot was not counted, and more was kept.
fn bursts_and_flushes_keep_max_idle(backend: Backend) {
    // What uses the cache between two rounds of four objects that come back one by one.
    type Disturbance = fn(&Pool<Counted, Counting>);
    let disturbances: [Disturbance; 5] = [
        Pool::flush,
        |pool| drop(pool.acquire_many(5).into_iter().collect::<Vec<_>>()),
        |pool| drop(pool.acquire_many(5)),
        |pool| {
            pool.reserve(3);
        },
        |pool| drop(pool.try_acquire_many(1)),
    ];
    for disturb in disturbances {
        for max_idle in [4, 5, 6, 7, 8, 9] {
            let tally = Tally::new();
            let builder = Pool::builder_for(Counting(tally.clone())).backend(backend);
            let builder = match backend {
                Backend::Batched => builder.batch_size(2),
                _ => builder,
            };
            let pool = builder.max_idle(max_idle).build().unwrap();
            for _ in 0..4 {
                let objects = (0..4).map(|_| pool.attach(tally.object()).unwrap());
                drop(objects.collect::<Vec<_>>());
                disturb(&pool);
                let stats = at_rest(&pool, &tally);
                assert!(stats.idle <= max_idle, "max_idle {max_idle}: {stats:?}");
            }
            // A burst that comes back when others have filled its place.
            let Ok(burst) = pool.try_acquire_many(1) else {
                continue;
            };
            let objects = (0..4).map(|_| pool.attach(tally.object()).unwrap());
            drop(objects.collect::<Vec<_>>());
            drop(burst);
            let stats = at_rest(&pool, &tally);
            assert!(stats.idle <= max_idle, "max_idle {max_idle}: {stats:?}");
        }
    }
}

fn handles_of_a_burst_go_their_own_ways(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(10).build().unwrap();
    let mut handles = pool.acquire_many(10).into_iter();
    let detached = handles.next().map(Pooled::detach);
    Pooled::discard(handles.next().unwrap());
    let kept = handles.next().unwrap();
    thread::scope(|scope| {
        let sent = handles.next().unwrap();
        scope.spawn(move || drop(sent));
    });
    drop(handles);
    assert_eq!(pool.in_use(), 1);
    drop(detached);
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.destroyed >= 2, stats.discarded), (true, 1));
    drop(pool);
    assert_eq!(tally.alive(), 1);
    drop(kept);
    assert_eq!(tally.alive(), 0);
}

fn what_a_burst_rejects_is_replaced(backend: Backend) {
    for reset_on in [ResetOn::Release, ResetOn::Acquire] {
        let tally = Tally::new();
        let builder = Pool::builder_for(frugal(&tally)).backend(backend);
        let pool = builder.reset_on(reset_on).capacity(6).build().unwrap();
        for _ in 0..3 {
            let mut burst = pool.acquire_many(6);
            assert!(burst.iter().all(|object| object.text.capacity() < 1_000));
            for object in burst.iter_mut().step_by(2) {
                object.text.reserve(10_000);
            }
        }
        drop(pool.acquire_many(6));
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.in_use, 0);
        if keeps(backend) {
            assert_eq!((stats.created, stats.discarded), (6 + 3 * 3, 3 * 3));
        }
    }
}

/// The others go back, and nothing of the bound is lost.
fn a_panic_in_a_burst_costs_its_object(backend: Backend) {
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(4).build().unwrap();
    for mine in [&mines.create, &mines.reset, &mines.judge] {
        pool.trim(0);
        Mines::arm(mine);
        let message = panic_of(|| drop(pool.acquire_many(4)));
        assert!(message.contains("went wrong"), "{message}");
        assert_eq!(pool.in_use(), 0);
        assert_eq!(pool.try_acquire_many(4).unwrap().len(), 4);
    }
    drop(pool);
    assert_eq!(mines.tally.alive(), 0);

    // When they are wiped by who acquires them.
    if !keeps(backend) {
        return;
    }
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let builder = builder.reset_on(ResetOn::Acquire);
    let pool = builder.capacity(4).build().unwrap();
    for mine in [&mines.reset, &mines.judge] {
        drop(pool.acquire_many(4));
        Mines::arm(mine);
        assert!(panic_of(|| drop(pool.acquire_many(3))).contains("went wrong"));
        let stats = at_rest(&pool, &mines.tally);
        assert_eq!(stats.in_use, 0);
        assert_eq!(pool.try_acquire_many(4).unwrap().len(), 4);
    }
    drop(pool);
    assert_eq!(mines.tally.alive(), 0);
}

/// A burst of nothing had no error to give on some backends.
fn a_closed_pool_gives_no_burst(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(8).build().unwrap();
    let burst = pool.acquire_many(5);
    drop(pool.acquire_many(3));
    assert_eq!(
        pool.try_acquire_many(9).err(),
        Some(AcquireError::Exhausted)
    );
    pool.close();
    for n in [0, 1, 5] {
        assert!(panic_of(|| pool.acquire_many(n)).contains("closed"));
    }
    for n in [0, 1, 5, 9] {
        let refused = pool.try_acquire_many(n).err();
        assert_eq!(refused, Some(AcquireError::Closed), "{n}");
    }
    drop(burst);
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
    assert_eq!(tally.alive(), 0);
}

fn shared_handles_of_two_objects_are_told_apart(backend: Backend) {
    let pool = counted(backend).0.build().unwrap();
    let [one, other] = [(); 2].map(|()| Pooled::into_shared(pool.acquire()));
    assert!(!SharedPooled::ptr_eq(&one, &other));
}

fn a_shared_object_comes_back_with_its_last_handle(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    for _ in 0..3 {
        let first = Pooled::into_shared(pool.try_acquire().unwrap());
        let mut second = first.clone();
        assert!(SharedPooled::ptr_eq(&first, &second));
        assert_eq!(SharedPooled::handles(&first), 2);
        assert!(SharedPooled::get_mut(&mut second).is_none());
        let first = SharedPooled::try_unwrap(first).unwrap_err();
        drop(first);
        assert_eq!(pool.in_use(), 1);
        SharedPooled::get_mut(&mut second).unwrap().text.push('x');
        let alone = SharedPooled::try_unwrap(second).unwrap();
        assert_eq!(alone.text, "x");
        drop(Pooled::into_shared(alone));
        assert_eq!(at_rest(&pool, &tally).in_use, 0);
    }
    assert_eq!(tally.resets(), 3);
    // The pool gone before.
    let first = Pooled::into_shared(pool.acquire());
    let second = first.clone();
    drop((first, pool));
    assert_eq!(tally.alive(), 1);
    drop(second);
    assert_eq!(tally.alive(), 0);
}

fn a_closed_pool_gives_nothing(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.name("shut").build().unwrap();
    drop(pool.acquire());
    assert!(!pool.is_closed());
    pool.close();
    assert!(pool.is_closed());
    let created = tally.created();
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Closed));
    assert_eq!(pool.try_acquire_idle().err(), Some(AcquireError::Closed));
    let timed = pool.acquire_timeout(Duration::from_secs(100));
    assert_eq!(timed.err(), Some(AcquireError::Closed));
    assert!(panic_of(|| pool.acquire()).contains("shut"));
    assert_eq!(pool.reserve(10), 0);
    assert_eq!(pool.drain().len(), 0);
    pool.trim(0);
    pool.flush();
    at_rest(&pool, &tally);
    assert_eq!(tally.created(), created);

    let refused = pool.attach(tally.object()).unwrap_err();
    assert_eq!(refused.reason(), AcquireError::Closed);
}

fn closing_drops_what_is_idle_now_and_the_rest_later(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut handles: Vec<_> = (0..300).map(|_| pool.acquire()).collect();
    let held = handles.split_off(295);
    drop(handles);
    pool.close();
    assert_eq!(tally.alive(), 5);
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.idle, stats.in_use), (0, 5));

    let mut held = held.into_iter();
    drop(held.next());
    assert_eq!(tally.alive(), 4);
    Pooled::discard(held.next().unwrap());
    assert_eq!(tally.alive(), 3);
    let detached = Pooled::detach(held.next().unwrap());
    assert_eq!(pool.in_use(), 2);
    drop(held);
    assert_eq!(pool.in_use(), 0);
    drop(detached);
    at_rest(&pool, &tally);
    assert_eq!(tally.alive(), 0);
}

fn closing_twice_does_nothing(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let held = pool.acquire();
    drop(pool.acquire());
    pool.close();
    let stats = at_rest(&pool, &tally);
    pool.close();
    pool.clone().close();
    assert_eq!(at_rest(&pool, &tally), stats);
    drop(held);
    at_rest(&pool, &tally);
}

/// Every waiter gets the error (deadpool #42).
fn closing_wakes_who_waits(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    let held = pool.acquire();
    let waiters: Vec<_> = (0..6)
        .map(|n| {
            let pool = pool.clone();
            thread::spawn(move || match n % 2 {
                0 => pool.acquire_timeout(Duration::MAX).err(),
                _ => {
                    assert!(panic_of(|| pool.acquire()).contains("closed"));
                    Some(AcquireError::Closed)
                }
            })
        })
        .collect();
    until(|| pool.stats().waits == 6);
    pool.close();
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), Some(AcquireError::Closed));
    }
    drop(held);
    assert_eq!(at_rest(&pool, &tally).in_use, 0);
}

/// A reset ran when others saw the object already (kryo #665).
fn reset_on_release_comes_before_the_object_is_seen(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.reset_on(ResetOn::Release).build().unwrap();
    let mut object = pool.acquire();
    assert_eq!(tally.resets(), 0, "a fresh object needs none");
    object.text.push_str("secret");
    drop(object);
    assert_eq!(tally.resets(), 1);
    for idle in pool.drain() {
        assert_eq!((idle.resets, idle.text.as_str()), (1, ""));
    }
}

fn reset_on_acquire_comes_before_the_object_is_used(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.reset_on(ResetOn::Acquire).build().unwrap();
    let mut object = pool.acquire();
    object.text.push_str("secret");
    drop(object);
    assert_eq!(tally.resets(), 0);
    let object = pool.acquire();
    assert!(object.text.is_empty());
    let resets = usize::from(keeps(backend));
    assert_eq!((tally.resets(), object.resets), (resets, resets));
    drop(object);

    // What is taken out is as its last user left it.
    if keeps(backend) {
        let mut object = pool.try_acquire_idle().unwrap();
        object.text.push_str("left");
        drop(object);
        let idle: Vec<_> = pool.drain().map(|idle| idle.text.clone()).collect();
        assert_eq!(idle, ["left"]);
    }
}

/// A reset ran again when an exchange had to be tried again (folly 85b4ece6d).
fn a_reset_runs_exactly_once_a_use(backend: Backend) {
    for reset_on in [ResetOn::Release, ResetOn::Acquire] {
        let (builder, tally) = counted(backend);
        let pool = builder.reset_on(reset_on).capacity(200).build().unwrap();
        let mut uses = 0;
        for round in 0..50 {
            let handles: Vec<_> = (0..4 * round).map(|_| pool.acquire()).collect();
            uses += handles.len();
            drop(handles);
            if round % 7 == 0 {
                pool.trim(1_000); // Moves everything about.
            }
        }
        let expected = match reset_on {
            ResetOn::Release => uses,
            ResetOn::Acquire => uses - tally.created(),
        };
        assert_eq!(tally.resets(), expected);
        assert_eq!(tally.judged(), expected);
    }
}

fn the_judge_is_asked_after_the_reset(backend: Backend) {
    let order = Arc::new(Mutex::new(Vec::new()));
    let (resets, judges) = (order.clone(), order.clone());
    let script = Script::new(|| 0_u32)
        .reset(move |object| {
            resets.lock().unwrap().push(("reset", *object));
            *object = 7;
        })
        .judge(move |object| {
            judges.lock().unwrap().push(("judge", *object));
            true
        });
    let pool = Pool::builder_for(script).backend(backend).build().unwrap();
    *pool.acquire() = 3;
    assert_eq!(*order.lock().unwrap(), [("reset", 3), ("judge", 7)]);
}

/// Keeps what was not grown.
fn frugal(tally: &Arc<Tally>) -> Script<Counted> {
    let tally = tally.clone();
    Script::new(move || tally.object())
        .reset(|object| object.text.clear())
        .judge(|object| object.text.capacity() < 1_000)
}

/// One huge message pinned memory for ever (golang #23199).
fn what_is_not_reusable_is_dropped(backend: Backend) {
    let tally = Tally::new();
    let builder = Pool::builder_for(frugal(&tally)).backend(backend);
    let pool = builder.capacity(2).build().unwrap();
    let (small, mut huge) = (pool.acquire(), pool.acquire());
    huge.text.reserve(10_000);
    drop(huge);
    let stats = at_rest(&pool, &tally);
    assert_eq!((stats.destroyed, stats.discarded), (1, 1));
    drop(small);
    assert_eq!(pool.stats().discarded, 1);
    let held = (pool.try_acquire().unwrap(), pool.try_acquire().unwrap());
    assert!(pool.try_acquire().is_err());
    drop(held);
}

fn what_is_not_reusable_on_acquire_is_replaced(backend: Backend) {
    let tally = Tally::new();
    let builder = Pool::builder_for(frugal(&tally)).backend(backend);
    let builder = builder.reset_on(ResetOn::Acquire);
    let pool = builder.capacity(3).build().unwrap();
    let mut handles: Vec<_> = (0..3).map(|_| pool.acquire()).collect();
    for object in &mut handles {
        object.text.reserve(10_000);
    }
    drop(handles);
    assert_eq!(pool.stats().discarded, 0);
    // All three are looked at and dropped before there is room for one.
    assert!(pool.try_acquire_idle().is_err());
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.discarded, if keeps(backend) { 3 } else { 0 });
    let object = pool.try_acquire().unwrap();
    assert!(object.text.capacity() < 1_000);
    drop(object);
    at_rest(&pool, &tally);
}

/// Hooks that panic when they are told to.
struct Mines {
    tally: Arc<Tally>,
    create: AtomicBool,
    reset: AtomicBool,
    judge: AtomicBool,
}

impl Mines {
    fn new() -> Arc<Self> {
        Arc::new(Mines {
            tally: Tally::new(),
            create: AtomicBool::new(false),
            reset: AtomicBool::new(false),
            judge: AtomicBool::new(false),
        })
    }

    fn script(self: &Arc<Self>) -> Script<Counted> {
        let mines = [self.clone(), self.clone(), self.clone()];
        let [create, reset, judge] = mines;
        let step_on = |mine: &AtomicBool, message: &str| {
            assert!(!mine.swap(false, Ordering::SeqCst), "{message}");
        };
        Script::new(move || {
            step_on(&create.create, "create went wrong");
            create.tally.object()
        })
        .reset(move |object| {
            object.text.clear();
            step_on(&reset.reset, "reset went wrong");
        })
        .judge(move |_| {
            step_on(&judge.judge, "judge went wrong");
            true
        })
    }

    fn arm(mine: &AtomicBool) {
        mine.store(true, Ordering::SeqCst);
    }
}

/// A creation failed and its permit was lost (commons-pool #346).
fn a_panic_in_create_costs_nothing(backend: Backend) {
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(1).build().unwrap();
    for _ in 0..3 {
        Mines::arm(&mines.create);
        assert_eq!(panic_of(|| pool.acquire()), "create went wrong");
        Mines::arm(&mines.create);
        assert_eq!(panic_of(|| pool.try_acquire()), "create went wrong");
        Mines::arm(&mines.create);
        let timed = || pool.acquire_timeout(Duration::ZERO);
        assert_eq!(panic_of(timed), "create went wrong");
    }
    let stats = pool.stats();
    assert_eq!((stats.idle, stats.in_use), (0, 0));
    let object = pool.try_acquire().unwrap();
    assert!(pool.try_acquire().is_err());
    drop(object);
    drop(pool);
    assert_eq!(mines.tally.alive(), 0);
}

/// A reset panicked and the slot was lost for ever (nexus-pool); the poisoned mutex killed the pool
/// (mohu #210).
fn a_panic_in_reset_costs_its_object(backend: Backend) {
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(2).build().unwrap();
    let other = pool.acquire();
    for n in 1..=5 {
        let object = pool.try_acquire().unwrap();
        Mines::arm(&mines.reset);
        assert_eq!(panic_of(|| drop(object)), "reset went wrong");
        let stats = at_rest(&pool, &mines.tally);
        assert_eq!((stats.in_use, stats.idle, stats.discarded), (1, 0, n));
    }
    drop(other);
    let held = (pool.try_acquire().unwrap(), pool.try_acquire().unwrap());
    assert!(pool.try_acquire().is_err());
    drop((held, pool));
    assert_eq!(mines.tally.alive(), 0);
}

fn a_panic_in_reset_on_acquire_costs_its_object(backend: Backend) {
    if !keeps(backend) {
        return; // Nothing is ever reset on acquire.
    }
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let builder = builder.reset_on(ResetOn::Acquire);
    let pool = builder.capacity(1).build().unwrap();
    for n in 1..=5 {
        drop(pool.try_acquire().unwrap());
        Mines::arm(&mines.reset);
        assert_eq!(panic_of(|| pool.acquire()), "reset went wrong");
        let stats = at_rest(&pool, &mines.tally);
        assert_eq!((stats.in_use, stats.idle, stats.discarded), (0, 0, n));
    }
    assert!(pool.try_acquire().is_ok());
}

fn a_panic_in_the_judge_costs_its_object(backend: Backend) {
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(1).build().unwrap();
    let object = pool.acquire();
    Mines::arm(&mines.judge);
    assert_eq!(panic_of(|| drop(object)), "judge went wrong");
    let stats = at_rest(&pool, &mines.tally);
    assert_eq!((stats.in_use, stats.idle, stats.discarded), (0, 0, 1));
    assert!(pool.try_acquire().is_ok());
}

/// An object whose drop panics while its fuse is lit.
struct Bomb {
    counted: Counted,
    fuse: Arc<AtomicBool>,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        let id = self.counted.id;
        assert!(!self.fuse.load(Ordering::SeqCst), "drop of {id} went wrong");
    }
}

/// A pool of [`Bomb`]s, their tally and the fuse of all.
fn bombs(
    backend: Backend,
    capacity: usize,
) -> (Pool<Bomb, Script<Bomb>>, Arc<Tally>, Arc<AtomicBool>) {
    let (tally, fuse) = (Tally::new(), Arc::new(AtomicBool::new(false)));
    let (makes, lit) = (tally.clone(), fuse.clone());
    let script = Script::new(move || Bomb {
        counted: makes.object(),
        fuse: lit.clone(),
    });
    let builder = Pool::builder_for(script).backend(backend);
    (builder.capacity(capacity).build().unwrap(), tally, fuse)
}

fn a_panic_in_drop_of_an_object_costs_nothing_else(backend: Backend) {
    let (pool, tally, fuse) = bombs(backend, 1);
    for _ in 0..3 {
        let object = pool.try_acquire().unwrap();
        fuse.store(true, Ordering::SeqCst);
        assert!(panic_of(|| Pooled::discard(object)).contains("went wrong"));
        fuse.store(false, Ordering::SeqCst);
        assert_eq!(pool.in_use(), 0);
        assert_eq!(tally.alive(), 0);
    }
    // As the pool itself drops an object that comes back too late.
    let object = pool.try_acquire().unwrap();
    pool.close();
    fuse.store(true, Ordering::SeqCst);
    assert!(panic_of(|| drop(object)).contains("went wrong"));
    assert_eq!((pool.in_use(), tally.alive()), (0, 0));
}

fn a_panic_in_drop_does_not_keep_trim_from_the_others(backend: Backend) {
    for way in 0..3 {
        let (pool, tally, fuse) = bombs(backend, 100);
        drop((0..100).map(|_| pool.acquire()).collect::<Vec<_>>());
        fuse.store(true, Ordering::SeqCst);
        let result = catch_unwind(AssertUnwindSafe(|| match way {
            0 => pool.trim(0),
            1 => drop(pool.drain()),
            _ => pool.close(),
        }));
        fuse.store(false, Ordering::SeqCst);
        assert_eq!(result.is_err(), keeps(backend));
        assert_eq!((pool.idle(), pool.in_use(), tally.alive()), (0, 0, 0));
    }
}

fn a_panic_in_drop_at_the_end_frees_the_pool(backend: Backend) {
    let (pool, tally, fuse) = bombs(backend, 10);
    let held = pool.acquire();
    drop((0..9).map(|_| pool.acquire()).collect::<Vec<_>>());
    fuse.store(true, Ordering::SeqCst);
    let result = catch_unwind(AssertUnwindSafe(|| drop(pool)));
    assert_eq!(result.is_err(), keeps(backend));
    assert_eq!(tally.alive(), 1);
    assert!(panic_of(|| drop(held)).contains("went wrong"));
    assert_eq!(tally.alive(), 0);
}

/// A panic while the thread unwinds already would abort the process.
fn a_second_panic_never_comes(backend: Backend) {
    // Reset and judge, on the way of a panic.
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(2).build().unwrap();
    for mine in [&mines.reset, &mines.judge] {
        Mines::arm(mine);
        let first = panic_of(|| {
            let _held = (pool.acquire(), pool.acquire());
            panic!("the first");
        });
        assert_eq!(first, "the first");
        assert!(!mine.load(Ordering::SeqCst), "the hook ran");
        let stats = at_rest(&pool, &mines.tally);
        assert_eq!(stats.in_use, 0);
    }
    assert_eq!(pool.stats().discarded, 2);

    // The drop of an object: discarded, come back too late, at the end of its pool.
    let (pool, tally, fuse) = bombs(backend, 10);
    let held = pool.acquire();
    drop((0..5).map(|_| pool.acquire()).collect::<Vec<_>>());
    fuse.store(true, Ordering::SeqCst);
    let first = panic_of(move || {
        let _held = held;
        let _pool = pool;
        panic!("the first");
    });
    assert_eq!(first, "the first");
    assert_eq!(tally.alive(), 0);

    // The drop of an object whose reset has panicked: the first is the one to see.
    let (tally, fuse) = (Tally::new(), Arc::new(AtomicBool::new(true)));
    let makes = tally.clone();
    let script = Script::new(move || Bomb {
        counted: makes.object(),
        fuse: fuse.clone(),
    })
    .reset(|_| panic!("reset went wrong"));
    let pool = Pool::builder_for(script).backend(backend).build().unwrap();
    let object = pool.acquire();
    assert_eq!(panic_of(|| drop(object)), "reset went wrong");
    assert_eq!((tally.alive(), pool.in_use()), (0, 0));
}

/// Runs `give_up` on the one object of a bounded pool while another thread waits for it; what it
/// panics with is the result.
fn with_a_waiter<T: Send + 'static, L: Lifecycle<T> + Send + Sync + 'static>(
    pool: &Pool<T, L>,
    held: Pooled<T, L>,
    give_up: impl FnOnce(Pooled<T, L>),
) -> Option<String> {
    let waits = pool.stats().waits;
    let waiter = thread::spawn({
        let pool = pool.clone();
        move || pool.acquire_timeout(Duration::MAX).map(drop)
    });
    until(|| pool.stats().waits == waits + 1);
    let result = catch_unwind(AssertUnwindSafe(|| give_up(held)));
    assert_eq!(waiter.join().unwrap(), Ok(()));
    assert_eq!(pool.in_use(), 0);
    result.err().map(|payload| message(&*payload))
}

/// Waiters hung when a hook failed (go-commons-pool #25).
fn a_waiter_is_served_when_a_reset_panics(backend: Backend) {
    let mines = Mines::new();
    let builder = Pool::builder_for(mines.script()).backend(backend);
    let pool = builder.capacity(1).build().unwrap();
    for mine in [&mines.reset, &mines.judge] {
        let held = pool.acquire();
        let panic = with_a_waiter(&pool, held, |held| {
            Mines::arm(mine);
            drop(held);
        });
        assert!(panic.unwrap().contains("went wrong"));
    }
}

fn a_waiter_is_served_when_a_drop_panics(backend: Backend) {
    let (pool, tally, _fuse) = bombs(backend, 1);
    let held = pool.acquire();
    let panic = with_a_waiter(&pool, held, |mut held| {
        // Lit for this object alone: the waiter drops one too.
        held.fuse = Arc::new(AtomicBool::new(true));
        Pooled::discard(held);
    });
    assert!(panic.unwrap().contains("went wrong"));
    drop(pool);
    assert_eq!(tally.alive(), 0);
}

fn a_waiter_is_served_when_a_create_panics(backend: Backend) {
    // The one place is taken by a thread whose create waits to be told, and then panics.
    let tally = Tally::new();
    let (go, told) = mpsc::channel::<()>();
    let (inside, entered) = mpsc::channel();
    let gate = Mutex::new(Some((inside, told)));
    let makes = tally.clone();
    let script = Script::new(move || {
        let first = gate.lock().unwrap().take();
        if let Some((inside, told)) = first {
            inside.send(()).unwrap();
            told.recv().unwrap();
            panic!("create went wrong");
        }
        makes.object()
    });
    let builder = Pool::builder_for(script).backend(backend);
    let pool = builder.capacity(1).build().unwrap();
    let maker = thread::spawn({
        let pool = pool.clone();
        move || panic_of(|| pool.acquire())
    });
    entered.recv().unwrap();
    let waiter = thread::spawn({
        let pool = pool.clone();
        move || pool.acquire_timeout(Duration::MAX).map(drop)
    });
    until(|| pool.stats().waits == 1);
    go.send(()).unwrap();
    assert_eq!(maker.join().unwrap(), "create went wrong");
    assert_eq!(waiter.join().unwrap(), Ok(()));
    assert_eq!(pool.in_use(), 0);
}

fn a_waiter_is_served_by_a_detach_and_a_discard(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(1).build().unwrap();
    let ways: [fn(Pooled<Counted, Counting>); 3] =
        [|held| drop(Pooled::detach(held)), Pooled::discard, drop];
    for way in ways {
        let held = pool.acquire();
        assert_eq!(with_a_waiter(&pool, held, way), None);
        // A detached object may be alive still when the waiter makes the next.
        let stats = pool.stats();
        assert_eq!(
            (stats.created, stats.destroyed),
            (tally.created(), tally.destroyed())
        );
        assert_eq!(stats.idle, tally.alive());
    }
}

/// A place for hooks to find their pool.
type Home<T> = Arc<Mutex<Option<Pool<T, Script<T>>>>>;

fn home_of<T>(home: &Home<T>) -> Option<Pool<T, Script<T>>> {
    home.lock().unwrap().clone()
}

/// Runs `scenario` on a pool whose hooks know it, and undoes the cycle.
fn at_home<T: Send + 'static>(
    backend: Backend,
    script: impl FnOnce(Home<T>) -> Script<T>,
    scenario: impl FnOnce(&Pool<T, Script<T>>),
) {
    let home = Home::default();
    let builder = Pool::builder_for(script(home.clone())).backend(backend);
    let pool = builder.build().unwrap();
    *home.lock().unwrap() = Some(pool.clone());
    scenario(&pool);
    let last = home.lock().unwrap().take();
    drop(last);
}

thread_local! {
    /// How deep in hooks the thread is.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs `f` unless the thread is `most` deep in here already.
fn unless_deep(most: usize, f: impl FnOnce()) {
    if DEPTH.get() < most {
        DEPTH.set(DEPTH.get() + 1);
        f();
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Everything that a hook may want of its pool.
fn use_pool<T, L: Lifecycle<T>>(pool: &Pool<T, L>) {
    let held = (pool.acquire(), pool.try_acquire().unwrap());
    assert!(pool.stats().in_use >= 2);
    drop(held);
    drop(pool.try_acquire_idle());
    drop(pool.acquire_timeout(Duration::ZERO));
    pool.flush();
    pool.reserve(3);
    pool.trim(2);
    drop(pool.drain());
    assert!(!format!("{pool:?}").is_empty());
}

/// Init ran under the lock, so a hook that used the same pool deadlocked (lockfree-object-pool).
fn create_may_use_the_same_pool(backend: Backend) {
    let tally = Tally::new();
    let makes = tally.clone();
    at_home(
        backend,
        move |home| {
            Script::new(move || {
                if let Some(pool) = home_of(&home) {
                    unless_deep(2, || use_pool(&pool));
                }
                makes.object()
            })
        },
        |pool| {
            for _ in 0..10 {
                drop((pool.acquire(), pool.acquire(), pool.acquire()));
                at_rest(pool, &tally);
                pool.trim(0);
            }
        },
    );
    assert_eq!(tally.alive(), 0);
}

fn reset_may_use_the_same_pool(backend: Backend) {
    let tally = Tally::new();
    let makes = tally.clone();
    at_home(
        backend,
        move |home| {
            Script::new(move || makes.object()).reset(move |_| {
                if let Some(pool) = home_of(&home) {
                    unless_deep(2, || use_pool(&pool));
                }
            })
        },
        |pool| {
            for _ in 0..10 {
                drop((pool.acquire(), pool.acquire(), pool.acquire()));
                at_rest(pool, &tally);
            }
        },
    );
    assert_eq!(tally.alive(), 0);
}

fn the_judge_may_use_the_same_pool(backend: Backend) {
    let tally = Tally::new();
    let makes = tally.clone();
    at_home(
        backend,
        move |home| {
            Script::new(move || makes.object()).judge(move |object| {
                if let Some(pool) = home_of(&home) {
                    unless_deep(2, || use_pool(&pool));
                }
                object.id % 2 == 0
            })
        },
        |pool| {
            for _ in 0..10 {
                drop((pool.acquire(), pool.acquire(), pool.acquire()));
                at_rest(pool, &tally);
            }
        },
    );
    assert_eq!(tally.alive(), 0);
}

/// An object whose drop uses its pool.
struct Homesick {
    home: Home<Homesick>,
    _counted: Counted,
}

impl Drop for Homesick {
    fn drop(&mut self) {
        if let Some(pool) = home_of(&self.home) {
            unless_deep(2, || use_pool(&pool));
        }
    }
}

fn homesick(tally: &Arc<Tally>) -> impl FnOnce(Home<Homesick>) -> Script<Homesick> {
    let tally = tally.clone();
    move |home| {
        Script::new(move || Homesick {
            home: home.clone(),
            _counted: tally.object(),
        })
    }
}

fn drop_may_use_the_same_pool(backend: Backend) {
    let tally = Tally::new();
    at_home(backend, homesick(&tally), |pool| {
        for _ in 0..10 {
            let (a, b, c) = (pool.acquire(), pool.acquire(), pool.acquire());
            Pooled::discard(a);
            drop(Pooled::detach(b));
            drop(c);
        }
        assert_eq!(pool.in_use(), 0);
        assert_eq!(pool.idle(), tally.alive());
    });
    assert_eq!(tally.alive(), 0);
}

fn drop_may_use_the_same_pool_in_trim_drain_and_close(backend: Backend) {
    let tally = Tally::new();
    at_home(backend, homesick(&tally), |pool| {
        for _ in 0..3 {
            drop((0..200).map(|_| pool.acquire()).collect::<Vec<_>>());
            pool.trim(150);
            drop(pool.drain());
        }
        assert_eq!(pool.in_use(), 0);
    });
    assert_eq!(tally.alive(), 0);
}

fn a_hook_may_close_the_pool(backend: Backend) {
    // In create: the object that is being made is still good.
    let tally = Tally::new();
    let makes = tally.clone();
    at_home(
        backend,
        move |home| {
            Script::new(move || {
                if let Some(pool) = home_of(&home) {
                    pool.close();
                }
                makes.object()
            })
        },
        |pool| {
            let object = pool.acquire();
            assert_eq!(pool.try_acquire().err(), Some(AcquireError::Closed));
            drop(object);
            assert_eq!(tally.alive(), 0);
            at_rest(pool, &tally);
        },
    );

    // In reset: the object comes back to a pool that is closed by now.
    let tally = Tally::new();
    let makes = tally.clone();
    at_home(
        backend,
        move |home| {
            Script::new(move || makes.object()).reset(move |_| {
                if let Some(pool) = home_of(&home) {
                    pool.close();
                }
            })
        },
        |pool| {
            drop(pool.acquire());
            assert_eq!(tally.alive(), 0);
            at_rest(pool, &tally);
        },
    );
}

/// The end of the pool in the middle of a release: the object that is being released keeps it.
fn reset_may_drop_the_last_pool(backend: Backend) {
    let tally = Tally::new();
    let makes = tally.clone();
    let home: Home<Counted> = Home::default();
    let inside = home.clone();
    let script = Script::new(move || makes.object()).reset(move |_| {
        let last = inside.lock().unwrap().take();
        drop(last);
    });
    let pool = Pool::builder_for(script).backend(backend).build().unwrap();
    *home.lock().unwrap() = Some(pool.clone());
    let (first, second) = (pool.acquire(), pool.acquire());
    drop(pool);
    assert!(Pooled::pool(&first).is_some());
    drop(first);
    assert!(Pooled::pool(&second).is_none());
    assert_eq!(tally.alive(), 1);
    drop(second);
    assert_eq!(tally.alive(), 0);
}

/// Given back within its own reset: a release inside a release.
fn an_object_may_own_a_handle_of_its_pool(backend: Backend) {
    struct Linked {
        next: Option<Pooled<Linked, Hooks>>,
        _counted: Counted,
    }
    struct Hooks(Arc<Tally>);
    impl Lifecycle<Linked> for Hooks {
        fn create(&self) -> Linked {
            Linked {
                next: None,
                _counted: self.0.object(),
            }
        }
        fn reset(&self, object: &mut Linked) {
            object.next = None;
        }
    }
    let tally = Tally::new();
    let builder = Pool::builder_for(Hooks(tally.clone())).backend(backend);
    let pool = builder.build().unwrap();
    for _ in 0..3 {
        let mut list = None;
        for _ in 0..200 {
            let mut node = pool.acquire();
            node.next = list;
            list = Some(node);
        }
        assert_eq!(pool.in_use(), 200);
        drop(list);
        assert_eq!(pool.in_use(), 0);
    }
    // And once more, with the pool gone.
    let mut list = pool.acquire();
    list.next = Some(pool.acquire());
    drop(pool);
    drop(list);
    assert_eq!(tally.alive(), 0);
}

/// Objects were destroyed or freed while still out (bdlcc, cl_qpool).
fn handles_outlive_the_pool(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let mut handles: Vec<_> = (0..300).map(|_| pool.acquire()).collect();
    let mut held = handles.split_off(290);
    drop(handles);
    drop(pool);
    assert_eq!(tally.alive(), 10, "what is idle goes with the pool");
    for object in &mut held {
        object.text.push_str("still mine");
        assert!(Pooled::pool(object).is_none());
    }
    let detached = held.pop().map(Pooled::detach);
    Pooled::discard(held.pop().unwrap());
    assert_eq!(tally.alive(), 9);
    for left in (0..8).rev() {
        drop(held.pop());
        assert_eq!(tally.alive(), left + 1);
    }
    assert_eq!(detached.unwrap().text, "still mine");
    assert_eq!(tally.alive(), 0);
}

fn a_handle_that_ends_elsewhere_ends_the_pool(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.build().unwrap();
    let held = pool.acquire();
    drop((pool.acquire(), pool.acquire()));
    drop(pool);
    assert_eq!(tally.alive(), 1);
    thread::spawn(move || drop(held)).join().unwrap();
    assert_eq!(tally.alive(), 0);
}

fn every_object_is_destroyed_once_whoever_is_last(backend: Backend) {
    // The pool or a handle last; here or on another thread; with idle objects in two caches.
    for pool_last in [false, true] {
        for elsewhere in [false, true] {
            let (builder, tally) = counted(backend);
            let pool = builder.build().unwrap();
            let handles: Vec<_> = (0..10).map(|_| pool.acquire()).collect();
            drop((0..10).map(|_| pool.acquire()).collect::<Vec<_>>());
            thread::scope(|scope| {
                scope.spawn(|| drop((pool.acquire(), pool.acquire())));
            });
            let end = move || {
                if pool_last {
                    drop(handles);
                    drop(pool);
                } else {
                    drop(pool);
                    drop(handles);
                }
            };
            if elsewhere {
                thread::spawn(end).join().unwrap();
            } else {
                end();
            }
            assert_eq!(tally.alive(), 0, "{pool_last} {elsewhere}");
        }
    }
}

fn the_lifecycle_goes_after_the_last_object_and_once(backend: Backend) {
    struct Witness {
        tally: Arc<Tally>,
        ends: Arc<AtomicUsize>,
    }
    impl Lifecycle<Counted> for Witness {
        fn create(&self) -> Counted {
            self.tally.object()
        }
        fn reset(&self, _object: &mut Counted) {
            assert_eq!(self.ends.load(Ordering::SeqCst), 0);
        }
    }
    impl Drop for Witness {
        fn drop(&mut self) {
            assert_eq!(self.tally.alive(), 0);
            self.ends.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (tally, ends) = (Tally::new(), Arc::new(AtomicUsize::new(0)));
    let witness = Witness {
        tally: tally.clone(),
        ends: ends.clone(),
    };
    let pool = Pool::builder_for(witness).backend(backend).build().unwrap();
    let held = (pool.acquire(), pool.acquire());
    drop(pool.acquire());
    drop(pool);
    drop(held.0);
    assert_eq!(ends.load(Ordering::SeqCst), 0);
    drop(held.1);
    assert_eq!(ends.load(Ordering::SeqCst), 1);
}

fn a_forgotten_handle_counts_as_in_use(backend: Backend) {
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(2).build().unwrap();
    // As `mem::forget` does, but remembered at the end, so that nothing leaks for the test's sake.
    let forgotten = ManuallyDrop::new(pool.acquire());
    assert_eq!(pool.in_use(), 1);
    drop(pool.acquire());
    assert_eq!(pool.in_use(), 1);
    let held = pool.try_acquire().unwrap();
    assert!(pool.try_acquire().is_err());
    drop(held);
    let stats = at_rest(&pool, &tally);
    assert_eq!(stats.in_use, 1);
    drop(pool);
    assert_eq!(tally.alive(), 1);
    drop(ManuallyDrop::into_inner(forgotten));
    assert_eq!(tally.alive(), 0);
}

fn objects_without_size(backend: Backend) {
    static ALIVE: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];
    thread_local! {
        static OWN: Cell<usize> = const { Cell::new(0) };
    }
    struct Nothing;
    impl Poolable for Nothing {
        fn init() -> Self {
            ALIVE[OWN.get()].fetch_add(1, Ordering::SeqCst);
            Nothing
        }
        fn reset(&mut self) {}
    }
    impl Drop for Nothing {
        fn drop(&mut self) {
            ALIVE[OWN.get()].fetch_sub(1, Ordering::SeqCst);
        }
    }
    OWN.set(backend as usize);
    let alive = || ALIVE[backend as usize].load(Ordering::SeqCst);

    let pool = Pool::<Nothing>::builder().backend(backend).build().unwrap();
    let handles: Vec<_> = (0..200).map(|_| pool.acquire()).collect();
    assert_eq!((alive(), pool.in_use()), (200, 200));
    drop(handles);
    assert_eq!(alive(), if keeps(backend) { 200 } else { 0 });
    let raw = Pooled::into_raw(pool.acquire());
    // SAFETY: from `into_raw` just above, and taken back once.
    let object: Pooled<Nothing> = unsafe { Pooled::from_raw(raw) };
    drop(Pooled::detach(object));
    assert_eq!(alive(), if keeps(backend) { 199 } else { 0 });
    drop(pool);
    assert_eq!(alive(), 0);

    // As plain as can be.
    let pool = Pool::<()>::builder().backend(backend).build().unwrap();
    assert_eq!(*pool.acquire(), ());
    assert_eq!(pool.in_use(), 0);
}

fn objects_with_alignment(backend: Backend) {
    macro_rules! aligned {
        ($align:literal) => {{
            #[repr(align($align))]
            struct Aligned(u8);
            impl Poolable for Aligned {
                fn init() -> Self {
                    Aligned(1)
                }
                fn reset(&mut self) {
                    self.0 = 1;
                }
            }
            let builder = Pool::<Aligned>::builder().backend(backend);
            let pool = builder.prefill(3).build().unwrap();
            for _ in 0..3 {
                let mut handles: Vec<_> = (0..100).map(|_| pool.acquire()).collect();
                for object in &mut handles {
                    assert_eq!((&raw const **object).addr() % $align, 0);
                    assert_eq!(object.0, 1);
                    object.0 = 2;
                }
            }
            let raw = Pooled::into_raw(pool.acquire());
            // SAFETY: from `into_raw` just above, and taken back once.
            drop(unsafe { Pooled::<Aligned>::from_raw(raw) });
            assert_eq!(Pooled::detach(pool.acquire()).0, 1);
        }};
    }
    aligned!(16);
    aligned!(64);
    aligned!(128);
    aligned!(4096);
}

fn large_objects(backend: Backend) {
    type Large = [u8; 1 << 20];
    let builder = Pool::<Large>::builder().backend(backend);
    let pool = builder.capacity(4).build().unwrap();
    for _ in 0..3 {
        let mut handles: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
        for (n, object) in handles.iter_mut().enumerate() {
            assert!(object.iter().all(|&byte| byte == 0));
            object[n] = 1;
            *object.last_mut().unwrap() = 1;
        }
    }
    assert_eq!(pool.in_use(), 0);
}

/// Large objects were copied or overflowed the stack (crossbeam #112, regex-automata).
fn objects_larger_than_the_stack(backend: Backend) {
    struct Huge([u8; 4 << 20]);
    impl Poolable for Huge {
        fn init() -> Self {
            unreachable!("a pool makes objects in place");
        }
        fn reset(&mut self) {
            self.0[0] = 0;
        }
        fn init_in(mut place: Place<'_, Self>) -> Ready<'_, Self> {
            // SAFETY: the place has room for one.
            unsafe { place.as_mut_ptr().write_bytes(0, 1) };
            // SAFETY: all zero is a valid array.
            unsafe { place.assume_init() }
        }
    }
    let small_stack = thread::Builder::new().stack_size(256 << 10);
    let on_small_stack = small_stack.spawn(move || {
        let builder = Pool::<Huge>::builder().backend(backend);
        let pool = builder.capacity(2).build().unwrap();
        for _ in 0..3 {
            let (mut a, b) = (pool.acquire(), pool.acquire());
            assert_eq!((a.0[0], b.0[0]), (0, 0));
            a.0[0] = 1;
            let place = &raw const *a;
            let moved = a;
            assert_eq!(place, &raw const *moved, "the object stays where it is");
        }
    });
    on_small_stack.unwrap().join().unwrap();
}

fn objects_that_borrow(backend: Backend) {
    let words = [String::from("a"), String::from("b")];
    let found = RefCell::new(Vec::new());
    {
        let pool = Pool::builder_with(Vec::<&str>::new, |borrowed| {
            found.borrow_mut().append(borrowed);
        })
        .backend(backend)
        .build()
        .unwrap();
        for word in &words {
            pool.acquire().push(word);
        }
        assert!(pool.acquire().is_empty());
    }
    assert_eq!(found.into_inner(), ["a", "b"]);
}

/// Hooks that count runs on several threads at once, each use wiped exactly once.
#[test]
fn resets_across_threads_are_exact() {
    for backend in Backend::ALL {
        let (builder, tally) = counted(backend);
        let pool = builder.capacity(64).build().unwrap();
        within_reason(move || {
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..2_000 {
                            let mut object = pool.acquire();
                            assert!(object.text.is_empty());
                            object.text.push('x');
                        }
                    });
                }
            });
            assert_eq!(tally.resets(), 8_000);
            at_rest(&pool, &tally);
        });
    }
}

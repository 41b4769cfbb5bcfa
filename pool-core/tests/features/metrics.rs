//! What the recorder of the `metrics` facade hears of a pool, and when.

use std::cell::RefCell;
use std::collections::BTreeMap;

use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use pool_core::{Backend, Pool, Poolable, unsync};

/// Each pool's metrics, by its name. (To look takes what was recorded since the last time.)
fn look(snapshotter: &Snapshotter) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut pools = BTreeMap::<_, BTreeMap<_, _>>::new();
    for (key, _, _, value) in snapshotter.snapshot().into_vec() {
        let (_, key) = key.into_parts();
        let labels: Vec<_> = key.labels().collect();
        assert!(labels.len() == 1 && labels[0].key() == "pool", "{labels:?}");
        let value = match value {
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Counter(value) => value as f64,
            DebugValue::Histogram(_) => panic!("a histogram"),
        };
        let pool = pools.entry(labels[0].value().to_owned()).or_default();
        pool.insert(key.name().to_owned(), value);
    }
    pools
}

#[test]
fn stats_are_recorded_when_asked_for() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let pool = Pool::<String>::builder()
            .backend(Backend::Batched)
            .capacity(100)
            .prefill(3)
            .name("orders")
            .build()
            .unwrap();
        let held = pool.acquire();
        // Nothing is counted as it happens.
        assert!(look(&snapshotter).is_empty());

        pool.record_metrics();
        let stats = pool.stats();
        let recorded = look(&snapshotter).remove("orders").unwrap();
        let expected = [
            ("pool_objects_idle", stats.idle),
            ("pool_objects_in_use", stats.in_use),
            ("pool_objects_cached", stats.cached),
            ("pool_objects_peak", stats.peak_live),
            ("pool_waiting", stats.waiting),
            ("pool_capacity", 100),
            ("pool_creations_total", stats.created),
            ("pool_destructions_total", stats.destroyed),
            ("pool_discards_total", stats.discarded),
            ("pool_exchanges_total", stats.exchanges),
            ("pool_revocations_total", stats.revocations),
            ("pool_waits_total", stats.waits),
            (
                "pool_wait_microseconds_total",
                stats.wait_time.as_micros() as usize,
            ),
            ("pool_saturations_total", stats.saturated),
        ];
        let expected: BTreeMap<_, _> = expected
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value as f64))
            .collect();
        assert_eq!(recorded, expected);
        assert_eq!(
            (
                recorded["pool_objects_idle"],
                recorded["pool_objects_in_use"]
            ),
            (2.0, 1.0)
        );

        // The next time, what is then.
        drop(held);
        drop(pool.drain());
        pool.record_metrics();
        let recorded = look(&snapshotter).remove("orders").unwrap();
        assert_eq!(recorded["pool_objects_in_use"], 0.0);
        assert_eq!(recorded["pool_destructions_total"], 3.0);

        // A bound that is moved, and one that is lifted.
        for (capacity, expected) in [(Some(7), 7.0), (None, f64::INFINITY)] {
            pool.set_capacity(capacity);
            pool.record_metrics();
            let recorded = look(&snapshotter).remove("orders").unwrap();
            assert_eq!(recorded["pool_capacity"], expected);
        }
    });
}

#[test]
fn pools_are_told_apart_by_name() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let pool = Pool::<u64>::builder().prefill(1).name("a").build().unwrap();
        let alone = unsync::Pool::<u64>::builder().prefill(2).name("b");
        let alone = alone.build().unwrap();
        let nameless = Pool::<u64>::builder().prefill(3).build().unwrap();
        pool.record_metrics();
        alone.record_metrics();
        nameless.record_metrics();
    });
    let recorded = look(&snapshotter);
    assert_eq!(recorded.len(), 3);
    for (name, idle) in [("a", 1.0), ("b", 2.0), ("", 3.0)] {
        let recorded = &recorded[name];
        assert_eq!(recorded["pool_objects_idle"], idle, "{name:?}");
        assert!(!recorded.contains_key("pool_capacity"));
        assert_eq!(recorded.len(), 13);
    }
}

#[test]
fn each_metric_is_described() {
    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        pool_core::describe_metrics();
        let pool = Pool::<u64>::builder().capacity(1).build().unwrap();
        pool.record_metrics();
    });
    let metrics = snapshotter.snapshot().into_vec();
    assert_eq!(metrics.len(), 14);
    for (key, _, description, _) in metrics {
        assert!(description.is_some(), "{key:?}");
    }
}

/// A reset runs where no lock is held, and so may record.
#[test]
fn from_a_hook() {
    thread_local!(static POOL: RefCell<Option<Pool<Recording>>> = const { RefCell::new(None) });

    struct Recording;

    impl Poolable for Recording {
        fn init() -> Self {
            Recording
        }

        fn reset(&mut self) {
            let pool = POOL.with_borrow(Clone::clone);
            pool.expect("set below").record_metrics();
        }
    }

    let recorder = DebuggingRecorder::new();
    let snapshotter = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || {
        let pool = Pool::<Recording>::builder().name("hooks").build().unwrap();
        POOL.set(Some(pool.clone()));
        drop(pool.acquire());
        POOL.take();
    });
    // In the reset, the object is still out.
    let recorded = look(&snapshotter).remove("hooks").unwrap();
    assert_eq!(recorded["pool_objects_in_use"], 1.0);
}

//! The counts of pools as gauges and counters of the `metrics` facade.
//!
//! Nothing is recorded as it happens: a service calls `record_metrics` from a timer. The recorder is user code, which runs
//! under no lock.

use ::metrics::{SharedString, counter, describe_counter, describe_gauge, gauge};

use crate::lifecycle::Recycle;
use crate::observe::stats::Stats;
use crate::pool::Pool;
use crate::unsync;

/// A metric's name, what it means, and where it is in [`Stats`].
type Metric = (&'static str, &'static str, fn(&Stats) -> usize);

/// What goes up and down.
const GAUGES: [Metric; 5] = [
    (
        "pool_objects_idle",
        "Objects waiting to be acquired",
        |stats| stats.idle,
    ),
    ("pool_objects_in_use", "Objects out in handles", |stats| {
        stats.in_use
    }),
    (
        "pool_objects_cached",
        "Those idle objects that are in thread caches",
        |stats| stats.cached,
    ),
    (
        "pool_objects_peak",
        "The most objects alive at a time",
        |stats| stats.peak_live,
    ),
    ("pool_waiting", "Acquires that wait now", |stats| {
        stats.waiting
    }),
];

/// What only grows.
const COUNTERS: [Metric; 8] = [
    (
        "pool_creations_total",
        "Objects that joined the pool",
        |stats| stats.created,
    ),
    (
        "pool_destructions_total",
        "Objects that left the pool",
        |stats| stats.destroyed,
    ),
    (
        "pool_discards_total",
        "Objects dropped because they were not reusable",
        |stats| stats.discarded,
    ),
    (
        "pool_exchanges_total",
        "Visits of thread caches to the depot",
        |stats| stats.exchanges,
    ),
    (
        "pool_revocations_total",
        "Times that thread caches were called in",
        |stats| stats.revocations,
    ),
    ("pool_waits_total", "Acquires that had to wait", |stats| {
        stats.waits
    }),
    (
        "pool_wait_microseconds_total",
        "How long acquires waited",
        |stats| stats.wait_time.as_micros() as usize,
    ),
    (
        "pool_saturations_total",
        "Acquires that were refused because too many waited",
        |stats| stats.saturated,
    ),
];

const CAPACITY: &str = "pool_capacity";

/// Describes the metrics of pools to the recorder. Call it once, after the recorder is installed.
///
/// Requires feature `metrics`.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// // After the recorder was installed:
/// pool_core::describe_metrics();
///
/// let orders = Pool::<String>::builder().name("orders").build()?;
/// // And from a timer of the service:
/// orders.record_metrics();
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub fn describe_metrics() {
    for (name, meaning, _) in GAUGES {
        describe_gauge!(name, meaning);
    }
    for (name, meaning, _) in COUNTERS {
        describe_counter!(name, meaning);
    }
    describe_gauge!(
        CAPACITY,
        "The most objects alive at once, where there is a bound"
    );
}

/// Hands the counts of a pool on. Of one without a bound, the recorder hears so if the pool `was_resized`: it may know an
/// earlier one, and cannot be told to forget it.
fn record(name: Option<&str>, was_resized: bool, stats: &Stats) {
    let name = SharedString::from(name.unwrap_or_default().to_owned());
    for (metric, _, value) in GAUGES {
        gauge!(metric, "pool" => name.clone()).set(value(stats) as f64);
    }
    for (metric, _, value) in COUNTERS {
        counter!(metric, "pool" => name.clone()).absolute(value(stats) as u64);
    }
    let unbounded = was_resized.then_some(f64::INFINITY);
    if let Some(capacity) = stats.capacity.map(|capacity| capacity as f64).or(unbounded) {
        gauge!(CAPACITY, "pool" => name).set(capacity);
    }
}

impl<T, L: Recycle<T> + ?Sized> Pool<T, L> {
    /// Passes the pool's [`stats`](Self::stats) to the recorder of the `metrics` facade. Call it from a timer; acquires
    /// and releases pay nothing.
    ///
    /// Requires feature `metrics`.
    ///
    /// The label `pool` is the pool's [name](crate::Builder::name). Give each pool a name, or they overwrite each other.
    ///
    /// | metric | kind | |
    /// | --- | --- | --- |
    /// | `pool_objects_idle` | gauge | [`Stats::idle`] |
    /// | `pool_objects_in_use` | gauge | [`Stats::in_use`] |
    /// | `pool_objects_cached` | gauge | [`Stats::cached`] |
    /// | `pool_objects_peak` | gauge | [`Stats::peak_live`] |
    /// | `pool_waiting` | gauge | [`Stats::waiting`] |
    /// | `pool_capacity` | gauge | [`Stats::capacity`], in a pool with a bound; infinity once it was [lifted](Self::set_capacity) |
    /// | `pool_creations_total` | counter | [`Stats::created`] |
    /// | `pool_destructions_total` | counter | [`Stats::destroyed`] |
    /// | `pool_discards_total` | counter | [`Stats::discarded`] |
    /// | `pool_exchanges_total` | counter | [`Stats::exchanges`] |
    /// | `pool_revocations_total` | counter | [`Stats::revocations`] |
    /// | `pool_waits_total` | counter | [`Stats::waits`] |
    /// | `pool_wait_microseconds_total` | counter | [`Stats::wait_time`] |
    /// | `pool_saturations_total` | counter | [`Stats::saturated`] |
    pub fn record_metrics(&self) {
        record(self.name(), self.was_resized(), &self.stats());
    }
}

impl<T, L: Recycle<T> + ?Sized> unsync::Pool<T, L> {
    /// As [`pool_core::Pool::record_metrics`](Pool::record_metrics).
    ///
    /// Requires feature `metrics`.
    pub fn record_metrics(&self) {
        record(self.name(), false, &self.stats());
    }
}

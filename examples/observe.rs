//! A service whose pools can be watched: their stats as Prometheus text, over HTTP.
//!
//! ```text
//! cargo run --release --example observe
//! curl http://127.0.0.1:9464/metrics
//! ```
//!
//! What it shows: that looking costs the threads that use a pool nothing. Stats are gathered when
//! they are asked for, from what each thread writes for itself; between two scrapes nothing is
//! counted in common. The text is in the OpenMetrics format, which Prometheus scrapes:
//!
//! ```text
//! # HELP pool_objects_in_use Objects out in handles
//! # TYPE pool_objects_in_use gauge
//! pool_objects_in_use{pool="orders",backend="batched"} 12
//! ```
//!
//! Two pools are used by `--threads` threads until Ctrl-C, or until `--scrapes` have been served.
//!
//! Exit codes: 0, all went well; 1, a request cannot be waited for; 2, an option has to change, such
//! as an address that is in use.

use std::fmt;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::Parser;
use pool_core::{BuildError, Pool, Poolable, Stats};
use pool_examples::cli::{Failure, PoolArgs, finish, print};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text::encode};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use tiny_http::{Header, Method, Request, Response, Server};

/// Uses two pools, and serves their stats as Prometheus text over HTTP.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Exit codes: 0 success; 1 a request cannot be waited for; 2 an option has to \
                  change, such as an address that is in use."
)]
struct Args {
    /// Where to serve /metrics; with port 0 the system picks one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9464")]
    listen: SocketAddr,

    /// How many scrapes to serve before the end [default: no end]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    scrapes: Option<u64>,

    /// Threads that use the pools
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(0..=256))]
    threads: u16,

    #[command(flatten)]
    pool: PoolArgs,
}

/// What the service works on.
#[derive(Debug, Poolable)]
struct Order {
    id: u64,
    #[poolable(max_capacity = 4096)]
    note: String,
}

fn main() -> ExitCode {
    finish(work(&Args::parse()))
}

/// Serves until the end that `args` ask for.
fn work(args: &Args) -> Result<String, Failure> {
    let unbuilt = |error: BuildError| Failure::Input(error.to_string());
    let orders = args.pool.builder::<Order>().capacity(1_000).name("orders");
    let orders = orders.build().map_err(unbuilt)?;
    let buffers = args.pool.builder::<Vec<u8>>().name("buffers");
    let buffers = buffers.build().map_err(unbuilt)?;

    let mut registry = Registry::default();
    registry.register_collector(Box::new(Observed(vec![
        Source::new(&orders),
        Source::new(&buffers),
    ])));
    let server = Server::http(args.listen).map_err(|error| {
        Failure::Input(format!(
            "--listen {}: {error}; give another address, or port 0 for any that is free",
            args.listen
        ))
    })?;
    let address = server.server_addr();
    print(&format!("listening: http://{address}/metrics\n"))
        .map_err(|error| Failure::Run(format!("cannot write to standard output: {error}")))?;

    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for n in 0..args.threads {
            let (orders, buffers, stop) = (&orders, &buffers, &stop);
            scope.spawn(move || trade(n.into(), orders, buffers, stop));
        }
        let served = serve(&server, &registry, args.scrapes);
        stop.store(true, Ordering::Relaxed);
        served
    })
    .map_err(|error| Failure::Run(format!("cannot wait for requests: {error}")))?;
    Ok(format!("orders_in_use: {}\n", orders.in_use()))
}

/// Uses the pools, as a service would, until it is told to stop.
fn trade(thread: u64, orders: &Pool<Order>, buffers: &Pool<Vec<u8>>, stop: &AtomicBool) {
    for id in (thread..).step_by(1_000) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let mut order = orders.acquire();
        order.id = id;
        let mut buffer = buffers.acquire();
        buffer.extend_from_slice(&order.id.to_le_bytes());
        // One in a hundred grows beyond what is worth keeping.
        let note = if id % 100 == 0 { 8_000 } else { 40 };
        order.note.extend(std::iter::repeat_n('.', note));
        thread::sleep(Duration::from_micros(100));
    }
}

/// Answers requests until `scrapes` of them were for the metrics.
fn serve(server: &Server, registry: &Registry, scrapes: Option<u64>) -> std::io::Result<()> {
    let mut served = 0;
    while scrapes.is_none_or(|scrapes| served < scrapes) {
        let request = server.recv()?;
        served += u64::from(answer(request, registry));
    }
    Ok(())
}

/// Answers a request; says whether it was a scrape.
fn answer(request: Request, registry: &Registry) -> bool {
    let path = request.url().split('?').next().unwrap_or_default();
    let scrape = path == "/metrics" && *request.method() == Method::Get;
    let (status, content, text) = if scrape {
        let mut text = String::new();
        encode(&mut text, registry).expect("a String takes whatever is written");
        (200, OPEN_METRICS, text)
    } else if path == "/metrics" {
        let text = "only GET is served here\n".to_owned();
        (405, PLAIN, text)
    } else {
        (404, PLAIN, "the stats are at /metrics\n".to_owned())
    };
    let content = Header::from_bytes("Content-Type", content).expect("the header is well-formed");
    let mut response = Response::from_string(text)
        .with_status_code(status)
        .with_header(content);
    if status == 405 {
        let allow = Header::from_bytes("Allow", "GET").expect("the header is well-formed");
        response.add_header(allow);
    }
    // One who asked and left is none of the service's trouble.
    let _ = request.respond(response);
    scrape
}

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// A pool to be looked at, whatever it is of.
struct Source {
    name: String,
    backend: &'static str,
    stats: Box<dyn Fn() -> Stats + Send + Sync>,
}

impl Source {
    fn new<T: Poolable + Send + 'static>(pool: &Pool<T>) -> Source {
        let name = pool.name().unwrap_or("unnamed").to_owned();
        let backend = pool.backend().name();
        let pool = pool.clone();
        Source {
            name,
            backend,
            stats: Box::new(move || pool.stats()),
        }
    }
}

/// What is served: the name (a counter's gets `_total` at its end), what it means, and where it is
/// in [`Stats`].
type Metric = (&'static str, &'static str, fn(&Stats) -> usize);

/// What only grows.
const COUNTERS: [Metric; 8] = [
    ("pool_creations", "Objects that joined the pool", |stats| {
        stats.created
    }),
    ("pool_destructions", "Objects that left the pool", |stats| {
        stats.destroyed
    }),
    (
        "pool_discards",
        "Objects dropped on their way back because they were not reusable",
        |stats| stats.discarded,
    ),
    (
        "pool_exchanges",
        "Visits of thread caches to the depot",
        |stats| stats.exchanges,
    ),
    (
        "pool_revocations",
        "Times that thread caches were called in",
        |stats| stats.revocations,
    ),
    ("pool_waits", "Acquires that had to wait", |stats| {
        stats.waits
    }),
    (
        "pool_wait_microseconds",
        "How long acquires waited",
        |stats| stats.wait_time.as_micros() as usize,
    ),
    (
        "pool_saturations",
        "Acquires that were refused because too many waited",
        |stats| stats.saturated,
    ),
];

/// What goes up and down.
const GAUGES: [Metric; 5] = [
    ("pool_objects_idle", "Objects to be acquired", |stats| {
        stats.idle
    }),
    (
        "pool_objects_cached",
        "Those idle objects that are in thread caches",
        |stats| stats.cached,
    ),
    ("pool_objects_in_use", "Objects out in handles", |stats| {
        stats.in_use
    }),
    (
        "pool_objects_peak",
        "The most objects alive at a time",
        |stats| stats.peak_live,
    ),
    ("pool_waiting", "Acquires that wait now", |stats| {
        stats.waiting
    }),
];

/// The pools that are watched.
struct Observed(Vec<Source>);

impl fmt::Debug for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|source| &source.name))
            .finish()
    }
}

impl Collector for Observed {
    /// Looks at each pool once, so that the numbers of a scrape belong together.
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats: Vec<_> = self.0.iter().map(|source| (source.stats)()).collect();
        let seen = || self.0.iter().zip(&stats);
        for (name, help, value) in COUNTERS {
            let values = seen().map(|(source, stats)| {
                let value = value(stats) as u64;
                (source, ConstCounter::new(value))
            });
            family(&mut encoder, name, help, values)?;
        }
        for (name, help, value) in GAUGES {
            let values = seen().map(|(source, stats)| {
                let value = value(stats) as i64;
                (source, ConstGauge::new(value))
            });
            family(&mut encoder, name, help, values)?;
        }
        let bounds = seen().filter_map(|(source, stats)| {
            let capacity = stats.capacity? as i64;
            Some((source, ConstGauge::new(capacity)))
        });
        let help = "The most objects alive at once, where there is a bound";
        family(&mut encoder, "pool_capacity", help, bounds)
    }
}

/// Writes one metric of several pools.
fn family<'a, M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl Iterator<Item = (&'a Source, M)>,
) -> fmt::Result {
    let mut values = values.peekable();
    let Some((_, first)) = values.peek() else {
        return Ok(());
    };
    let mut metric = encoder.encode_descriptor(name, help, None, first.metric_type())?;
    for (source, value) in values {
        let labels = [("pool", source.name.as_str()), ("backend", source.backend)];
        value.encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

//! What a subscriber of the `tracing` facade hears of a pool: growth, exhaustion, revocation, waiting,
//! closing, and never a hit. And what it may do: use the same pool, and panic.

use std::cell::RefCell;
use std::fmt::{self, Debug, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Pool, unsync};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, subscriber};

/// Writes each event as a line, and calls `then`.
struct Listener<F> {
    lines: Arc<Mutex<Vec<String>>>,
    then: F,
}

impl<F: Fn(&str) + 'static> Listener<F> {
    fn new(then: F) -> (Self, Arc<Mutex<Vec<String>>>) {
        let lines = Arc::default();
        let listener = Listener {
            lines: Arc::clone(&lines),
            then,
        };
        (listener, lines)
    }
}

/// An event's message, then its fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.message, "{value:?}").unwrap();
        } else {
            write!(self.fields, " {field}={value:?}").unwrap();
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.message, self.fields)
    }
}

impl<F: Fn(&str) + 'static> Subscriber for Listener<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "pool_core"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        unreachable!("a pool has no spans")
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        assert_eq!(*event.metadata().level(), tracing::Level::DEBUG);
        let mut line = Line::default();
        event.record(&mut line);
        let line = line.to_string();
        self.lines.lock().unwrap().push(line.clone());
        (self.then)(&line);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// What is told on this thread while `f` runs.
fn told(f: impl FnOnce()) -> Vec<String> {
    let (listener, lines) = Listener::new(|_| {});
    subscriber::with_default(listener, f);
    Arc::try_unwrap(lines)
        .map(|lines| lines.into_inner().unwrap())
        .unwrap_or_default()
}

/// An object of 8 bytes behind its header.
const BLOCK: usize = size_of::<(usize, [u32; 2], u64)>();

fn pool(backend: Backend, capacity: usize) -> Pool<u64> {
    let builder = Pool::builder().backend(backend).capacity(capacity);
    builder.name("orders").build().unwrap()
}

#[test]
fn growth_is_told_with_its_size() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let lines = told(|| {
            let builder = Pool::<u64>::builder().backend(backend).grow_by(2);
            let pool = builder.name("orders").build().unwrap();
            let held: Vec<_> = (0..5).map(|_| pool.acquire()).collect();
            std::mem::forget((held, pool));
        });
        let grew = format!("grew pool=\"orders\" blocks=2 bytes={}", 2 * BLOCK);
        assert_eq!(lines, [&*grew; 3], "{backend}");
    }
    let lines = told(|| {
        let pool = Pool::<u64>::builder().prefill(100).build().unwrap();
        std::mem::forget(pool);
    });
    assert_eq!(lines, [format!("grew blocks=100 bytes={}", 100 * BLOCK)]);
}

#[test]
fn a_hit_is_never_told() {
    for backend in Backend::ALL {
        let pool = pool(backend, 10);
        drop(pool.acquire());
        let lines = told(|| {
            for _ in 0..1_000 {
                drop(pool.acquire());
                drop(pool.try_acquire());
            }
        });
        assert_eq!(lines, [""; 0], "{backend}");
    }
}

#[test]
fn exhaustion_is_told() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let held = pool.acquire();
        let lines = told(|| {
            assert_eq!(pool.try_acquire().unwrap_err(), AcquireError::Exhausted);
            assert!(pool.try_acquire_many(2).is_err());
        });
        let exhausted: Vec<_> = lines
            .iter()
            .filter(|line| line.starts_with("exhausted"))
            .collect();
        assert_eq!(
            exhausted,
            [
                "exhausted pool=\"orders\" objects=1",
                "exhausted pool=\"orders\" objects=2"
            ],
            "{backend}"
        );
        drop(held);
    }
}

#[test]
fn a_revocation_is_told_by_the_call_that_made_it() {
    let pool = pool(Backend::Batched, 2);
    // Cached by this thread, and found by the other.
    drop((pool.acquire(), pool.acquire()));
    let before = pool.stats().revocations;
    let lines = thread::scope(|scope| {
        let other = scope.spawn(|| told(|| drop((pool.acquire(), pool.acquire()))));
        other.join().unwrap()
    });
    let times = pool.stats().revocations - before;
    let told_times: usize = lines
        .iter()
        .filter_map(|line| line.strip_prefix("recalled the caches pool=\"orders\" times="))
        .map(|times| times.parse::<usize>().unwrap())
        .sum();
    // Where the system has no barrier for it, nothing is ever cached.
    assert_eq!(told_times, times, "{lines:?}");
}

#[test]
fn waiting_and_closing_are_told() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let held = pool.acquire();
        let lines = told(|| {
            let waited = pool.acquire_timeout(Duration::from_millis(1));
            assert_eq!(waited.unwrap_err(), AcquireError::Timeout);
            pool.close();
            pool.close();
        });
        let lines: Vec<_> = lines
            .iter()
            .filter(|line| !line.starts_with("recalled"))
            .collect();
        assert_eq!(
            lines,
            [
                "exhausted pool=\"orders\" objects=1",
                "waits pool=\"orders\" objects=1",
                "closed pool=\"orders\" idle=0",
            ],
            "{backend}"
        );
        drop(held);
    }
}

#[cfg(feature = "async")]
#[test]
fn a_task_that_waits_is_told_once() {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    let pool = pool(Backend::Batched, 1);
    let held = pool.acquire();
    let lines = told(|| {
        let mut waiting = pin!(pool.acquire_async());
        for _ in 0..3 {
            let polled = waiting
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending));
        }
    });
    let waits = lines.iter().filter(|line| line.starts_with("waits"));
    assert_eq!(waits.count(), 1, "{lines:?}");
    drop(held);
}

#[cfg(feature = "async")]
#[test]
fn how_long_a_wait_was_is_told() {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let held = pool.acquire();
        let mut waiting = pin!(pool.acquire_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        thread::sleep(Duration::from_millis(2));
        drop(held);
        let lines = told(|| {
            let polled = waiting.as_mut().poll(&mut context);
            assert!(matches!(polled, Poll::Ready(Ok(_))));
        });
        let start = "waited pool=\"orders\" objects=1 micros=";
        let micros = lines.iter().find_map(|line| line.strip_prefix(start));
        let micros: u64 = micros.expect("the wait is told").parse().unwrap();
        assert!(micros >= 2_000, "{lines:?}");
    }
}

#[test]
fn a_pool_for_one_thread_tells_the_same() {
    let lines = told(|| {
        let pool = unsync::Pool::<u64>::builder().capacity(2).grow_by(1);
        let pool = pool.name("orders").build().unwrap();
        let held = (pool.acquire(), pool.acquire());
        assert!(pool.try_acquire().is_err());
        assert!(pool.try_acquire_idle().is_err());
        drop(held);
        drop(pool.acquire());
        pool.close();
        pool.close();
        assert!(pool.try_acquire().is_err());
    });
    let grew = format!("grew pool=\"orders\" blocks=1 bytes={BLOCK}");
    assert_eq!(
        lines,
        [
            &*grew,
            &*grew,
            "exhausted pool=\"orders\" objects=1",
            "exhausted pool=\"orders\" objects=1",
            "closed pool=\"orders\" idle=2",
        ]
    );
}

#[test]
fn a_subscriber_may_use_the_same_pool() {
    for backend in Backend::ALL {
        // On a thread of its own: one that waits for itself would hang the test otherwise.
        let (done, finished) = mpsc::channel();
        thread::spawn(move || {
            thread_local!(static POOL: RefCell<Option<Pool<u64>>> = const { RefCell::new(None) });
            let pool = pool(backend, 4);
            POOL.set(Some(pool.clone()));
            let (listener, lines) = Listener::new(|_| {
                let Some(pool) = POOL.with_borrow(Clone::clone) else {
                    return;
                };
                // All that takes the locks.
                drop(pool.try_acquire());
                drop(pool.try_acquire_many(3));
                drop(pool.drain());
                pool.trim(1);
                pool.reserve(2);
                pool.flush();
                let _ = pool.stats();
            });
            subscriber::with_default(listener, || {
                let held: Vec<_> = (0..4).map(|_| pool.acquire()).collect();
                assert!(pool.try_acquire().is_err());
                assert!(pool.acquire_timeout(Duration::from_millis(1)).is_err());
                drop(held);
                pool.reserve(4);
                drop(pool.drain());
                pool.close();
            });
            assert_eq!(pool.stats().in_use, 0);
            POOL.take();
            assert!(!lines.lock().unwrap().is_empty());
            done.send(()).unwrap();
        });
        let finished = finished.recv_timeout(Duration::from_secs(60));
        assert_eq!(finished, Ok(()), "{backend}");
    }
}

#[test]
fn a_subscriber_that_panics_costs_no_object() {
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for backend in Backend::ALL {
            let pool = pool(backend, 2);
            let (listener, _) = Listener::new(|_| panic!("a broken subscriber"));
            subscriber::with_default(listener, || {
                let held = (pool.acquire(), pool.acquire());
                assert!(pool.try_acquire().is_err());
                drop(held);
                drop(pool.acquire_many(2));
            });
            let stats = pool.stats();
            assert_eq!(
                (stats.in_use, stats.created - stats.destroyed),
                (0, stats.idle)
            );
            assert_eq!(pool.try_acquire_many(2).unwrap().len(), 2, "{backend}");
        }
    }));
    std::panic::set_hook(quiet);
    outcome.unwrap();
}

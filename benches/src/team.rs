//! The threads of one side of a comparison. They live as long as the side, so what they cache stays
//! warm, and they start each stretch together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::clock::{Span, measure};

/// What a thread does when told a number of turns. Made on the thread that runs it.
pub type Work = Box<dyn FnMut(usize)>;

/// The same for work that takes its own time, and gives what it took.
pub type TimedWork = Box<dyn FnMut(usize) -> Span>;

/// Threads that wait for orders.
#[derive(Debug)]
pub struct Team {
    workers: Vec<Worker>,
}

#[derive(Debug)]
struct Worker {
    /// Taken when the team is dismissed.
    orders: Option<mpsc::Sender<Order>>,
    reports: mpsc::Receiver<Span>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Order {
    turns: usize,
    /// How many have not arrived yet.
    missing: Arc<AtomicUsize>,
}

impl Team {
    /// A team of `threads`; `work` says what the thread with a given index does.
    pub fn new(threads: usize, work: impl Fn(usize) -> Work + Send + Sync + 'static) -> Self {
        Self::timed(threads, move |index| {
            let mut work = work(index);
            Box::new(move |turns| measure(|| work(turns)))
        })
    }

    /// A team whose work takes its own time, such as that of another process.
    pub fn timed(
        threads: usize,
        work: impl Fn(usize) -> TimedWork + Send + Sync + 'static,
    ) -> Self {
        let work = Arc::new(work);
        let workers = (0..threads).map(|index| Worker::new(index, work.clone()));
        Team {
            workers: workers.collect(),
        }
    }

    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.len()
    }

    /// Has every thread do so many turns, started together.
    ///
    /// # Panics
    ///
    /// If the work of a thread did.
    pub fn run(&mut self, turns: usize) -> Stretch {
        let missing = Arc::new(AtomicUsize::new(self.workers.len()));
        for worker in &self.workers {
            let order = Order {
                turns,
                missing: missing.clone(),
            };
            if let Some(orders) = &worker.orders {
                orders.send(order).expect("a worker panicked");
            }
        }
        let spans = self.workers.iter().map(|worker| {
            let span = worker.reports.recv();
            span.expect("a worker panicked")
        });
        Stretch::of(&spans.collect::<Vec<_>>())
    }
}

impl Worker {
    fn new(index: usize, work: Arc<impl Fn(usize) -> TimedWork + Send + Sync + 'static>) -> Self {
        let (orders, inbox) = mpsc::channel::<Order>();
        let (outbox, reports) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut work = work(index);
            for order in inbox {
                arrive(&order.missing);
                let span = work(order.turns);
                if outbox.send(span).is_err() {
                    return;
                }
            }
        });
        Worker {
            orders: Some(orders),
            reports,
            thread: Some(thread),
        }
    }
}

/// Waits until all have arrived, without sleep: being woken takes longer than a turn.
fn arrive(missing: &AtomicUsize) {
    missing.fetch_sub(1, Ordering::Relaxed);
    let mut turns = 0_u32;
    while missing.load(Ordering::Relaxed) > 0 {
        turns += 1;
        if turns.is_multiple_of(64) {
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            worker.orders = None;
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A panic was seen by `run`.
                let _ = thread.join();
            }
        }
    }
}

/// What a team took for a number of turns.
#[derive(Clone, Copy, Debug)]
pub struct Stretch {
    /// From the first start to the last end.
    pub wall: Duration,
    /// Time on a core, of all threads together.
    pub busy: Duration,
    /// How often one slept.
    pub slept: u64,
    /// How often one was taken off its core, or gave it up.
    pub preempted: u64,
}

impl Stretch {
    fn of(spans: &[Span]) -> Self {
        let start = spans.iter().map(|span| span.start).min();
        let end = spans.iter().map(|span| span.end).max();
        Stretch {
            wall: match (start, end) {
                (Some(start), Some(end)) => end - start,
                _ => Duration::ZERO,
            },
            busy: spans.iter().map(|span| span.busy).sum(),
            slept: spans.iter().map(|span| span.slept).sum(),
            preempted: spans.iter().map(|span| span.preempted).sum(),
        }
    }
}

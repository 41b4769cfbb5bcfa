//! What the tests share: objects that count themselves, scripted hooks, and a watchdog.
#![allow(dead_code)] // Each test binary uses its own part.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{Backend, Builder, Lifecycle, Pool, Stats};

/// Whether the backend keeps an object that comes back; `Heap`, the control, does not.
pub(crate) fn keeps(backend: Backend) -> bool {
    backend != Backend::Heap
}

/// Whether threads keep idle objects of this backend to themselves. Without the barrier that takes,
/// none does.
pub(crate) fn caches(backend: Backend) -> bool {
    let has_barrier = cfg!(not(pool_no_membarrier));
    backend == Backend::Batched && has_barrier
}

/// A batch size, where there are batches.
pub(crate) trait BatchSizeIfAny {
    fn batch_size_if_any(self, backend: Backend, objects: usize) -> Self;
}

impl<T, L: Lifecycle<T>> BatchSizeIfAny for Builder<T, L> {
    fn batch_size_if_any(self, backend: Backend, objects: usize) -> Self {
        match backend {
            Backend::Batched => self.batch_size(objects),
            _ => self,
        }
    }
}

/// `n`, times `POOL_TEST_SCALE` if that is set: for longer runs of what is random.
pub(crate) fn scaled(n: usize) -> usize {
    let scale = std::env::var("POOL_TEST_SCALE").map_or(1, |scale| {
        scale.parse().expect("POOL_TEST_SCALE is a whole number")
    });
    n * scale
}

/// Runs `scenario` on a thread of its own, and fails instead of hanging if it does not end. Five
/// minutes are no measure of speed: what hangs, hangs for ever.
pub(crate) fn within_reason(scenario: impl FnOnce() + Send + 'static) {
    let (done, result) = mpsc::channel();
    let runner = thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(scenario));
        done.send(()).unwrap();
        outcome
    });
    assert!(
        result.recv_timeout(Duration::from_secs(300)).is_ok(),
        "the scenario hangs"
    );
    if let Err(panic) = runner.join().unwrap() {
        resume_unwind(panic);
    }
}

/// Waits, without a bound of its own, until another thread has got so far.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        thread::sleep(Duration::from_micros(200));
        assert!(
            start.elapsed() < Duration::from_secs(300),
            "what was waited for did not happen"
        );
    }
}

/// The message of the panic that `f` ends with; fails if there is none.
pub(crate) fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("there was no panic"),
        Err(payload) => message(&*payload),
    }
}

pub(crate) fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<&str>() {
        (*message).to_owned()
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message.clone()
    } else {
        "a panic that is no string".to_owned()
    }
}

/// What became of the objects of one test.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Who is alive: an object that is destroyed twice, or never, is found here.
    alive: Mutex<HashSet<usize>>,
    created: AtomicUsize,
    most: AtomicUsize,
    resets: AtomicUsize,
    judged: AtomicUsize,
}

impl Tally {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Who is alive. A panic in between says nothing about the set.
    fn alive_set(&self) -> MutexGuard<'_, HashSet<usize>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fresh object.
    pub(crate) fn object(self: &Arc<Self>) -> Counted {
        let id = self.created.fetch_add(1, Ordering::SeqCst);
        let mut alive = self.alive_set();
        assert!(alive.insert(id));
        self.most.fetch_max(alive.len(), Ordering::SeqCst);
        Counted {
            id,
            text: String::new(),
            owner: AtomicUsize::new(0),
            resets: 0,
            tally: self.clone(),
        }
    }

    pub(crate) fn created(&self) -> usize {
        self.created.load(Ordering::SeqCst)
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive_set().len()
    }

    pub(crate) fn destroyed(&self) -> usize {
        self.created() - self.alive()
    }

    /// The most that were ever alive at once.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn resets(&self) -> usize {
        self.resets.load(Ordering::SeqCst)
    }

    pub(crate) fn judged(&self) -> usize {
        self.judged.load(Ordering::SeqCst)
    }
}

/// An object that its [`Tally`] follows from the cradle to the grave.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) id: usize,
    /// What a user leaves behind. Empty in a fresh object.
    pub(crate) text: String,
    /// Who holds the object now; 0 for nobody. See [`Counted::claim`].
    pub(crate) owner: AtomicUsize,
    pub(crate) resets: usize,
    tally: Arc<Tally>,
}

impl Counted {
    /// Stamps the object as held by `owner`, which must be alone.
    pub(crate) fn claim(&self, owner: usize) {
        let before = self.owner.swap(owner, Ordering::Relaxed);
        assert_eq!(before, 0, "object {} has two owners", self.id);
    }

    /// Takes the stamp off.
    pub(crate) fn yield_up(&self, owner: usize) {
        let before = self.owner.swap(0, Ordering::Relaxed);
        assert_eq!(before, owner, "object {} had two owners", self.id);
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let was_alive = self.tally.alive_set().remove(&self.id);
        if !was_alive {
            // Worse than a failed test: stop before more memory is used after its end.
            eprintln!("object {} was destroyed twice", self.id);
            std::process::abort();
        }
    }
}

/// Makes and wipes [`Counted`] objects.
#[derive(Clone)]
pub(crate) struct Counting(pub(crate) Arc<Tally>);

impl Lifecycle<Counted> for Counting {
    fn create(&self) -> Counted {
        self.0.object()
    }

    fn reset(&self, object: &mut Counted) {
        self.0.resets.fetch_add(1, Ordering::SeqCst);
        assert_eq!(object.owner.load(Ordering::Relaxed), 0);
        object.resets += 1;
        object.text.clear();
    }

    fn is_reusable(&self, _object: &Counted) -> bool {
        self.0.judged.fetch_add(1, Ordering::SeqCst);
        true
    }
}

pub(crate) type CountedPool = Pool<Counted, Counting>;

/// A builder of a pool of counted objects, and their tally.
pub(crate) fn counted(backend: Backend) -> (Builder<Counted, Counting>, Arc<Tally>) {
    let tally = Tally::new();
    let builder = Pool::builder_for(Counting(tally.clone())).backend(backend);
    (builder, tally)
}

/// Hooks that a test writes as closures, of one type whatever they do.
pub(crate) struct Script<T> {
    pub(crate) create: Box<dyn Fn() -> T + Send + Sync>,
    pub(crate) reset: Box<dyn Fn(&mut T) + Send + Sync>,
    pub(crate) judge: Box<dyn Fn(&T) -> bool + Send + Sync>,
}

impl<T> Script<T> {
    pub(crate) fn new(create: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Script {
            create: Box::new(create),
            reset: Box::new(|_| ()),
            judge: Box::new(|_| true),
        }
    }

    pub(crate) fn reset(mut self, reset: impl Fn(&mut T) + Send + Sync + 'static) -> Self {
        self.reset = Box::new(reset);
        self
    }

    pub(crate) fn judge(mut self, judge: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        self.judge = Box::new(judge);
        self
    }
}

impl<T> Lifecycle<T> for Script<T> {
    fn create(&self) -> T {
        (self.create)()
    }

    fn reset(&self, object: &mut T) {
        (self.reset)(object);
    }

    fn is_reusable(&self, object: &T) -> bool {
        (self.judge)(object)
    }
}

/// What must be true of any pool while no thread is inside a call, and agree with its objects.
#[track_caller]
pub(crate) fn at_rest<L: Lifecycle<Counted>>(pool: &Pool<Counted, L>, tally: &Tally) -> Stats {
    let stats = pool.stats();
    assert_eq!(
        stats.created - stats.destroyed,
        stats.idle + stats.in_use,
        "{stats:?}"
    );
    assert_eq!(stats.created, tally.created(), "{stats:?}");
    assert_eq!(stats.destroyed, tally.destroyed(), "{stats:?}");
    assert!(stats.cached <= stats.idle, "{stats:?}");
    assert_eq!(
        (stats.idle, stats.in_use),
        (pool.idle(), pool.in_use()),
        "{stats:?}"
    );
    if let Some(capacity) = pool.capacity() {
        assert!(tally.most() <= capacity, "{stats:?}");
    }
    stats
}

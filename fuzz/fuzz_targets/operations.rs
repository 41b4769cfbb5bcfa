//! Any sequence of operations on any pool, against a model that only counts: what is idle and what is in
//! use is exact after each, an answer is what the counts say it is, and every object is destroyed once.
#![no_main]

use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::thread;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use pool_core::{AcquireError, Backend, Lifecycle, Pool, Pooled, ResetOn};

#[derive(Arbitrary, Debug)]
struct Choices {
    backend: u8,
    capacity: Option<u8>,
    batch_size: u8,
    max_idle: Option<u8>,
    prefill: u8,
    late: bool,
}

#[derive(Arbitrary, Debug)]
enum Op {
    Acquire,
    AcquireIdle,
    AcquireMany(u8),
    Release(u8),
    ReleaseAll,
    Detach(u8),
    Discard(u8),
    Attach,
    Share(u8),
    Raw(u8),
    Trim(u8),
    Drain,
    Flush,
    Reserve(u8),
    /// The next operations are another thread's.
    Elsewhere(Vec<Op>),
    Close,
}

/// Counts those alive.
struct Object(Arc<AtomicIsize>, bool);

impl Drop for Object {
    fn drop(&mut self) {
        let before = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "destroyed twice");
    }
}

struct Hooks(Arc<AtomicIsize>);

impl Hooks {
    fn object(&self) -> Object {
        self.0.fetch_add(1, Ordering::Relaxed);
        Object(self.0.clone(), false)
    }
}

impl Lifecycle<Object> for Hooks {
    fn create(&self) -> Object {
        self.object()
    }

    fn reset(&self, object: &mut Object) {
        object.1 = false;
    }
}

struct Model {
    keeps: bool,
    capacity: usize,
    max_idle: usize,
    idle: usize,
    held: usize,
    closed: bool,
    /// Whether one thread did everything so far. If not, an object that is idle in another's cache may be
    /// left there in favour of making one, as long as there is room.
    alone: bool,
}

impl Model {
    fn room(&self) -> usize {
        self.capacity - self.idle - self.held
    }

    /// Takes `n`; what is to be said about it.
    fn take(&mut self, n: usize, make: bool) -> Result<(), AcquireError> {
        if self.closed {
            return Err(AcquireError::Closed);
        }
        let idle = n.min(self.idle);
        if n - idle > if make { self.room() } else { 0 } {
            return Err(AcquireError::Exhausted);
        }
        self.idle -= idle;
        self.held += n;
        Ok(())
    }

    /// What became of the idle objects when `n` were taken, `made` of them new.
    fn took(&mut self, n: usize, idle: usize, made: usize) {
        let least = n.saturating_sub(idle);
        assert!(
            made >= least && made <= n,
            "{made} were made for {n}, {idle} were idle"
        );
        assert!(
            made == least || !self.alone,
            "{made} were made, though {idle} were idle"
        );
        self.idle = idle - (n - made);
        assert!(
            self.idle + self.held <= self.capacity,
            "the bound was passed"
        );
    }

    fn give(&mut self) {
        self.held -= 1;
        self.idle += usize::from(self.keeps && !self.closed && self.idle < self.max_idle);
    }
}

type Held = Vec<Pooled<Object, Hooks>>;

fn at(held: &mut Held, at: u8) -> Option<Pooled<Object, Hooks>> {
    let len = held.len();
    (len > 0).then(|| held.swap_remove(usize::from(at) % len))
}

fn claim(object: &mut Pooled<Object, Hooks>) {
    assert!(!object.1, "not wiped, or somebody else's");
    object.1 = true;
}

fn step(pool: &Pool<Object, Hooks>, model: &mut Model, held: &mut Held, op: Op, hooks: &Hooks) {
    match op {
        Op::Acquire | Op::AcquireIdle => {
            let make = matches!(op, Op::Acquire);
            let expected = model.take(1, make);
            let got = if make {
                pool.try_acquire()
            } else {
                pool.try_acquire_idle()
            };
            assert_eq!(got.as_ref().err(), expected.as_ref().err());
            held.extend(got.ok().map(|mut object| {
                claim(&mut object);
                object
            }));
        }
        Op::AcquireMany(n) => {
            let n = usize::from(n % 40);
            let expected = model.take(n, true);
            let got = pool.try_acquire_many(n);
            assert_eq!(got.as_ref().err(), expected.as_ref().err());
            if let Ok(mut burst) = got {
                assert_eq!(burst.len(), n);
                burst.iter_mut().for_each(claim);
                held.extend(burst);
            }
        }
        Op::Release(which) => {
            if let Some(object) = at(held, which) {
                model.give();
                drop(object);
            }
        }
        Op::ReleaseAll => {
            held.iter().for_each(|_| model.give());
            held.clear();
        }
        Op::Detach(which) => {
            if let Some(object) = at(held, which) {
                model.held -= 1;
                assert!(Pooled::detach(object).1);
            }
        }
        Op::Discard(which) => {
            if let Some(object) = at(held, which) {
                model.held -= 1;
                Pooled::discard(object);
            }
        }
        Op::Attach => {
            let fits = !model.closed && model.room() > 0;
            let got = pool.attach(hooks.object());
            assert_eq!(got.is_ok(), fits);
            if let Ok(mut object) = got {
                model.held += 1;
                claim(&mut object);
                held.push(object);
            }
        }
        Op::Share(which) => {
            if let Some(object) = at(held, which) {
                model.give();
                let shared = Pooled::into_shared(object);
                drop((shared.clone(), shared));
            }
        }
        Op::Raw(which) => {
            if let Some(object) = at(held, which) {
                let raw = Pooled::into_raw(object);
                // SAFETY: from `into_raw`, once.
                held.push(unsafe { Pooled::from_raw(raw) });
            }
        }
        Op::Trim(keep) => {
            model.idle = model.idle.min(usize::from(keep));
            pool.trim(usize::from(keep));
        }
        Op::Drain => {
            assert_eq!(pool.drain().len(), model.idle);
            model.idle = 0;
        }
        Op::Flush => pool.flush(),
        Op::Reserve(n) => {
            let n = usize::from(n % 60).min(model.max_idle);
            if model.keeps && !model.closed && n > model.idle {
                model.idle += (n - model.idle).min(model.room());
            }
            assert_eq!(pool.reserve(n), model.idle);
        }
        Op::Elsewhere(ops) => {
            // Nested ones are this thread's.
            thread::scope(|scope| {
                scope
                    .spawn(|| {
                        ops.into_iter()
                            .take(20)
                            .for_each(|op| run(pool, model, held, op, hooks))
                    })
                    .join()
                    .expect("another thread");
            });
        }
        Op::Close => {
            model.closed = true;
            model.idle = 0;
            pool.close();
        }
    }
}

/// How many objects `op` takes.
fn taken_by(op: &Op) -> usize {
    match op {
        Op::Acquire | Op::AcquireIdle => 1,
        Op::AcquireMany(n) => usize::from(n % 40),
        _ => 0,
    }
}

fn run(pool: &Pool<Object, Hooks>, model: &mut Model, held: &mut Held, op: Op, hooks: &Hooks) {
    model.alone &= !matches!(op, Op::Elsewhere(_));
    let (n, idle, in_use, created) = (taken_by(&op), model.idle, model.held, pool.stats().created);
    step(pool, model, held, op, hooks);
    let stats = pool.stats();
    if n > 0 && model.held > in_use {
        model.took(n, idle, stats.created - created);
    }
    assert_eq!(
        (stats.idle, stats.in_use),
        (model.idle, model.held),
        "{stats:?}"
    );
    assert_eq!(
        stats.created - stats.destroyed,
        stats.idle + stats.in_use,
        "{stats:?}"
    );
}

fuzz_target!(|input: (Choices, Vec<Op>)| {
    let (choices, ops) = input;
    let backend = Backend::ALL[usize::from(choices.backend) % 4];
    let capacity = choices
        .capacity
        .map(|capacity| 1 + usize::from(capacity % 50));
    let max_idle = choices.max_idle.map(|max_idle| usize::from(max_idle % 50));
    let most = capacity.into_iter().chain(max_idle).min().unwrap_or(50);
    let prefill = usize::from(choices.prefill) % (most + 1);
    let alive = Arc::default();
    let hooks = Hooks(Arc::clone(&alive));
    let mut builder = Pool::builder_for(Hooks(alive.clone()))
        .backend(backend)
        .prefill(prefill);
    if let Some(capacity) = capacity {
        builder = builder.capacity(capacity);
    }
    if let Some(max_idle) = max_idle {
        builder = builder.max_idle(max_idle);
    }
    if backend == Backend::Batched {
        // Two batches have to fit.
        let most = max_idle.map_or(usize::MAX, |max_idle| max_idle / 2);
        if most > 0 {
            builder = builder.batch_size((1 + usize::from(choices.batch_size % 9)).min(most));
        }
    }
    if choices.late {
        builder = builder.reset_on(ResetOn::Acquire);
    }
    let pool = builder.build().expect("choices that agree");
    let keeps = backend != Backend::Heap;
    let mut model = Model {
        keeps,
        capacity: capacity.unwrap_or(usize::MAX / 4),
        max_idle: max_idle.unwrap_or(usize::MAX),
        idle: if keeps { prefill } else { 0 },
        held: 0,
        closed: false,
        alone: true,
    };
    let mut held = Held::new();
    for op in ops.into_iter().take(200) {
        run(&pool, &mut model, &mut held, op, &hooks);
    }
    drop(pool);
    drop(held);
    assert_eq!(alive.load(Ordering::Relaxed), 0, "not destroyed");
});

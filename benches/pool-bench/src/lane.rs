//! What each thread of a contender does: the loops of the three patterns, for every size of object
//! that the program is built for. Called by `measure` and `latency`, which give the orders.
//!
//! A lane is a thread that acquires, with those that release what it acquired:
//!
//! ```text
//! same-thread    acquire … work … release        the loops of pool_bench::pattern
//! pipeline       acquire … work … send ──► receive, release, work
//! fan-out        acquire … work … send ─┬► receive, release, work
//!                                       └► receive, release, work
//! ```
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::fmt;
use std::hint::black_box;
use std::sync::{Arc, Mutex, PoisonError};

use pool_bench::by_hand::Boxed;
use pool_bench::contender::{BareVec, Contender, Pooled, Unsync};
use pool_bench::duel::Side;
use pool_bench::pattern::{at_once_with_work, in_bursts_with_work, singly};
use pool_bench::payload::{Message, touch};
use pool_bench::pipeline::wait_a_turn;
use pool_bench::team::{Team, Work};
use pool_bench::work::consume;
use pool_core::{Pool, Poolable, Stats};
use quanta::Clock;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::case::{Case, Entrant, Kind, Pattern};
use crate::watch::{Record, Stopwatch, Unwatched, Watch, record};

/// The pool that the threads of a contender share, whatever its objects are.
pub(crate) trait SharedPool: Send + Sync {
    /// Its counts.
    fn stats(&self) -> Stats;

    /// What a housekeeping thread does: sees to it that `reserve` objects are idle and no more than `keep`.
    fn keep_house(&self, reserve: usize, keep: usize);
}

impl<T: Poolable + Send> SharedPool for Pool<T> {
    fn stats(&self) -> Stats {
        Pool::stats(self)
    }

    fn keep_house(&self, reserve: usize, keep: usize) {
        self.reserve(reserve);
        self.trim(keep);
    }
}

/// The pool of a contender that has one for all threads.
pub(crate) type Shared = Option<Arc<dyn SharedPool>>;

/// A contender with its threads' work, not yet at work.
struct Crew {
    work: Box<dyn Fn(usize) -> Work + Send + Sync>,
    shared: Shared,
}

/// A contender whose single operations are timed.
pub(crate) struct Watched {
    /// The threads.
    pub(crate) team: Team,
    /// What they see.
    pub(crate) record: Record,
    /// The pool they share, if they do.
    pub(crate) shared: Shared,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("team", &self.team)
            .finish_non_exhaustive()
    }
}

/// A contender in a case, for throughput; and its pool.
pub(crate) fn side(case: Case, entrant: Entrant) -> (Side, Shared) {
    let crew = crew(case, entrant, || Unwatched);
    let side = Side::working(case.threads, case.objects_a_turn(), crew.work);
    let side = match case.pattern {
        Pattern::SameThread => side,
        Pattern::Pipeline | Pattern::FanOut => side.in_lockstep(),
    };
    (side, crew.shared)
}

/// A contender in a case, each of its operations timed by `clock`.
pub(crate) fn watched(case: Case, entrant: Entrant, clock: &Clock) -> Watched {
    let record = record();
    let (clock, sink) = (clock.clone(), record.clone());
    let crew = crew(case, entrant, move || {
        Stopwatch::new(clock.clone(), sink.clone())
    });
    Watched {
        team: Team::new(case.threads, crew.work),
        record,
        shared: crew.shared,
    }
}

/// Calls `$run` with the number of words behind the first in an object of so many bytes.
macro_rules! for_size {
    ($size:expr, $run:ident($($argument:expr),*)) => {
        match $size {
            8 => $run::<0>($($argument),*),
            16 => $run::<1>($($argument),*),
            32 => $run::<3>($($argument),*),
            64 => $run::<7>($($argument),*),
            128 => $run::<15>($($argument),*),
            256 => $run::<31>($($argument),*),
            1024 => $run::<127>($($argument),*),
            4096 => $run::<511>($($argument),*),
            16_384 => $run::<2047>($($argument),*),
            65_536 => $run::<8191>($($argument),*),
            size => unreachable!("object size {size} was checked"),
        }
    };
}
pub(crate) use for_size;

fn crew<W: Watch>(
    case: Case,
    entrant: Entrant,
    watch: impl Fn() -> W + Send + Sync + 'static,
) -> Crew {
    for_size!(case.object_size, sized_crew(case, entrant, watch))
}

fn sized_crew<const BODY: usize>(case: Case, entrant: Entrant, watch: impl Maker) -> Crew {
    let unshared = |work| Crew { work, shared: None };
    match (case.pattern, entrant.kind) {
        (Pattern::SameThread, Kind::Unsync) => {
            unshared(keeping::<BODY, _, _>(case, Unsync::default, watch))
        }
        (Pattern::SameThread, Kind::Vec) => {
            unshared(keeping::<BODY, _, _>(case, BareVec::default, watch))
        }
        (Pattern::SameThread, Kind::Box) => unshared(keeping::<BODY, _, _>(case, || Boxed, watch)),
        (_, Kind::Box) => unshared(passing::<BODY, _, _>(case, || Boxed, watch)),
        (_, Kind::Words) => unshared(passing_words(case, watch)),
        _ => {
            let pool = pool::<BODY>(case, entrant);
            let shared = Arc::new(pool.clone());
            let work = match case.pattern {
                Pattern::SameThread if entrant.at_once => keeping_at_once(case, pool),
                Pattern::SameThread => keeping(case, move || Pooled(pool.clone()), watch),
                Pattern::Pipeline | Pattern::FanOut => {
                    passing(case, move || Pooled(pool.clone()), watch)
                }
            };
            Crew {
                work,
                shared: Some(shared),
            }
        }
    }
}

/// A pool with as many objects as the case will have in use, and room in every cache.
fn pool<const BODY: usize>(case: Case, entrant: Entrant) -> Pool<Message<BODY>> {
    let mut builder = entrant.builder();
    if let Some(capacity) = case.capacity {
        builder = builder.capacity(capacity);
    }
    let pool = builder.prefill(case.prefill(entrant)).build();
    pool.expect("checked with the arguments")
}

type Works = Box<dyn Fn(usize) -> Work + Send + Sync>;

/// Makes a watch for each thread.
trait Maker: Send + Sync + 'static {
    type Watch: Watch;

    fn make(&self) -> Self::Watch;
}

impl<W: Watch, F: Fn() -> W + Send + Sync + 'static> Maker for F {
    type Watch = W;

    fn make(&self) -> W {
        self()
    }
}

/// Threads that release what they acquired.
fn keeping<const BODY: usize, C, M>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: M,
) -> Works
where
    C: Contender<BODY> + 'static,
    M: Maker,
{
    let Case { burst, work, .. } = case;
    Box::new(move |_| {
        let (mut contender, mut watch) = (contender(), watch.make());
        let mut held = Vec::with_capacity(burst);
        if M::Watch::LOOKS {
            return Box::new(move |turns| {
                watched_bursts(&mut contender, &mut held, &mut watch, burst, work, turns);
                watch.report();
            });
        }
        // What nobody watches runs in the loops that all other measurements use.
        if burst == 1 && work == 0 {
            Box::new(move |turns| singly(&mut contender, turns))
        } else {
            Box::new(move |turns| {
                in_bursts_with_work(&mut contender, &mut held, burst, work, turns);
            })
        }
    })
}

/// Threads that take and give each burst in one call.
fn keeping_at_once<const BODY: usize>(case: Case, pool: Pool<Message<BODY>>) -> Works {
    let Case { burst, work, .. } = case;
    Box::new(move |_| {
        let mut pool = Pooled(pool.clone());
        Box::new(move |turns| at_once_with_work(&mut pool, burst, work, turns))
    })
}

/// The loop of a thread that keeps its objects, each operation timed.
#[inline(never)]
fn watched_bursts<const BODY: usize, C: Contender<BODY>>(
    contender: &mut C,
    held: &mut Vec<C::Handle>,
    watch: &mut impl Watch,
    burst: usize,
    work: u64,
    turns: usize,
) {
    let contender = black_box(contender);
    for turn in 0..turns {
        for _ in 0..burst {
            let mut handle = watch.acquire(|| contender.acquire());
            // SAFETY: the object of a handle is valid for writes.
            unsafe { touch(C::object(&mut handle), turn as u64) };
            held.push(handle);
        }
        consume(work);
        while let Some(handle) = held.pop() {
            watch.release(|| contender.release(handle));
        }
    }
}

/// What a thread of a lane holds, until the thread comes for it.
enum Part<H> {
    Sender(Vec<Producer<H>>),
    Receiver(Consumer<H>),
}

/// The parts of all threads: lane by lane, the sender first.
fn parts<H>(case: Case) -> Vec<Option<Part<H>>> {
    let mut parts = Vec::new();
    for _ in 0..case.lanes() {
        let queues = (0..case.receivers()).map(|_| RingBuffer::new(case.queue()));
        let (senders, receivers): (Vec<_>, Vec<_>) = queues.unzip();
        parts.push(Some(Part::Sender(senders)));
        parts.extend(
            receivers
                .into_iter()
                .map(|receiver| Some(Part::Receiver(receiver))),
        );
    }
    parts
}

/// How objects, or what stands for them, are acquired, used and released.
trait Cargo {
    type Item;

    fn acquire(&mut self) -> Self::Item;

    fn write(item: &mut Self::Item, id: u64);

    fn read(item: &mut Self::Item) -> u64;

    fn release(&mut self, item: Self::Item);
}

/// Objects of a contender.
struct Objects<const BODY: usize, C>(C);

impl<const BODY: usize, C: Contender<BODY>> Cargo for Objects<BODY, C> {
    type Item = C::Handle;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Item {
        self.0.acquire()
    }

    #[inline(always)]
    fn write(item: &mut Self::Item, id: u64) {
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(C::object(item), id) };
    }

    #[inline(always)]
    fn read(item: &mut Self::Item) -> u64 {
        let object = C::object(item);
        // SAFETY: the object of a handle is valid.
        let word = unsafe { &raw const (*object).id };
        // SAFETY: written by the sender.
        unsafe { word.read() }
    }

    #[inline(always)]
    fn release(&mut self, item: Self::Item) {
        self.0.release(item);
    }
}

/// Words in place of objects.
struct Words;

impl Cargo for Words {
    type Item = u64;

    #[inline(always)]
    fn acquire(&mut self) -> u64 {
        0
    }

    #[inline(always)]
    fn write(item: &mut u64, id: u64) {
        *item = id;
    }

    #[inline(always)]
    fn read(item: &mut u64) -> u64 {
        *item
    }

    #[inline(always)]
    fn release(&mut self, _: u64) {}
}

/// Threads that release what others acquired.
fn passing<const BODY: usize, C, M>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: M,
) -> Works
where
    C: Contender<BODY, Handle: Send> + 'static,
    M: Maker,
{
    passing_cargo(case, move || Objects::<BODY, C>(contender()), watch)
}

/// Threads that send plain words.
fn passing_words(case: Case, watch: impl Maker) -> Works {
    passing_cargo(case, || Words, watch)
}

fn passing_cargo<C, M>(case: Case, cargo: impl Fn() -> C + Send + Sync + 'static, watch: M) -> Works
where
    C: Cargo<Item: Send> + 'static,
    M: Maker,
{
    let Case { burst, work, .. } = case;
    // Each is taken once, by the thread whose part it is.
    let parts = Mutex::new(parts::<C::Item>(case));
    Box::new(move |index| {
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
        let (mut cargo, mut watch) = (cargo(), watch.make());
        match part.expect("each thread comes once") {
            Part::Sender(mut queues) => {
                let mut held = Vec::with_capacity(burst);
                Box::new(move |turns| {
                    for turn in 0..turns {
                        send(
                            &mut cargo,
                            &mut held,
                            &mut queues,
                            &mut watch,
                            (burst, work),
                            turn,
                        );
                    }
                    watch.report();
                })
            }
            Part::Receiver(mut queue) => Box::new(move |turns| {
                receive(&mut cargo, &mut queue, &mut watch, (burst, work), turns);
                watch.report();
            }),
        }
    })
}

/// One turn of a sender: a burst for each receiver.
#[inline(never)]
fn send<C: Cargo>(
    cargo: &mut C,
    held: &mut Vec<C::Item>,
    queues: &mut [Producer<C::Item>],
    watch: &mut impl Watch,
    (burst, work): (usize, u64),
    turn: usize,
) {
    let cargo = black_box(cargo);
    for queue in queues {
        for _ in 0..burst {
            let mut item = watch.acquire(|| cargo.acquire());
            C::write(&mut item, turn as u64);
            held.push(item);
        }
        consume(work);
        for mut item in held.drain(..) {
            let mut waited = 0;
            while let Err(PushError::Full(back)) = queue.push(item) {
                item = back;
                wait_a_turn(&mut waited);
            }
        }
    }
}

/// The loop of a receiver.
#[inline(never)]
fn receive<C: Cargo>(
    cargo: &mut C,
    queue: &mut Consumer<C::Item>,
    watch: &mut impl Watch,
    (burst, work): (usize, u64),
    turns: usize,
) {
    let cargo = black_box(cargo);
    for _ in 0..turns {
        for _ in 0..burst {
            let mut waited = 0;
            let mut item = loop {
                match queue.pop() {
                    Ok(item) => break item,
                    Err(_) => wait_a_turn(&mut waited),
                }
            };
            black_box(C::read(&mut item));
            watch.release(|| cargo.release(item));
        }
        consume(work);
    }
}

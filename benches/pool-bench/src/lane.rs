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
//! same-thread with a share for the next:    acquire … work … release or send, receive, release
//! ```
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::fmt;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pool_bench::by_hand::Boxed;
use pool_bench::contender::{BareVec, Contender, Pooled, Unsync};
use pool_bench::duel::Side;
use pool_bench::pattern::{at_once_with_work, in_bursts_with_work, singly};
use pool_bench::payload::{OWNED, Payload, touch};
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
    let side = match case.crosses() {
        false => side,
        true => side.in_lockstep(),
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

/// Calls `$run` with the type of the objects of a case.
macro_rules! for_objects {
    ($case:expr, $run:ident($($argument:expr),*)) => {{
        use pool_bench::payload::{Message, Owning};
        use $crate::lane::words;
        match ($case.object_size, $case.owns_buffers()) {
            (8, false) => $run::<Message<0>>($($argument),*),
            (16, false) => $run::<Message<1>>($($argument),*),
            (32, false) => $run::<Message<3>>($($argument),*),
            (64, false) => $run::<Message<7>>($($argument),*),
            (128, false) => $run::<Message<15>>($($argument),*),
            (256, false) => $run::<Message<31>>($($argument),*),
            (1024, false) => $run::<Message<127>>($($argument),*),
            (4096, false) => $run::<Message<511>>($($argument),*),
            (16_384, false) => $run::<Message<2047>>($($argument),*),
            (65_536, false) => $run::<Message<8191>>($($argument),*),
            (128, true) => $run::<Owning<{ words(128) }>>($($argument),*),
            (256, true) => $run::<Owning<{ words(256) }>>($($argument),*),
            (1024, true) => $run::<Owning<{ words(1024) }>>($($argument),*),
            (4096, true) => $run::<Owning<{ words(4096) }>>($($argument),*),
            size => unreachable!("object size {size:?} was checked"),
        }
    }};
}
pub(crate) use for_objects;

/// Words behind the first, in an object of so many bytes that owns buffers.
pub(crate) const fn words(size: usize) -> usize {
    (size - OWNED) / size_of::<u64>() - 1
}

fn crew<W: Watch>(
    case: Case,
    entrant: Entrant,
    watch: impl Fn() -> W + Send + Sync + 'static,
) -> Crew {
    for_objects!(case, sized_crew(case, entrant, watch))
}

fn sized_crew<T: Payload>(case: Case, entrant: Entrant, watch: impl Maker) -> Crew {
    let unshared = |work| Crew { work, shared: None };
    match (case.crosses(), entrant.kind) {
        (false, Kind::Unsync) => unshared(keeping::<T, _, _>(case, Unsync::default, watch)),
        (false, Kind::Vec) => unshared(keeping::<T, _, _>(case, BareVec::default, watch)),
        (false, Kind::Box) => unshared(keeping::<T, _, _>(case, || Boxed, watch)),
        (_, Kind::Box) => unshared(passing::<T, _, _>(case, || Boxed, watch)),
        (_, Kind::Words) => unshared(passing_cargo(case, || Words, watch)),
        (crosses, _) => {
            let pool = pool::<T>(case, entrant);
            let shared = Arc::new(pool.clone());
            let contender = move || Pooled(pool.clone());
            let work = match crosses {
                true => passing(case, contender, watch),
                false if entrant.at_once => keeping_at_once(case, contender()),
                false => keeping(case, contender, watch),
            };
            Crew {
                work,
                shared: Some(shared),
            }
        }
    }
}

/// A pool with as many objects as the case will have in use, and room in every cache.
fn pool<T: Payload>(case: Case, entrant: Entrant) -> Pool<T> {
    let builder = entrant.builder(case.capacity);
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
fn keeping<T, C, M>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: M,
) -> Works
where
    T: Payload,
    C: Contender<T> + 'static,
    M: Maker,
{
    let Case { burst, work, .. } = case;
    Box::new(move |_| {
        let (mut contender, mut watch) = (contender(), watch.make());
        let mut held = Vec::with_capacity(burst);
        if M::Watch::LOOKS {
            let mut cargo = Objects(contender, PhantomData);
            return Box::new(move |turns| {
                watched_bursts(&mut cargo, &mut held, &mut watch, (burst, work), turns);
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
fn keeping_at_once<T: Payload>(case: Case, pool: Pooled<T>) -> Works {
    let Case { burst, work, .. } = case;
    Box::new(move |_| {
        let mut pool = pool.clone();
        Box::new(move |turns| at_once_with_work(&mut pool, burst, work, turns))
    })
}

/// The loop of a thread that keeps its objects, each operation timed.
#[inline(never)]
fn watched_bursts<C: Cargo>(
    cargo: &mut C,
    held: &mut Vec<C::Item>,
    watch: &mut impl Watch,
    (burst, work): (usize, u64),
    turns: usize,
) {
    let cargo = black_box(cargo);
    for turn in 0..turns {
        acquire_burst(cargo, held, watch, burst, turn);
        consume(work);
        while let Some(item) = held.pop() {
            watch.release(|| cargo.release(item));
        }
    }
}

#[inline(always)]
fn acquire_burst<C: Cargo>(
    cargo: &mut C,
    held: &mut Vec<C::Item>,
    watch: &mut impl Watch,
    burst: usize,
    turn: usize,
) {
    for _ in 0..burst {
        let write = |mut item| {
            C::write(&mut item, turn as u64);
            item
        };
        held.push(if C::OWNS {
            // Only then it is what its user asked for.
            watch.acquire(|| write(cargo.acquire()))
        } else {
            write(watch.acquire(|| cargo.acquire()))
        });
    }
}

/// What a thread of a lane holds, until the thread comes for it.
enum Part<H> {
    Sender(Vec<Producer<H>>),
    Receiver(Consumer<H>),
    /// Sends some to the next thread, and receives from the one before.
    Neighbour(Producer<H>, Consumer<H>),
}

/// The parts of all threads: lane by lane, the sender first.
fn parts<H>(case: Case) -> Vec<Option<Part<H>>> {
    let queue = || RingBuffer::new(case.queue());
    if case.pattern == Pattern::SameThread {
        let (senders, mut receivers): (Vec<_>, Vec<_>) = (0..case.threads).map(|_| queue()).unzip();
        receivers.rotate_right(1);
        let pairs = senders.into_iter().zip(receivers);
        return pairs
            .map(|(sender, receiver)| Some(Part::Neighbour(sender, receiver)))
            .collect();
    }
    let mut parts = Vec::new();
    for _ in 0..case.lanes() {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..case.receivers()).map(|_| queue()).unzip();
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
    /// Whether what is written takes memory of its own.
    const OWNS: bool;

    type Item;

    fn acquire(&mut self) -> Self::Item;

    fn write(item: &mut Self::Item, id: u64);

    fn read(item: &mut Self::Item) -> u64;

    fn release(&mut self, item: Self::Item);
}

/// Objects of a contender.
struct Objects<T, C>(C, PhantomData<fn() -> T>);

impl<T: Payload, C: Contender<T>> Cargo for Objects<T, C> {
    const OWNS: bool = T::OWNS;

    type Item = C::Handle;

    #[inline(always)]
    fn acquire(&mut self) -> Self::Item {
        self.0.acquire()
    }

    #[inline(always)]
    fn write(item: &mut Self::Item, id: u64) {
        // SAFETY: the object of a handle is valid for writes, and made if it owns something.
        unsafe { touch(C::object(item), id) };
    }

    #[inline(always)]
    fn read(item: &mut Self::Item) -> u64 {
        // SAFETY: the object of a handle is valid, and was written to by the sender.
        unsafe { T::read(C::object(item)) }
    }

    #[inline(always)]
    fn release(&mut self, item: Self::Item) {
        self.0.release(item);
    }
}

/// Words in place of objects.
struct Words;

impl Cargo for Words {
    const OWNS: bool = false;

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
fn passing<T, C, M>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: M,
) -> Works
where
    T: Payload,
    C: Contender<T, Handle: Send> + 'static,
    M: Maker,
{
    passing_cargo(case, move || Objects(contender(), PhantomData), watch)
}

fn passing_cargo<C, M>(case: Case, cargo: impl Fn() -> C + Send + Sync + 'static, watch: M) -> Works
where
    C: Cargo<Item: Send> + 'static,
    M: Maker,
{
    let Case { burst, work, .. } = case;
    // Each is taken once, by the thread whose part it is.
    let parts = Mutex::new(parts::<C::Item>(case));
    let finished = Arc::new(AtomicUsize::new(0));
    Box::new(move |index| {
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
        let (mut cargo, mut watch) = (cargo(), watch.make());
        let mut held = Vec::with_capacity(burst);
        match part.expect("each thread comes once") {
            Part::Sender(mut queues) => Box::new(move |turns| {
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
            }),
            Part::Receiver(mut queue) => Box::new(move |turns| {
                receive(&mut cargo, &mut queue, &mut watch, (burst, work), turns);
                watch.report();
            }),
            Part::Neighbour(sender, receiver) => {
                let mut neighbour = Neighbour {
                    cargo,
                    held,
                    sender,
                    receiver,
                    case,
                    credit: 0,
                    stretches: 0,
                    finished: finished.clone(),
                };
                Box::new(move |turns| {
                    neighbour.stretch(&mut watch, turns);
                    watch.report();
                })
            }
        }
    })
}

/// A thread that releases most of what it acquires, sends the rest to the next, and releases what it is sent.
struct Neighbour<C: Cargo> {
    cargo: C,
    held: Vec<C::Item>,
    sender: Producer<C::Item>,
    receiver: Consumer<C::Item>,
    case: Case,
    /// Hundredths of an object that should have been sent and was not.
    credit: usize,
    stretches: usize,
    /// Threads that have finished a stretch, of all stretches together.
    finished: Arc<AtomicUsize>,
}

impl<C: Cargo> Neighbour<C> {
    #[inline(never)]
    fn stretch(&mut self, watch: &mut impl Watch, turns: usize) {
        let Case { burst, work, .. } = self.case;
        for turn in 0..turns {
            acquire_burst(&mut self.cargo, &mut self.held, watch, burst, turn);
            consume(work);
            while let Some(item) = self.held.pop() {
                self.credit += self.case.remote;
                if self.credit >= 100 {
                    self.credit -= 100;
                    self.send(watch, item);
                } else {
                    watch.release(|| self.cargo.release(item));
                }
            }
            self.receive(watch);
        }
        // The one before may still send, and wait for room.
        self.stretches += 1;
        // Acquire and release: what was sent before a thread finished is seen by the last look below.
        self.finished.fetch_add(1, Ordering::AcqRel);
        let mut waited = 0;
        while self.finished.load(Ordering::Acquire) < self.stretches * self.case.threads {
            self.receive(watch);
            wait_a_turn(&mut waited);
        }
        self.receive(watch);
    }

    fn send(&mut self, watch: &mut impl Watch, mut item: C::Item) {
        let mut waited = 0;
        while let Err(PushError::Full(back)) = self.sender.push(item) {
            item = back;
            // The next thread may wait for this one to make room.
            self.receive(watch);
            wait_a_turn(&mut waited);
        }
    }

    fn receive(&mut self, watch: &mut impl Watch) {
        while let Ok(mut item) = self.receiver.pop() {
            black_box(C::read(&mut item));
            watch.release(|| self.cargo.release(item));
        }
    }
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
        acquire_burst(cargo, held, watch, burst, turn);
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

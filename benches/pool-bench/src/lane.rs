//! What each thread of a contender does: the loops of the three patterns, for every size of object
//! that the program is built for. Called by `measure` and `latency`, which run the threads.
//!
//! A lane is a thread that acquires, with the threads that release what it acquired:
//!
//! ```text
//! same-thread    acquire … work … release        the loops of pool_bench::pattern
//! pipeline       acquire … work … send ──► receive, release, work
//! fan-out        acquire … work … send ─┬► receive, release, work
//!                                       └► receive, release, work
//! same-thread with a share for the next:    acquire … work … release or send, receive, release
//! ```
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pool_bench::by_hand::Boxed;
use pool_bench::contender::{BareVec, Contender, Pooled, Unsync};
use pool_bench::pattern::{at_once_with_work, in_bursts_with_work, singly};
use pool_bench::payload::{Message, OWNED, Payload, touch};
use pool_bench::pipeline::wait_a_turn;
use pool_bench::team::Work;
use pool_bench::work::consume;
use pool_core::{Pool, Poolable, Stats};
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::case::{Case, Entrant, Kind, Pattern};
use crate::watch::Watch;

/// The pool that the threads of a contender share, whatever its objects are.
pub(crate) trait SharedPool: Send + Sync {
    /// Its counts.
    fn stats(&self) -> Stats;

    /// What a housekeeping thread does: sees to it that `reserve` objects are idle and at most `keep`.
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

/// The pool of a contender whose threads share one.
pub(crate) type Shared = Option<Arc<dyn SharedPool>>;

/// Makes the work of the thread with a given index.
type Works = Box<dyn Fn(usize) -> Work + Send + Sync>;

/// The threads of a contender, not yet at work, and their pool.
pub(crate) struct Crew {
    /// Their work.
    pub(crate) work: Works,
    /// Their pool.
    pub(crate) shared: Shared,
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

/// The threads of a contender in a case; each runs its operations under a clone of the watch.
pub(crate) fn crew(case: Case, entrant: Entrant, watch: &impl Watch) -> Crew {
    for_objects!(case, sized_crew(case, entrant, watch.clone()))
}

fn sized_crew<T: Payload>(case: Case, entrant: Entrant, watch: impl Watch) -> Crew {
    let work = match (entrant.kind, case.crosses()) {
        (Kind::Unsync, _) => keeping::<T, _>(case, Unsync::default, watch),
        (Kind::Vec, _) => keeping::<T, _>(case, BareVec::default, watch),
        (Kind::Box, false) => keeping::<T, _>(case, || Boxed, watch),
        (Kind::Box, true) => passing::<T, _>(case, || Boxed, watch),
        (Kind::Words, _) => passing::<Message<0>, _>(case, || Words, watch),
        (_, crosses) => {
            let pool = pool::<T>(entrant, case.prefill(entrant), case.capacity);
            let contender = {
                let pool = pool.clone();
                move || Pooled(pool.clone())
            };
            let work = match crosses {
                true => passing::<T, _>(case, contender, watch),
                false if entrant.at_once => keeping_at_once(case, contender()),
                false => keeping::<T, _>(case, contender, watch),
            };
            return Crew {
                work,
                shared: Some(Arc::new(pool)),
            };
        }
    };
    Crew { work, shared: None }
}

/// A pool of the entrant's kind with so many idle objects.
pub(crate) fn pool<T: Payload>(
    entrant: Entrant,
    prefill: usize,
    capacity: Option<usize>,
) -> Pool<T> {
    let pool = entrant.builder(capacity).prefill(prefill).build();
    pool.expect("checked with the arguments")
}

/// Words in place of objects: nothing is acquired and nothing released.
struct Words;

impl Contender<Message<0>> for Words {
    type Handle = Message<0>;

    #[inline(always)]
    fn acquire(&mut self) -> Message<0> {
        Message { id: 0, body: [] }
    }

    #[inline(always)]
    fn object(handle: &mut Message<0>) -> *mut Message<0> {
        handle
    }

    #[inline(always)]
    fn release(&mut self, _: Message<0>) {}
}

/// Threads that release what they acquired.
fn keeping<T: Payload, C: Contender<T> + 'static>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: impl Watch,
) -> Works {
    Box::new(move |_| {
        let mut hand = Hand::new(case, contender(), watch.clone());
        // Without a watch, the loops are those of all other measurements.
        match (hand.watches(), case.burst, case.work) {
            (true, ..) => Box::new(move |turns| hand.keep(turns)),
            (_, 1, 0) => Box::new(move |turns| singly(&mut hand.contender, turns)),
            (_, burst, work) => Box::new(move |turns| {
                in_bursts_with_work(&mut hand.contender, &mut hand.held, burst, work, turns);
            }),
        }
    })
}

/// Threads that acquire and release each burst in one call.
fn keeping_at_once<T: Payload>(case: Case, pool: Pooled<T>) -> Works {
    Box::new(move |_| {
        let mut pool = pool.clone();
        Box::new(move |turns| at_once_with_work(&mut pool, case.burst, case.work, turns))
    })
}

/// Threads that release what others acquired.
fn passing<T: Payload, C: Contender<T, Handle: Send> + 'static>(
    case: Case,
    contender: impl Fn() -> C + Send + Sync + 'static,
    watch: impl Watch,
) -> Works {
    // Each is taken once, by its thread.
    let parts = Mutex::new(parts::<C::Handle>(case));
    let finished = Arc::new(AtomicUsize::new(0));
    Box::new(move |index| {
        let mut hand = Hand::new(case, contender(), watch.clone());
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner)[index].take();
        match part.expect("each thread comes once") {
            Part::Sender(mut queues) => Box::new(move |turns| hand.send(&mut queues, turns)),
            Part::Receiver(mut queue) => Box::new(move |turns| hand.receive(&mut queue, turns)),
            Part::Neighbour(sender, receiver) => {
                let finished = finished.clone();
                let mut ways = Ways {
                    sender,
                    receiver,
                    credit: 0,
                    stretches: 0,
                    finished,
                };
                Box::new(move |turns| hand.share(&mut ways, turns))
            }
        }
    })
}

/// The ends of queues that a thread of a lane has.
enum Part<H> {
    Sender(Vec<Producer<H>>),
    Receiver(Consumer<H>),
    Neighbour(Producer<H>, Consumer<H>),
}

/// The parts of all threads: lane by lane, the sender first.
fn parts<H>(case: Case) -> Vec<Option<Part<H>>> {
    let queues = |count| (0..count).map(|_| RingBuffer::new(case.queue())).unzip();
    if case.pattern == Pattern::SameThread {
        let (senders, mut receivers): (Vec<_>, Vec<_>) = queues(case.threads);
        receivers.rotate_right(1);
        let pairs = senders.into_iter().zip(receivers);
        return pairs
            .map(|(sender, receiver)| Some(Part::Neighbour(sender, receiver)))
            .collect();
    }
    let lane = |_| {
        let (senders, receivers): (Vec<_>, Vec<_>) = queues(case.receivers());
        let receivers = receivers.into_iter().map(Part::Receiver);
        [Part::Sender(senders)].into_iter().chain(receivers)
    };
    (0..case.lanes()).flat_map(lane).map(Some).collect()
}

/// What a thread that shares with the next one has besides.
struct Ways<H> {
    /// To the next thread.
    sender: Producer<H>,
    /// From the one before.
    receiver: Consumer<H>,
    /// Hundredths of an object that should have been sent and was not.
    credit: usize,
    stretches: usize,
    /// Stretches that threads have finished, all threads together.
    finished: Arc<AtomicUsize>,
}

/// A thread of a contender: acquires, touches and releases objects, and holds a burst of them.
struct Hand<T: Payload, C: Contender<T>, W> {
    contender: C,
    held: Vec<C::Handle>,
    watch: W,
    case: Case,
}

impl<T: Payload, C: Contender<T>, W: Watch> Hand<T, C, W> {
    fn new(case: Case, contender: C, watch: W) -> Self {
        Hand {
            contender,
            held: Vec::with_capacity(case.burst),
            watch,
            case,
        }
    }

    fn watches(&self) -> bool {
        W::LOOKS
    }

    /// Acquires and touches a burst, and works.
    #[inline(always)]
    fn burst(&mut self, turn: usize) {
        for _ in 0..self.case.burst {
            let contender = &mut self.contender;
            let touched = |mut handle| {
                // SAFETY: the object of a handle is valid for writes, and exists if it owns something.
                unsafe { touch(C::object(&mut handle), turn as u64) };
                handle
            };
            self.held.push(if T::OWNS {
                // The buffers are part of what is asked for.
                self.watch.acquire(|| touched(contender.acquire()))
            } else {
                touched(self.watch.acquire(|| contender.acquire()))
            });
        }
        consume(self.case.work);
    }

    #[inline(always)]
    fn release(&mut self, handle: C::Handle) {
        self.watch.release(|| self.contender.release(handle));
    }

    /// Reads and releases an object that another thread sent.
    #[inline(always)]
    fn finish(&mut self, mut handle: C::Handle) {
        // SAFETY: the object of a handle is valid, and was touched by the sender.
        black_box(unsafe { T::read(C::object(&mut handle)) });
        self.release(handle);
    }

    /// Releases every object itself.
    #[inline(never)]
    fn keep(&mut self, turns: usize) {
        let this = black_box(self);
        for turn in 0..turns {
            this.burst(turn);
            while let Some(handle) = this.held.pop() {
                this.release(handle);
            }
        }
        this.watch.report();
    }

    /// Sends a burst to each receiver in a turn.
    #[inline(never)]
    fn send(&mut self, queues: &mut [Producer<C::Handle>], turns: usize) {
        let this = black_box(self);
        for turn in 0..turns {
            for queue in &mut *queues {
                this.burst(turn);
                for handle in this.held.drain(..) {
                    push(queue, handle, || ());
                }
            }
        }
        this.watch.report();
    }

    /// Releases the bursts that a sender sends.
    #[inline(never)]
    fn receive(&mut self, queue: &mut Consumer<C::Handle>, turns: usize) {
        let this = black_box(self);
        for _ in 0..turns {
            for _ in 0..this.case.burst {
                let mut waited = 0;
                let handle = loop {
                    match queue.pop() {
                        Ok(handle) => break handle,
                        Err(_) => wait_a_turn(&mut waited),
                    }
                };
                this.finish(handle);
            }
            consume(this.case.work);
        }
        this.watch.report();
    }

    /// Releases most objects, sends the others to the next thread, and releases those that come.
    #[inline(never)]
    fn share(&mut self, ways: &mut Ways<C::Handle>, turns: usize) {
        let this = black_box(self);
        for turn in 0..turns {
            this.burst(turn);
            while let Some(handle) = this.held.pop() {
                ways.credit += this.case.remote;
                if ways.credit < 100 {
                    this.release(handle);
                    continue;
                }
                ways.credit -= 100;
                // The next thread may wait for this one to make room.
                push(&mut ways.sender, handle, || this.drain(&mut ways.receiver));
            }
            this.drain(&mut ways.receiver);
        }
        // The thread before may still send, and wait for room.
        ways.stretches += 1;
        // Acquire and release: what was sent before a thread finished is seen by the last look below.
        ways.finished.fetch_add(1, Ordering::AcqRel);
        let mut waited = 0;
        while ways.finished.load(Ordering::Acquire) < ways.stretches * this.case.threads {
            this.drain(&mut ways.receiver);
            wait_a_turn(&mut waited);
        }
        this.drain(&mut ways.receiver);
        this.watch.report();
    }

    fn drain(&mut self, queue: &mut Consumer<C::Handle>) {
        while let Ok(handle) = queue.pop() {
            self.finish(handle);
        }
    }
}

/// Sends through a queue; does something else while it is full.
#[inline(always)]
fn push<H>(queue: &mut Producer<H>, mut handle: H, mut meanwhile: impl FnMut()) {
    let mut waited = 0;
    while let Err(PushError::Full(back)) = queue.push(handle) {
        handle = back;
        meanwhile();
        wait_a_turn(&mut waited);
    }
}

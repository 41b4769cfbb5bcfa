//! What is to be measured, as checked plain data: the user's case, who competes in it, and for how
//! long. Made by `args`, read by everybody.

use std::fmt;

use clap::ValueEnum;
use pool_bench::payload::BUFFERS;
use pool_bench::pipeline::QUEUE;
use pool_core::{Backend, Builder, Pool, Poolable, Recall};
use serde::{Deserialize, Serialize};

/// The sizes of object that the program is built for, in bytes.
pub(crate) const SIZES: [usize; 10] = [8, 16, 32, 64, 128, 256, 1024, 4096, 16_384, 65_536];

/// The same for objects that own buffers, whose addresses and lengths are part of them.
pub(crate) const OWNING_SIZES: [usize; 4] = [128, 256, 1024, 4096];

/// The batch size of a pool that is not told one, and has no small bound.
const BATCH_SIZE: usize = 64;

/// How the objects of the case travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pattern {
    /// Each thread acquires a burst, works, and releases it
    SameThread,
    /// In each pair of threads one acquires and sends, the other receives and releases
    Pipeline,
    /// One thread acquires and sends to all the others in turn, which release
    FanOut,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Pattern::SameThread => "same-thread",
            Pattern::Pipeline => "pipeline",
            Pattern::FanOut => "fan-out",
        })
    }
}

/// The user's case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Bytes of an object.
    pub(crate) object_size: usize,
    /// Bytes that are written into each buffer that an object owns; 0, there is none.
    pub(crate) buffers: [usize; BUFFERS],
    /// Threads, all of them together.
    pub(crate) threads: usize,
    /// Objects acquired before the first is released or sent.
    pub(crate) burst: usize,
    /// Tokens of other work for each burst, on each side of a queue; a token takes 2 to 3 ns.
    pub(crate) work: u64,
    /// How the objects travel.
    pub(crate) pattern: Pattern,
    /// Objects of 100 that the next thread releases, where threads keep the others.
    pub(crate) remote: usize,
    /// The bound of the pools; `None`, none.
    pub(crate) capacity: Option<usize>,
}

impl Case {
    /// The same with another number of threads.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        Case { threads, ..self }
    }

    /// Threads that acquire, each with those that release what it acquired.
    pub(crate) fn lanes(self) -> usize {
        match self.pattern {
            Pattern::SameThread => self.threads,
            Pattern::Pipeline => self.threads / 2,
            Pattern::FanOut => 1,
        }
    }

    /// Threads that release what one acquired; none where that is the same thread.
    pub(crate) fn receivers(self) -> usize {
        match self.pattern {
            Pattern::SameThread => 0,
            Pattern::Pipeline => 1,
            Pattern::FanOut => self.threads - 1,
        }
    }

    /// Whether an object is ever released on another thread than that which acquired it.
    pub(crate) fn crosses(self) -> bool {
        self.pattern != Pattern::SameThread || self.remote > 0
    }

    /// Whether objects own buffers.
    pub(crate) fn owns_buffers(self) -> bool {
        self.buffers != [0; BUFFERS]
    }

    /// Bytes of an object and its buffers.
    pub(crate) fn bytes(self) -> usize {
        self.object_size + self.buffers.iter().sum::<usize>()
    }

    /// Objects that a lane acquires and releases in a turn of its loop.
    pub(crate) fn objects_a_turn(self) -> usize {
        self.burst * self.receivers().max(1)
    }

    /// Places in each queue between threads: fewer for large objects, so that those on their way
    /// stay within 8 MiB, and as few as the bound allows where a thread that waits for an object has others to
    /// release.
    pub(crate) fn queue(self) -> usize {
        let places = QUEUE.min(((8 << 20) / self.bytes()).max(16));
        match self.capacity {
            Some(capacity) if self.remote > 0 => {
                let each = (capacity / self.threads).saturating_sub(self.burst);
                each.clamp(1, places)
            }
            _ => places,
        }
    }

    /// Objects in use at once, at most.
    pub(crate) fn in_use(self) -> usize {
        let receivers = self.receivers().max(usize::from(self.remote > 0));
        let on_their_way = self.lanes() * receivers * (self.queue() + 1);
        self.lanes() * self.burst + on_their_way
    }

    /// Objects that a pool has before it is measured: all that will be in use, and room in every cache.
    pub(crate) fn prefill(self, entrant: Entrant) -> usize {
        let all = self.in_use() + entrant.cached(self.threads);
        self.capacity.map_or(all, |capacity| all.min(capacity))
    }

    /// The batch size of a pool that is not told one, as the builder chooses it.
    pub(crate) fn default_batch_size(self) -> usize {
        match self.capacity {
            Some(capacity) => (capacity / 8).clamp(1, BATCH_SIZE),
            None => BATCH_SIZE,
        }
    }

    /// All but the number of threads, in words.
    pub(crate) fn whatever_the_threads(self) -> String {
        let mut text = format!("objects of {} bytes", self.object_size);
        if self.owns_buffers() {
            let sizes = self.buffers.iter().filter(|&&size| size > 0);
            let sizes: Vec<_> = sizes.map(usize::to_string).collect();
            text += &format!(" with buffers of {}", sizes.join(" + "));
        }
        text += &format!(", {}, ", self.pattern);
        if self.remote > 0 {
            text += &format!("{} % released on another thread, ", self.remote);
        }
        text += &match self.burst {
            1 => "one in hand at a time".to_owned(),
            burst => format!("bursts of {burst}"),
        };
        if self.work > 0 {
            text += &format!(", {} tokens of work a burst", self.work);
        }
        text += &match self.capacity {
            None => ", no capacity".to_owned(),
            Some(capacity) => format!(", capacity {capacity}"),
        };
        text
    }

    /// Objects in millions a second, of all lanes together, when one takes a lane so many
    /// nanoseconds.
    pub(crate) fn millions_a_second(self, nanos: f64) -> f64 {
        self.lanes() as f64 * 1000.0 / nanos
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            1 => f.write_str("1 thread, ")?,
            threads => write!(f, "{threads} threads, ")?,
        }
        f.write_str(&self.whatever_the_threads())
    }
}

/// Where the objects of a contender come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// `Backend::Batched`.
    Batched,
    /// `Backend::Mutex`.
    Mutex,
    /// `Backend::Queue`.
    Queue,
    /// `Backend::Heap`.
    Heap,
    /// `unsync::Pool`, one for each thread.
    Unsync,
    /// `Box` on the allocator of the program, memory as it is: neither made nor reset.
    Box,
    /// A `Vec<Box<T>>` for each thread, popped and pushed.
    Vec,
    /// No objects: plain words through the queue.
    Words,
}

impl Kind {
    /// The kinds that `--backend` may name.
    pub(crate) const POOLS: [Kind; 5] = [
        Kind::Batched,
        Kind::Mutex,
        Kind::Queue,
        Kind::Heap,
        Kind::Unsync,
    ];

    /// The name, as `--backend` reads it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Batched => "batched",
            Kind::Mutex => "mutex",
            Kind::Queue => "queue",
            Kind::Heap => "heap",
            Kind::Unsync => "unsync",
            Kind::Box => "box",
            Kind::Vec => "vec",
            Kind::Words => "words",
        }
    }

    /// What it is, for those who see the name for the first time.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Kind::Batched => "a stack for each thread, refilled and emptied by batches",
            Kind::Mutex => "a stack under one lock",
            Kind::Queue => "one queue for all threads",
            Kind::Heap => "the pool's words over plain allocation: made, counted, destroyed",
            Kind::Unsync => "a pool of its own for each thread",
            Kind::Box => {
                "control: Box on the program's allocator, memory as it is, neither made nor reset (what owns buffers is made)"
            }
            Kind::Vec => "control: a Vec<Box<T>> of its own for each thread",
            Kind::Words => "control: plain words through the same queue, no objects",
        }
    }

    /// The backend, of those that share a pool.
    pub(crate) const fn backend(self) -> Option<Backend> {
        match self {
            Kind::Batched => Some(Backend::Batched),
            Kind::Mutex => Some(Backend::Mutex),
            Kind::Queue => Some(Backend::Queue),
            Kind::Heap => Some(Backend::Heap),
            Kind::Unsync | Kind::Box | Kind::Vec | Kind::Words => None,
        }
    }
}

/// Who competes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entrant {
    /// Where its objects come from.
    pub(crate) kind: Kind,
    /// Its batch size, if it has batches.
    pub(crate) batch_size: Option<usize>,
    /// Whether it takes and gives a burst in one call, with `acquire_many`.
    pub(crate) at_once: bool,
    /// Whether its threads are asked for what they cache, and not interrupted.
    pub(crate) cooperates: bool,
}

impl Entrant {
    /// One that has no batches.
    pub(crate) const fn of(kind: Kind) -> Self {
        Entrant {
            kind,
            batch_size: None,
            at_once: false,
            cooperates: false,
        }
    }

    /// A batched pool.
    pub(crate) const fn batched(batch_size: usize) -> Self {
        Entrant {
            kind: Kind::Batched,
            batch_size: Some(batch_size),
            at_once: false,
            cooperates: false,
        }
    }

    /// The same by `acquire_many`.
    pub(crate) const fn at_once(self) -> Self {
        Entrant {
            at_once: true,
            ..self
        }
    }

    /// The same with `Recall::Cooperate`.
    pub(crate) const fn cooperating(self) -> Self {
        Entrant {
            cooperates: true,
            ..self
        }
    }

    /// The builder of its pool, for those that threads share.
    pub(crate) fn builder<T: Poolable>(self, capacity: Option<usize>) -> Builder<T> {
        let backend = self.kind.backend();
        let mut builder = Pool::builder().backend(backend.expect("asked of shared pools only"));
        if let Some(batch_size) = self.batch_size {
            builder = builder.batch_size(batch_size);
        }
        if self.cooperates {
            builder = builder.recall(Recall::Cooperate);
        }
        match capacity {
            Some(capacity) => builder.capacity(capacity),
            None => builder,
        }
    }

    /// Objects it may keep idle in the caches of so many threads.
    pub(crate) fn cached(self, threads: usize) -> usize {
        2 * self.batch_size.unwrap_or(0) * threads
    }
}

impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = self.kind.name().to_owned();
        if let Some(batch_size) = self.batch_size {
            name += &format!(" {batch_size}");
        }
        if self.at_once {
            name += " at once";
        }
        if self.cooperates {
            name += " cooperating";
        }
        f.pad(&name)
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The case.
    pub(crate) case: Case,
    /// Who competes in it, pools first, then controls.
    pub(crate) entrants: Vec<Entrant>,
    /// The numbers of threads to show throughput against.
    pub(crate) threads: Vec<usize>,
    /// The batch sizes to show cost against; none without a batched pool.
    pub(crate) batch_sizes: Vec<usize>,
    /// Seconds that measuring takes, about.
    pub(crate) seconds: f64,
    /// Whether it is a smoke test.
    pub(crate) quick: bool,
}

impl Plan {
    /// One of each kind, each pool with its first batch size.
    pub(crate) fn one_of_each(&self) -> Vec<Entrant> {
        let mut kinds: Vec<Entrant> = Vec::new();
        for &entrant in &self.entrants {
            if !entrant.at_once && kinds.iter().all(|seen| seen.kind != entrant.kind) {
                kinds.push(entrant);
            }
        }
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(pattern: Pattern, threads: usize) -> Case {
        Case {
            object_size: 64,
            threads,
            buffers: [0; BUFFERS],
            burst: 10,
            work: 0,
            pattern,
            remote: 0,
            capacity: None,
        }
    }

    #[test]
    fn a_turn_of_a_fan_out_serves_every_receiver() {
        let fan = case(Pattern::FanOut, 4);
        assert_eq!(
            (fan.lanes(), fan.receivers(), fan.objects_a_turn()),
            (1, 3, 30)
        );
        let pairs = case(Pattern::Pipeline, 4);
        assert_eq!(
            (pairs.lanes(), pairs.receivers(), pairs.objects_a_turn()),
            (2, 1, 10)
        );
        let own = case(Pattern::SameThread, 4);
        assert_eq!(
            (own.lanes(), own.receivers(), own.objects_a_turn()),
            (4, 0, 10)
        );
        assert_eq!(own.in_use(), 40);
    }

    #[test]
    fn rates_are_those_of_all_lanes() {
        assert_eq!(case(Pattern::SameThread, 4).millions_a_second(10.0), 400.0);
        assert_eq!(case(Pattern::FanOut, 4).millions_a_second(10.0), 100.0);
    }

    #[test]
    fn one_of_each_leaves_out_repetitions() {
        let plan = Plan {
            case: case(Pattern::SameThread, 2),
            entrants: vec![
                Entrant::batched(8),
                Entrant::batched(8).at_once(),
                Entrant::batched(16),
                Entrant::of(Kind::Box),
            ],
            threads: vec![],
            batch_sizes: vec![],
            seconds: 1.0,
            quick: true,
        };
        assert_eq!(
            plan.one_of_each(),
            [Entrant::batched(8), Entrant::of(Kind::Box)]
        );
    }
}

//! What is measured, as checked plain data: the user's case, the contenders, and for how long. Made
//! by `args`, read by every other module.

use std::fmt;

use clap::ValueEnum;
use pool_bench::payload::BUFFERS;
use pool_bench::pipeline::QUEUE;
use pool_core::{Backend, Builder, Pool, Poolable, Recall};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, IntoStaticStr, VariantArray};

/// The sizes of object that the program is built for, in bytes.
pub(crate) const SIZES: [usize; 10] = [8, 16, 32, 64, 128, 256, 1024, 4096, 16_384, 65_536];

/// The same for objects that own buffers, whose addresses and lengths are part of them.
pub(crate) const OWNING_SIZES: [usize; 4] = [128, 256, 1024, 4096];

/// The batch size that the builder chooses without a small capacity.
const BATCH_SIZE: usize = 64;

/// How the objects of the case travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Pattern {
    /// Each thread acquires a burst, works, and releases it
    SameThread,
    /// In each pair of threads one acquires and sends, the other receives and releases
    Pipeline,
    /// One thread acquires and sends to all the others in turn, which release
    FanOut,
}

/// The user's case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Bytes of an object.
    pub(crate) object_size: usize,
    /// Bytes that are written into each buffer that an object owns; 0 for no buffer.
    pub(crate) buffers: [usize; BUFFERS],
    /// Threads, all of them together.
    pub(crate) threads: usize,
    /// Objects acquired before the first is released or sent.
    pub(crate) burst: usize,
    /// Tokens of other work for each burst, on each side of a queue; a token takes 2 to 3 ns.
    pub(crate) work: u64,
    /// How the objects travel.
    pub(crate) pattern: Pattern,
    /// Percentage of the objects that the next thread releases, with pattern same-thread.
    pub(crate) remote: usize,
    /// The capacity of the pools, if they have one.
    pub(crate) capacity: Option<usize>,
}

impl Default for Case {
    fn default() -> Self {
        Case {
            object_size: 64,
            buffers: [0; BUFFERS],
            threads: 1,
            burst: 1,
            work: 0,
            pattern: Pattern::SameThread,
            remote: 0,
            capacity: None,
        }
    }
}

impl Case {
    /// The same case with another number of threads.
    pub(crate) fn with_threads(self, threads: usize) -> Self {
        Case { threads, ..self }
    }

    /// Threads that acquire. Each has its own receivers.
    pub(crate) fn lanes(self) -> usize {
        match self.pattern {
            Pattern::SameThread => self.threads,
            Pattern::Pipeline => self.threads / 2,
            Pattern::FanOut => 1,
        }
    }

    /// Threads that only release, for each thread that acquires.
    pub(crate) fn receivers(self) -> usize {
        match self.pattern {
            Pattern::SameThread => 0,
            Pattern::Pipeline => 1,
            Pattern::FanOut => self.threads - 1,
        }
    }

    /// Whether some objects are released on another thread than the one that acquired them.
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

    /// Places in each queue between threads. Large objects get fewer, so that the objects in a queue
    /// stay within 8 MiB. With a capacity and a remote share the queues are so short that a thread
    /// which waits for an object is never starved by full queues.
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
        let in_queues = self.lanes() * receivers * (self.queue() + 1);
        self.lanes() * self.burst + in_queues
    }

    /// Objects that a pool has before it is measured: all that will be in use, and all that caches
    /// have room for.
    pub(crate) fn prefill(self, entrant: Entrant) -> usize {
        let all = self.in_use() + entrant.cached(self.threads);
        all.min(self.capacity.unwrap_or(usize::MAX))
    }

    /// The batch size that the builder chooses for this case.
    pub(crate) fn default_batch_size(self) -> usize {
        let small = |capacity: usize| (capacity / 8).clamp(1, BATCH_SIZE);
        self.capacity.map_or(BATCH_SIZE, small)
    }

    /// The case without its number of threads, in words.
    pub(crate) fn whatever_the_threads(self) -> String {
        let mut text = format!("objects of {} bytes", self.object_size);
        if self.owns_buffers() {
            let sizes = self.buffers.iter().filter(|&&size| size > 0);
            let sizes: Vec<_> = sizes.map(usize::to_string).collect();
            text += &format!(" with buffers of {}", sizes.join(" + "));
        }
        text += &format!(", {}", self.pattern);
        if self.remote > 0 {
            text += &format!(", {} % released on another thread", self.remote);
        }
        text += &match self.burst {
            1 => ", one in hand at a time".to_owned(),
            burst => format!(", bursts of {burst}"),
        };
        if self.work > 0 {
            text += &format!(", {} tokens of work a burst", self.work);
        }
        let capacity = self
            .capacity
            .map(|capacity| format!(", capacity {capacity}"));
        text + capacity.as_deref().unwrap_or(", no capacity")
    }

    /// Millions of objects a second, of all lanes together, when an object takes a lane `nanos`.
    pub(crate) fn millions_a_second(self, nanos: f64) -> f64 {
        self.lanes() as f64 * 1000.0 / nanos
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.threads == 1 { "" } else { "s" };
        write!(
            f,
            "{} thread{plural}, {}",
            self.threads,
            self.whatever_the_threads()
        )
    }
}

/// Where the objects of a contender come from. `--backend` may name the pools; the page explains
/// each kind in these words.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    ValueEnum,
    EnumMessage,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Kind {
    /// A stack for each thread, refilled and emptied by batches
    #[default]
    Batched,
    /// A stack under one lock
    Mutex,
    /// One queue for all threads
    Queue,
    /// The pool's interface over plain allocation: each object is created, counted, destroyed
    Heap,
    /// A pool of its own for each thread
    Unsync,
    /// Control: Box on the program's allocator, uninitialised memory (created if it owns buffers)
    #[value(skip)]
    Box,
    /// Control: a vector of boxes of its own for each thread
    #[value(skip)]
    Vec,
    /// Control: plain words through the same queue, no objects
    #[value(skip)]
    Words,
}

impl Kind {
    /// The name, as `--backend` reads it.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// The backend, for pools that threads share.
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

/// A contender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entrant {
    /// Where its objects come from.
    pub(crate) kind: Kind,
    /// Its batch size, if it has batches.
    pub(crate) batch_size: Option<usize>,
    /// Whether it acquires a burst in one call, with `acquire_many`.
    pub(crate) at_once: bool,
    /// Whether it has `Recall::Cooperate`: threads hand over their caches and are not interrupted.
    pub(crate) cooperates: bool,
}

impl Entrant {
    /// A contender without batches.
    pub(crate) fn of(kind: Kind) -> Self {
        Entrant {
            kind,
            ..Entrant::default()
        }
    }

    /// A batched pool.
    pub(crate) fn batched(batch_size: usize) -> Self {
        Entrant {
            batch_size: Some(batch_size),
            ..Entrant::default()
        }
    }

    /// The builder of its pool, for pools that threads share.
    pub(crate) fn builder<T: Poolable>(self, capacity: Option<usize>) -> Builder<T> {
        let backend = self.kind.backend().expect("asked of shared pools only");
        let mut builder = Pool::builder().backend(backend);
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

    /// Objects that the caches of so many threads hold, at most.
    pub(crate) fn cached(self, threads: usize) -> usize {
        2 * self.batch_size.unwrap_or(0) * threads
    }
}

impl fmt::Display for Entrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(batch_size) = self.batch_size {
            write!(f, " {batch_size}")?;
        }
        f.write_str(if self.at_once { " at once" } else { "" })?;
        f.write_str(if self.cooperates { " cooperating" } else { "" })
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The case.
    pub(crate) case: Case,
    /// The contenders, pools first, then controls.
    pub(crate) entrants: Vec<Entrant>,
    /// The numbers of threads to measure.
    pub(crate) threads: Vec<usize>,
    /// The batch sizes to measure; none without a batched pool.
    pub(crate) batch_sizes: Vec<usize>,
    /// Seconds that measuring takes, about.
    pub(crate) seconds: f64,
    /// Whether it is a smoke test.
    pub(crate) quick: bool,
}

impl Plan {
    /// A contender of each kind, each pool with its first batch size.
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

    #[test]
    fn a_turn_of_a_fan_out_serves_every_receiver() {
        for (pattern, expected) in [
            (Pattern::FanOut, (1, 3, 30)),
            (Pattern::Pipeline, (2, 1, 10)),
            (Pattern::SameThread, (4, 0, 10)),
        ] {
            let case = Case {
                threads: 4,
                burst: 10,
                pattern,
                ..Case::default()
            };
            let turn = (case.lanes(), case.receivers(), case.objects_a_turn());
            assert_eq!(turn, expected, "{pattern}");
            assert_eq!(case.millions_a_second(10.0), 100.0 * case.lanes() as f64);
        }
    }
}

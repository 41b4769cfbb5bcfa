//! The shadow ledger: what the pool should know, kept beside it.
//!
//! One [`Book`] for each pool. Every object has an entry there, a word that says what became of it
//! and who holds it; each step of an object's life is a swap of that word, which finds any step that
//! does not follow from the one before: a second owner, a second end, a second reset.
//!
//! All of it is relaxed: a book must not order what threads do, or it would hide what the pool fails
//! to order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use parking_lot::Mutex;
use pool_core::ResetOn;

use crate::alarm::{check, fail};

/// Who holds an object.
pub(crate) type Owner = u32;

/// Owners that are no thread.
pub(crate) const MAIL: Owner = 1;
pub(crate) const SHARED: Owner = 2;
pub(crate) const FORGOTTEN: Owner = 3;
pub(crate) const REST: Owner = 4;
/// The first thread.
pub(crate) const FIRST: Owner = 16;

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Dead,
    /// Wiped: idle in the pool, or on its way there or from there.
    Idle,
    Held(Owner),
    /// Given up by its owner, and not wiped yet.
    Leaving,
    /// No longer, or not yet, the pool's.
    Outside,
}

impl State {
    fn word(self) -> u32 {
        match self {
            State::Dead => 0,
            State::Idle => 1,
            State::Leaving => 2,
            State::Outside => 3,
            State::Held(owner) => 4 | owner << 3,
        }
    }

    fn of(word: u32) -> Self {
        match word & 7 {
            0 => State::Dead,
            1 => State::Idle,
            2 => State::Leaving,
            3 => State::Outside,
            _ => State::Held(word >> 3),
        }
    }
}

const SEGMENT: usize = 512;
type Segment = Arc<[AtomicU32]>;

/// How often hooks do what nobody likes, each in 1,000 calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Temper {
    pub(crate) create_panics: u32,
    pub(crate) reset_panics: u32,
    pub(crate) judge_panics: u32,
    pub(crate) judge_refuses: u32,
    pub(crate) drop_panics: u32,
    pub(crate) sleeps: u32,
    pub(crate) reenters: u32,
}

pub(crate) struct Book {
    pub(crate) number: usize,
    pub(crate) capacity: Option<usize>,
    pub(crate) reset_on: ResetOn,
    temper: Temper,
    /// Whether hooks behave.
    calm: AtomicBool,
    segments: Mutex<Vec<Segment>>,
    len: AtomicUsize,
    alive: AtomicUsize,
    /// Objects that joined the pool.
    joined: AtomicUsize,
    /// Objects rejected for what they were or did.
    rejected: AtomicUsize,
}

impl Book {
    pub(crate) fn new(
        number: usize,
        capacity: Option<usize>,
        reset_on: ResetOn,
        temper: Temper,
    ) -> Arc<Self> {
        Arc::new(Book {
            number,
            capacity,
            reset_on,
            temper,
            calm: AtomicBool::new(false),
            segments: Mutex::default(),
            len: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            joined: AtomicUsize::new(0),
            rejected: AtomicUsize::new(0),
        })
    }

    /// How hooks behave now.
    pub(crate) fn temper(&self) -> Temper {
        if self.calm.load(Ordering::Relaxed) {
            Temper::default()
        } else {
            self.temper
        }
    }

    /// Whether hooks behave from now on.
    pub(crate) fn set_calm(&self, calm: bool) {
        self.calm.store(calm, Ordering::Relaxed);
    }

    /// A page for a new object.
    pub(crate) fn page(self: &Arc<Self>, state: State) -> Page {
        let number = self.len.fetch_add(1, Ordering::Relaxed);
        let segment = {
            let mut segments = self.segments.lock();
            while segments.len() <= number / SEGMENT {
                segments.push((0..SEGMENT).map(|_| AtomicU32::new(0)).collect());
            }
            segments[number / SEGMENT].clone()
        };
        let page = Page {
            book: self.clone(),
            segment,
            number,
        };
        page.entry().store(state.word(), Ordering::Relaxed);
        page
    }

    /// One object more in the pool.
    pub(crate) fn joins(&self) {
        self.joined.fetch_add(1, Ordering::Relaxed);
        let alive = self.alive.fetch_add(1, Ordering::Relaxed) + 1;
        check(
            self.capacity.is_none_or(|capacity| alive <= capacity),
            || {
                format!(
                    "pool {} has {alive} objects, and a capacity of {:?}",
                    self.number, self.capacity
                )
            },
        );
    }

    /// One object less.
    pub(crate) fn leaves(&self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn rejects(&self) {
        self.rejected.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }

    pub(crate) fn joined(&self) -> usize {
        self.joined.load(Ordering::Relaxed)
    }

    pub(crate) fn rejected(&self) -> usize {
        self.rejected.load(Ordering::Relaxed)
    }

    /// What became of every object that ever was, by number.
    pub(crate) fn states(&self) -> Vec<State> {
        let segments = self.segments.lock();
        segments
            .iter()
            .flat_map(|segment| segment.iter())
            .take(self.len.load(Ordering::Relaxed))
            .map(|word| State::of(word.load(Ordering::Relaxed)))
            .collect()
    }
}

/// The page of one object in the book of its pool.
pub(crate) struct Page {
    pub(crate) book: Arc<Book>,
    segment: Segment,
    pub(crate) number: usize,
}

impl Page {
    fn entry(&self) -> &AtomicU32 {
        &self.segment[self.number % SEGMENT]
    }

    pub(crate) fn state(&self) -> State {
        State::of(self.entry().load(Ordering::Relaxed))
    }

    /// One step of the object's life, which must come after one that `follows`.
    pub(crate) fn turn(&self, next: State, follows: impl FnOnce(State) -> bool) -> State {
        let before = State::of(self.entry().swap(next.word(), Ordering::Relaxed));
        if !follows(before) {
            fail(&format!(
                "object {} of pool {} was {before:?}, and is to be {next:?}",
                self.number, self.book.number
            ));
        }
        before
    }
}

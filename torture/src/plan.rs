//! What a pool is told, chosen by the dice.

use std::sync::Arc;

use pool_core::{Backend, BuildError, Pool, Recall, ResetOn, unsync};

use crate::alarm::fail;
use crate::body::{Body, Hooks};
use crate::book::{Book, Temper};
use crate::dice::{chance, pick, roll};

pub(crate) type TorturePool<const WORDS: usize> = Pool<Body<WORDS>, Hooks<WORDS>>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) backend: Backend,
    pub(crate) capacity: Option<usize>,
    batch_size: Option<usize>,
    prefill: usize,
    grow_by: Option<usize>,
    pub(crate) max_idle: Option<usize>,
    reset_on: ResetOn,
    recall: Recall,
    temper: Temper,
    /// Whether objects go back before the thread does anything else, so that it may wait for one
    /// without a limit.
    pub(crate) gate: bool,
    /// Whether it may be closed while it is used.
    pub(crate) closes: bool,
    /// Whether its bound may be lowered meanwhile, and raised again.
    pub(crate) resizes: bool,
    pub(crate) tracks_holders: bool,
}

impl Plan {
    pub(crate) fn roll(backends: &[Backend]) -> Self {
        let backend = pick(backends);
        let gate = chance(250);
        let capacity = (gate || chance(600)).then(|| 1 + roll(pick(&[3, 12, 48])));
        let max_idle = chance(250).then(|| roll(32));
        let most = capacity.into_iter().chain(max_idle).min().unwrap_or(64);
        Plan {
            backend,
            capacity,
            // Two batches have to fit.
            batch_size: (backend == Backend::Batched && chance(700))
                .then(|| (1 + roll(8)).min(max_idle.map_or(8, |max_idle| max_idle / 2)))
                .filter(|&batch_size| batch_size > 0),
            prefill: if chance(300) { roll(most + 1) } else { 0 },
            grow_by: chance(300).then(|| 1 + roll(16)),
            max_idle,
            reset_on: if chance(250) {
                ResetOn::Acquire
            } else {
                ResetOn::Release
            },
            // What a thread caches that waits for another pool nobody gets then, so without a gate.
            recall: if !gate && chance(300) {
                Recall::Cooperate
            } else {
                Recall::Interrupt
            },
            temper: temper(),
            gate,
            closes: chance(200),
            resizes: capacity.is_some() && chance(300),
            tracks_holders: chance(150),
        }
    }

    fn book(&self, number: usize) -> Arc<Book> {
        Book::new(number, self.capacity, self.reset_on, self.temper)
    }

    /// A pool, whose hooks behave until it is built, and its book.
    pub(crate) fn build<const WORDS: usize>(
        &self,
        number: usize,
    ) -> (TorturePool<WORDS>, Arc<Book>) {
        let book = self.book(number);
        book.set_calm(true);
        let mut builder = Pool::builder_for(Hooks(book.clone()))
            .backend(self.backend)
            .track_holders(self.tracks_holders)
            .prefill(self.prefill)
            .reset_on(self.reset_on)
            .recall(self.recall);
        if let Some(capacity) = self.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(batch_size) = self.batch_size {
            builder = builder.batch_size(batch_size);
        }
        if let Some(grow_by) = self.grow_by {
            builder = builder.grow_by(grow_by);
        }
        if let Some(max_idle) = self.max_idle {
            builder = builder.max_idle(max_idle);
        }
        let pool = builder.build().unwrap_or_else(|error| self.refused(&error));
        book.set_calm(false);
        (pool, book)
    }

    /// The same for one thread.
    pub(crate) fn build_unsync<const WORDS: usize>(
        &self,
        number: usize,
    ) -> (unsync::Pool<Body<WORDS>, Hooks<WORDS>>, Arc<Book>) {
        let book = self.book(number);
        book.set_calm(true);
        let mut builder = unsync::Pool::builder_for(Hooks(book.clone()))
            .prefill(self.prefill)
            .reset_on(self.reset_on);
        if let Some(capacity) = self.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(max_idle) = self.max_idle {
            builder = builder.max_idle(max_idle);
        }
        let pool = builder.build().unwrap_or_else(|error| self.refused(&error));
        book.set_calm(false);
        (pool, book)
    }

    fn refused(&self, error: &BuildError) -> ! {
        fail(&format!("a pool was refused: {error} ({self:?})"));
    }
}

fn temper() -> Temper {
    if chance(350) {
        return Temper::default();
    }
    let some = |most: usize| {
        if chance(500) { roll(most) as u32 } else { 0 }
    };
    Temper {
        create_panics: some(60),
        reset_panics: some(60),
        judge_panics: some(30),
        judge_refuses: some(100),
        drop_panics: some(60),
        sleeps: some(20),
        reenters: some(60),
    }
}

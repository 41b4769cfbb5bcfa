//! The objects, and the hooks that make, wipe and judge them and do what nobody likes.

use std::cell::{Cell, RefCell};
use std::panic::panic_any;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use pool_core::{Lifecycle, ResetOn};

use crate::alarm::{Scripted, check};
use crate::book::{Book, Owner, Page, SHARED, State};
use crate::dice::{bits, chance, roll};

thread_local! {
    /// What a hook does to use the pool it is called by, or another; set by the thread.
    static REENTER: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Whether a hook uses a pool right now.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Whether objects may go back that nobody held: those of a burst that came to nothing.
    static BURSTS: Cell<bool> = const { Cell::new(false) };
}

/// What hooks on this thread do to use a pool.
pub(crate) fn reenter_with(action: Option<Rc<dyn Fn()>>) {
    // What was there before is dropped outside.
    let before = REENTER.with(|slot| slot.replace(action));
    drop(before);
}

/// Runs `f`, which acquires many.
pub(crate) fn bursting<R>(f: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            BURSTS.set(self.0);
        }
    }
    let _before = Before(BURSTS.replace(true));
    f()
}

fn reenter() {
    if INSIDE.get() {
        return;
    }
    let action = REENTER
        .try_with(|slot| slot.try_borrow().ok()?.clone())
        .ok()
        .flatten();
    if let Some(action) = action {
        struct Inside;
        impl Drop for Inside {
            fn drop(&mut self) {
                INSIDE.set(false);
            }
        }
        INSIDE.set(true);
        let _inside = Inside;
        action();
    }
}

/// What every hook may do before its work.
fn misbehave(book: &Book) {
    let temper = book.temper();
    if chance(temper.sleeps) {
        match roll(3) {
            0 => thread::sleep(Duration::from_micros(roll(200) as u64)),
            _ => thread::yield_now(),
        }
    }
    if chance(temper.reenters) {
        reenter();
    }
}

fn panic_on(times: u32) {
    if chance(times) {
        panic_any(Scripted);
    }
}

/// An object. It knows its page in the book, and carries what its owner wrote into it.
pub(crate) struct Body<const WORDS: usize> {
    words: [u64; WORDS],
    /// Memory of its own, so that a leak or a double end is one that a sanitizer sees.
    text: Vec<u8>,
    page: Page,
}

impl<const WORDS: usize> Body<WORDS> {
    /// One that joins the pool from its start.
    fn inside(book: &Arc<Book>) -> Self {
        book.joins();
        Self::at(book.page(State::Idle))
    }

    /// One that is no pool's yet.
    pub(crate) fn outside(book: &Arc<Book>) -> Self {
        Self::at(book.page(State::Outside))
    }

    fn at(page: Page) -> Self {
        Body {
            words: [0; WORDS],
            text: Vec::new(),
            page,
        }
    }

    pub(crate) fn number(&self) -> usize {
        self.page.number
    }

    pub(crate) fn book(&self) -> &Arc<Book> {
        &self.page.book
    }

    fn assert_wiped(&self) {
        check(
            self.text.is_empty() && self.words.iter().all(|word| *word == 0),
            || {
                format!(
                    "object {} of pool {} came with what another had left: {:x?} {:?}",
                    self.page.number, self.page.book.number, self.words, self.text
                )
            },
        );
    }

    /// The calling thread has acquired the object: it is wiped, and nobody else's.
    pub(crate) fn claim(&mut self, owner: Owner) {
        self.page
            .turn(State::Held(owner), |before| before == State::Idle);
        self.assert_wiped();
        self.stamp();
    }

    /// As [`claim`](Self::claim), of an object that was attached.
    pub(crate) fn claim_attached(&mut self, owner: Owner) {
        self.page.book.joins();
        self.page
            .turn(State::Held(owner), |before| before == State::Outside);
        self.stamp();
    }

    /// Writes what nobody else would.
    fn stamp(&mut self) {
        self.words = [bits() | 1; WORDS];
        self.text.clear();
        self.text.resize(1 + roll(24), self.words[0] as u8);
    }

    /// Whether what was written is still there, all of it.
    pub(crate) fn assert_stamp(&self) {
        let word = self.words[0];
        check(
            word != 0
                && self.words.iter().all(|other| *other == word)
                && !self.text.is_empty()
                && self.text.iter().all(|byte| *byte == word as u8),
            || {
                format!(
                    "object {} of pool {} was written to by another: {:x?} {:?}",
                    self.page.number, self.page.book.number, self.words, self.text
                )
            },
        );
    }

    pub(crate) fn assert_held(&self, owner: Owner) {
        let state = self.page.state();
        check(state == State::Held(owner), || {
            format!(
                "object {} is held by {owner}, and {state:?}",
                self.page.number
            )
        });
        self.assert_stamp();
    }

    pub(crate) fn assert_shared(&self) {
        self.assert_held(SHARED);
    }

    /// From one owner to another.
    pub(crate) fn hand(&self, from: Owner, to: Owner) {
        self.assert_stamp();
        self.page
            .turn(State::Held(to), |before| before == State::Held(from));
    }

    /// The owner is about to give it back.
    pub(crate) fn yield_up(&self, owner: Owner) {
        self.assert_stamp();
        self.page
            .turn(State::Leaving, |before| before == State::Held(owner));
    }

    /// The owner is about to throw it away.
    pub(crate) fn give_up(&self, owner: Owner) {
        self.yield_up(owner);
        self.page.book.rejects();
    }

    /// The owner is about to take it out of the pool.
    pub(crate) fn move_out(&self, owner: Owner) {
        self.assert_stamp();
        self.page.book.leaves();
        self.page
            .turn(State::Outside, |before| before == State::Held(owner));
    }

    /// It was idle, and came out of the pool; the book was told before, so that what is made in its
    /// place meanwhile does not seem too much.
    pub(crate) fn was_drained(&self) {
        self.page.turn(State::Outside, |before| {
            before == State::Idle || self.page.book.reset_on == ResetOn::Acquire
        });
    }

    /// Back to what a fresh one is.
    fn wipe(&mut self) {
        let late = self.page.book.reset_on == ResetOn::Acquire;
        let before = self.page.turn(State::Idle, |before| match before {
            State::Leaving | State::Held(SHARED) => true,
            State::Idle => late || BURSTS.get(),
            _ => false,
        });
        if before != State::Idle {
            self.assert_stamp();
        }
        self.words = [0; WORDS];
        self.text.clear();
    }
}

impl<const WORDS: usize> Drop for Body<WORDS> {
    fn drop(&mut self) {
        let before = self.page.turn(State::Dead, |before| match before {
            State::Idle | State::Leaving | State::Outside => true,
            State::Held(owner) => owner == SHARED,
            State::Dead => false,
        });
        if before != State::Outside {
            self.page.book.leaves();
            misbehave(&self.page.book);
            panic_on(self.page.book.temper().drop_panics);
        }
    }
}

/// The hooks of a pool.
pub(crate) struct Hooks<const WORDS: usize>(pub(crate) Arc<Book>);

impl<const WORDS: usize> Hooks<WORDS> {
    /// Counts the object that a hook works on as rejected, should it panic.
    fn rejecting<R>(&self, hook: impl FnOnce() -> R) -> R {
        struct Rejects<'a>(&'a Book);
        impl Drop for Rejects<'_> {
            fn drop(&mut self) {
                self.0.rejects();
            }
        }
        let rejects = Rejects(&self.0);
        let result = hook();
        std::mem::forget(rejects);
        result
    }
}

impl<const WORDS: usize> Lifecycle<Body<WORDS>> for Hooks<WORDS> {
    fn create(&self) -> Body<WORDS> {
        misbehave(&self.0);
        panic_on(self.0.temper().create_panics);
        Body::inside(&self.0)
    }

    fn reset(&self, body: &mut Body<WORDS>) {
        self.rejecting(|| {
            misbehave(&self.0);
            body.wipe();
            panic_on(self.0.temper().reset_panics);
        });
    }

    fn is_reusable(&self, body: &Body<WORDS>) -> bool {
        self.rejecting(|| {
            misbehave(&self.0);
            body.assert_wiped();
            panic_on(self.0.temper().judge_panics);
        });
        let refused = chance(self.0.temper().judge_refuses);
        if refused {
            self.0.rejects();
        }
        !refused
    }
}

//! What must be true when no thread is left: the pool's counts and its book agree, every object is in
//! one place, what is idle can be had and nothing more, and in the end everything is destroyed.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pool_core::{AcquireError, Backend, Pooled, Stats};

use crate::alarm::{check, fail};
use crate::book::{Book, FORGOTTEN, MAIL, REST, State};
use crate::dice::roll;
use crate::plan::TorturePool;
use crate::round::{Handle, Happened, Held, Site, held_of};

/// Checks every pool, whose hooks behave now, then ends them and lets go of what is held, in an order of the dice.
pub(crate) fn check_all<const WORDS: usize>(
    sites: &[Site<WORDS>],
    pools: Vec<Option<TorturePool<WORDS>>>,
    mail: Vec<Held<WORDS>>,
    happened: &Happened,
) {
    let mail: Vec<_> = mail.into_iter().map(Held::cooked).collect();
    for (site, pool) in sites.iter().zip(&pools) {
        let held = held_of(&mail, &site.book);
        match pool {
            Some(pool) => check_pool(site, pool, &held, happened),
            None => check_ended(&site.book, &held),
        }
    }
    for held in &mail {
        if let Held::One(handle) = held {
            let here = pools.iter().flatten();
            let alive = here.clone().any(|pool| is_of(pool, handle));
            check(Pooled::pool(handle).is_some() == alive, || {
                "a pool that has ended was found, or one that has not was not".to_owned()
            });
        }
    }
    match roll(3) {
        0 => {
            drop(pools);
            let_go(mail);
        }
        1 => {
            let_go(mail);
            drop(pools);
        }
        _ => {
            pools.iter().flatten().for_each(TorturePool::close);
            let_go(mail);
            drop(pools);
        }
    }
}

fn is_of<const WORDS: usize>(pool: &TorturePool<WORDS>, handle: &Handle<WORDS>) -> bool {
    std::ptr::eq(&raw const *pool.lifecycle().0, &raw const **handle.book())
}

fn let_go<const WORDS: usize>(mail: Vec<Held<WORDS>>) {
    for held in mail {
        match held {
            Held::One(handle) => handle.yield_up(MAIL),
            Held::Many(burst) => {
                for handle in &burst {
                    handle.yield_up(MAIL);
                }
            }
            Held::Shared(_) | Held::Raw(_) => {}
        }
    }
}

fn counted(states: &[State], state: State) -> usize {
    states.iter().filter(|other| **other == state).count()
}

/// The pool is there still.
fn check_pool<const WORDS: usize>(
    site: &Site<WORDS>,
    pool: &TorturePool<WORDS>,
    held: &BTreeSet<usize>,
    happened: &Happened,
) {
    let (plan, book) = (&site.plan, &site.book);
    if plan.resizes {
        pool.set_capacity(plan.capacity);
    }
    // What threads have left to a closed pool at their ends is dropped by who comes next.
    pool.flush();
    let stats = pool.stats();
    Happened::add(&happened.waits, stats.waits);
    Happened::add(&happened.revocations, stats.revocations);
    let states = book.states();
    let forgotten = counted(&states, State::Held(FORGOTTEN));
    let agree = |what: &str, ours: usize, theirs: usize| {
        check(ours == theirs, || {
            format!("{what}: {ours} by the book, {theirs} by the pool\n{plan:?}\n{stats:?}")
        });
    };
    agree("alive", book.alive(), stats.created - stats.destroyed);
    agree("in use", held.len() + forgotten, stats.in_use);
    agree("idle", book.alive() - held.len() - forgotten, stats.idle);
    agree("rejected", book.rejected(), stats.discarded);
    let tracked = if plan.tracks_holders { stats.in_use } else { 0 };
    agree("holders", tracked, pool.holders().len());
    check(
        stats.waiting == 0 && stats.peak_live <= plan.capacity.unwrap_or(usize::MAX),
        || format!("{stats:?}"),
    );
    let idle = pool.wait_idle(Some(Duration::ZERO));
    agree(
        "out",
        stats.in_use,
        idle.map_or_else(|out| out.in_use(), |()| 0),
    );
    check(stats.created >= book.joined(), || {
        format!("{} joined the pool\n{stats:?}", book.joined())
    });
    check(stats.cached <= stats.idle, || format!("{stats:?}"));
    let keeps = if plan.backend == Backend::Heap {
        0
    } else {
        plan.max_idle.unwrap_or(usize::MAX)
    };
    check(stats.idle <= keeps, || {
        format!("{} are idle, at most {keeps} may be", stats.idle)
    });
    if pool.is_closed() {
        check(stats.idle == 0, || format!("closed\n{stats:?}"));
        check(
            matches!(pool.try_acquire(), Err(AcquireError::Closed)),
            || "a closed pool gave an object".to_owned(),
        );
        return;
    }
    check_reach(site, pool, &stats);
    if roll(2) == 0 {
        check_drain(book, pool, held);
    }
}

/// All that is idle can be had, then what the bound leaves, and then nothing.
fn check_reach<const WORDS: usize>(site: &Site<WORDS>, pool: &TorturePool<WORDS>, stats: &Stats) {
    let mut all = Vec::new();
    let mut have = |what: &str, got: Result<_, AcquireError>| match got {
        Ok(object) => all.push(object),
        Err(error) => fail(&format!("{what}: {error}\n{:?}\n{stats:?}", site.plan)),
    };
    for _ in 0..stats.idle {
        have("an idle object is out of reach", pool.try_acquire_idle());
    }
    check(
        matches!(pool.try_acquire_idle(), Err(AcquireError::Exhausted)),
        || "more were idle than was said".to_owned(),
    );
    if let Some(capacity) = site.plan.capacity {
        for _ in 0..capacity - stats.in_use - stats.idle {
            have("room under the bound is lost", pool.try_acquire());
        }
        check(
            matches!(pool.try_acquire(), Err(AcquireError::Exhausted)),
            || "the bound was passed".to_owned(),
        );
    }
    for object in &mut all {
        object.claim(REST);
    }
    for object in &all {
        object.yield_up(REST);
    }
}

/// What is drained is what is idle.
fn check_drain<const WORDS: usize>(book: &Book, pool: &TorturePool<WORDS>, held: &BTreeSet<usize>) {
    let states = book.states();
    let idle = |number: &usize| {
        !held.contains(number)
            && !matches!(
                states[*number],
                State::Dead | State::Held(FORGOTTEN) | State::Outside
            )
    };
    let idle: BTreeSet<_> = (0..states.len()).filter(idle).collect();
    let mut drained = BTreeSet::new();
    for object in pool.drain() {
        book.leaves();
        object.was_drained();
        check(drained.insert(object.number()), || {
            format!("object {} was idle twice", object.number())
        });
    }
    check(drained == idle, || {
        format!("idle by the book {idle:?}, by the pool {drained:?}")
    });
}

/// The pool has ended, and only what was out is there.
fn check_ended(book: &Book, held: &BTreeSet<usize>) {
    let forgotten = counted(&book.states(), State::Held(FORGOTTEN));
    check(book.alive() == held.len() + forgotten, || {
        format!(
            "{} objects of a pool that has ended, of which {} are held and {forgotten} forgotten",
            book.alive(),
            held.len()
        )
    });
}

/// Nothing is left of the pool: every object was destroyed, but those forgotten.
pub(crate) fn check_end(book: &Book, happened: &Happened) {
    let states = book.states();
    happened
        .objects
        .fetch_add(states.len() as u64, Ordering::Relaxed);
    for (number, state) in states.iter().enumerate() {
        check(
            matches!(state, State::Dead | State::Held(FORGOTTEN)),
            || {
                format!(
                    "object {number} of pool {} is {state:?} after the end",
                    book.number
                )
            },
        );
    }
    let forgotten = counted(&states, State::Held(FORGOTTEN));
    check(book.alive() == forgotten, || {
        format!("{} objects are alive after the end", book.alive())
    });
}

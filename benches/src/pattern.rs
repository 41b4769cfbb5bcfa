//! The loops: how a user takes objects and gives them back. One of each for all contenders.
//!
//! A loop is never inlined, and neither contender nor objects are known to the compiler in it: the
//! contender is reached through memory that anyone may have written, as in a program whose loop
//! calls functions. Otherwise the length of a vector would live in a register.
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::hint::black_box;
use std::mem::MaybeUninit;

use pool_core::Poolable;

use crate::contender::{Contender, Pooled};
use crate::payload::{Payload, Wide, touch, zero_and_compare};
use crate::work::consume;

/// In which order objects are taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// One in hand at a time: acquire, touch, release.
    Single,
    /// So many are acquired and touched, then all are released, the last first.
    Burst(usize),
}

impl Pattern {
    /// Objects taken and given back in a turn of the loop.
    #[must_use]
    pub fn objects(self) -> usize {
        match self {
            Pattern::Single => 1,
            Pattern::Burst(burst) => burst,
        }
    }
}

/// One object in hand at a time.
#[inline(never)]
pub fn singly<T: Payload, C: Contender<T>>(contender: &mut C, turns: usize) {
    singly_inlined(black_box(contender), turns);
}

/// [`singly`] for a caller that is itself the loop, and may know its contender.
#[inline(always)]
pub fn singly_inlined<T: Payload, C: Contender<T>>(contender: &mut C, turns: usize) {
    for turn in 0..turns {
        let mut handle = contender.acquire();
        // SAFETY: the object of a handle is valid for writes.
        unsafe { touch(C::object(&mut handle), turn as u64) };
        contender.release(handle);
    }
}

/// Bursts. `held` is empty, and has room for one.
#[inline(never)]
pub fn in_bursts<C: Contender>(
    contender: &mut C,
    held: &mut Vec<C::Handle>,
    burst: usize,
    turns: usize,
) {
    bursts_inlined(black_box(contender), held, burst, turns, touched, || ());
}

/// Bursts, with so many tokens of other work between the last acquire and the first release.
#[inline(never)]
pub fn in_bursts_with_work<T: Payload, C: Contender<T>>(
    contender: &mut C,
    held: &mut Vec<C::Handle>,
    burst: usize,
    tokens: u64,
    turns: usize,
) {
    let work = || consume(tokens);
    bursts_inlined(black_box(contender), held, burst, turns, touched, work);
}

/// Bursts whose objects are each zeroed and compared with a string.
#[inline(never)]
pub fn in_bursts_zeroed<C: Contender>(
    contender: &mut C,
    held: &mut Vec<C::Handle>,
    burst: usize,
    turns: usize,
) {
    let zero = |message, _| {
        // SAFETY: the object of a handle is valid for writes.
        black_box(unsafe { zero_and_compare(message) });
    };
    bursts_inlined(black_box(contender), held, burst, turns, zero, || ());
}

#[inline(always)]
fn touched<T: Payload>(message: *mut T, id: u64) {
    // SAFETY: the object of a handle is valid for writes.
    unsafe { touch(message, id) };
}

#[inline(always)]
fn bursts_inlined<T: Payload, C: Contender<T>>(
    contender: &mut C,
    held: &mut Vec<C::Handle>,
    burst: usize,
    turns: usize,
    use_object: impl Fn(*mut T, u64),
    between: impl Fn(),
) {
    for turn in 0..turns {
        for _ in 0..burst {
            let mut handle = contender.acquire();
            use_object(C::object(&mut handle), turn as u64);
            held.push(handle);
        }
        between();
        while let Some(handle) = held.pop() {
            contender.release(handle);
        }
    }
}

/// Bursts of a pool acquired and released as one.
#[inline(never)]
pub fn at_once(pool: &mut Pooled, burst: usize, turns: usize) {
    at_once_inlined(black_box(pool), burst, turns, || ());
}

/// [`at_once`], with so many tokens of other work before the release.
#[inline(never)]
pub fn at_once_with_work<T: Payload>(
    pool: &mut Pooled<T>,
    burst: usize,
    tokens: u64,
    turns: usize,
) {
    at_once_inlined(black_box(pool), burst, turns, || consume(tokens));
}

#[inline(always)]
fn at_once_inlined<T: Payload>(
    pool: &mut Pooled<T>,
    burst: usize,
    turns: usize,
    between: impl Fn(),
) {
    for turn in 0..turns {
        let mut handles = pool.0.acquire_many(burst);
        for handle in &mut handles {
            touched(Pooled::<T>::object(handle), turn as u64);
        }
        between();
        drop(handles);
    }
}

/// A loop with all it needs, for a thread to call with the number of turns.
pub fn looping<C: Contender + 'static>(
    mut contender: C,
    pattern: Pattern,
) -> Box<dyn FnMut(usize)> {
    match pattern {
        Pattern::Single => Box::new(move |turns| singly(&mut contender, turns)),
        Pattern::Burst(burst) => {
            let mut held = room_for(burst);
            Box::new(move |turns| in_bursts(&mut contender, &mut held, burst, turns))
        }
    }
}

/// A reset of one object over and over.
pub fn resetting(reset: impl Fn(&mut Wide) + 'static) -> Box<dyn FnMut(usize)> {
    let mut wide = Box::new(Wide::init());
    Box::new(move |turns| {
        for _ in 0..turns {
            reset(black_box(&mut wide));
        }
    })
}

/// An empty stack for a burst, whose memory was written to: its first use costs nothing more.
#[must_use]
pub fn room_for<H>(burst: usize) -> Vec<H> {
    let mut held = Vec::with_capacity(burst);
    for place in held.spare_capacity_mut() {
        *place = MaybeUninit::zeroed();
    }
    black_box(&mut held);
    held
}

//! The loops: how a user takes objects and gives them back. One of each for all contenders.
//!
//! A loop is never inlined, and neither contender nor objects are known to the compiler in it: the
//! contender is reached through memory that anyone may have written, as in a program whose loop
//! calls functions. Otherwise the length of a vector would live in a register.
#![allow(unsafe_code)] // Objects are touched where they lie.

use std::hint::black_box;

use crate::contender::{Contender, Pooled};
use crate::payload::touch;

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
pub fn singly<C: Contender>(contender: &mut C, turns: usize) {
    singly_inlined(black_box(contender), turns);
}

/// [`singly`] for a caller that is itself the loop, and may know its contender.
#[inline(always)]
pub fn singly_inlined<C: Contender>(contender: &mut C, turns: usize) {
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
    let contender = black_box(contender);
    for turn in 0..turns {
        for _ in 0..burst {
            let mut handle = contender.acquire();
            // SAFETY: the object of a handle is valid for writes.
            unsafe { touch(C::object(&mut handle), turn as u64) };
            held.push(handle);
        }
        while let Some(handle) = held.pop() {
            contender.release(handle);
        }
    }
}

/// Bursts of a pool acquired and released as one.
#[inline(never)]
pub fn at_once(pool: &mut Pooled, burst: usize, turns: usize) {
    let pool = black_box(pool);
    for turn in 0..turns {
        let mut handles = pool.0.acquire_many(burst);
        for handle in &mut handles {
            // SAFETY: the object of a handle is valid for writes.
            unsafe { touch(Pooled::object(handle), turn as u64) };
        }
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
            let mut held = Vec::with_capacity(burst);
            Box::new(move |turns| in_bursts(&mut contender, &mut held, burst, turns))
        }
    }
}

//! The dice of each thread: everything that a thread does at random comes from its own seed.
//!
//! Hooks draw from the dice of whichever thread runs them, so that what a thread does follows from
//! its seed and from what the others had left for it, and from nothing else.

use std::cell::Cell;

thread_local! {
    // Without a destructor, so that it is there while the thread ends.
    static STATE: Cell<u64> = const { Cell::new(0) };
}

/// A seed made of two: of a round and a thread, of a run and a round.
pub(crate) fn mix(seed: u64, index: u64) -> u64 {
    scramble(seed ^ scramble(index.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

// The output function of SplitMix64.
fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Seeds the dice of this thread.
pub(crate) fn seed(seed: u64) {
    STATE.set(seed);
}

pub(crate) fn bits() -> u64 {
    let state = STATE.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
    STATE.set(state);
    scramble(state)
}

/// One of `0..n`.
pub(crate) fn roll(n: usize) -> usize {
    (bits() >> 32) as usize % n
}

/// Whether something happens that does `times` in 1,000.
pub(crate) fn chance(times: u32) -> bool {
    times > 0 && roll(1_000) < times as usize
}

/// One of `items`.
pub(crate) fn pick<T: Copy>(items: &[T]) -> T {
    items[roll(items.len())]
}

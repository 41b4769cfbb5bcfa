//! What a thread does with objects besides touching them. Called by the loops that pretend to be a
//! program; the cost must be the same for every contender, so it depends on nothing but its argument.

use std::hint::black_box;

/// Keeps a core busy for so many tokens: each is a step of a linear congruential generator, which
/// waits for the step before it, so 2 to 3 ns whatever surrounds it. No memory is touched.
#[inline(always)]
pub fn consume(tokens: u64) {
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for token in 0..tokens {
        let step = state.wrapping_mul(0x5851_F42D_4C95_7F2D);
        // Two additions, a rotation: long enough that a token is no single multiplication.
        state = step.wrapping_add(token).rotate_left(5).wrapping_add(1);
    }
    black_box(state);
}

//! Copies between a burst's array and the stack of its thread.
//!
//! What is copied is read again at once: pointer by pointer by the user, then to be copied back. A processor
//! hands a read what has not reached the cache yet only if one write covers all of it; else the read waits.
//! `memcpy` covers a length by vectors as wide as there are, which overlap, and makes the reads behind it
//! wait. Hence words where they are few, and else pairs of words.
#![allow(unsafe_code)] // Memory that is not initialised before.

use crate::object::ErasedObject;

/// Copies `n` pointers.
///
/// # Safety
///
/// `from` is valid for reads of as many and `to` for writes, and they do not overlap.
#[cfg(not(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2",
    not(miri)
)))]
#[inline(always)]
pub(super) unsafe fn copy_run(from: *const ErasedObject, to: *mut ErasedObject, n: usize) {
    // SAFETY: by contract.
    unsafe { to.copy_from_nonoverlapping(from, n) };
}

#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2",
    not(miri)
))]
pub(super) use by_words::copy_run;

#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_feature = "sse2",
    not(miri)
))]
mod by_words {
    use std::arch::{asm, x86_64::__m128i};
    use std::mem::MaybeUninit;

    use super::ErasedObject;

    /// From how many pointers on pairs pay.
    const LONG: usize = 24;

    /// Pairs each time round the loop.
    const PAIRS: usize = 4;

    // Pointers as bytes, which stay pointers.
    type One = MaybeUninit<usize>;
    type Pair = MaybeUninit<__m128i>;

    /// Copies `n` pointers.
    ///
    /// # Safety
    ///
    /// `from` is valid for reads of as many and `to` for writes, and they do not overlap.
    #[inline(always)]
    pub(in super::super) unsafe fn copy_run(
        from: *const ErasedObject,
        to: *mut ErasedObject,
        n: usize,
    ) {
        let mut copied = 0;
        if n >= LONG {
            while copied + 2 * PAIRS <= n {
                for pair in 0..PAIRS {
                    let at = copied + 2 * pair;
                    // SAFETY: two of the `n`.
                    unsafe { copy_pair(from.wrapping_add(at), to.wrapping_add(at)) };
                }
                copied += 2 * PAIRS;
            }
        }
        while copied < n {
            // SAFETY: one of the `n`.
            unsafe { copy_one(from.wrapping_add(copied), to.wrapping_add(copied)) };
            copied += 1;
        }
    }

    // The empty instructions leave a register as it is. The compiler does not know that, so it does not
    // make a `memcpy` of the loop.

    /// # Safety
    ///
    /// `from` is valid for a read of one pointer, `to` for a write.
    #[inline(always)]
    unsafe fn copy_one(from: *const ErasedObject, to: *mut ErasedObject) {
        // SAFETY: by contract.
        let mut one = unsafe { from.cast::<One>().read() };
        // SAFETY: does nothing.
        unsafe {
            asm!("/* {} */", inlateout(reg) one, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: as above.
        unsafe { to.cast::<One>().write(one) };
    }

    /// # Safety
    ///
    /// `from` is valid for a read of two pointers, `to` for a write.
    #[inline(always)]
    unsafe fn copy_pair(from: *const ErasedObject, to: *mut ErasedObject) {
        // SAFETY: by contract.
        let mut pair = unsafe { from.cast::<Pair>().read_unaligned() };
        // SAFETY: does nothing.
        unsafe {
            asm!("/* {} */", inlateout(xmm_reg) pair, options(pure, nomem, nostack, preserves_flags));
        }
        // SAFETY: as above.
        unsafe { to.cast::<Pair>().write_unaligned(pair) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_pointer_is_copied_and_no_other_place_is_written() {
        let node = ErasedObject::dangling;
        for n in 0..=80 {
            for (skipped, room) in [(0, 1), (1, 0), (1, 2)] {
                let from: Vec<_> = (0..skipped + n).map(|at| node(8 * (at + 1))).collect();
                let mut to = vec![node(4); room + n + 1];
                // SAFETY: there are `n` behind the skipped ones, and room for `n` behind the free places.
                unsafe { copy_run(from[skipped..].as_ptr(), to[room..].as_mut_ptr(), n) };
                assert!(
                    to[..room]
                        .iter()
                        .chain(&to[room + n..])
                        .all(|left| *left == node(4))
                );
                assert_eq!(&to[room..room + n], &from[skipped..]);
            }
        }
    }
}

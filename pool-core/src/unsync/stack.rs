//! The idle objects of a pool for one thread, the newest on top.
//!
//! As in a thread's slot of a pool for many, the end of the stack is an address and the bounds are addresses, so that
//! an acquire and a release are a comparison, and a load or a store at the end. Nothing in here runs user code.
#![allow(unsafe_code)] // A stack in raw memory.

use alloc::vec::Vec;
use core::cell::Cell;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

#[cfg(feature = "std")]
use crate::central::trim::{LowWater, TrimTarget};

/// A stack that takes no more than its limit. Its items have a size.
pub(super) struct Stack<P> {
    /// One past the newest.
    end: Cell<*mut P>,
    /// Where the stack begins.
    base: Cell<*mut P>,
    /// Where a pop stops, to note how far the stack went down: the base, or above it while need is watched. Never
    /// above `end`.
    low: Cell<*mut P>,
    /// Where `end` may not go beyond: as far as memory and the limit allow, whichever is less. Null if they
    /// allow nothing, which is less than any end.
    high: Cell<*const P>,
    /// How many the memory has room for.
    capacity: Cell<usize>,
    /// The most that may be in it.
    limit: Cell<usize>,
}

impl<P> Stack<P> {
    pub(super) fn new(limit: usize) -> Self {
        const { assert!(size_of::<P>() > 0) };
        let nowhere = NonNull::dangling().as_ptr();
        Stack {
            end: Cell::new(nowhere),
            base: Cell::new(nowhere),
            low: Cell::new(nowhere),
            high: Cell::new(ptr::null()),
            capacity: Cell::new(0),
            limit: Cell::new(limit),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.above_base(&self.end)
    }

    fn above_base(&self, mark: &Cell<*mut P>) -> usize {
        (mark.get().addr() - self.base.get().addr()) / size_of::<P>()
    }

    /// Whether it takes any at all.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        !self.high.get().is_null()
    }

    /// The newest, unless the stack is at its low water.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<P> {
        let end = self.end.get();
        if end == self.low.get() {
            return None;
        }
        let newest = end.wrapping_sub(1);
        self.end.set(newest);
        // SAFETY: written by the push that came so far.
        Some(unsafe { newest.read() })
    }

    /// The newest; lowers the low water if need be.
    pub(super) fn pop_low(&self) -> Option<P> {
        let low = self.low.get();
        if self.end.get() == low && low != self.base.get() {
            self.low.set(low.wrapping_sub(1));
        }
        self.pop()
    }

    /// How many are in excess of what `target` leaves; the low water begins anew with the others, if it was asked by
    /// need.
    #[cfg(feature = "std")]
    pub(super) fn excess(&self, target: TrimTarget) -> usize {
        let mut low_water = LowWater::new(self.above_base(&self.low));
        let excess = low_water.excess(self.len(), target);
        self.low.set(self.base.get().wrapping_add(low_water.get()));
        excess
    }

    /// Puts `item` on top; gives it back if that is beyond the limit or there is no room.
    #[inline(always)]
    pub(super) fn push(&self, item: P) -> Result<(), P> {
        let end = self.end.get();
        if end.cast_const() >= self.high.get() {
            return Err(item);
        }
        // SAFETY: below `high`, so within the memory.
        unsafe { end.write(item) };
        self.end.set(end.wrapping_add(1));
        Ok(())
    }

    /// Makes room for `items` in all.
    ///
    /// # Panics
    ///
    /// If they exceed the address space.
    pub(super) fn reserve(&self, items: usize) {
        if items > self.capacity.get() {
            self.move_to(items.max(2 * self.capacity.get()).max(8));
        }
    }

    /// Lets go of memory beyond room for `items`, or for what is in it if that is more.
    pub(super) fn shrink(&self, items: usize) {
        let items = items.max(self.len());
        if items < self.capacity.get() {
            self.move_to(items);
        }
    }

    /// Moves the stack to memory with room for `capacity`, which is not less than what is in it.
    fn move_to(&self, capacity: usize) {
        let memory = Vec::<P>::with_capacity(capacity);
        let mut memory = ManuallyDrop::new(memory);
        let base = memory.as_mut_ptr();
        let (len, low) = (self.len(), self.above_base(&self.low));
        // SAFETY: there is room for all that is there; the memory is new.
        unsafe { base.copy_from_nonoverlapping(self.base.get(), len) };
        self.free();
        self.base.set(base);
        self.end.set(base.wrapping_add(len));
        self.low.set(base.wrapping_add(low));
        self.capacity.set(memory.capacity());
        self.set_limit(self.limit.get());
    }

    /// Changes the most that may be in it; what is there stays.
    pub(super) fn set_limit(&self, limit: usize) {
        self.limit.set(limit);
        let room = self.capacity.get().min(limit);
        if room == 0 {
            self.high.set(ptr::null());
            return;
        }
        self.high.set(self.base.get().wrapping_add(room));
    }

    /// Takes out the `n` oldest, or all.
    pub(super) fn take_oldest(&self, n: usize) -> Vec<P> {
        let len = self.len();
        let n = n.min(len);
        let base = self.base.get();
        let mut oldest = Vec::with_capacity(n);
        // SAFETY: there are as many; the vector has room.
        unsafe { ptr::copy_nonoverlapping(base, oldest.as_mut_ptr(), n) };
        // SAFETY: copied just now.
        unsafe { oldest.set_len(n) };
        let rest = base.wrapping_add(n);
        // SAFETY: those after the oldest, moved down within the stack.
        unsafe { ptr::copy(rest, base, len - n) };
        let end = self.end.get().wrapping_sub(n);
        self.end.set(end);
        self.low.set(self.low.get().min(end));
        oldest
    }

    /// Frees the memory, which is not used again.
    fn free(&self) {
        // SAFETY: the parts of the vector of `move_to`, or of one without memory.
        drop(unsafe { Vec::from_raw_parts(self.base.get(), 0, self.capacity.get()) });
    }
}

impl<P> Drop for Stack<P> {
    fn drop(&mut self) {
        drop(self.take_oldest(usize::MAX));
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_and_the_oldest_leave() {
        let stack = Stack::new(usize::MAX);
        assert_eq!(stack.pop(), None);
        assert_eq!(stack.push(0), Err(0), "no room yet");
        stack.reserve(5);
        assert!((1..=5).all(|item| stack.push(item).is_ok()));
        assert_eq!(stack.pop(), Some(5));
        assert_eq!(stack.take_oldest(2), [1, 2]);
        assert_eq!(
            (stack.len(), stack.pop(), stack.pop()),
            (2, Some(4), Some(3))
        );
        assert_eq!(stack.take_oldest(9), []);
    }

    #[cfg(feature = "std")]
    #[test]
    fn what_was_not_needed_is_in_excess() {
        let stack = Stack::new(usize::MAX);
        let needed = || stack.excess(TrimTarget::Needed { at_least: 0 });
        stack.reserve(10);
        assert!((0..10).all(|item| stack.push(item).is_ok()));
        assert_eq!(needed(), 0, "nothing was watched so far");
        assert_eq!(stack.pop(), None, "the first pop is noted");
        assert_eq!(
            (stack.pop_low(), stack.pop(), stack.pop_low()),
            (Some(9), None, Some(8))
        );
        assert!(stack.push(8).is_ok());
        assert_eq!(stack.pop(), Some(8), "that far it went already");
        assert!(stack.push(8).is_ok() && stack.push(9).is_ok());
        stack.reserve(100);
        assert_eq!(needed(), 8);
        assert_eq!(stack.take_oldest(8).len(), 8);
        assert_eq!(
            (stack.pop_low(), stack.pop_low(), stack.pop_low()),
            (Some(9), Some(8), None)
        );
        assert!((0..10).all(|item| stack.push(item).is_ok()));
        assert_eq!(needed(), 0, "all were needed");
        assert_eq!(stack.excess(TrimTarget::Needed { at_least: 7 }), 3);
        assert_eq!(stack.take_oldest(9).len(), 9, "the low water goes along");
        assert_eq!((stack.pop_low(), stack.pop_low()), (Some(9), None));
    }

    #[test]
    fn it_takes_no_more_than_its_limit_however_much_room_there_is() {
        let stack = Stack::new(2);
        stack.reserve(100);
        assert!(stack.is_open() && stack.push('a').is_ok() && stack.push('b').is_ok());
        assert_eq!(stack.push('c'), Err('c'));
        stack.set_limit(3);
        assert!(stack.push('c').is_ok() && stack.push('d').is_err());
        stack.set_limit(0);
        assert!(!stack.is_open() && stack.push('d').is_err());
        assert_eq!(stack.pop(), Some('c'), "what was there stays");
    }

    #[test]
    fn what_is_there_comes_along_to_larger_and_smaller_memory() {
        let stack = Stack::new(usize::MAX);
        for item in 0..1_000 {
            stack.reserve(item + 1);
            assert!(stack.push(item).is_ok());
        }
        assert_eq!(stack.take_oldest(990).len(), 990);
        stack.shrink(0);
        assert!(stack.push(0).is_err(), "as much room as was asked for");
        assert_eq!(stack.take_oldest(10), Vec::from_iter(990..1_000));
        stack.shrink(0);
        assert_eq!(stack.len(), 0);
    }
}

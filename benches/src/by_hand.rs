//! Contenders without a pool library: what one writes by hand when objects are to be shared, and
//! `Box`. Called by the criterion benches; each does the same work as the pools, reset included,
//! but for `Box`, whose memory is left as it is.
#![allow(unsafe_code)] // Memory that is known to hold an object.

use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::contender;
use crate::contender::fresh;
use crate::payload::{Message, Payload};

/// Idle objects, kept where several threads find them.
pub trait Shelf: Default {
    /// Takes one, if there is any.
    fn take(&self) -> Option<Box<Message>>;

    /// Puts one back, or drops it where there is no room.
    fn put(&self, object: Box<Message>);
}

/// A stack under the standard library's mutex.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "the boxes are what is handed out")]
pub struct LockedVec(Mutex<Vec<Box<Message>>>);

impl Shelf for LockedVec {
    #[inline(always)]
    fn take(&self) -> Option<Box<Message>> {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    #[inline(always)]
    fn put(&self, object: Box<Message>) {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(object);
    }
}

/// Crossbeam's queue without a bound.
#[derive(Debug, Default)]
pub struct Segments(SegQueue<Box<Message>>);

impl Shelf for Segments {
    #[inline(always)]
    fn take(&self) -> Option<Box<Message>> {
        self.0.pop()
    }

    #[inline(always)]
    fn put(&self, object: Box<Message>) {
        self.0.push(object);
    }
}

/// Crossbeam's queue with a bound: room for as many objects as any workload has.
#[derive(Debug)]
pub struct Ring(ArrayQueue<Box<Message>>);

impl Ring {
    /// The most objects that a workload keeps in a shared pool.
    pub const ROOM: usize = 132_000;
}

impl Default for Ring {
    fn default() -> Self {
        Ring(ArrayQueue::new(Self::ROOM))
    }
}

impl Shelf for Ring {
    #[inline(always)]
    fn take(&self) -> Option<Box<Message>> {
        self.0.pop()
    }

    #[inline(always)]
    fn put(&self, object: Box<Message>) {
        // Never full: there is room for all that were made.
        drop(self.0.push(object));
    }
}

/// A pool by hand: a [`Shelf`], and a fresh object when there is nothing on it.
#[derive(Debug, Default)]
pub struct ByHand<S>(Arc<S>);

impl<S> Clone for ByHand<S> {
    fn clone(&self) -> Self {
        ByHand(self.0.clone())
    }
}

impl<S: Shelf> ByHand<S> {
    /// With so many objects made now.
    #[must_use]
    pub fn filled(objects: usize) -> Self {
        let shelf = S::default();
        for _ in 0..objects {
            shelf.put(fresh());
        }
        ByHand(Arc::new(shelf))
    }
}

contender! {
    impl[S: Shelf] ByHand<S>, of Message, hands out Box<Message>;
    acquire(ByHand(shelf)) { shelf.take().unwrap_or_else(fresh) }
    and resets;
    release(ByHand(shelf), object) { shelf.put(object) }
}

/// `Box`, on whatever allocator the process has: memory as it is, neither made nor reset. (What owns something has to
/// be made, and is dropped.)
#[derive(Clone, Copy, Debug, Default)]
pub struct Boxed;

contender! {
    impl[T: Payload] Boxed, of T, hands out Box<MaybeUninit<T>>;
    acquire(_) {
        match T::OWNS {
            true => Box::new(MaybeUninit::new(T::init())),
            false => Box::new_uninit(),
        }
    }
    object(handle) { handle.as_mut_ptr() }
    release(_, handle) {
        if T::OWNS {
            // SAFETY: made in `acquire`.
            drop(unsafe { handle.assume_init() });
        }
    }
}

/// `Box` of a fresh object, which is reset and dropped: what a pool that keeps nothing does.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshBox;

contender! {
    impl[T: Payload] FreshBox, of T, hands out Box<T>;
    acquire(_) { Box::new(T::init()) }
    and resets;
}

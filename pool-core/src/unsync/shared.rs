//! What all handles of one pool point to.
//!
//! As in the shared pool, nothing counts references per operation: the pool's memory is kept for
//! every object alive and, once, for all [`Pool`](super::Pool)s (LIFE-REFS). Here an idle object
//! can be destroyed at once, so what is left when the last `Pool` goes is what is in use.
#![allow(unsafe_code)] // The pool's end is counted by hand, and its memory is behind a cell.

use alloc::boxed::Box;
use alloc::vec::{self, Vec};
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;
#[cfg(feature = "std")]
use std::time::Instant;

use super::Pooled;
use super::stack::Stack;
#[cfg(feature = "std")]
use crate::central::trim::{Period, TrimPolicy};
use crate::config::{Config, ResetOn};
use crate::error::AcquireError;
use crate::lifecycle::Recycle;
use crate::object::{
    Block, Chunk, Chunks, Held, Object, ObjectPool, Permit, PoolId, Reclaimed, SharedRef,
};
use crate::observe::trace;
use crate::panics::{FirstPanic, for_each_despite_panics};

pub(super) struct Shared<T, L: Recycle<T> + ?Sized> {
    /// Idle objects, with room for all that are alive. Takes none once closed, and where objects are
    /// kept in `to_reset`.
    idle: Stack<Object<T, Self>>,
    /// Idle objects of a pool that resets when they are acquired, with room as in `idle`.
    to_reset: Stack<Object<T, Self>>,
    hooks: L::Hooks,
    pub(super) config: Config,
    /// Vacant blocks. Borrowed for a few instructions at a time, never while user code runs (UNSYNC-BORROW).
    chunks: UnsafeCell<Chunks<T>>,
    pub(super) closed: Cell<bool>,
    /// When the period began in which need is watched.
    #[cfg(feature = "std")]
    period: Cell<Period>,
    /// Empty arrays for the next bursts, as many as there were bursts at a time.
    buffers: Cell<Vec<Vec<Pooled<T, L>>>>,
    /// How many `Pool`s there are.
    refs: Cell<usize>,
    pub(super) created: Cell<usize>,
    /// Permits that are out, each for an object that is alive or about to be.
    pub(super) live: Cell<usize>,
    pub(super) peak_live: Cell<usize>,
    pub(super) discarded: Cell<usize>,
}

impl<T, L: Recycle<T> + ?Sized> Shared<T, L> {
    fn with_chunks<R>(&self, f: impl FnOnce(&mut Chunks<T>) -> R) -> R {
        // SAFETY: one thread, and the borrow ends before anything else runs (UNSYNC-BORROW).
        f(unsafe { &mut *self.chunks.get() })
    }

    /// An idle object that needs nothing more, if one is at hand.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<Object<T, Self>> {
        self.idle.pop()
    }

    /// An idle object that needs nothing more.
    pub(super) fn pop_slow(&self) -> Option<Object<T, Self>> {
        self.idle.pop_low()
    }

    /// An idle object that has to be reset.
    pub(super) fn pop_to_reset(&self) -> Option<Object<T, Self>> {
        self.to_reset.pop_low()
    }

    /// What the memory of the objects is.
    pub(super) fn memory(&self) -> Held {
        self.with_chunks(|chunks| chunks.held())
    }

    pub(super) fn idle(&self) -> usize {
        self.idle.len() + self.to_reset.len()
    }

    /// How many objects can be had at once.
    pub(super) fn available(&self) -> usize {
        let capacity = self.config.capacity.unwrap_or(usize::MAX);
        self.idle() + (capacity - self.live.get())
    }

    /// Takes out the `n` objects that were idle longest, or all.
    pub(super) fn take_oldest(&self, n: usize) -> Reclaimed<T, Self> {
        // One of the two is empty.
        let mut oldest = self.idle.take_oldest(n);
        oldest.append(&mut self.to_reset.take_oldest(n));
        Reclaimed::new(oldest)
    }

    /// Asks `f` of each object that is idle now, and destroys those that it refuses; gives how many.
    ///
    /// # Panics
    ///
    /// If `f` does, or the drop of a `T`: that object is gone, and what was not asked about stays.
    pub(super) fn retain(&self, mut f: impl FnMut(&mut T) -> bool) -> usize {
        let mut dropped = 0;
        // Counted once: what `f` puts back meanwhile need not be asked about. Objects that stay go on top, so in the
        // end all are in the order that they were in.
        let mut left = self.idle();
        while left > 0 {
            let some = self.take_oldest(left.min(AT_A_TIME));
            let mut some = PutBack {
                pool: self,
                left: some.into_vec().into_iter(),
            };
            if some.left.len() == 0 {
                break;
            }
            left -= some.left.len();
            for mut object in some.left.by_ref() {
                if f(&mut object) {
                    self.put(object);
                } else {
                    dropped += 1;
                    drop(object);
                }
            }
        }
        dropped
    }

    /// Keeps an object for the next acquire, or destroys it.
    pub(super) fn put(&self, object: Object<T, Self>) {
        // One of the two takes objects, and neither once the pool is closed.
        if let Err(object) = self.idle.push(object) {
            drop(self.to_reset.push(object));
        }
    }

    /// Destroys the `n` objects that were idle longest, and frees the memory that held nothing else; gives how many.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    pub(super) fn trim(&self, n: usize) -> usize {
        let excess = self.take_oldest(n);
        let n = excess.len();
        let mut panics = FirstPanic::default();
        panics.catch(|| drop(excess));
        self.idle.shrink(self.live.get());
        self.to_reset.shrink(self.live.get());
        self.buffers.take();
        let unused = self.with_chunks(Chunks::take_unused);
        unused.into_iter().for_each(Chunk::vacate);
        panics.resume();
        n
    }

    /// [`trim`](Self::trim) of what was not needed in a period of `policy`, if it is over.
    #[cfg(feature = "std")]
    pub(super) fn trim_by(&self, policy: &TrimPolicy, now: Instant) -> usize {
        let mut period = self.period.replace(Period::new());
        let target = period.end(policy, now);
        self.period.set(period);
        target.map_or(0, |target| {
            // One of the two is empty.
            self.trim(self.idle.excess(target) + self.to_reset.excess(target))
        })
    }

    /// Closes for good, and destroys what is idle.
    pub(super) fn close(&self) {
        let closed = self.closed.replace(true);
        self.idle.set_limit(0);
        self.to_reset.set_limit(0);
        let idle = self.take_oldest(usize::MAX);
        if !closed {
            trace::closed(&self.config, idle.len());
        }
    }

    /// An empty array for a burst of `n`.
    ///
    /// # Panics
    ///
    /// If that exceeds the address space.
    pub(super) fn take_buffer(&self, n: usize) -> Vec<Pooled<T, L>> {
        let mut buffers = self.buffers.take();
        let mut buffer = buffers.pop().unwrap_or_default();
        self.buffers.set(buffers);
        buffer.reserve(n);
        buffer
    }

    /// Keeps an empty array for the next burst.
    pub(super) fn keep_buffer(&self, buffer: Vec<Pooled<T, L>>) {
        let mut buffers = self.buffers.take();
        buffers.push(buffer);
        self.buffers.set(buffers);
    }
}

/// How many objects [`Shared::retain`] takes out at a time.
const AT_A_TIME: usize = 256;

/// Objects on their way back to their pool.
struct PutBack<'a, T, L: Recycle<T> + ?Sized> {
    pool: &'a Shared<T, L>,
    left: vec::IntoIter<Object<T, Shared<T, L>>>,
}

impl<T, L: Recycle<T> + ?Sized> Drop for PutBack<'_, T, L> {
    fn drop(&mut self) {
        self.left.by_ref().for_each(|object| self.pool.put(object));
    }
}

/// What needs the pool's address, for a permit.
impl<T, L: Recycle<T> + ?Sized> SharedRef<T, Shared<T, L>> {
    /// A pool without objects, and the first reference of it.
    pub(super) fn new(config: Config, chunks: Chunks<T>, hooks: L::Hooks) -> Self {
        trace::grew(&config, chunks.blocks(), Chunks::<T>::block_size());
        // One of the two takes objects.
        let limit_on = |when| match config.reset_on == when {
            true => config.max_idle.unwrap_or(usize::MAX),
            false => 0,
        };
        let shared = Box::new(Shared {
            idle: Stack::new(limit_on(ResetOn::Release)),
            to_reset: Stack::new(limit_on(ResetOn::Acquire)),
            hooks,
            config,
            chunks: UnsafeCell::new(chunks),
            closed: Cell::new(false),
            #[cfg(feature = "std")]
            period: Cell::new(Period::new()),
            buffers: Cell::default(),
            refs: Cell::new(1),
            created: Cell::new(0),
            live: Cell::new(0),
            peak_live: Cell::new(0),
            discarded: Cell::new(0),
        });
        // SAFETY: leaked just now, with a count of one.
        unsafe { SharedRef::from_counted(NonNull::from(Box::leak(shared))) }
    }

    /// A permit to create one object, unless the bound is reached or the pool closed.
    pub(super) fn try_acquire_permit(&self) -> Result<Permit<T, Shared<T, L>>, AcquireError> {
        if self.closed.get() {
            return Err(AcquireError::Closed);
        }
        let live = self.live.get();
        if self
            .config
            .capacity
            .is_some_and(|capacity| live >= capacity)
        {
            return Err(AcquireError::Exhausted);
        }
        // So that a release never has to ask for memory.
        match self.config.reset_on {
            ResetOn::Release => self.idle.reserve(live + 1),
            ResetOn::Acquire => self.to_reset.reserve(live + 1),
        }
        self.live.set(live + 1);
        self.peak_live.set(self.peak_live.get().max(live + 1));
        self.created.set(self.created.get() + 1);
        // SAFETY: counted just now.
        Ok(unsafe { Permit::new(self.as_ptr()) })
    }
}

/// [`release`](ObjectPool::release), where there is more to do than a hit does: hooks run as in any pool,
/// unless the reset is left for later.
#[cold]
#[inline(never)]
fn release_slow<T, L: Recycle<T> + ?Sized>(object: Object<T, Shared<T, L>>) {
    let reset_on = object.pool().config.reset_on;
    if let Some(object) = match reset_on {
        ResetOn::Acquire => Some(object),
        ResetOn::Release => object.reset(),
    } {
        put_slow(object);
    }
}

/// [`Shared::put`], where `idle` takes no more.
#[cold]
#[inline(never)]
fn put_slow<T, L: Recycle<T> + ?Sized>(object: Object<T, Shared<T, L>>) {
    // SAFETY: the object keeps the pool alive until it is destroyed, after which it is not touched.
    let pool = unsafe { object.pool_ptr().as_ref() };
    pool.put(object);
}

// SAFETY: a block of the chunks is alive until it is given back or the chunks are dropped, which is with the
// pool. `live` counts permits from when they are given out until they are returned, `refs` the `Pool`s
// (LIFE-REFS); the pool is freed when both are 0.
unsafe impl<T, L: Recycle<T> + ?Sized> ObjectPool<T> for Shared<T, L> {
    type Lifecycle = L;

    #[inline(always)]
    fn hooks(&self) -> &L::Hooks {
        &self.hooks
    }

    fn pool_id(&self) -> PoolId {
        PoolId::NONE
    }

    fn count_discarded(&self) {
        self.discarded.set(self.discarded.get() + 1);
    }

    fn count_remade(&self) {
        self.created.set(self.created.get() + 1);
    }

    fn take_block(&self) -> Block<T> {
        let Config {
            grow_by,
            capacity,
            memory,
            ..
        } = &self.config;
        loop {
            if let Some(block) = self.with_chunks(Chunks::take) {
                return block;
            }
            let step = self.with_chunks(|chunks| chunks.next_step(*grow_by, *capacity));
            // The allocator may be the user's.
            let chunk = Chunk::for_growth(step, memory);
            let added = self.with_chunks(|chunks| chunks.add(chunk));
            trace::grew(&self.config, added, Chunks::<T>::block_size());
        }
    }

    unsafe fn return_block(&self, block: Block<T>) {
        // SAFETY: by contract.
        self.with_chunks(|chunks| unsafe { chunks.give(block) });
    }

    unsafe fn return_permit(pool: NonNull<Self>) {
        // SAFETY: the permit, which is given up below, keeps the pool alive (LIFE-REFS).
        let shared = unsafe { pool.as_ref() };
        shared.live.set(shared.live.get() - 1);
        if shared.refs.get() == 0 && shared.live.get() == 0 {
            // SAFETY: leaked in `new`, and no reference is left.
            drop(unsafe { Box::from_raw(pool.as_ptr()) });
        }
    }

    #[inline(always)]
    fn release(object: Object<T, Self>) {
        // SAFETY: the object keeps the pool alive until it is destroyed, after which it is not touched.
        let pool = unsafe { object.pool_ptr().as_ref() };
        if !pool.idle.is_open() {
            release_slow(object);
            return;
        }
        let Some(object) = object.reset() else {
            return;
        };
        if let Err(object) = pool.idle.push(object) {
            put_slow(object);
        }
    }

    fn add_ref(&self) {
        // Forgotten clones could come to this.
        self.refs
            .set(self.refs.get().checked_add(1).expect("too many `Pool`s"));
    }

    fn try_add_ref(&self) -> bool {
        if self.refs.get() == 0 {
            return false;
        }
        self.add_ref();
        true
    }

    unsafe fn release_ref(pool: NonNull<Self>) {
        // SAFETY: by contract the caller has a reference still (LIFE-REFS).
        let shared = unsafe { pool.as_ref() };
        shared.refs.set(shared.refs.get() - 1);
        if shared.refs.get() > 0 {
            return;
        }
        // From here on no handle finds the pool. What is dropped below may drop handles, so the end
        // counts as an object until it is over.
        shared.live.set(shared.live.get() + 1);
        // SAFETY: counted just now.
        let end = unsafe { Permit::<T, Self>::new(pool) };
        shared.close();
        drop(end);
    }
}

/// Values that left their pool. The values left in it are dropped with it; if a drop panics, the others are dropped all
/// the same, and the first panic goes on at the end.
pub(super) struct Drained<T>(vec::IntoIter<T>);

impl<T> Drained<T> {
    /// Takes each object out of its pool.
    pub(super) fn new<L: Recycle<T> + ?Sized>(idle: Reclaimed<T, Shared<T, L>>) -> Self {
        let values: Vec<_> = idle.into_vec().into_iter().map(Object::detach).collect();
        Drained(values.into_iter())
    }
}

impl<T> Iterator for Drained<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> ExactSizeIterator for Drained<T> {}

impl<T> Drop for Drained<T> {
    fn drop(&mut self) {
        for_each_despite_panics(&mut self.0, drop);
    }
}

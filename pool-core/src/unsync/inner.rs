//! What all handles of one pool point to.
//!
//! As in the shared pool, nothing counts references per operation: the pool's memory is kept for
//! every object alive and, once, for all [`Pool`](super::Pool)s (LIFE-REFS). Here an idle object
//! can be let go of at once, so what is left when the last `Pool` goes is what is in use.
#![allow(unsafe_code)] // The pool is reached through raw pointers, since its end is counted by hand.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::ptr::NonNull;

use super::stack::Stack;
use crate::arena::{Chunk, Chunks, NO_POOL, Node};
use crate::config::{Config, ResetOn};
use crate::error::AcquireError;
use crate::lifecycle::Lifecycle;
use crate::panics::{
    FirstPanic, OnPanic, Panic, destroy_value, for_each_despite_panics, reject_with,
    reset_and_judge,
};
use crate::poolable::{Place, Ready};
use crate::trace;

pub(super) struct Inner<T, L> {
    /// Idle objects, with room for all that are alive. Takes none once closed, and where objects are
    /// kept in `unwiped`.
    idle: Stack<NonNull<Node<T>>>,
    /// Idle objects of a pool that wipes when they are acquired, with room as in `idle`.
    unwiped: Stack<NonNull<Node<T>>>,
    pub(super) lifecycle: L,
    pub(super) config: Config,
    /// Vacant nodes. Borrowed for a few instructions at a time, never while code of the user's runs
    /// (UNSYNC-BORROW).
    chunks: UnsafeCell<Chunks<T>>,
    pub(super) closed: Cell<bool>,
    pub(super) pools: Cell<usize>,
    pub(super) created: Cell<usize>,
    pub(super) live: Cell<usize>,
    pub(super) discarded: Cell<usize>,
}

pub(super) type InnerPtr<T, L> = NonNull<Inner<T, L>>;

/// The pool that the object in `node` belongs to.
///
/// # Safety
///
/// `node` holds an object of an unsync pool of `T` and `L`.
#[inline(always)]
pub(super) unsafe fn pool_of<T, L>(node: NonNull<Node<T>>) -> InnerPtr<T, L> {
    // SAFETY: alive, as its object is.
    let pool = unsafe { Node::pool(node) };
    // SAFETY: set to the pool's address when the object was made.
    unsafe { NonNull::new_unchecked(pool.cast_mut().cast()) }
}

impl<T, L: Lifecycle<T>> Inner<T, L> {
    pub(super) fn new(config: Config, lifecycle: L) -> InnerPtr<T, L> {
        // One of the two takes objects.
        let limit_on = |when| match config.reset_on == when {
            true => config.max_idle.unwrap_or(usize::MAX),
            false => 0,
        };
        let inner = Box::new(Inner {
            idle: Stack::new(limit_on(ResetOn::Release)),
            unwiped: Stack::new(limit_on(ResetOn::Acquire)),
            lifecycle,
            config,
            chunks: UnsafeCell::new(Chunks::new()),
            closed: Cell::new(false),
            pools: Cell::new(1),
            created: Cell::new(0),
            live: Cell::new(0),
            discarded: Cell::new(0),
        });
        NonNull::from(Box::leak(inner))
    }

    fn with_chunks<R>(&self, f: impl FnOnce(&mut Chunks<T>) -> R) -> R {
        // SAFETY: one thread, and the borrow ends before anything else runs (UNSYNC-BORROW).
        f(unsafe { &mut *self.chunks.get() })
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<NonNull<Node<T>>> {
        self.idle.pop()
    }

    pub(super) fn pop_unwiped(&self) -> Option<NonNull<Node<T>>> {
        self.unwiped.pop()
    }

    /// Whether a release wipes its object and puts it on top of `idle`.
    #[inline(always)]
    pub(super) fn keeps_wiped(&self) -> bool {
        self.idle.is_open()
    }

    pub(super) fn idle(&self) -> usize {
        self.idle.len() + self.unwiped.len()
    }

    /// Takes out the idle objects beyond `keep`, those idle longest first.
    pub(super) fn gather(&self, keep: usize) -> Vec<NonNull<Node<T>>> {
        let surplus = self.idle().saturating_sub(keep);
        // One of the two is empty.
        let mut gathered = self.idle.take_oldest(surplus);
        gathered.append(&mut self.unwiped.take_oldest(surplus));
        gathered
    }

    /// Counts one object more, unless the bound is reached or the pool closed.
    pub(super) fn admit(&self) -> Result<(), AcquireError> {
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
            ResetOn::Acquire => self.unwiped.reserve(live + 1),
        }
        self.live.set(live + 1);
        self.created.set(self.created.get() + 1);
        Ok(())
    }

    /// Makes an object, for which there is leave.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool; the caller was admitted.
    pub(super) unsafe fn fill(
        this: InnerPtr<T, L>,
        make: impl for<'a> FnOnce(&L, Place<'a, T>) -> Ready<'a, T>,
    ) -> NonNull<Node<T>> {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let Config {
            grow_by, capacity, ..
        } = inner.config;
        let (node, grown) = inner.with_chunks(|chunks| {
            let before = chunks.nodes();
            let node = chunks.take_or_grow(grow_by, capacity);
            (node, chunks.nodes() - before)
        });
        let vacancy = Vacancy { inner: this, node };
        trace::grew(&inner.config, grown, Chunks::<T>::node_size());
        let pool = this.as_ptr().cast_const().cast();
        // SAFETY: alive as the pool is, and just taken.
        unsafe {
            Node::fill(vacancy.node, pool, NO_POOL, |place| {
                make(&inner.lifecycle, place)
            });
        };
        let node = vacancy.node;
        core::mem::forget(vacancy);
        node
    }

    /// Resets and judges an object; `false`: it was not fit to be kept, and is destroyed.
    ///
    /// # Panics
    ///
    /// If a hook does, and the thread does not unwind already.
    ///
    /// # Safety
    ///
    /// `node` holds an object of this pool, the caller's alone.
    #[inline(always)]
    pub(super) unsafe fn wipe(this: InnerPtr<T, L>, node: NonNull<Node<T>>) -> bool {
        // SAFETY: the object keeps the pool alive.
        let lifecycle = unsafe { &(*this.as_ptr()).lifecycle };
        // SAFETY: the object is the caller's alone.
        let object = unsafe { Node::object(node) };
        // SAFETY: by contract.
        let unfit = OnPanic::new(|| unsafe { Self::discard(this, node) });
        let judged = reset_and_judge(lifecycle, object);
        unfit.disarm();
        match judged {
            Ok(true) => true,
            // SAFETY: by contract.
            judged => unsafe { Self::reject(this, node, judged.err()) },
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn reject(this: InnerPtr<T, L>, node: NonNull<Node<T>>, panic: Option<Panic>) -> bool {
        reject_with(panic, || {
            // SAFETY: by contract.
            unsafe { Self::discard(this, node) };
        })
    }

    /// Keeps an object for the next who acquires, or destroys it.
    ///
    /// # Safety
    ///
    /// As for `wipe`; the object is given up.
    #[inline(always)]
    pub(super) unsafe fn put(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        // SAFETY: the object keeps the pool alive.
        let inner = unsafe { this.as_ref() };
        if !inner.idle.push(node) {
            // SAFETY: by contract.
            unsafe { Self::put_slow(this, node) };
        }
    }

    /// The release of an object that does not go on top of `idle`: wiped all the same, unless that is
    /// left for later, so that hooks run as in any pool.
    ///
    /// # Safety
    ///
    /// As for `put`.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn release_slow(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        // SAFETY: the object keeps the pool alive.
        let reset_on = unsafe { (*this.as_ptr()).config.reset_on };
        // SAFETY: by contract.
        if reset_on == ResetOn::Acquire || unsafe { Self::wipe(this, node) } {
            // SAFETY: by contract.
            unsafe { Self::put(this, node) };
        }
    }

    /// [`put`](Self::put), where `idle` takes no more: keeps the object unwiped, or destroys it.
    ///
    /// # Safety
    ///
    /// As for `put`.
    #[cold]
    #[inline(never)]
    unsafe fn put_slow(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        // SAFETY: the object keeps the pool alive.
        let inner = unsafe { this.as_ref() };
        if !inner.unwiped.push(node) {
            // SAFETY: by contract.
            unsafe { Self::destroy(this, node) };
        }
    }

    /// Drops an object, and frees the pool if it was the last.
    ///
    /// # Safety
    ///
    /// As for `put`.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn destroy(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        let vacancy = Vacancy { inner: this, node };
        let value = Node::value(node);
        // SAFETY: the caller's alone, who gives it up.
        unsafe { destroy_value(value) };
        drop(vacancy);
    }

    /// [`destroy`](Self::destroy), for what the object is.
    ///
    /// # Safety
    ///
    /// As for `put`.
    pub(super) unsafe fn discard(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        // SAFETY: the object keeps the pool alive.
        let inner = unsafe { this.as_ref() };
        inner.discarded.set(inner.discarded.get() + 1);
        // SAFETY: by contract.
        unsafe { Self::destroy(this, node) };
    }

    /// Moves the object out.
    ///
    /// # Safety
    ///
    /// As for `put`.
    pub(super) unsafe fn detach(this: InnerPtr<T, L>, node: NonNull<Node<T>>) -> T {
        // SAFETY: by contract.
        let value = unsafe { Node::take_object(node) };
        drop(Vacancy { inner: this, node });
        value
    }

    /// Destroys the idle objects beyond `keep`, and frees the memory that held nothing else.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool.
    pub(super) unsafe fn trim(this: InnerPtr<T, L>, keep: usize) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let surplus = inner.gather(keep);
        let mut panics = FirstPanic::default();
        // SAFETY: they were idle in this pool and are nobody's now.
        panics.catch(|| unsafe { Self::destroy_all(this, surplus) });
        inner.idle.shrink(inner.live.get());
        inner.unwiped.shrink(inner.live.get());
        let unused = inner.with_chunks(Chunks::take_unused);
        unused.into_iter().for_each(Chunk::vacate);
        panics.resume();
    }

    /// Closes for good, and destroys what is idle.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool.
    pub(super) unsafe fn close(this: InnerPtr<T, L>) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let closed = inner.closed.replace(true);
        inner.idle.set_limit(0);
        inner.unwiped.set_limit(0);
        let idle = inner.gather(0);
        if !closed {
            trace::closed(&inner.config, idle.len());
        }
        // SAFETY: they were idle in this pool and are nobody's now.
        unsafe { Self::destroy_all(this, idle) };
    }

    /// Destroys all of `nodes`; the first panic goes on at the end.
    ///
    /// # Safety
    ///
    /// As for `put`, for each; and a `Pool` holds the pool.
    pub(super) unsafe fn destroy_all(this: InnerPtr<T, L>, nodes: Vec<NonNull<Node<T>>>) {
        for_each_despite_panics(nodes, |node| {
            // SAFETY: by contract.
            unsafe { Self::destroy(this, node) };
        });
    }

    /// One `Pool` less; the last ends the pool.
    ///
    /// # Safety
    ///
    /// The caller's hold is given up.
    pub(super) unsafe fn let_go(this: InnerPtr<T, L>) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        inner.pools.set(inner.pools.get() - 1);
        if inner.pools.get() > 0 {
            return;
        }
        // From here on no handle finds the pool. What is dropped below may drop handles, so the end
        // counts as an object until it is over.
        inner.live.set(inner.live.get() + 1);
        let end = End(this);
        // SAFETY: counted by `end`.
        unsafe { Self::close(this) };
        drop(end);
    }

    /// Frees the pool if nothing holds it any more.
    ///
    /// # Safety
    ///
    /// The pool is alive, and not touched again if nothing holds it.
    unsafe fn free_if_over(this: InnerPtr<T, L>) {
        // SAFETY: alive by contract.
        let inner = unsafe { this.as_ref() };
        if inner.pools.get() == 0 && inner.live.get() == 0 {
            // SAFETY: made by `Box::leak` in `new`, and nobody has a reference any more.
            drop(unsafe { Box::from_raw(this.as_ptr()) });
        }
    }
}

/// A node whose object is gone, or not made yet. Dropped, it gives node and place back.
struct Vacancy<T, L: Lifecycle<T>> {
    inner: InnerPtr<T, L>,
    node: NonNull<Node<T>>,
}

impl<T, L: Lifecycle<T>> Drop for Vacancy<T, L> {
    fn drop(&mut self) {
        // SAFETY: `live` counts the object that was or would have been here until below.
        let inner = unsafe { self.inner.as_ref() };
        // SAFETY: of these chunks, vacant, and nobody else's.
        inner.with_chunks(|chunks| unsafe { chunks.give(self.node) });
        inner.live.set(inner.live.get() - 1);
        // SAFETY: not touched again here.
        unsafe { Inner::free_if_over(self.inner) };
    }
}

/// The end of the last `Pool`, counted as an object. Dropped, it no longer is.
struct End<T, L: Lifecycle<T>>(InnerPtr<T, L>);

impl<T, L: Lifecycle<T>> Drop for End<T, L> {
    fn drop(&mut self) {
        // SAFETY: counted in `live` until below.
        let live = unsafe { &self.0.as_ref().live };
        live.set(live.get() - 1);
        // SAFETY: not touched again here.
        unsafe { Inner::free_if_over(self.0) };
    }
}

//! What all handles of one pool point to, and how an object is made and unmade in it.
//!
//! # Life
//!
//! Nothing counts references per operation. The ledger holds one reference for every object alive
//! and one for all [`Pool`](crate::Pool)s together (LIFE-REFS); whoever lets go of the last one
//! frees the pool. An object that is idle is alive, so before the last `Pool` lets go of its
//! reference it closes the backend and destroys what is idle; from then on every release finds the
//! backend closed, and destroys.
#![allow(unsafe_code)] // The pool is reached through raw pointers, since its end is counted by hand.

use std::ptr::NonNull;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::arena::{Arena, Chunks, Node, NodePtr};
use crate::central::trim::TrimTarget;
use crate::central::{Central, Wake};
use crate::config::{Backend, Config, ResetOn};
use crate::fork::{self, Fork, ForkSide};
use crate::lifecycle::Lifecycle;
use crate::local::{LocalStack, SlotKey};
use crate::panics::{FirstPanic, destroy_value, for_each_despite_panics};
use crate::sync::{AtomicU64, AtomicUsize, Ordering, Seized};
use crate::trace;

/// One pool.
// The order is the layout: first what every hit reads and nobody writes.
#[repr(C)]
pub(crate) struct Inner<T, L> {
    /// The number under which a hit finds the thread's cache; of no pool, if the backend has no
    /// caches or there is more to do than a hit does.
    pub(crate) hit_key: SlotKey<LocalStack>,
    pub(crate) lifecycle: L,
    pub(crate) central: Arc<Central>,
    pub(crate) config: Config,
    arena: Arena<T>,
    /// How many `Pool`s there are.
    pools: CachePadded<AtomicUsize>,
    /// Objects that were not kept because of what they were.
    discarded: AtomicU64,
}

/// The pool of a node, alive as long as the node's object is.
pub(crate) type InnerPtr<T, L> = NonNull<Inner<T, L>>;

impl<T, L: Lifecycle<T>> Inner<T, L> {
    /// A pool without objects, and the first `Pool`'s hold on it.
    pub(crate) fn new(config: Config, lifecycle: L) -> InnerPtr<T, L> {
        let central = Central::new(&config);
        let arena = match config.backend {
            Backend::Heap => Arena::single(),
            _ => Arena::chunked(config.grow_by, config.capacity),
        };
        let inner = Box::new(Inner {
            hit_key: match config.reset_on {
                ResetOn::Release => central.stacks(),
                ResetOn::Acquire => SlotKey::of_no_pool(),
            },
            lifecycle,
            central,
            config,
            arena,
            pools: CachePadded::new(AtomicUsize::new(1)),
            discarded: AtomicU64::new(0),
        });
        let inner = NonNull::from(Box::leak(inner));
        // SAFETY: alive until `free`, which strikes it; what a fork touches of it is under locks.
        unsafe {
            fork::register(inner);
        }
        inner
    }

    /// Makes an object, for which there is leave, where it will live.
    ///
    /// # Panics
    ///
    /// If the lifecycle's `create` does; memory and leave are given back.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool; the caller was admitted.
    pub(crate) unsafe fn create(this: InnerPtr<T, L>) -> NonNull<Node<T>> {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        // SAFETY: the caller was admitted, and does with the place as it likes.
        unsafe { Self::fill(this, |place| inner.lifecycle.create_in(place)) }
    }

    /// As [`create`](Self::create), of a value made elsewhere.
    ///
    /// # Safety
    ///
    /// As for `create`.
    pub(crate) unsafe fn adopt(this: InnerPtr<T, L>, value: T) -> NonNull<Node<T>> {
        // SAFETY: by contract.
        unsafe { Self::fill(this, |place| place.write(value)) }
    }

    /// # Safety
    ///
    /// As for `create`.
    unsafe fn fill(
        this: InnerPtr<T, L>,
        make: impl FnOnce(crate::Place<'_, T>) -> crate::Ready<'_, T>,
    ) -> NonNull<Node<T>> {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let vacancy = Vacancy {
            inner: this,
            node: inner.arena.take(),
        };
        inner.tell_growth();
        let pool = this.as_ptr().cast_const().cast();
        // SAFETY: the node is alive as the pool is, and was just taken.
        unsafe { Node::fill(vacancy.node, pool, inner.hit_key.pool(), make) };
        let node = vacancy.node;
        std::mem::forget(vacancy);
        node
    }

    /// Drops an object, gives its node and its place under the bound back, and frees the pool if
    /// it was the last.
    ///
    /// # Panics
    ///
    /// If `T`'s drop does, after all of that; but not while the thread unwinds already.
    ///
    /// # Safety
    ///
    /// `node` holds an object of this pool, the caller's alone.
    pub(crate) unsafe fn destroy(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        let vacancy = Vacancy { inner: this, node };
        let value = Node::value(node);
        // SAFETY: the object is the caller's, who gives it up.
        unsafe { destroy_value(value) };
        drop(vacancy);
    }

    /// [`destroy`](Self::destroy), of an object that would have been kept were it not for what it
    /// is.
    ///
    /// # Safety
    ///
    /// As for `destroy`.
    #[cold]
    pub(crate) unsafe fn discard(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        // SAFETY: the object keeps the pool alive until it is destroyed.
        let inner = unsafe { this.as_ref() };
        inner.discarded.fetch_add(1, Ordering::Relaxed);
        // SAFETY: by contract.
        unsafe { Self::destroy(this, node) };
    }

    /// Drops an object and makes another in its place, under the same leave.
    ///
    /// # Panics
    ///
    /// If the drop of `T` or the lifecycle's `create` does; the place is given back then.
    ///
    /// # Safety
    ///
    /// As for `destroy`; a `Pool` holds the pool.
    pub(crate) unsafe fn remake(this: InnerPtr<T, L>, node: NonNull<Node<T>>) {
        let vacancy = Vacancy { inner: this, node };
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        inner.discarded.fetch_add(1, Ordering::Relaxed);
        inner.central.count_replaced();
        let value = Node::value(node);
        // SAFETY: the object is the caller's, who gives it up.
        unsafe { destroy_value(value) };
        let pool = this.as_ptr().cast_const().cast();
        // SAFETY: alive, vacant since just now, and the caller's.
        unsafe {
            Node::fill(node, pool, inner.hit_key.pool(), |place| {
                inner.lifecycle.create_in(place)
            });
        }
        std::mem::forget(vacancy);
    }

    /// Moves the object out; its node and its place are given back.
    ///
    /// # Safety
    ///
    /// As for `destroy`.
    pub(crate) unsafe fn detach(this: InnerPtr<T, L>, node: NonNull<Node<T>>) -> T {
        // SAFETY: by contract.
        let value = unsafe { Node::take_object(node) };
        drop(Vacancy { inner: this, node });
        value
    }

    /// Destroys all of `nodes`. A panic of one does not keep the others; the first goes on at the
    /// end.
    ///
    /// # Safety
    ///
    /// As for `destroy`, for each; and the pool is held by something else as well.
    pub(crate) unsafe fn destroy_all(this: InnerPtr<T, L>, nodes: Vec<NodePtr>) {
        for_each_despite_panics(nodes, |node| {
            // SAFETY: the nodes of this pool are nodes of `T`.
            let node = unsafe { node.node() };
            // SAFETY: by contract.
            unsafe { Self::destroy(this, node) };
        });
    }

    /// Destroys the idle objects beyond `keep`, and frees the memory that held nothing else; gives
    /// how many objects.
    ///
    /// # Panics
    ///
    /// If the drop of a `T` does, after all of that.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool.
    pub(crate) unsafe fn trim(this: InnerPtr<T, L>, target: TrimTarget) -> usize {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        // SAFETY: by contract.
        let (n, panics) = unsafe { Self::destroy_excess(this, target) };
        inner.central.free_excess_memory(n > 0);
        inner.arena.shrink();
        panics.resume();
        n
    }

    unsafe fn destroy_excess(this: InnerPtr<T, L>, target: TrimTarget) -> (usize, FirstPanic) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let mut excess = inner.central.excess(target);
        inner.tell_revocations();
        let (mut n, mut panics, mut some) = (0, FirstPanic::default(), Vec::new());
        while excess.take_some(&mut some) {
            n += some.len();
            let some = some.drain(..).collect();
            // SAFETY: they were idle in this pool and are nobody's now.
            panics.catch(|| unsafe { Self::destroy_all(this, some) });
        }
        (n, panics)
    }

    /// Closes for good, and destroys what is idle.
    ///
    /// # Safety
    ///
    /// A `Pool` holds the pool.
    pub(crate) unsafe fn close(this: InnerPtr<T, L>) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        let (granted, was_open) = inner.central.close();
        let mut idle = granted.len();
        if was_open {
            idle += inner.central.counts().idle;
        }
        inner.tell_revocations();
        if was_open {
            trace::closed(&inner.config, idle);
        }
        // SAFETY: by contract.
        let (_, mut panics) = unsafe { Self::destroy_excess(this, TrimTarget::AtMost(0)) };
        // SAFETY: they were idle in this pool and are nobody's now.
        panics.catch(|| unsafe { Self::destroy_all(this, granted) });
        panics.resume();
    }

    /// Room for the objects that are about to be made.
    pub(crate) fn reserve_memory(&self, objects: usize) {
        self.arena.reserve(objects);
        self.tell_growth();
    }

    #[inline]
    fn tell_growth(&self) {
        let nodes = self.arena.untold_nodes();
        trace::grew(&self.config, nodes, Chunks::<T>::node_size());
    }

    /// Tells of the revocations that calls to the store have made. Those of a release, which may not
    /// touch the pool after it, are told of by the next call that looks for an object.
    #[inline]
    pub(crate) fn tell_revocations(&self) {
        trace::revoked(&self.config, self.central.unreported_revocations());
    }

    pub(crate) fn discarded(&self) -> u64 {
        self.discarded.load(Ordering::Relaxed)
    }

    /// One `Pool` more.
    pub(crate) fn hold(&self) {
        // Relaxed: the caller has one already.
        let pools = self.pools.fetch_add(1, Ordering::Relaxed);
        // As `Arc` has it: far more than memory has room for, unless clones were forgotten.
        if pools > isize::MAX as usize {
            std::process::abort();
        }
    }

    /// One `Pool` more, if there is one still.
    pub(crate) fn try_hold(&self) -> bool {
        self.pools
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |pools| {
                (pools > 0).then(|| pools + 1)
            })
            .is_ok()
    }

    /// One `Pool` less; the last ends the pool.
    ///
    /// # Safety
    ///
    /// The caller's hold is given up, and nothing of the pool is touched again.
    pub(crate) unsafe fn let_go(this: InnerPtr<T, L>) {
        // SAFETY: the pool is held.
        let inner = unsafe { this.as_ref() };
        // Release: what was done through this `Pool` happens before the end; the load is its
        // partner.
        if inner.pools.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        inner.pools.load(Ordering::Acquire);
        let end = End { inner: this };
        // SAFETY: held by `end`.
        unsafe { Self::close(this) };
        drop(end);
    }
}

impl<T, L: Lifecycle<T>> Fork for Inner<T, L> {
    fn before_fork(&self) {
        self.central.before_fork();
        self.arena.before_fork();
    }

    fn after_fork(&self, side: ForkSide, seized: &Seized) {
        self.arena.after_fork(seized);
        self.central.after_fork(side, seized);
    }

    fn serve_in_child(&self) -> Option<Wake> {
        self.central.serve_in_child()
    }
}

/// A node whose object is gone, or not made yet. Dropped, it gives node and place back.
struct Vacancy<T, L: Lifecycle<T>> {
    inner: InnerPtr<T, L>,
    node: NonNull<Node<T>>,
}

impl<T, L: Lifecycle<T>> Drop for Vacancy<T, L> {
    fn drop(&mut self) {
        // SAFETY: the reference of the object that was or would have been here is let go of below
        // only (LIFE-REFS).
        let inner = unsafe { self.inner.as_ref() };
        // SAFETY: of this arena, vacant, and nobody else's.
        unsafe { inner.arena.give(self.node) };
        if inner.central.return_permit() {
            // SAFETY: that was the last reference.
            unsafe { free(self.inner) };
        }
    }
}

/// The end of the last `Pool`. Dropped, it lets go of the `Pool`s' common reference.
struct End<T, L> {
    inner: InnerPtr<T, L>,
}

impl<T, L> Drop for End<T, L> {
    fn drop(&mut self) {
        // SAFETY: the reference is let go of here.
        let inner = unsafe { self.inner.as_ref() };
        if inner.central.drop_last_pool() {
            // SAFETY: that was the last reference.
            unsafe { free(self.inner) };
        }
    }
}

/// # Safety
///
/// The last reference was let go of by the caller.
unsafe fn free<T, L>(inner: InnerPtr<T, L>) {
    fork::unregister(inner);
    // SAFETY: made by `Box::leak` in `Inner::new`, and nobody has a reference any more.
    drop(unsafe { Box::from_raw(inner.as_ptr()) });
}

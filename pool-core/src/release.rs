//! The only way back: reset the object, judge it, keep it or destroy it.
//!
//! What a hook may do is settled here. It runs before the object can be seen by anyone else, under
//! no lock and inside no slot, so it may use the same pool. If it panics, the object is destroyed,
//! its place is given back and the panic goes on.
#![allow(unsafe_code)] // Objects are owned through raw pointers.

use std::ptr::NonNull;
use std::thread;

use crate::arena::{Node, NodePtr};
use crate::config::ResetOn;
use crate::inner::{Inner, InnerPtr};
use crate::lifecycle::Lifecycle;
use crate::local::hit;
use crate::panics::{FirstPanic, Panic, forget_panic, reject_with, reset_and_judge};

/// The pool that the object in `node` belongs to.
///
/// # Safety
///
/// `node` holds an object of a pool of `T` and `L`.
#[inline(always)]
pub(crate) unsafe fn pool_of<T, L>(node: NonNull<Node<T>>) -> InnerPtr<T, L> {
    // SAFETY: alive, as its object is.
    let pool = unsafe { Node::pool(node) };
    // SAFETY: set to the pool's address when the object was made.
    unsafe { NonNull::new_unchecked(pool.cast_mut().cast()) }
}

/// Gives an object back.
///
/// # Panics
///
/// If a hook does; not while the thread unwinds already.
///
/// # Safety
///
/// `node` holds an object of a pool of `T` and `L`, the caller's alone, who gives it up.
#[inline(always)]
pub(crate) unsafe fn release<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let number = unsafe { Node::number(node) };
    // The slot is the thread's whatever a hook does, so it can be looked up before.
    // SAFETY: the number is that of the pool's backend, which is alive until the object is put.
    if let Some(slot) = unsafe { hit::slot_at_hand(number) } {
        // SAFETY: by contract.
        if !unsafe { wipe::<T, L>(node) } {
            return;
        }
        if hit::push(slot, NodePtr::from_node(node)).is_ok() {
            return;
        }
        // SAFETY: by contract.
        unsafe { put_back::<T, L>(node) };
    } else {
        // SAFETY: by contract.
        unsafe { release_slow::<T, L>(node) };
    }
}

/// [`release`], where there is more to do than a hit does.
///
/// # Safety
///
/// As for [`release`].
#[inline(never)]
unsafe fn release_slow<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    // SAFETY: the object keeps the pool alive (LIFE-REFS).
    let reset_on = unsafe { (*inner.as_ptr()).config.reset_on };
    // SAFETY: by contract.
    if reset_on == ResetOn::Acquire || unsafe { wipe::<T, L>(node) } {
        // SAFETY: by contract.
        unsafe { put_back::<T, L>(node) };
    }
}

/// Keeps an object that is fit to be kept, or destroys it if the backend does not want it.
///
/// # Safety
///
/// As for [`release`].
// Cold for the layout of a hit; what it calls is not.
#[cold]
#[inline(never)]
unsafe fn put_back<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    // SAFETY: the object keeps the pool alive until it is put.
    let central = unsafe { &(*inner.as_ptr()).central };
    if central.put(NodePtr::from_node(node)).is_err() {
        // SAFETY: it is still the caller's.
        unsafe { Inner::destroy(inner, node) };
    }
}

/// [`release`] of many objects at once, of one pool unless the user has exchanged some.
///
/// # Panics
///
/// If a hook does, after all the others were given back.
///
/// # Safety
///
/// The parts of a vector; and as for [`release`], for each node in it.
#[inline(never)]
pub(crate) unsafe fn release_many<T, L: Lifecycle<T>>(
    start: *mut NodePtr,
    len: usize,
    capacity: usize,
) {
    // SAFETY: by contract.
    let nodes = unsafe { Vec::from_raw_parts(start, len, capacity) };
    let Some(first) = nodes.first() else {
        return;
    };
    // SAFETY: by contract nodes of `T`.
    let first = unsafe { first.node::<T>() };
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(first) };
    // SAFETY: by contract.
    let number = unsafe { Node::number(first) };
    // SAFETY: the first object keeps its pool alive (LIFE-REFS).
    let wipes = unsafe { (*inner.as_ptr()).config.reset_on } == ResetOn::Release;
    // SAFETY: by contract nodes of `T`, and the caller's.
    let (fit, other) = unsafe { wipe_run(&nodes, inner, wipes) };
    // SAFETY: the objects keep the pool alive until they are put, and the number is that of its
    // backend.
    let nodes = match unsafe { hit::slot_at_hand(number) } {
        Some(slot) if other.is_none() => match hit::push_many(slot, nodes) {
            Ok(()) => return,
            Err(nodes) => nodes,
        },
        _ => nodes,
    };
    // SAFETY: by contract; so many are wiped.
    unsafe { release_many_slow(inner, nodes, wipes, fit, other) };
}

/// [`release_many`] to a pool that `wipes` or not, where the first `fit` are wiped and what is with the
/// next is known.
///
/// # Safety
///
/// As for [`release`], for each; those that are wiped are `inner`'s.
#[cold]
#[inline(never)]
unsafe fn release_many_slow<T, L: Lifecycle<T>>(
    inner: InnerPtr<T, L>,
    mut nodes: Vec<NodePtr>,
    wipes: bool,
    mut fit: usize,
    mut other: Option<Other>,
) {
    let mut panics = FirstPanic::default();
    while let Some(which) = other {
        let node = nodes.swap_remove(fit);
        // SAFETY: by contract, and given up.
        unsafe { release_other::<T, L>(node, which, &mut panics) };
        // SAFETY: by contract nodes of `T`, and the caller's.
        let (more, next) = unsafe { wipe_run(&nodes[fit..], inner, wipes) };
        (fit, other) = (fit + more, next);
    }
    if !nodes.is_empty() {
        // SAFETY: the objects that are left keep the pool alive until they are put.
        let central = unsafe { &(*inner.as_ptr()).central };
        for node in central.put_many(nodes) {
            // SAFETY: as above.
            let node = unsafe { node.node() };
            // SAFETY: it is still the caller's.
            panics.catch(|| unsafe { Inner::<T, L>::destroy(inner, node) });
        }
    }
    panics.resume();
}

/// Gives back an object that does not go with the others.
///
/// # Safety
///
/// As for [`release`]; it is what `other` says it is.
#[cold]
#[inline(never)]
unsafe fn release_other<T, L: Lifecycle<T>>(node: NodePtr, other: Other, panics: &mut FirstPanic) {
    // SAFETY: by contract a node of `T`.
    let node = unsafe { node.node::<T>() };
    panics.catch(|| match other {
        // SAFETY: by contract.
        Other::Foreign => unsafe { release::<T, L>(node) },
        Other::Unfit(panic) => {
            // SAFETY: by contract.
            unsafe { reject::<T, L>(node, panic) };
        }
    });
}

/// Why an object does not go back with the others of a burst.
enum Other {
    /// It is another pool's.
    Foreign,
    /// It is not reusable, or a hook panicked.
    Unfit(Option<Panic>),
}

/// Wipes objects, if `wipes`, up to one that does not go back with the others. Gives how many were
/// wiped, and what is with the next.
///
/// # Safety
///
/// The nodes hold objects of pools of `T` and `L`, the caller's alone; the pool of those that are
/// `inner`'s is alive, as they are.
#[inline(always)]
unsafe fn wipe_run<T, L: Lifecycle<T>>(
    nodes: &[NodePtr],
    inner: InnerPtr<T, L>,
    wipes: bool,
) -> (usize, Option<Other>) {
    let wipe_one = |node: &NodePtr| {
        // SAFETY: by contract a node of `T`.
        let node = unsafe { node.node::<T>() };
        // Handles of other pools can have come into a burst; they go back to theirs.
        // SAFETY: by contract.
        if unsafe { pool_of::<T, L>(node) } != inner {
            return Err(Other::Foreign);
        }
        if !wipes {
            return Ok(());
        }
        // SAFETY: the object keeps the pool alive (LIFE-REFS).
        let lifecycle = unsafe { &(*inner.as_ptr()).lifecycle };
        // SAFETY: by contract the caller's alone.
        let object = unsafe { Node::object(node) };
        match reset_and_judge(lifecycle, object) {
            Ok(true) => Ok(()),
            judged => Err(Other::Unfit(judged.err())),
        }
    };
    // Told by the address, so that the loop need not count.
    let at = |node: &NodePtr| {
        let start = nodes.as_ptr().addr();
        (std::ptr::from_ref(node).addr() - start) / size_of::<NodePtr>()
    };
    // Four at a time, each time round the loop: a reset is often a store or two.
    let (fours, rest) = nodes.as_chunks::<4>();
    for four in fours {
        for node in four {
            if let Err(other) = wipe_one(node) {
                return (at(node), Some(other));
            }
        }
    }
    for node in rest {
        if let Err(other) = wipe_one(node) {
            return (at(node), Some(other));
        }
    }
    (nodes.len(), None)
}

/// Resets and judges an object. `false`: it was not fit to be kept, and is destroyed.
///
/// # Panics
///
/// If a hook does, and the thread does not unwind already: a second panic would abort. The object
/// is destroyed then.
///
/// # Safety
///
/// As for [`release`].
#[inline(always)]
pub(crate) unsafe fn wipe<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) -> bool {
    // Not looked at, and so not loaded, where the lifecycle is a type and nothing more.
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    // SAFETY: the object keeps the pool alive (LIFE-REFS).
    let lifecycle = unsafe { &(*inner.as_ptr()).lifecycle };
    // SAFETY: the object is the caller's alone.
    let object = unsafe { Node::object(node) };
    match reset_and_judge(lifecycle, object) {
        Ok(true) => true,
        // SAFETY: the object is the caller's, who gives it up.
        judged => unsafe { reject::<T, L>(node, judged.err()) },
    }
}

/// Resets and judges an object that is about to be acquired; one that is not reusable is made anew in
/// its place, so that whoever has it keeps having one.
///
/// # Panics
///
/// If a hook does; the object is destroyed then.
///
/// # Safety
///
/// As for [`release`]; the object is not given up, unless this panics. A `Pool` holds the pool.
pub(crate) unsafe fn wipe_or_remake<T, L: Lifecycle<T>>(node: NonNull<Node<T>>) {
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    // SAFETY: the object keeps the pool alive (LIFE-REFS).
    let lifecycle = unsafe { &(*inner.as_ptr()).lifecycle };
    // SAFETY: the object is the caller's alone.
    let object = unsafe { Node::object(node) };
    let panic = match reset_and_judge(lifecycle, object) {
        Ok(true) => return,
        Ok(false) => None,
        Err(panic) => Some(panic),
    };
    if panic.is_some() && !thread::panicking() {
        // SAFETY: the object is the caller's, who gives it up.
        unsafe { reject::<T, L>(node, panic) };
        unreachable!("the panic has gone on");
    }
    panic.into_iter().for_each(forget_panic);
    // SAFETY: the object is the caller's.
    unsafe { Inner::remake(inner, node) };
}

/// Destroys an object that a hook found unfit or broke; `false`, for [`wipe`] to return.
///
/// # Safety
///
/// As for [`release`].
#[cold]
#[inline(never)]
unsafe fn reject<T, L: Lifecycle<T>>(node: NonNull<Node<T>>, panic: Option<Panic>) -> bool {
    // SAFETY: by contract.
    let inner = unsafe { pool_of::<T, L>(node) };
    reject_with(panic, || {
        // SAFETY: by contract.
        unsafe { Inner::discard(inner, node) };
    })
}

//! The only way back: an object is reset, validated, and kept or destroyed.
//!
//! Hooks run here, before another thread can acquire the object, under no lock and inside no slot, so they may use
//! the same pool. If a hook panics, the object is destroyed, its permit goes back and the panic goes on.
#![allow(unsafe_code)] // Looks slots up, and reaches pools that another thread may free.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::slice;

use super::{ErasedObject, Object, ObjectWord, erase_all, unerase_all};
use crate::config::ResetOn;
use crate::lifecycle::Recycle;
use crate::local::hit;
use crate::panics::{FirstPanic, Panic};
use crate::shared::{Shared, SharedObject};

/// Gives an object back.
///
/// # Panics
///
/// If a hook does; not while the thread unwinds already.
#[inline(always)]
pub(crate) fn release<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    // The slot is the thread's whatever a hook does, so it can be looked up before.
    // SAFETY: the id is that of the pool's backend, which is alive until the object is put (LIFE-REFS).
    if let Some(slot) = unsafe { hit::slot_at_hand(object.block().pool_id()) } {
        let Some(object) = object.reset() else {
            return;
        };
        if let Err(erased) = hit::push(slot, object.into_erased()) {
            // SAFETY: erased just now, and not taken.
            put_back(unsafe { SharedObject::<T, L>::from_erased(erased) });
        }
    } else {
        (object.pool().fast.release)(object);
    }
}

/// [`release`] to the stack of a `Mutex`.
pub(crate) fn to_stack<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    let Some(object) = object.reset() else {
        return;
    };
    put_by(object, Shared::put_stack).unwrap_or_else(put_back);
}

/// [`release`] to the queue of a `Queue`.
pub(crate) fn to_queue<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    let Some(object) = object.reset() else {
        return;
    };
    put_by(object, Shared::put_queue).unwrap_or_else(put_back);
}

/// [`release`] to a `Heap`.
pub(crate) fn to_nowhere<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    drop(object.reset());
}

/// [`release`] to a pool that tracks who holds its objects.
pub(crate) fn to_tracking<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    object.pool().end_holds([object.address()]);
    to_any(object);
}

/// [`release`] to any pool.
pub(crate) fn to_any<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    let object = match object.pool().reset_on() {
        ResetOn::Acquire => object,
        ResetOn::Release => match object.reset() {
            Some(object) => object,
            None => return,
        },
    };
    put_back(object);
}

/// Keeps an object that may be kept, or destroys it if the backend does not want it.
// Cold for the layout of a hit; what it calls is not.
#[cold]
#[inline(never)]
fn put_back<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    put_by(object, Shared::put).unwrap_or_else(destroy);
}

/// Gives an object to its pool by `put`, which may be what ends the pool.
#[inline(always)]
fn put_by<T, L: Recycle<T> + ?Sized>(
    object: SharedObject<T, L>,
    put: impl FnOnce(&Shared<T, L>, SharedObject<T, L>) -> Result<(), SharedObject<T, L>>,
) -> Result<(), SharedObject<T, L>> {
    // SAFETY: the object keeps the pool alive until it is put, and it is not touched after that (LIFE-TAIL).
    put(unsafe { object.pool_ptr().as_ref() }, object)
}

/// Destroys an object that the backend does not want, and what the calling thread has handed over to it meanwhile that
/// is not wanted either.
#[cold]
#[inline(never)]
fn destroy<T, L: Recycle<T> + ?Sized>(object: SharedObject<T, L>) {
    let mut panics = FirstPanic::default();
    panics.catch(|| object.pool().destroy_unwanted(1));
    panics.catch(|| drop(object));
    panics.resume();
}

/// [`release`] of the objects of a burst at once, of one pool unless the user has exchanged some.
///
/// # Panics
///
/// If a hook does, after all the others were given back.
// Inlined, and the vector handed on in parts: so a burst need not lie in memory, and is not copied there when
// it is moved before it is dropped.
#[inline(always)]
pub(crate) fn release_many<T, L: Recycle<T> + ?Sized, O: ObjectWord<T, Shared<T, L>>>(
    objects: Vec<O>,
) {
    let mut objects = ManuallyDrop::new(erase_all(objects));
    let (start, len, capacity) = (objects.as_mut_ptr(), objects.len(), objects.capacity());
    // SAFETY: the parts of a vector, which is given up, of what is one word (HANDLE-WORD).
    unsafe { release_parts::<T, L>(start.cast(), len, capacity) };
}

/// # Safety
///
/// The parts of a vector, which the caller gives up.
#[inline(never)]
unsafe fn release_parts<T, L: Recycle<T> + ?Sized>(
    start: *mut SharedObject<T, L>,
    len: usize,
    capacity: usize,
) {
    // SAFETY: by contract.
    let mut objects = unsafe { Vec::from_raw_parts(start, len, capacity) };
    let Some(first) = objects.first() else {
        return;
    };
    let (pool_ptr, pool_id) = (first.pool_ptr(), first.block().pool_id());
    let resets = first.pool().has_hits();
    let (reusable, other) = reset_run(&mut objects, pool_ptr, resets);
    // SAFETY: the id is that of the pool's backend, which the objects keep alive until they are put.
    let objects = match unsafe { hit::slot_at_hand(pool_id) } {
        Some(slot) if other.is_none() => match hit::push_many(slot, erase_all(objects)) {
            Ok(()) => return,
            // SAFETY: erased just now, and not taken.
            Err(erased) => unsafe { unerase_all(erased) },
        },
        _ => objects,
    };
    release_many_slow(pool_ptr, objects, resets, reusable, other);
}

/// [`release_many`] to a pool that has hits or not. If it has, the first `reusable` are reset and what is with the
/// next is known; if not, nothing was done yet. The first object is of the pool at `pool_ptr`.
#[cold]
#[inline(never)]
fn release_many_slow<T, L: Recycle<T> + ?Sized>(
    pool_ptr: NonNull<Shared<T, L>>,
    mut objects: Vec<SharedObject<T, L>>,
    mut resets: bool,
    mut reusable: usize,
    mut other: Option<Other>,
) {
    if !resets {
        // SAFETY: the first object keeps the pool alive.
        let pool = unsafe { pool_ptr.as_ref() };
        pool.end_holds(objects.iter().map(Object::address));
        resets = pool.reset_on() == ResetOn::Release;
        (reusable, other) = reset_run(&mut objects, pool_ptr, resets);
    }
    let mut panics = FirstPanic::default();
    while let Some(which) = other {
        let object = objects.swap_remove(reusable);
        release_other(object, which, &mut panics);
        let (more, next) = reset_run(&mut objects[reusable..], pool_ptr, resets);
        (reusable, other) = (reusable + more, next);
    }
    if !objects.is_empty() {
        // SAFETY: the objects that are left are of this pool, and keep it alive until they are put; it is not
        // touched after that (LIFE-TAIL).
        let pool = unsafe { pool_ptr.as_ref() };
        let rejected = pool.put_many(objects);
        if !rejected.is_empty() {
            panics.catch(|| pool.destroy_unwanted(rejected.len()));
        }
        for object in rejected {
            panics.catch(|| drop(object));
        }
    }
    panics.resume();
}

/// Gives back an object that does not go with the others.
#[cold]
#[inline(never)]
fn release_other<T, L: Recycle<T> + ?Sized>(
    object: SharedObject<T, L>,
    other: Other,
    panics: &mut FirstPanic,
) {
    panics.catch(|| match other {
        Other::Foreign => release(object),
        Other::Rejected(panic) => object.reject(panic),
    });
}

/// Why an object does not go back with the others of a burst.
enum Other {
    /// It is another pool's.
    Foreign,
    /// It is not reusable, or a hook panicked.
    Rejected(Option<Panic>),
}

/// Resets objects, if `resets`, up to one that does not go back with the others. Gives how many are reset, and
/// what is with the next.
#[inline(always)]
fn reset_run<T, L: Recycle<T> + ?Sized>(
    objects: &mut [SharedObject<T, L>],
    pool_ptr: NonNull<Shared<T, L>>,
    resets: bool,
) -> (usize, Option<Other>) {
    let reset_one = |object: &mut SharedObject<T, L>| {
        // Handles of other pools can have come into a burst; they go back to theirs.
        if object.pool_ptr() != pool_ptr {
            return Err(Other::Foreign);
        }
        if !resets {
            return Ok(());
        }
        object.reset_in_place().map_err(Other::Rejected)
    };
    let len = objects.len();
    let start = objects.as_ptr().addr();
    // From the address, so that the loop need not count.
    let at = |object: &SharedObject<T, L>| {
        (std::ptr::from_ref(object).addr() - start) / size_of::<ErasedObject>()
    };
    // Four at a time, each time round the loop: a reset is often a store or two.
    let (fours, rest) = in_fours(objects);
    for four in fours {
        for object in four {
            if let Err(other) = reset_one(object) {
                return (at(object), Some(other));
            }
        }
    }
    for object in rest {
        if let Err(other) = reset_one(object) {
            return (at(object), Some(other));
        }
    }
    (len, None)
}

/// `as_chunks_mut`, which std has since Rust 1.88. With `chunks_exact_mut` a burst costs four instructions more.
#[inline(always)]
fn in_fours<O>(objects: &mut [O]) -> (&mut [[O; 4]], &mut [O]) {
    let whole = objects.len() / 4;
    let (fours, rest) = objects.split_at_mut(4 * whole);
    // SAFETY: an array is laid out as its elements are, and so many are in the slice, which is borrowed for as long.
    let fours = unsafe { slice::from_raw_parts_mut(fours.as_mut_ptr().cast(), whole) };
    (fours, rest)
}

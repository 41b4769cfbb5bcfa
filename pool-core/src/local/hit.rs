//! The fast paths: what an acquire and a release do where nothing unusual is going on.
//!
//! `Batched` works on the calling thread's stack alone. `Heap` takes a permit from there and puts it back.
//! (`Queue` pops and pushes at the shared queue inside the slot, `Mutex` has the central lock; their fast paths are in
//! `central`.) A miss goes to `central`, with the slot in hand.
//!
//! On a successful push the object is no longer the caller's, nor does it keep the pool alive: the pool may
//! have ended when the function returns (LIFE-TAIL).
#![allow(unsafe_code)] // Inside a slot, the stack is the owner's.

use std::mem;

use super::slot::{Inside, Missed, OwnSlot};
use super::stack::{self, LocalStack};
use super::{own_at, registry};
use crate::object::{ErasedObject, PoolId};

/// The calling thread's slot.
pub(crate) type Own<'a> = OwnSlot<'a, LocalStack>;

/// The calling thread's slot in the pool with this id, if it is at hand. Touches nothing of the pool.
///
/// # Safety
///
/// The id is that of a pool that is alive for `'a`, or of no pool.
#[inline(always)]
pub(crate) unsafe fn slot_at_hand<'a>(pool: PoolId) -> Option<Own<'a>> {
    // SAFETY: by contract; the slots of every pool protect a `LocalStack`.
    registry::recent(pool).map(|address| unsafe { own_at(address) })
}

/// Pops the newest object. On a miss the caller asks at the central lock, where it may turn out that the object
/// was popped. The caller keeps the pool alive.
#[inline(always)]
pub(crate) fn pop(own: Own<'_>) -> Result<ErasedObject, Missed<'_, LocalStack>> {
    let top = own.pop_optimistic()?;
    // SAFETY: that was not the top of the empty stack, and what lies below it is the owner's (BIAS-POP).
    Ok(unsafe { stack::newest(top) })
}

/// The object of a pop that missed, if it counts. Under the central lock.
pub(crate) fn redeem(missed: Missed<'_, LocalStack>) -> (Own<'_>, Option<ErasedObject>) {
    let (own, top) = missed.redeem();
    // SAFETY: the pop counts, so what lies below the top is the owner's (BIAS-POP).
    (own, top.map(|top| unsafe { stack::newest(top) }))
}

/// Pushes an object; gives it back if the slot is full or revoked.
#[inline(always)]
pub(crate) fn push(own: Own<'_>, object: ErasedObject) -> Result<(), ErasedObject> {
    match own.enter_to_push() {
        Some(inside) => {
            // SAFETY: it is not full.
            inside.work(|stack| unsafe { stack.push(object) });
            Ok(())
        }
        None => Err(object),
    }
}

/// The `n` newest objects, if the stack has as many and a buffer for them.
#[inline]
pub(crate) fn pop_many(own: Own<'_>, n: usize) -> Option<Vec<ErasedObject>> {
    let inside = own.enter_to_pop_many(n.saturating_mul(size_of::<ErasedObject>()))?;
    inside.work(|stack| {
        // None are not at hand either: there would be nothing by which the buffer finds its way back.
        if n.wrapping_sub(1) >= stack.state.buffer.capacity() {
            return None;
        }
        let mut objects = mem::take(&mut stack.state.buffer);
        // SAFETY: there are as many, and there is room for them.
        unsafe { stack.pop_many(n, &mut objects) };
        Some(objects)
    })
}

/// Pushes all of `objects`, if there is room for them and for their buffer; else gives them back.
#[inline(always)]
pub(crate) fn push_many(own: Own<'_>, objects: Vec<ErasedObject>) -> Result<(), Vec<ErasedObject>> {
    let Some(inside) = own.enter_to_push_many(size_of_val(&objects[..])) else {
        return Err(objects);
    };
    inside.work(|stack| {
        if stack.state.buffer.capacity() > 0 {
            return Err(objects);
        }
        // SAFETY: there is room.
        unsafe { stack.push_all(&objects) };
        // Without a look at what it replaces, which has no memory.
        mem::forget(mem::replace(&mut stack.state.buffer, objects));
        stack.state.buffer.clear();
        Ok(())
    })
}

/// Takes a permit from the slot and counts an object created.
#[inline(always)]
pub(crate) fn take_permits(own: Own<'_>, n: usize) -> bool {
    // One byte of the top's address for each permit.
    let Some(inside) = own.enter_to_pop_many(n) else {
        return false;
    };
    inside.work(|stack| {
        stack.created.add(n as u64);
        stack.pop_permits(n);
    });
    true
}

/// Puts a permit back into the slot.
#[inline(always)]
pub(crate) fn return_permit(own: Own<'_>) -> bool {
    let Some(inside) = own.enter_to_push() else {
        return false;
    };
    inside.work(|stack| stack.push_permits(1));
    true
}

// What follows is not fast, but works on the stack of a slot as the fast paths do.

/// What came of taking many objects from a slot.
pub(crate) enum Popped {
    All(Vec<ErasedObject>),
    /// Nothing was taken; the buffer may be used.
    TooFew(Vec<ErasedObject>),
}

/// Takes `n` objects, if the slot has as many and a buffer for them.
pub(crate) fn try_pop_many(own: Own<'_>, n: usize) -> Popped {
    let Some(inside) = own.enter() else {
        return Popped::TooFew(Vec::new());
    };
    inside.work(|stack| {
        let mut objects = mem::take(&mut stack.state.buffer);
        if n > stack.len() || n > objects.capacity() {
            return Popped::TooFew(objects);
        }
        // SAFETY: there are as many, and there is room for them.
        unsafe { stack.pop_many(n, &mut objects) };
        Popped::All(objects)
    })
}

/// Pushes as many of `objects`, from their end, as there is room for. If that was all, keeps the buffer, or has
/// `give` keep it, which is called inside the slot.
pub(crate) fn try_push_many(
    own: Own<'_>,
    objects: &mut Vec<ErasedObject>,
    give: impl FnOnce(Vec<ErasedObject>),
) -> bool {
    let Some(inside) = own.enter() else {
        return false;
    };
    inside.work(|stack| {
        let rest = objects.len().saturating_sub(stack.free());
        // SAFETY: no more than there is room for.
        unsafe { stack.push_all(&objects[rest..]) };
        objects.truncate(rest);
        if rest > 0 {
            return false;
        }
        let buffer = mem::take(objects);
        match stack.state.buffer.capacity() {
            0 => stack.state.buffer = buffer,
            _ => give(buffer),
        }
        true
    })
}

/// Copies out what the owner of a full slot is about to give to the depot, into spare batches. What is copied
/// stays in the stack until the depot has it, so that at no time it is nowhere.
pub(crate) fn copy_out(own: Own<'_>, new_batch: impl Fn() -> super::Batch) {
    let mut spares = Vec::new();
    while let Some(inside) = own.enter() {
        let missing = inside.work(|stack| {
            stack.state.spares.append(&mut spares);
            let missing = (stack.state.given()).saturating_sub(stack.state.spares.len());
            if missing == 0 && stack.state.outgoing.is_empty() {
                stack.copy_out();
            }
            missing
        });
        if missing == 0 {
            break;
        }
        spares.extend(std::iter::repeat_with(&new_batch).take(missing));
    }
}

/// Moves the batches that the depot handed over to the stack, which is empty, and pops the newest object.
pub(crate) fn take_in_and_pop(inside: Inside<'_, LocalStack>) -> ErasedObject {
    inside.work(|stack| {
        stack.take_in();
        stack.pop().expect("a batch is not empty")
    })
}

/// Forgets the `given` oldest batches, which the depot has taken over, and pushes `object`. There is room: the
/// stack was just activated, or has given some.
pub(crate) fn forget_oldest_and_push(
    inside: Inside<'_, LocalStack>,
    given: usize,
    object: ErasedObject,
) {
    inside.work(|stack| {
        stack.forget_oldest(given);
        debug_assert!(stack.free() > 0, "a push into a stack that is full");
        // SAFETY: it is not: it was just activated, or has given some.
        unsafe { stack.push(object) };
    });
}

/// Touches the memory that the stack may come to use; gives how many objects are in it.
pub(crate) fn touch(inside: Inside<'_, LocalStack>) -> usize {
    inside.work(|stack| {
        stack.touch();
        stack.len()
    })
}

/// How many permits are in the slot.
pub(crate) fn count_permits(inside: Inside<'_, LocalStack>) -> usize {
    inside.work(|stack| stack.permits())
}

/// Puts permits into the slot, which has room for as many.
pub(crate) fn add_permits(inside: Inside<'_, LocalStack>, permits: usize) {
    inside.work(|stack| stack.push_permits(permits));
}

/// Takes up to half of what a full stack of permits holds out of the slot.
pub(crate) fn take_half_of_permits(inside: Inside<'_, LocalStack>) -> usize {
    inside.work(|stack| {
        let half = stack.permits() / 2;
        stack.pop_permits(half);
        half
    })
}

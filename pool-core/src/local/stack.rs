//! The stack that a thread keeps in its slot, and the batches in which objects move to and from the depot.
#![allow(unsafe_code)] // No bounds checks on the fast path, and a top that is an address.

use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

use super::copy::copy_run;
use super::slot::{SlotState, Top};
use crate::object::ErasedObject;

/// An array of idle objects, filled from the front. Changes hands by pointer.
pub(crate) struct Batch {
    items: Box<[MaybeUninit<ErasedObject>]>,
    len: usize,
}

impl Batch {
    pub(crate) fn new(capacity: usize) -> Self {
        Batch {
            items: Box::new_uninit_slice(capacity),
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == self.items.len()
    }

    pub(crate) fn push(&mut self, object: ErasedObject) {
        self.items[self.len].write(object);
        self.len += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<ErasedObject> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: items before the old `len` were written.
        Some(unsafe { self.items[self.len].assume_init() })
    }

    /// Fills the empty batch with copies of `objects`, as many as it has room for.
    pub(crate) fn fill(&mut self, objects: &[ErasedObject]) {
        let n = objects.len().min(self.items.len());
        // SAFETY: both have as many; `MaybeUninit` has the layout of what it may hold.
        unsafe { ptr::copy_nonoverlapping(objects.as_ptr().cast(), self.items.as_mut_ptr(), n) };
        self.len = n;
    }

    /// Forgets what is in it.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// What is in it, the oldest first.
    pub(crate) fn objects(&self) -> &[ErasedObject] {
        let filled = &self.items[..self.len];
        // SAFETY: items before `len` were written, and `MaybeUninit` has the layout of what it may hold.
        unsafe { &*(ptr::from_ref(filled) as *const [ErasedObject]) }
    }

    /// Takes out the `n` oldest, or all.
    pub(crate) fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        let n = n.min(self.len);
        if n == 0 {
            return;
        }
        out.extend(&self.objects()[..n]);
        self.items.copy_within(n..self.len, 0);
        self.len -= n;
    }
}

/// The most batches that a thread takes from the depot in a visit; its stack holds one more.
const LARGEST_REFILL: usize = 8;

/// How many visits of the kind that a larger refill would have spared, over visits of the other kind, double the
/// refill; and the other way round, halve it.
const ADAPTS_AFTER: i32 = 256;

/// Bytes of the top's address for one permit.
const PERMIT: usize = 1;

/// The top of a stack of no permits. Any address that is not null; nothing is at it.
const NO_PERMITS: Top = ptr::without_provenance_mut(1 << 8);

/// What a thread keeps: a stack, usually of at most two batches.
///
/// The top of the slot is the end of the stack, and the bounds of the slot are where the stack begins and where
/// it has to end, so a hit is one comparison and one load or store. A thread whose stack is empty takes a batch
/// from the depot; one whose stack is full gives its oldest batch. So a thread that alternates at an edge visits
/// the depot once per batch at most, the object released last is acquired first, and the oldest leave.
///
/// A thread whose bursts are far above the batch comes to take a second time before it has given, or to give a
/// second time before it has taken. It then gets a larger refill: it takes that many batches in a visit, gives
/// half as many, and may hold one more. The refill shrinks by visits that alternate, and when the slot is
/// revoked.
pub(crate) struct LocalStack {
    /// The memory of the stack, with room for the largest refill. Raw, so that the top can point into it.
    memory: NonNull<[MaybeUninit<ErasedObject>]>,
    /// The top of the empty stack.
    empty: Top,
    /// How many bytes the top may be above that.
    room: usize,
    batch_size: usize,
    /// How many batches a visit takes: 1 to [`LARGEST_REFILL`].
    refill: usize,
    /// Visits that were like the one before, less other visits, since the refill changed.
    alike: i32,
    /// Whether the last visit took; else it gave.
    took: bool,
    /// Batches taken from the depot, not yet copied to the stack, the oldest first.
    pub(crate) incoming: Vec<Batch>,
    /// Copies of the oldest batches of the stack, about to be given to the depot.
    pub(crate) outgoing: Vec<Batch>,
    /// Empty batches.
    pub(crate) spares: Vec<Batch>,
    /// An empty buffer for the next burst, if it has room for any.
    pub(crate) buffer: Vec<ErasedObject>,
}

// SAFETY: `memory` is owned by this value and full of `ErasedObject`s, which are `Send`; `empty` points to it or
// to nothing.
unsafe impl Send for LocalStack {}

impl SlotState for LocalStack {
    #[inline]
    fn bounds(&self) -> (Top, usize) {
        (self.empty, self.empty.addr() + self.room)
    }
}

impl LocalStack {
    /// A stack of objects.
    pub(crate) fn of_objects(batch_size: usize) -> Self {
        let memory = Box::<[ErasedObject]>::new_uninit_slice((LARGEST_REFILL + 1) * batch_size);
        // With room for all that may come, since no memory is asked for inside a slot.
        let batches = || Vec::with_capacity(LARGEST_REFILL + 1);
        let mut stack = Self::without_objects(memory, batch_size);
        stack.incoming = batches();
        stack.outgoing = batches();
        stack.spares = Vec::with_capacity(2 * (LARGEST_REFILL + 1));
        stack.empty = stack.memory.as_ptr().cast();
        stack.set_refill(1);
        stack
    }

    /// A number of permits, as the distance of the top from that of the empty stack.
    pub(crate) fn of_permits(batch_size: usize) -> Self {
        let mut stack = Self::without_objects(Box::default(), batch_size);
        stack.room = 2 * batch_size * PERMIT;
        stack
    }

    /// Nothing: the owner enters the slot to be seen inside.
    pub(crate) fn of_nothing() -> Self {
        let mut stack = Self::without_objects(Box::default(), 1);
        // So that there is always room.
        stack.room = 1;
        stack
    }

    fn without_objects(memory: Box<[MaybeUninit<ErasedObject>]>, batch_size: usize) -> Self {
        LocalStack {
            memory: NonNull::from(Box::leak(memory)),
            empty: NO_PERMITS,
            room: 0,
            batch_size,
            refill: 1,
            alike: 0,
            took: false,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            spares: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// How many objects there are.
    pub(super) fn len(&self, top: Top) -> usize {
        (top.addr() - self.empty.addr()) / size_of::<ErasedObject>()
    }

    /// How many permits there are, in a stack of permits.
    pub(crate) fn permits(&self, top: Top) -> usize {
        (top.addr() - self.empty.addr()) / PERMIT
    }

    /// How many batches the next visit takes.
    pub(crate) fn refill(&self) -> usize {
        self.refill
    }

    fn set_refill(&mut self, refill: usize) {
        self.refill = refill;
        self.alike = 0;
        self.room = (refill + 1) * self.batch_size * size_of::<ErasedObject>();
    }

    /// How many batches the next visit gives, when the stack is full.
    pub(crate) fn given(&self) -> usize {
        self.refill.div_ceil(2)
    }

    /// Notes a visit to the depot, that `takes` or gives, and adapts the refill to it.
    pub(crate) fn visit(&mut self, takes: bool) {
        self.alike += if takes == self.took { 1 } else { -1 };
        self.took = takes;
        if self.alike >= ADAPTS_AFTER {
            self.set_refill((self.refill * 2).min(LARGEST_REFILL));
        } else if self.alike <= -ADAPTS_AFTER && takes {
            // Only now, when the stack is empty, it cannot be larger than it may be.
            self.set_refill((self.refill / 2).max(1));
        }
    }

    /// Back to two batches, when all was taken away.
    pub(crate) fn reset_refill(&mut self) {
        self.set_refill(1);
    }

    /// The objects, the oldest first.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, and `top` is its top.
    unsafe fn objects(&mut self, top: Top) -> &mut [ErasedObject] {
        let len = self.len(top);
        // SAFETY: those up to the top were written by pushes, and are the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.empty.cast(), len) }
    }

    /// Moves the batches that came in to the end of the stack; gives the new top.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, and `top` is its top. There is room.
    pub(super) unsafe fn take_in(&mut self, mut top: Top) -> Top {
        for mut batch in self.incoming.drain(..) {
            for object in batch.objects() {
                // SAFETY: there is room, by contract.
                top = unsafe { push(top, *object) };
            }
            batch.clear();
            self.spares.push(batch);
        }
        top
    }

    /// Copies the oldest batches to spares, of which there are as many, to be given to the depot. They stay in
    /// the stack until they are [forgotten](Self::forget_oldest).
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, and `top` is its top.
    pub(super) unsafe fn copy_out(&mut self, top: Top) {
        let (given, batch_size) = (self.given(), self.batch_size);
        let mut outgoing = mem::take(&mut self.outgoing);
        let mut spares = mem::take(&mut self.spares);
        // SAFETY: by contract.
        let objects = unsafe { self.objects(top) };
        for oldest in objects.chunks_exact(batch_size).take(given) {
            if let Some(mut spare) = spares.pop() {
                spare.fill(oldest);
                outgoing.push(spare);
            }
        }
        self.outgoing = outgoing;
        self.spares = spares;
    }

    /// Moves the stack down over its `batches` oldest batches, which the depot has; gives the new top.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, `top` is its top, and there are as many.
    pub(super) unsafe fn forget_oldest(&mut self, top: Top, batches: usize) -> Top {
        let n = batches * self.batch_size;
        // SAFETY: by contract.
        unsafe { self.objects(top) }.copy_within(n.., 0);
        top.cast::<ErasedObject>().wrapping_sub(n).cast()
    }

    /// Takes back the copies that were not given.
    pub(crate) fn keep_outgoing(&mut self) {
        for mut batch in self.outgoing.drain(..) {
            batch.clear();
            self.spares.push(batch);
        }
    }

    /// How many objects more there is room for.
    pub(super) fn free(&self, top: Top) -> usize {
        (self.room / size_of::<ErasedObject>()).saturating_sub(self.len(top))
    }

    /// Writes to the memory above the top that there is room in, so that the system has it ready.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, and `top` is its top.
    pub(super) unsafe fn touch(&mut self, top: Top) {
        let free = self.free(top);
        // SAFETY: there is room for as many, and no object is there.
        unsafe { top.cast::<ErasedObject>().write_bytes(0, free) };
    }

    /// Moves the `n` newest objects to `out`, which is empty and has room for them; gives the new top.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, `top` is its top, and there are as many.
    #[inline]
    pub(super) unsafe fn pop_many(
        &mut self,
        top: Top,
        n: usize,
        out: &mut Vec<ErasedObject>,
    ) -> Top {
        debug_assert!(n <= self.len(top) && out.is_empty() && n <= out.capacity());
        // SAFETY: there are as many below the top.
        let oldest = unsafe { top.cast::<ErasedObject>().sub(n) };
        // SAFETY: `out` has room; it is not part of the stack.
        unsafe { copy_run(oldest, out.as_mut_ptr(), n) };
        // SAFETY: copied just now, from what pushes wrote.
        unsafe { out.set_len(n) };
        oldest.cast()
    }

    /// Pushes all of `objects`, the last last; gives the new top.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, `top` is its top, and there is room.
    #[inline]
    pub(super) unsafe fn push_all(&mut self, top: Top, objects: &[ErasedObject]) -> Top {
        debug_assert!(objects.len() <= self.free(top));
        let end = top.cast::<ErasedObject>();
        // SAFETY: there is room; `objects` are not part of the stack.
        unsafe { copy_run(objects.as_ptr(), end, objects.len()) };
        // SAFETY: within the stack, or at its end.
        unsafe { end.add(objects.len()) }.cast()
    }

    /// Takes as many of `objects`, from their end, as there is room for; gives the new top.
    ///
    /// # Safety
    ///
    /// The caller has the stack to itself, and `top` is its top.
    pub(super) unsafe fn push_many(&mut self, top: Top, objects: &mut Vec<ErasedObject>) -> Top {
        let rest = objects.len().saturating_sub(self.free(top));
        // SAFETY: no more than there is room for.
        let top = unsafe { self.push_all(top, &objects[rest..]) };
        objects.truncate(rest);
        top
    }

    /// The stack in runs of a batch or less, the oldest first, for a thread that empties the slot with this top.
    pub(crate) fn runs(&mut self, top: Top) -> impl Iterator<Item = &[ErasedObject]> {
        let batch_size = self.batch_size;
        // SAFETY: `&mut self` of a state that is in a slot says that the caller has it to itself, and its top
        // comes with it (`Slots::reclaim`).
        unsafe { self.objects(top) }.chunks(batch_size)
    }
}

impl Drop for LocalStack {
    fn drop(&mut self) {
        // SAFETY: leaked from a box in `without_objects`.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// The newest object of the stack with this top; the next top is the one below.
///
/// # Safety
///
/// `top` is or was the top of a stack that is not empty, and what lies below it is the caller's: no other
/// thread writes there meanwhile.
#[inline(always)]
pub(super) unsafe fn pop(top: Top) -> (ErasedObject, Top) {
    // SAFETY: not the first top, so within the stack.
    let newest = unsafe { top.cast::<ErasedObject>().sub(1) };
    // SAFETY: written by the push that made the top.
    (unsafe { newest.read() }, newest.cast())
}

/// Puts `object` on top; gives the next top.
///
/// # Safety
///
/// The caller has the stack to itself, and `top` is its top, and not that of a full stack.
#[inline(always)]
pub(super) unsafe fn push(top: Top, object: ErasedObject) -> Top {
    let end = top.cast::<ErasedObject>();
    // SAFETY: not the last top, so within the stack.
    unsafe { end.write(object) };
    // SAFETY: as above.
    unsafe { end.add(1) }.cast()
}

/// One permit more; gives the next top.
#[inline(always)]
pub(super) fn push_permits(top: Top, permits: usize) -> Top {
    top.wrapping_byte_add(permits * PERMIT)
}

/// So many permits less; gives the next top.
#[inline(always)]
pub(super) fn pop_permits(top: Top, permits: usize) -> Top {
    top.wrapping_byte_sub(permits * PERMIT)
}

//! The stack that a thread keeps in its slot, and the batches in which objects move to and from the depot.
#![allow(unsafe_code)] // No bounds checks on the fast path, and a top that is an address.

use std::mem::{self, MaybeUninit};
use std::ptr::{self, NonNull};

use super::copy::copy_run;
use super::slot::{Opened, SlotState, Top};
use crate::object::ErasedObject;

/// Idle objects on their way, as many as the batch size says at most. Changes hands by pointer, and never grows: made
/// with room for all, since no memory is asked for under a lock.
pub(crate) type Batch = Vec<ErasedObject>;

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

    /// Takes back the copies that were not given.
    pub(crate) fn keep_outgoing(&mut self) {
        for mut batch in self.outgoing.drain(..) {
            batch.clear();
            self.spares.push(batch);
        }
    }
}

/// The stack, from [`LocalStack::empty`] up to the top.
impl Opened<'_, LocalStack> {
    /// How many objects there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.top.addr() - self.state.empty.addr()) / size_of::<ErasedObject>()
    }

    /// How many objects more there is room for.
    #[inline]
    pub(super) fn free(&self) -> usize {
        (self.state.room / size_of::<ErasedObject>()).saturating_sub(self.len())
    }

    fn end(&self) -> *mut ErasedObject {
        self.top.cast()
    }

    /// The objects, the oldest first.
    fn objects(&mut self) -> &mut [ErasedObject] {
        // SAFETY: those up to the top were written by pushes, and are the thread's that opened the slot.
        unsafe { std::slice::from_raw_parts_mut(self.state.empty.cast(), self.len()) }
    }

    /// The objects in runs of a batch or less, the oldest first.
    pub(crate) fn runs(&mut self) -> impl Iterator<Item = &[ErasedObject]> {
        let batch_size = self.state.batch_size;
        self.objects().chunks(batch_size)
    }

    /// Puts an object on top.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, object: ErasedObject) {
        // SAFETY: by contract within the stack.
        unsafe { self.end().write(object) };
        self.top = self.end().wrapping_add(1).cast();
    }

    /// Takes the newest object.
    pub(super) fn pop(&mut self) -> Option<ErasedObject> {
        if self.len() == 0 {
            return None;
        }
        // SAFETY: there is one, and it is the thread's that opened the slot.
        let object = unsafe { newest(self.top) };
        self.top = self.end().wrapping_sub(1).cast();
        Some(object)
    }

    /// Pushes all of `objects`, the last last.
    ///
    /// # Safety
    ///
    /// There is room.
    #[inline]
    pub(super) unsafe fn push_all(&mut self, objects: &[ErasedObject]) {
        debug_assert!(objects.len() <= self.free());
        // SAFETY: by contract there is room; `objects` are not part of the stack, which is borrowed.
        unsafe { copy_run(objects.as_ptr(), self.end(), objects.len()) };
        self.top = self.end().wrapping_add(objects.len()).cast();
    }

    /// Moves the `n` newest objects to `out`, which is empty.
    ///
    /// # Safety
    ///
    /// There are as many, and `out` has room for them.
    #[inline]
    pub(super) unsafe fn pop_many(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        debug_assert!(n <= self.len() && out.is_empty() && n <= out.capacity());
        let oldest = self.end().wrapping_sub(n);
        // SAFETY: by contract there are as many below the top, and `out` has room; it is not part of the stack.
        unsafe { copy_run(oldest, out.as_mut_ptr(), n) };
        // SAFETY: copied just now, from what pushes wrote.
        unsafe { out.set_len(n) };
        self.top = oldest.cast();
    }

    /// Moves the batches that came in to the end of the stack, which has room for them.
    #[inline]
    pub(super) fn take_in(&mut self) {
        let mut incoming = mem::take(&mut self.state.incoming);
        for mut batch in incoming.drain(..) {
            assert!(batch.len() <= self.free(), "no room");
            // SAFETY: there is room; the batch is not part of the stack.
            unsafe { (self.end()).copy_from_nonoverlapping(batch.as_ptr(), batch.len()) };
            self.top = self.end().wrapping_add(batch.len()).cast();
            batch.clear();
            self.state.spares.push(batch);
        }
        self.state.incoming = incoming;
    }

    /// Copies the oldest batches to spares, of which there are as many, to be given to the depot. They stay in
    /// the stack until they are [forgotten](Self::forget_oldest).
    #[inline]
    pub(super) fn copy_out(&mut self) {
        let mut outgoing = mem::take(&mut self.state.outgoing);
        let mut spares = mem::take(&mut self.state.spares);
        let (given, batch_size) = (self.state.given(), self.state.batch_size);
        for oldest in self.objects().chunks_exact(batch_size).take(given) {
            if let Some(mut spare) = spares.pop() {
                spare.extend_from_slice(oldest);
                outgoing.push(spare);
            }
        }
        self.state.outgoing = outgoing;
        self.state.spares = spares;
    }

    /// Moves the stack down over its `batches` oldest batches, which the depot has.
    #[inline]
    pub(super) fn forget_oldest(&mut self, batches: usize) {
        let n = batches * self.state.batch_size;
        self.objects().copy_within(n.., 0);
        self.top = self.end().wrapping_sub(n).cast();
    }

    /// Writes to the memory above the top that there is room in, so that the system has it ready.
    pub(super) fn touch(&mut self) {
        // SAFETY: there is room for as many, and no object is there.
        unsafe { self.end().write_bytes(0, self.free()) };
    }

    /// How many permits there are, in a stack of permits.
    pub(crate) fn permits(&self) -> usize {
        (self.top.addr() - self.state.empty.addr()) / PERMIT
    }

    #[inline(always)]
    pub(super) fn push_permits(&mut self, n: usize) {
        self.top = self.top.wrapping_byte_add(n * PERMIT);
    }

    #[inline(always)]
    pub(super) fn pop_permits(&mut self, n: usize) {
        self.top = self.top.wrapping_byte_sub(n * PERMIT);
    }
}

impl Drop for LocalStack {
    fn drop(&mut self) {
        // SAFETY: leaked from a box in `without_objects`.
        drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
    }
}

/// The newest object of the stack with this top.
///
/// # Safety
///
/// `top` is or was the top of a stack that is not empty, and what lies below it is the caller's: no other
/// thread writes there meanwhile.
#[inline(always)]
pub(super) unsafe fn newest(top: Top) -> ErasedObject {
    let newest = top.cast::<ErasedObject>().wrapping_sub(1);
    // SAFETY: within the stack, since this is not the first top; written by the push that made it.
    unsafe { newest.read() }
}

//! Where the idle objects of a backend lie.
//!
//! Used under the central lock, except for the queue, which has a way of its own around it.

use std::mem;
use std::sync::Arc;

use super::depot::Depot;
use super::permits::Permits;
use super::queue::FifoQueue;
use super::trim::{LowWater, TrimTarget};
use crate::config::{Backend, Config};
use crate::local::{Batch, LocalStack, Opened};
use crate::object::ErasedObject;

// A byte of its own says which: the fast path of a `Mutex` asks.
#[repr(u8)]
pub(crate) enum Shelf {
    /// `Heap` keeps nothing.
    None,
    /// `Mutex`.
    Stack(Stack),
    /// `Queue`.
    Queue(Arc<FifoQueue>),
    /// `Batched`.
    Depot(Depot, LowWater),
}

/// A stack of idle objects.
///
/// Its two bounds answer in one comparison each whether a pop or a push needs nothing unusual.
pub(crate) struct Stack {
    /// The newest last. Those before `start` were taken out.
    objects: Vec<ErasedObject>,
    start: usize,
    low_water: LowWater,
    /// A pop takes the newest while the length is above this: `start`, and the low water above it.
    low: usize,
    /// A push adds one while the length is below this: there is memory, `max_idle` allows it, and releases come here
    /// at all. See [`set_bounds`](Self::set_bounds).
    high: usize,
}

impl Stack {
    fn with_capacity(capacity: usize) -> Self {
        Stack {
            objects: Vec::with_capacity(capacity),
            start: 0,
            low_water: LowWater::default(),
            low: 0,
            high: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.objects.len() - self.start
    }

    /// Takes the newest, if that needs nothing unusual.
    #[inline(always)]
    pub(super) fn pop_fast(&mut self) -> Option<ErasedObject> {
        if self.objects.len() <= self.low {
            return None;
        }
        self.objects.pop()
    }

    /// Adds one, if that needs nothing unusual; else gives it back.
    #[inline(always)]
    pub(super) fn push_fast(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        if self.objects.len() >= self.high || !self.has_memory() {
            return Err(object);
        }
        self.objects.push(object);
        Ok(())
    }

    #[inline(always)]
    fn has_memory(&self) -> bool {
        self.objects.len() < self.objects.capacity()
    }

    fn pop(&mut self) -> Option<ErasedObject> {
        if self.len() == 0 {
            return None;
        }
        let object = self.objects.pop();
        self.low_water.note(self.len());
        object
    }

    fn push(&mut self, object: ErasedObject) {
        self.reserve(1);
        self.objects.push(object);
    }

    /// Makes room for `n` more.
    fn reserve(&mut self, n: usize) {
        if n > self.objects.capacity() - self.objects.len() {
            self.move_to_start();
            self.objects.reserve(n);
        }
    }

    fn move_to_start(&mut self) {
        self.objects.drain(..mem::take(&mut self.start));
    }

    fn pop_many(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        let rest = self.objects.len() - n.min(self.len());
        out.extend(self.objects.drain(rest..));
        self.low_water.note(self.len());
    }

    fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        let rest = self.start + n.min(self.len());
        out.extend_from_slice(&self.objects[self.start..rest]);
        self.start = rest;
    }

    /// Gives back memory that the objects do not need. A move takes time, so only where much is gained.
    fn shrink(&mut self) {
        if self.len() <= self.objects.capacity() / 2 {
            self.move_to_start();
            self.objects.shrink_to_fit();
        }
    }

    /// Sets the bounds after anything unusual: whether releases come here, of which `max_idle` are kept.
    fn set_bounds(&mut self, open: bool, max_idle: usize) {
        self.low = self.start.saturating_add(self.low_water.get());
        self.high = match open {
            true => self.start.saturating_add(max_idle),
            false => 0,
        };
    }
}

impl Shelf {
    pub(super) fn new(config: &Config) -> Self {
        match config.backend {
            Backend::Heap => Shelf::None,
            Backend::Mutex => Shelf::Stack(Stack::with_capacity(config.prefill)),
            Backend::Queue => {
                let max_idle = config.max_idle.unwrap_or(usize::MAX);
                let limit = Shelf::queue_limit(config.capacity, max_idle);
                Shelf::Queue(Arc::new(FifoQueue::new(limit)))
            }
            Backend::Batched => {
                let depot = Depot::new(config.batch_size, config.max_idle.is_none());
                Shelf::Depot(depot, LowWater::default())
            }
        }
    }

    /// The most objects that may be in a queue.
    pub(super) fn queue_limit(capacity: Option<usize>, max_idle: usize) -> usize {
        let most = capacity.unwrap_or(usize::MAX).min(max_idle);
        // Rings are powers of two.
        most.min(1 << (usize::BITS - 2))
    }

    /// How many objects are here.
    pub(super) fn len(&self) -> usize {
        match self {
            Shelf::None => 0,
            Shelf::Stack(stack) => stack.len(),
            Shelf::Queue(queue) => queue.len(),
            Shelf::Depot(depot, _) => depot.len(),
        }
    }

    /// Takes the object that is next: the newest, or the oldest of a queue.
    pub(super) fn pop(&mut self) -> Option<ErasedObject> {
        match self {
            Shelf::None => None,
            Shelf::Stack(stack) => stack.pop(),
            Shelf::Queue(queue) => queue.pop(),
            Shelf::Depot(depot, low_water) => {
                let object = depot.pop()?;
                depot.count_visit();
                low_water.note(depot.len());
                Some(object)
            }
        }
    }

    /// Moves the next `n` to `out`, or fewer if there are not as many.
    pub(super) fn pop_many(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        match self {
            Shelf::None => {}
            Shelf::Stack(stack) => stack.pop_many(n, out),
            Shelf::Queue(queue) => out.extend(std::iter::from_fn(|| queue.pop()).take(n)),
            Shelf::Depot(depot, low_water) => {
                let n = n.min(depot.len());
                depot.pop_many(n, out);
                depot.count_visit();
                low_water.note(depot.len());
            }
        }
    }

    /// Keeps an object; gives it back if there is no shelf, or no room on a queue.
    pub(super) fn push(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        match self {
            Shelf::None => return Err(object),
            Shelf::Stack(stack) => stack.push(object),
            Shelf::Queue(queue) => return queue.push(object),
            Shelf::Depot(depot, _) => depot.push(object),
        }
        Ok(())
    }

    /// Keeps an object that was the next one before it was taken out. While no thread is inside a slot.
    pub(super) fn push_next(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        match self {
            Shelf::Queue(queue) => queue.push_front(object),
            other => other.push(object),
        }
    }

    /// Whether `more` objects can be pushed without memory, or a `Mutex` asks for it itself.
    #[inline]
    pub(super) fn has_memory_for(&self, more: usize) -> bool {
        match self {
            Shelf::None | Shelf::Stack(_) => true,
            Shelf::Queue(queue) => !queue.needs_more_cells(more),
            Shelf::Depot(depot, _) => !depot.needs_spare(),
        }
    }

    /// Sees to it that `n` objects more can be kept [without memory](Self::push_without_memory).
    pub(super) fn reserve(&mut self, n: usize) {
        match self {
            // A queue is replaced by a larger one (`Locked::grow_queue`).
            Shelf::None | Shelf::Queue(_) => {}
            Shelf::Stack(stack) => stack.reserve(n),
            Shelf::Depot(depot, _) => depot.reserve(n),
        }
    }

    /// [`push`](Self::push), unless that would need memory.
    pub(super) fn push_without_memory(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        match self {
            Shelf::Stack(stack) if !stack.has_memory() => Err(object),
            Shelf::Depot(depot, _) => depot.push_without_memory(object),
            other => other.push(object),
        }
    }

    /// How many objects are in excess. While no thread is inside a slot.
    pub(super) fn excess(&mut self, target: TrimTarget) -> usize {
        match self {
            Shelf::None => 0,
            Shelf::Stack(stack) => stack.low_water.excess(stack.len(), target),
            Shelf::Queue(queue) => queue.excess(target),
            Shelf::Depot(depot, low_water) => low_water.excess(depot.len(), target),
        }
    }

    /// Moves the `n` objects that have been idle longest to `out`, or all.
    pub(super) fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        match self {
            Shelf::None => {}
            Shelf::Stack(stack) => stack.take_oldest(n, out),
            Shelf::Queue(queue) => out.extend(std::iter::from_fn(|| queue.pop()).take(n)),
            Shelf::Depot(depot, _) => depot.take_oldest(n, out),
        }
    }

    /// Takes out memory that the objects do not need, to be freed when the lock is given up.
    pub(super) fn take_excess_memory(&mut self) -> Vec<Batch> {
        match self {
            Shelf::None | Shelf::Queue(_) => Vec::new(),
            Shelf::Stack(stack) => {
                stack.shrink();
                Vec::new()
            }
            Shelf::Depot(depot, _) => depot.take_excess_memory(),
        }
    }

    /// Sets what the fast paths go by after anything unusual: whether releases come to the shelf, which keeps
    /// `max_idle` objects.
    #[inline]
    pub(super) fn set_bounds(&mut self, open: bool, max_idle: usize) {
        if let Shelf::Stack(stack) = self {
            stack.set_bounds(open, max_idle);
        }
    }

    /// Notes a visit, where visits count.
    pub(super) fn count_visit(&mut self) {
        if let Shelf::Depot(depot, low_water) = self {
            depot.count_visit();
            // Unless the pool is trimmed by need, nothing asks.
            if low_water.get() > 0 {
                low_water.note(depot.len());
            }
        }
    }

    /// Visits so far.
    pub(super) fn exchanges(&self) -> u64 {
        match self {
            Shelf::Depot(depot, _) => depot.exchanges(),
            _ => 0,
        }
    }

    /// Takes over what a slot holds, and its count of objects created.
    pub(super) fn reclaim(&mut self, slot: &mut Opened<'_, LocalStack>, permits: &mut Permits) {
        match self {
            Shelf::None => {
                permits.release(slot.permits());
                permits.count_created(slot.created.take());
            }
            Shelf::Depot(depot, _) => depot.reclaim(slot),
            Shelf::Stack(_) | Shelf::Queue(_) => {}
        }
    }
}

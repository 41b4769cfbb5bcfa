//! Where the idle objects of a backend lie.
//!
//! Used under the central lock, except for the queue, which has a way of its own around it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::depot::Depot;
use super::permits::Permits;
use super::queue::FifoQueue;
use super::trim::{LowWater, TrimTarget};
use crate::config::{Backend, Config};
use crate::local::{Batch, LocalStack, OwnedCount, Top};
use crate::object::ErasedObject;

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
pub(crate) struct Stack {
    /// The newest at the end.
    objects: VecDeque<ErasedObject>,
    low_water: LowWater,
}

impl Stack {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<ErasedObject> {
        let object = self.objects.pop_back()?;
        self.low_water.note(self.objects.len());
        Some(object)
    }

    #[inline]
    pub(super) fn push(&mut self, object: ErasedObject) {
        self.objects.push_back(object);
    }
}

impl Shelf {
    pub(super) fn new(config: &Config) -> Self {
        let limit = |limit: Option<usize>| limit.unwrap_or(usize::MAX);
        match config.backend {
            Backend::Heap => Shelf::None,
            Backend::Mutex => Shelf::Stack(Stack {
                objects: VecDeque::with_capacity(config.prefill),
                low_water: LowWater::default(),
            }),
            Backend::Queue => {
                let most = limit(config.capacity).min(limit(config.max_idle));
                // Rings are powers of two.
                let most = most.min(1 << (usize::BITS - 2));
                Shelf::Queue(Arc::new(FifoQueue::new(most)))
            }
            Backend::Batched => {
                let depot = Depot::new(config.batch_size, config.max_idle.is_none());
                Shelf::Depot(depot, LowWater::default())
            }
        }
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
            Shelf::Stack(Stack { objects, low_water }) => {
                let rest = objects.len().saturating_sub(n);
                out.extend(objects.drain(rest..));
                low_water.note(rest);
            }
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
            Shelf::Queue(queue) => {
                if queue.needs_larger_ring(1) {
                    queue.grow(queue.larger_ring(1));
                }
                queue.push_front(object)
            }
            other => other.push(object),
        }
    }

    /// Sees to it that `n` objects more can be kept [without memory](Self::push_without_memory).
    pub(super) fn reserve(&mut self, n: usize) {
        match self {
            Shelf::None => {}
            Shelf::Stack(stack) => stack.objects.reserve(n),
            Shelf::Queue(queue) => {
                if queue.needs_larger_ring(n) {
                    queue.grow(queue.larger_ring(n));
                }
            }
            Shelf::Depot(depot, _) => depot.reserve(n),
        }
    }

    /// [`push`](Self::push), unless that would need memory.
    pub(super) fn push_without_memory(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        match self {
            Shelf::Stack(stack) if stack.objects.len() == stack.objects.capacity() => Err(object),
            Shelf::Depot(depot, _) => depot.push_without_memory(object),
            other => other.push(object),
        }
    }

    /// How many objects are in excess. While no thread is inside a slot.
    pub(super) fn excess(&mut self, target: TrimTarget) -> usize {
        match self {
            Shelf::None => 0,
            Shelf::Stack(Stack { objects, low_water }) => low_water.excess(objects.len(), target),
            Shelf::Queue(queue) => queue.excess(target),
            Shelf::Depot(depot, low_water) => low_water.excess(depot.len(), target),
        }
    }

    /// Moves the `n` objects that have been idle longest to `out`, or all.
    pub(super) fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        match self {
            Shelf::None => {}
            Shelf::Stack(Stack { objects, .. }) => {
                out.extend(objects.drain(..n.min(objects.len())));
            }
            Shelf::Queue(queue) => out.extend(std::iter::from_fn(|| queue.pop()).take(n)),
            Shelf::Depot(depot, _) => depot.take_oldest(n, out),
        }
    }

    /// Takes out memory that the objects do not need, to be freed when the lock is given up.
    pub(super) fn take_excess_memory(&mut self) -> Vec<Batch> {
        match self {
            Shelf::None | Shelf::Queue(_) => Vec::new(),
            Shelf::Stack(Stack { objects, .. }) => {
                // A move takes time, so only where much is gained.
                if objects.len() <= objects.capacity() / 2 {
                    objects.shrink_to_fit();
                }
                Vec::new()
            }
            Shelf::Depot(depot, _) => depot.take_excess_memory(),
        }
    }

    /// Notes a visit, where visits count.
    pub(super) fn count_visit(&mut self) {
        if let Shelf::Depot(depot, low_water) = self {
            depot.count_visit();
            low_water.note(depot.len());
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
    pub(super) fn reclaim(
        &mut self,
        top: Top,
        stack: &mut LocalStack,
        created: &OwnedCount,
        permits: &mut Permits,
    ) {
        match self {
            Shelf::None => {
                permits.release(stack.permits(top));
                permits.count_created(created.take());
            }
            Shelf::Depot(depot, _) => depot.reclaim(top, stack),
            Shelf::Stack(_) | Shelf::Queue(_) => {}
        }
    }
}

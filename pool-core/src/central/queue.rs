//! The queue of idle objects, first in, first out, which threads push to and pop from inside their slots, without
//! the central lock.
//!
//! A ring of cells with a stamp each, after Dmitry Vyukov's bounded queue (1024cores.net), as in crossbeam's
//! `ArrayQueue`. Three things are different here. An object can be put back at the front, for a waiter that left.
//! A wait for a preempted thread sleeps in the end, so that a real-time thread does not spin for ever on one it
//! preempted. And the queue is replaced by a larger or smaller one as needed, while no thread is inside a slot:
//! so it takes no memory for objects that were never idle, and asks for none in steady state.

use std::iter;

use crossbeam_utils::CachePadded;

use crate::central::trim::{LowWater, TrimTarget};
use crate::object::{ErasedObject, ObjectCell};
use crate::sync::{AtomicUsize, Ordering, back_off, fence, wait_a_turn};

/// Cells of the first ring: a page of memory.
const FIRST_RING: usize = 256;

/// Positions are even: the next one is so much more. A stamp that is odd says that the cell is full.
const STEP: usize = 2;
const FULL: usize = 1;

/// One cell of a ring.
struct Cell {
    /// The position at which the cell may be pushed to next; that, and [`FULL`], while it holds the object of
    /// the position.
    stamp: AtomicUsize,
    object: ObjectCell,
}

pub(crate) struct FifoQueue {
    /// The cells; a power of two, so that a position modulo their number is a mask.
    cells: Box<[Cell]>,
    /// The most objects that may be in any queue of the pool, which may be fewer.
    limit: usize,
    /// The position to pop from next.
    head: CachePadded<AtomicUsize>,
    /// The position to push to next.
    tail: CachePadded<AtomicUsize>,
    /// The least number of objects that were in it at a time; see [`LowWater`].
    low_water: AtomicUsize,
}

/// Lets the thread go on that was faster. One that tried again at once would take the line from it, and neither would
/// get on.
#[cold]
#[inline(never)]
fn overtaken() {
    let mut turns = 5; // Spins 32 times. Of 8, 16 and 32, that helped two threads most.
    back_off(&mut turns);
}

impl FifoQueue {
    /// A queue of at most `limit` objects.
    pub(super) fn new(limit: usize) -> Self {
        FifoQueue::with_cells(FIRST_RING, limit)
    }

    fn with_cells(cells: usize, limit: usize) -> Self {
        let cell = |index| Cell {
            stamp: AtomicUsize::new(index * STEP),
            object: ObjectCell::new(),
        };
        let cells = cells.min(limit).next_power_of_two();
        FifoQueue {
            cells: (0..cells).map(cell).collect(),
            limit,
            head: CachePadded::new(AtomicUsize::new(0)),
            tail: CachePadded::new(AtomicUsize::new(0)),
            low_water: AtomicUsize::new(0),
        }
    }

    /// Whether there is no room for `more`, and the limit allows more cells.
    pub(super) fn needs_more_cells(&self, more: usize) -> bool {
        let cells = self.cells.len();
        cells < self.limit && self.len().saturating_add(more) > cells
    }

    /// Whether there is room for what is in `other`.
    pub(super) fn has_room_for(&self, other: &FifoQueue) -> bool {
        other.len() <= self.cells.len()
    }

    /// An empty queue with room for the same objects and `more`.
    pub(super) fn larger(&self, more: usize) -> FifoQueue {
        let needed = self.len().saturating_add(more);
        FifoQueue::with_cells(needed.max(2 * self.cells.len()), self.limit)
    }

    /// An empty queue with as many cells, if this one has a lower limit.
    pub(super) fn with_limit(&self, limit: usize) -> Option<FifoQueue> {
        (limit > self.limit).then(|| FifoQueue::with_cells(self.cells.len(), limit))
    }

    /// An empty queue with room for the same objects, if this one has far more memory than they need.
    pub(super) fn smaller(&self) -> Option<FifoQueue> {
        let cells = self.cells.len();
        let is_large = cells > FIRST_RING && self.len() <= cells / 4;
        is_large.then(|| FifoQueue::with_cells(FIRST_RING.max(2 * self.len()), self.limit))
    }

    /// Moves all objects of `before`, for which there is room. While no thread is inside a slot.
    pub(super) fn take_over(&self, before: &FifoQueue) {
        // Relaxed, both: see `pop`.
        let low_water = before.low_water.load(Ordering::Relaxed);
        for object in iter::from_fn(|| before.pop()) {
            let pushed = self.push(object);
            debug_assert!(pushed.is_ok(), "there is room for all");
        }
        self.low_water.store(low_water, Ordering::Relaxed);
    }

    /// How many objects are in excess. Under the central lock, while no thread is inside a slot.
    pub(super) fn excess(&self, target: TrimTarget) -> usize {
        // Relaxed, both: see `pop`.
        let mut low_water = LowWater::new(self.low_water.load(Ordering::Relaxed));
        let excess = low_water.excess(self.len(), target);
        self.low_water.store(low_water.get(), Ordering::Relaxed);
        excess
    }

    /// Takes the oldest, in one attempt: `None` may also say that another thread was faster.
    #[inline(always)]
    pub(super) fn try_pop(&self) -> Option<ErasedObject> {
        let cells = &*self.cells;
        let head = self.head.load(Ordering::Relaxed);
        let cell = cell(cells, head);
        // Acquire: pairs with the Release in `try_push`, so that the object is there.
        let stamp = cell.stamp.load(Ordering::Acquire);
        if stamp != head | FULL {
            if stamp != head {
                overtaken();
            }
            return None;
        }
        let next = head.wrapping_add(STEP);
        // SeqCst: of two threads that each look at both ends, one sees what the other did.
        let moved =
            (self.head).compare_exchange_weak(head, next, Ordering::SeqCst, Ordering::Relaxed);
        if moved.is_err() {
            overtaken();
            return None;
        }
        let object = cell.object.take();
        // Release: the cell is empty for the thread that pushes to it next.
        cell.stamp
            .store(head.wrapping_add(lap(cells)), Ordering::Release);
        // 0 unless the pool is trimmed by need, so that no other pop asks for the length.
        // Relaxed, both: the thread that resets it has the lock and has stopped the slots, which orders it.
        if self.low_water.load(Ordering::Relaxed) > 0 {
            self.low_water.fetch_min(self.len(), Ordering::Relaxed);
        }
        Some(object)
    }

    /// Takes the oldest. `None` says that at one moment within the call the queue was empty.
    pub(super) fn pop(&self) -> Option<ErasedObject> {
        let mut turns = 0;
        loop {
            if let Some(object) = self.try_pop() {
                return Some(object);
            }
            let head = self.head.load(Ordering::Relaxed);
            let stamp = cell(&self.cells, head).stamp.load(Ordering::Acquire);
            if stamp == head | FULL {
                back_off(&mut turns);
                continue;
            }
            if stamp == head {
                fence(Ordering::SeqCst);
                if self.tail.load(Ordering::Relaxed) == head {
                    return None;
                }
                // A push to this cell is under way.
            }
            wait_a_turn(&mut turns);
        }
    }

    /// Puts an object at the end, in one attempt: gives it back if there is no room, or if another thread was
    /// faster.
    #[inline(always)]
    pub(super) fn try_push(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let cells = &*self.cells;
        let tail = self.tail.load(Ordering::Relaxed);
        let cell = cell(cells, tail);
        // Acquire: pairs with the Release in `try_pop`, so that the cell is empty.
        let stamp = cell.stamp.load(Ordering::Acquire);
        if stamp != tail || self.is_at_limit(cells, tail) {
            if stamp == tail | FULL {
                overtaken();
            }
            return Err(object);
        }
        let next = tail.wrapping_add(STEP);
        // SeqCst: as in `try_pop`.
        let moved =
            (self.tail).compare_exchange_weak(tail, next, Ordering::SeqCst, Ordering::Relaxed);
        if moved.is_err() {
            overtaken();
            return Err(object);
        }
        cell.object.put(object);
        // Release: the object is there for the thread that pops it.
        cell.stamp.store(tail | FULL, Ordering::Release);
        Ok(())
    }

    /// Whether the limit leaves no room at this tail. Where the limit is the number of cells, their stamps say it.
    #[inline(always)]
    fn is_at_limit(&self, cells: &[Cell], tail: usize) -> bool {
        if self.limit >= cells.len() {
            return false;
        }
        let len = tail.wrapping_sub(self.head.load(Ordering::SeqCst)) / STEP;
        // Unless the head has passed this tail, which is old then.
        (self.limit..=cells.len()).contains(&len)
    }

    /// Puts an object at the end; gives it back if there is no room.
    pub(super) fn push(&self, mut object: ErasedObject) -> Result<(), ErasedObject> {
        let mut turns = 0;
        loop {
            match self.try_push(object) {
                Ok(()) => return Ok(()),
                Err(back) => object = back,
            }
            let cells = &*self.cells;
            let tail = self.tail.load(Ordering::Relaxed);
            if self.is_at_limit(cells, tail) {
                return Err(object);
            }
            let stamp = cell(cells, tail).stamp.load(Ordering::Acquire);
            if stamp == tail {
                back_off(&mut turns);
                continue;
            }
            let lap_before = tail.wrapping_sub(lap(cells));
            if stamp == lap_before | FULL {
                fence(Ordering::SeqCst);
                if self.head.load(Ordering::Relaxed) == lap_before {
                    return Err(object);
                }
                // A pop from this cell is under way.
            }
            wait_a_turn(&mut turns);
        }
    }

    /// Puts an object at the front; gives it back if the queue is full. While no other thread pushes. (Others
    /// may pop.)
    pub(super) fn push_front(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let mut turns = 0;
        loop {
            let head = self.head.load(Ordering::SeqCst);
            if self.len() >= self.limit.min(self.cells.len()) {
                return Err(object);
            }
            let position = head.wrapping_sub(STEP);
            let cell = cell(&self.cells, position);
            let free = position.wrapping_add(lap(&self.cells));
            // Acquire: pairs with the Release in `pop`.
            if cell.stamp.load(Ordering::Acquire) != free {
                // The pop from this cell is under way still.
                wait_a_turn(&mut turns);
                continue;
            }
            cell.object.put(object);
            // Release: the object is there for a thread that finds the new head.
            cell.stamp.store(position | FULL, Ordering::Release);
            let moved =
                (self.head).compare_exchange(head, position, Ordering::SeqCst, Ordering::Relaxed);
            if moved.is_ok() {
                return Ok(());
            }
            // Another thread popped meanwhile. None has taken the object, whose position was not the head.
            let _ = cell.object.take();
            cell.stamp.store(free, Ordering::Release);
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        loop {
            let tail = self.tail.load(Ordering::SeqCst);
            let head = self.head.load(Ordering::SeqCst);
            // Both at one moment.
            if self.tail.load(Ordering::SeqCst) == tail {
                return tail.wrapping_sub(head) / STEP;
            }
        }
    }
}

/// The cell of a position. (The cells are a slice in hand, since what lies in the queue would be loaded again after
/// each atomic operation.)
#[inline(always)]
fn cell(cells: &[Cell], position: usize) -> &Cell {
    &cells[(position / STEP) & (cells.len() - 1)]
}

/// What a position is more by when the ring has been gone round once.
#[inline(always)]
fn lap(cells: &[Cell]) -> usize {
    cells.len() * STEP
}

/// The queue by itself, in rings of one or two cells.
#[cfg(all(test, loom))]
mod models {
    use std::sync::Arc;

    use loom::thread;

    use super::*;

    fn object(n: usize) -> ErasedObject {
        ErasedObject::dangling(8 * (n + 1))
    }

    fn queue(cells: usize, limit: usize, objects: usize) -> Arc<FifoQueue> {
        let queue = FifoQueue::with_cells(cells, limit);
        for n in 0..objects {
            assert!(queue.push(object(n)).is_ok());
        }
        Arc::new(queue)
    }

    fn drain(queue: &FifoQueue) -> Vec<ErasedObject> {
        iter::from_fn(|| queue.pop()).collect()
    }

    fn pusher(queue: &Arc<FifoQueue>, n: usize) -> thread::JoinHandle<bool> {
        let queue = queue.clone();
        thread::spawn(move || queue.push(object(n)).is_ok())
    }

    fn popper(queue: &Arc<FifoQueue>, times: usize) -> thread::JoinHandle<Vec<ErasedObject>> {
        let queue = queue.clone();
        thread::spawn(move || (0..times).filter_map(|_| queue.pop()).collect())
    }

    fn model(f: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(4);
        builder.check(f);
    }

    #[test]
    fn two_pushes_against_pops() {
        for (cells, limit) in [(1, 1), (2, 2), (2, 1)] {
            model(move || {
                let queue = queue(cells, limit, 1);
                let (first, second) = (pusher(&queue, 1), popper(&queue, 1));
                let mut pushed = vec![object(0)];
                if queue.push(object(2)).is_ok() {
                    pushed.push(object(2));
                }
                if first.join().unwrap() {
                    pushed.push(object(1));
                }
                let popped = second.join().unwrap();
                // An object was there all the time.
                assert_eq!(popped, [object(0)]);
                assert!(queue.len() <= limit);
                let mut all = popped;
                all.extend(drain(&queue));
                all.sort_by_key(|object| pushed.iter().position(|other| other == object));
                assert_eq!(all, pushed);
            });
        }
    }

    #[test]
    fn an_object_put_back_at_the_front_against_pops() {
        for cells in [2, 4] {
            model(move || {
                let queue = queue(cells, cells, 1);
                let others = popper(&queue, 2);
                // While no thread pushes.
                assert!(queue.push_front(object(1)).is_ok());
                let popped = others.join().unwrap();
                assert!(!popped.is_empty());
                let mut all = popped;
                all.extend(drain(&queue));
                assert!(all == [object(0), object(1)] || all == [object(1), object(0)]);
            });
        }
    }

    #[test]
    fn two_objects_put_back_at_the_front_against_two_that_pop() {
        model(|| {
            let queue = queue(4, 4, 2);
            let (first, second) = (popper(&queue, 1), popper(&queue, 1));
            for n in [2, 3] {
                assert!(queue.push_front(object(n)).is_ok());
            }
            let mut all = first.join().unwrap();
            all.extend(second.join().unwrap());
            assert_eq!(all.len(), 2);
            all.extend(drain(&queue));
            for n in 0..4 {
                assert_eq!(all.iter().filter(|other| **other == object(n)).count(), 1);
            }
        });
    }
}

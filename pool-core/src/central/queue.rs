//! The queue of idle objects, first in, first out, which threads push to and pop from inside their slots, without
//! the central lock.
//!
//! A ring of cells with a stamp each, after Dmitry Vyukov's bounded queue (1024cores.net), as in crossbeam's
//! `ArrayQueue`. Three things are different here. An object can be put back at the front, for a waiter that left.
//! A wait for a preempted thread sleeps in the end, so that a real-time thread does not spin for ever on one it
//! preempted. And the queue grows and shrinks, so that it takes no memory for objects that were never idle, and
//! asks for none in steady state.

use std::iter;
use std::sync::OnceLock;

use crossbeam_utils::CachePadded;

use crate::central::trim::{LowWater, TrimTarget};
use crate::object::{ErasedObject, ObjectCell};
use crate::sync::{AtomicUsize, Ordering, fence, wait_a_turn};

/// Cells of the first ring.
const FIRST_RING: usize = 32;

/// Rings that there may be: each has twice as many cells as the one before.
const RINGS: usize = usize::BITS as usize - FIRST_RING.trailing_zeros() as usize;

pub(crate) struct FifoQueue {
    /// The rings so far. The rings before the current one are closed and empty; a thread may still be looking at
    /// one, so they are kept.
    rings: [OnceLock<Box<Ring>>; RINGS],
    /// The ring in use.
    current: AtomicUsize,
    /// The most objects that may be in it.
    limit: usize,
    /// The least number of objects that were in it at a time; see [`LowWater`].
    low_water: AtomicUsize,
}

impl FifoQueue {
    /// A queue with room for `limit` objects.
    pub(super) fn new(limit: usize) -> Self {
        FifoQueue::with_cells(FIRST_RING, limit)
    }

    fn with_cells(cells: usize, limit: usize) -> Self {
        let cells = cells.next_power_of_two().min(limit.next_power_of_two());
        let queue = FifoQueue {
            rings: [const { OnceLock::new() }; RINGS],
            current: AtomicUsize::new(0),
            limit,
            low_water: AtomicUsize::new(0),
        };
        let _ = queue.rings[0].set(Box::new(Ring::new(cells, limit)));
        queue
    }

    #[inline(always)]
    fn ring(&self) -> &Ring {
        // Acquire: pairs with the Release in `grow`.
        let ring = self.rings[self.current.load(Ordering::Acquire)].get();
        ring.expect("the current ring is there")
    }

    /// Takes the oldest. `None` says that at one moment within the call the queue was empty, or growing.
    #[inline]
    pub(super) fn pop(&self) -> Option<ErasedObject> {
        let object = self.ring().pop()?;
        // 0 unless the pool is trimmed by need, so that no other pop asks for the length.
        // Relaxed, both: the thread that resets it has the lock and has stopped the slots, which orders it.
        if self.low_water.load(Ordering::Relaxed) > 0 {
            self.low_water.fetch_min(self.len(), Ordering::Relaxed);
        }
        Some(object)
    }

    /// Puts an object at the end; gives it back if the ring is full or closed.
    #[inline]
    pub(super) fn push(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        self.ring().push(object)
    }

    /// Puts an object at the front; gives it back if the queue is full. Under the central lock, while no thread
    /// is inside a slot.
    pub(super) fn push_front(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        self.ring().push_front(object)
    }

    pub(super) fn len(&self) -> usize {
        self.ring().len()
    }

    /// Whether the current ring has no room for `more`, and the limit allows a larger one.
    pub(super) fn needs_larger_ring(&self, more: usize) -> bool {
        let cells = self.ring().cells.len();
        cells < self.limit && self.len().saturating_add(more) > cells
    }

    /// The ring to go over to, with room for `more`.
    pub(super) fn larger_ring(&self, more: usize) -> NextRing {
        let current = self.current.load(Ordering::Acquire);
        let cells = self.ring().cells.len();
        let needed = self.len().saturating_add(more).min(self.limit);
        let cells = needed.max(cells * 2).next_power_of_two();
        NextRing {
            index: current + 1,
            ring: Box::new(Ring::new(cells, self.limit)),
        }
    }

    /// Goes over to a larger ring. Under the central lock.
    pub(super) fn grow(&self, next: NextRing) {
        if next.index != self.current.load(Ordering::Relaxed) + 1 {
            return; // Another thread was first.
        }
        let ring = self.ring();
        ring.close();
        for object in iter::from_fn(|| ring.pop()) {
            let pushed = next.ring.push(object);
            debug_assert!(pushed.is_ok(), "the next ring has room for all");
        }
        let _ = self.rings[next.index].set(next.ring);
        // Release: the ring is there for a thread that finds its index.
        self.current.store(next.index, Ordering::Release);
    }

    /// A queue with the same objects, if this one has far more memory than they need. Under the central lock,
    /// while no thread is inside a slot.
    pub(super) fn shrunk(&self) -> Option<FifoQueue> {
        let cells = self.ring().cells.len();
        if cells <= FIRST_RING || self.len() > cells / 4 {
            return None;
        }
        let smaller = FifoQueue::with_cells(FIRST_RING.max(2 * self.len()), self.limit);
        for object in iter::from_fn(|| self.ring().pop()) {
            let pushed = smaller.push(object);
            debug_assert!(pushed.is_ok(), "the smaller queue has room for all");
        }
        let low_water = self.low_water.load(Ordering::Relaxed);
        smaller.low_water.store(low_water, Ordering::Relaxed);
        Some(smaller)
    }

    /// How many objects are in excess. Under the central lock, while no thread is inside a slot.
    pub(super) fn excess(&self, target: TrimTarget) -> usize {
        // Relaxed, both: see `pop`.
        let mut low_water = LowWater::new(self.low_water.load(Ordering::Relaxed));
        let excess = low_water.excess(self.len(), target);
        self.low_water.store(low_water.get(), Ordering::Relaxed);
        excess
    }
}

/// A ring that [`FifoQueue::grow`] goes over to. Made without the lock, since that takes time.
pub(crate) struct NextRing {
    index: usize,
    ring: Box<Ring>,
}

/// Positions are even: the next one is so much more. A stamp that is odd says that the cell is full, a tail that
/// is odd that the ring is closed.
const STEP: usize = 2;
const FULL: usize = 1;
const CLOSED: usize = 1;

/// One cell of a ring.
struct Cell {
    /// The position at which the cell may be pushed to next; that, and [`FULL`], while it holds the object of
    /// the position.
    stamp: AtomicUsize,
    object: ObjectCell,
}

struct Ring {
    /// The cells; a power of two, so that a position modulo their number is a mask.
    cells: Box<[Cell]>,
    /// The most objects that may be in it, which may be fewer.
    limit: usize,
    /// The position to pop from next.
    head: CachePadded<AtomicUsize>,
    /// The position to push to next, and whether the ring is [`CLOSED`].
    tail: CachePadded<AtomicUsize>,
}

impl Ring {
    fn new(cells: usize, limit: usize) -> Self {
        let cell = |index| Cell {
            stamp: AtomicUsize::new(index * STEP),
            object: ObjectCell::new(),
        };
        Ring {
            cells: (0..cells).map(cell).collect(),
            limit: limit.min(cells),
            head: CachePadded::new(AtomicUsize::new(0)),
            tail: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    #[inline(always)]
    fn cell(&self, position: usize) -> &Cell {
        &self.cells[(position / STEP) & (self.cells.len() - 1)]
    }

    /// What a position is more by when the ring has been gone round once.
    #[inline(always)]
    fn lap(&self) -> usize {
        self.cells.len() * STEP
    }

    #[inline]
    fn pop(&self) -> Option<ErasedObject> {
        let mut turns = 0;
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let cell = self.cell(head);
            // Acquire: pairs with the Release in `push`, so that the object is there.
            let stamp = cell.stamp.load(Ordering::Acquire);
            if stamp == head | FULL {
                let next = head.wrapping_add(STEP);
                // Acquire: the stamp is read after the head that it belongs to (see `push_front`).
                match self.head.compare_exchange_weak(
                    head,
                    next,
                    Ordering::SeqCst,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        let object = cell.object.take();
                        // Release: the cell is empty for the thread that pushes to it next.
                        let free = head.wrapping_add(self.lap());
                        cell.stamp.store(free, Ordering::Release);
                        return Some(object);
                    }
                    Err(now) => head = now,
                }
                continue;
            }
            if stamp == head {
                fence(Ordering::SeqCst);
                if self.tail.load(Ordering::Relaxed) & !CLOSED == head {
                    return None;
                }
                // A push to this cell is under way.
            }
            wait_a_turn(&mut turns);
            head = self.head.load(Ordering::Relaxed);
        }
    }

    #[inline]
    fn push(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let mut turns = 0;
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & CLOSED != 0 {
                return Err(object);
            }
            // Where the limit is the number of cells, the stamps say whether it is reached.
            if self.limit < self.cells.len() {
                let len = tail.wrapping_sub(self.head.load(Ordering::SeqCst)) / STEP;
                // Unless the head has passed this tail, which is old then.
                if (self.limit..=self.cells.len()).contains(&len) {
                    return Err(object);
                }
            }
            let cell = self.cell(tail);
            // Acquire: pairs with the Release in `pop`, so that the cell is empty.
            let stamp = cell.stamp.load(Ordering::Acquire);
            if stamp == tail {
                let next = tail.wrapping_add(STEP);
                match self.tail.compare_exchange_weak(
                    tail,
                    next,
                    Ordering::SeqCst,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        cell.object.put(object);
                        // Release: the object is there for the thread that pops it.
                        cell.stamp.store(tail | FULL, Ordering::Release);
                        return Ok(());
                    }
                    Err(now) => tail = now,
                }
                continue;
            }
            if stamp == tail.wrapping_sub(self.lap()) | FULL {
                fence(Ordering::SeqCst);
                if self.head.load(Ordering::Relaxed) == tail.wrapping_sub(self.lap()) {
                    return Err(object);
                }
                // A pop from this cell is under way.
            }
            wait_a_turn(&mut turns);
            tail = self.tail.load(Ordering::Relaxed);
        }
    }

    /// Lets no more objects in.
    fn close(&self) {
        self.tail.fetch_or(CLOSED, Ordering::SeqCst);
    }

    /// While no other thread pushes. (Others may pop.)
    fn push_front(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let mut turns = 0;
        loop {
            let head = self.head.load(Ordering::SeqCst);
            if self.len() >= self.limit {
                return Err(object);
            }
            let position = head.wrapping_sub(STEP);
            let cell = self.cell(position);
            let free = position.wrapping_add(self.lap());
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

    fn len(&self) -> usize {
        loop {
            let tail = self.tail.load(Ordering::SeqCst);
            let head = self.head.load(Ordering::SeqCst);
            // Both at one moment.
            if self.tail.load(Ordering::SeqCst) == tail {
                return (tail & !CLOSED).wrapping_sub(head) / STEP;
            }
        }
    }
}

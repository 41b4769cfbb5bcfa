//! Queue: one queue for all threads, first in, first out.
//!
//! The queue is crossbeam's: an array when the pool is bounded, so that it never allocates; a list
//! of blocks when not. What is added here is the end of life and the exact bound: whoever pushes or
//! pops does so inside the thread's slot, which holds nothing, or under the lock; so after a
//! revocation, under the lock, nobody else is at the queue.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;
use std::{iter, mem};

use crossbeam_queue::{ArrayQueue, SegQueue};

use super::buffers::Buffers;
use super::slots::{Centre, Idle, Slots, Word};
use super::{Counts, NotFrozen, Store, Taken, admit_unless, centre_in_slots, send_away};
use crate::config::Config;
use crate::error::AcquireError;
use crate::fork::Side;
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::sync::{AtomicUsize, Ordering};
use crate::trim::{Keep, LowWater};
use crate::wait::{Call, Grant, Ticket};

/// A bounded queue takes 16 bytes an object from the start; past this many (1 GiB), it is a list
/// instead, and the bound is kept by the count of objects alone.
const LARGEST_ARRAY: usize = 1 << 26;

pub(crate) struct Queue {
    // In an `Arc` of the slots, so that a release that has left its slot touches nothing of the
    // pool any more.
    slots: Arc<Slots<Nothing>>,
    objects: Objects,
    /// The low water of `objects`, as it is lowered by those who pop.
    low_water: AtomicUsize,
    buffers: Buffers,
    _tail: NotFrozen,
}

enum Objects {
    Array(ArrayQueue<ErasedObject>),
    List {
        queue: SegQueue<ErasedObject>,
        max_idle: Option<usize>,
    },
}

/// The slots of a queue hold nothing.
struct Nothing;

impl Centre for Nothing {
    type State = ();
    type Meter = ();

    fn empty(&self) {}

    fn gather(&mut self, _word: Word, (): &mut (), (): &()) {}
}

impl Objects {
    fn new(config: &Config) -> Self {
        let most = config.capacity.into_iter().chain(config.max_idle).min();
        match most {
            // An array has room for one at least, and `max_idle` may be 0.
            Some(most @ 1..=LARGEST_ARRAY) => Objects::Array(ArrayQueue::new(most)),
            _ => Objects::List {
                queue: SegQueue::new(),
                max_idle: config.max_idle,
            },
        }
    }

    fn push(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        match self {
            Objects::Array(queue) => queue.push(node),
            Objects::List { queue, max_idle } => {
                if max_idle.is_some_and(|max_idle| queue.len() >= max_idle) {
                    return Err(node);
                }
                queue.push(node);
                Ok(())
            }
        }
    }

    fn pop(&self) -> Option<ErasedObject> {
        match self {
            Objects::Array(queue) => queue.pop(),
            Objects::List { queue, .. } => queue.pop(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Objects::Array(queue) => queue.len(),
            Objects::List { queue, .. } => queue.len(),
        }
    }
}

impl Queue {
    pub(super) fn new(config: &Config) -> Self {
        Queue {
            slots: Slots::new(Nothing),
            objects: Objects::new(config),
            low_water: AtomicUsize::new(0),
            buffers: Buffers::new(),
            _tail: NotFrozen::new(),
        }
    }
}

impl Queue {
    /// Takes the first, for who is inside a slot or holds the lock.
    fn pop(&self) -> Option<ErasedObject> {
        let node = self.objects.pop();
        // Relaxed, all: whoever resets it holds the lock and has revoked the slots, which orders it.
        let low_water = self.low_water.load(Ordering::Relaxed);
        // 0 unless the pool is trimmed by need, so nobody else asks how long the queue is.
        if low_water > 0 {
            self.low_water
                .fetch_min(self.objects.len(), Ordering::Relaxed);
        }
        node
    }
}

impl Idle<Nothing> for Queue {
    fn grab(&self, _: &mut Nothing) -> Option<ErasedObject> {
        self.pop()
    }

    fn keep(&self, _: &mut Nothing, node: ErasedObject) -> Result<(), ErasedObject> {
        self.objects.push(node)
    }

    fn buffers(&self) -> Option<&Buffers> {
        Some(&self.buffers)
    }
}

impl Store for Queue {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        let own = self.slots.own();
        if let Some(slot) = own
            && let Some(word) = slot.enter()
        {
            let node = self.pop();
            slot.leave(word);
            if let Some(node) = node {
                return Taken::Idle(node);
            }
        }
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Taken::Closed;
        }
        // The next one may do without the lock, if that is allowed.
        own.map(|slot| centre.activate(slot));
        if let Some(node) = self.pop() {
            return Taken::Idle(node);
        }
        if make && ledger.admit() {
            return Taken::Admitted;
        }
        // No release is under way after this, and none begins before the lock is given up.
        centre.revoke_all();
        if let Some(node) = self.pop() {
            return Taken::Idle(node);
        }
        if make && ledger.admit() {
            return Taken::Admitted;
        }
        Taken::Exhausted
    }

    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        let own = self.slots.own();
        if let Some(slot) = own
            && let Some(word) = slot.enter()
        {
            let put = self.objects.push(node);
            slot.leave(word);
            return put;
        }
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Err(node);
        }
        // The next release may do without the lock, if that is allowed.
        own.map(|slot| centre.activate(slot));
        match centre.waiters().offer(node) {
            Err(node) => self.objects.push(node),
            Ok(call) => {
                drop(centre);
                call.into_iter().for_each(Call::ring);
                Ok(())
            }
        }
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
        let mut nodes = self.buffers.take(n);
        // All under the lock, so that nobody who finds the queue empty meanwhile, and so asks for
        // the lock, is told that nothing is idle if this fails.
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Err(AcquireError::Closed);
        }
        let fill = |nodes: &mut Vec<ErasedObject>| {
            let missing = n - nodes.len();
            nodes.extend(iter::from_fn(|| self.pop()).take(missing));
            n - nodes.len()
        };
        if ledger.admit_all(fill(&mut nodes)) {
            return Ok(nodes);
        }
        // No release is under way after this, and none begins before the lock is given up.
        centre.revoke_all();
        if ledger.admit_all(fill(&mut nodes)) {
            return Ok(nodes);
        }
        for node in nodes.drain(..) {
            // There may be no room: others may have put before the revocation.
            if let Err(node) = self.objects.push(node) {
                surplus.push(node);
            }
        }
        self.buffers.give(nodes);
        Err(AcquireError::Exhausted)
    }

    fn put_many(&self, mut nodes: Vec<ErasedObject>) -> Vec<ErasedObject> {
        let put_all = |nodes: &mut Vec<ErasedObject>| {
            while let Some(node) = nodes.pop() {
                if let Err(node) = self.objects.push(node) {
                    nodes.push(node);
                    return;
                }
            }
            self.buffers.give(mem::take(nodes));
        };
        let own = self.slots.own();
        if let Some(slot) = own
            && let Some(word) = slot.enter()
        {
            put_all(&mut nodes);
            slot.leave(word);
            return nodes;
        }
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return nodes;
        }
        own.map(|slot| centre.activate(slot));
        let calls = centre.waiters().offer_many(&mut nodes);
        put_all(&mut nodes);
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        nodes
    }

    centre_in_slots!();

    fn gather(&self, keep: Keep) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        centre.revoke_all();
        let mut low_water = LowWater::new(self.low_water.load(Ordering::Relaxed));
        let surplus = low_water.surplus(self.objects.len(), keep);
        let oldest = iter::from_fn(|| self.pop()).take(surplus).collect();
        self.low_water.store(low_water.get(), Ordering::Relaxed);
        if surplus > 0 {
            self.buffers.clear();
        }
        oldest
    }

    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        let (grant, calls) = centre.close();
        let mut idle: Vec<_> = iter::from_fn(|| self.objects.pop()).collect();
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        idle.extend(send_away(ledger, grant));
        idle
    }

    fn counts(&self) -> Counts {
        let centre = self.slots.lock();
        Counts {
            idle: self.objects.len(),
            revocations: centre.revocations(),
            waits: centre.waits(),
            ..Counts::default()
        }
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        let centre = self.slots.lock();
        admit_unless(centre.is_closed(), ledger)
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        self.slots.leave_room(ledger);
        ledger.release_ref()
    }
}

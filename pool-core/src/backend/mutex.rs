//! Mutex: a stack under one lock. The simplest backend, and the oracle that the tests hold the
//! others to.
//!
//! The lock is that of a centre (see `slots`) at which nobody caches: no slot is ever asked for.

use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::buffers::Buffers;
use super::slots::{Centre, Idle, Slots, Word};
use super::{Counts, NotFrozen, Store, Taken, admit_unless, centre_in_slots, send_away};
use crate::config::Config;
use crate::error::AcquireError;
use crate::fork::Side;
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::trim::{Keep, LowWater};
use crate::wait::{Call, Grant, Ticket};

pub(crate) struct MutexStack {
    slots: Arc<Slots<Stack>>,
    buffers: Buffers,
    max_idle: usize,
    _tail: NotFrozen,
}

struct Stack {
    /// Idle objects, those that came last at the end.
    nodes: Vec<ErasedObject>,
    low_water: LowWater,
}

impl Stack {
    fn pop(&mut self) -> Option<ErasedObject> {
        let node = self.nodes.pop();
        self.low_water.note(self.nodes.len());
        node
    }
}

impl Centre for Stack {
    type State = ();
    type Meter = ();

    fn empty(&self) {}

    fn gather(&mut self, _word: Word, (): &mut (), (): &()) {}
}

impl MutexStack {
    pub(super) fn new(config: &Config) -> Self {
        MutexStack {
            slots: Slots::new(Stack {
                nodes: Vec::with_capacity(config.prefill),
                low_water: LowWater::default(),
            }),
            buffers: Buffers::new(),
            max_idle: config.max_idle.unwrap_or(usize::MAX),
            _tail: NotFrozen::new(),
        }
    }
}

impl Idle<Stack> for MutexStack {
    fn grab(&self, stack: &mut Stack) -> Option<ErasedObject> {
        stack.pop()
    }

    fn keep(&self, stack: &mut Stack, node: ErasedObject) -> Result<(), ErasedObject> {
        if stack.nodes.len() >= self.max_idle {
            return Err(node);
        }
        stack.nodes.push(node);
        Ok(())
    }

    fn buffers(&self) -> Option<&Buffers> {
        Some(&self.buffers)
    }
}

impl Store for MutexStack {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        let mut centre = self.slots.lock();
        if let Some(node) = centre.shared().pop() {
            Taken::Idle(node)
        } else if centre.is_closed() {
            Taken::Closed
        } else if make && ledger.admit() {
            Taken::Admitted
        } else {
            Taken::Exhausted
        }
    }

    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Err(node);
        }
        match centre.waiters().offer(node) {
            Err(node) => self.keep(centre.shared(), node),
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
        _surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
        let mut nodes = self.buffers.take(n);
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Err(AcquireError::Closed);
        }
        let stack = centre.shared();
        let idle = n.min(stack.nodes.len());
        if !ledger.admit_all(n - idle) {
            self.buffers.give(nodes);
            return Err(AcquireError::Exhausted);
        }
        let rest = stack.nodes.len() - idle;
        nodes.extend(stack.nodes.drain(rest..));
        stack.low_water.note(rest);
        Ok(nodes)
    }

    fn put_many(&self, mut nodes: Vec<ErasedObject>) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return nodes;
        }
        let calls = centre.waiters().offer_many(&mut nodes);
        let stack = &mut centre.shared().nodes;
        let room = self.max_idle.saturating_sub(stack.len());
        let refused = nodes.split_off(nodes.len().min(room));
        stack.append(&mut nodes);
        self.buffers.give(nodes);
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        refused
    }

    centre_in_slots!();

    fn gather(&self, keep: Keep) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        let Stack { nodes, low_water } = centre.shared();
        let surplus = low_water.surplus(nodes.len(), keep);
        let oldest = nodes.drain(..surplus).collect();
        if surplus > 0 {
            nodes.shrink_to_fit();
            self.buffers.clear();
        }
        oldest
    }

    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        let (grant, calls) = centre.close();
        let mut idle = std::mem::take(&mut centre.shared().nodes);
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        idle.extend(send_away(ledger, grant));
        idle
    }

    fn counts(&self) -> Counts {
        let mut centre = self.slots.lock();
        Counts {
            idle: centre.shared().nodes.len(),
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

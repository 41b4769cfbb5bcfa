//! The depot: idle objects that are in no thread's stack, as a stack of batches.
//!
//! Used under the central lock. A visit is short: it moves one batch by pointer or, for a thread whose slot is
//! not active, one object.

use std::collections::VecDeque;
use std::mem;

use crate::local::{Batch, LocalStack, Opened};
use crate::object::ErasedObject;

pub(crate) struct Depot {
    batch_size: usize,
    /// Whether refills adapt. Not under a `max_idle`, which is counted by what a stack of two batches could
    /// hold.
    adapts: bool,
    /// Full batches, the newest at the end. The first may have lost its oldest objects to a trim.
    full: VecDeque<Batch>,
    /// One batch that is filled and emptied object by object.
    partial: Batch,
    /// Empty batches, to be filled again.
    spares: Vec<Batch>,
    exchanges: u64,
}

impl Depot {
    pub(super) fn new(batch_size: usize, adapts: bool) -> Self {
        Depot {
            batch_size,
            adapts,
            full: VecDeque::new(),
            partial: Batch::with_capacity(batch_size),
            spares: Vec::new(),
            exchanges: 0,
        }
    }

    /// Idle objects here.
    pub(super) fn len(&self) -> usize {
        let full = match self.full.front() {
            None => 0,
            Some(first) => {
                debug_assert!(!first.is_empty());
                first.len() + (self.full.len() - 1) * self.batch_size
            }
        };
        full + self.partial.len()
    }

    /// Visits so far.
    pub(super) fn exchanges(&self) -> u64 {
        self.exchanges
    }

    pub(super) fn count_visit(&mut self) {
        self.exchanges += 1;
    }

    /// Takes the newest.
    pub(super) fn pop(&mut self) -> Option<ErasedObject> {
        self.partial.pop().or_else(|| {
            let full = self.full.pop_back()?;
            let spare = mem::replace(&mut self.partial, full);
            self.spares.push(spare);
            self.partial.pop()
        })
    }

    /// Moves the `n` newest to `out`, which has room for them. There are as many.
    pub(super) fn pop_many(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        debug_assert!(n <= self.len());
        let mut missing = n;
        while missing > 0 {
            let whole = missing >= self.batch_size;
            if let Some(mut full) = whole.then(|| self.full.pop_back()).flatten() {
                missing -= full.len();
                out.append(&mut full);
                self.spares.push(full);
            } else if let Some(object) = self.pop() {
                missing -= 1;
                out.push(object);
            } else {
                break;
            }
        }
    }

    pub(super) fn push(&mut self, object: ErasedObject) {
        if self.partial.len() == self.batch_size {
            let spare = self.spare();
            let full = mem::replace(&mut self.partial, spare);
            self.full.push_back(full);
        }
        self.partial.push(object);
    }

    /// [`push`](Self::push), unless that would need memory.
    pub(super) fn push_without_memory(&mut self, object: ErasedObject) -> Result<(), ErasedObject> {
        let has_place = self.full.len() < self.full.capacity() && !self.spares.is_empty();
        if (self.partial.len() == self.batch_size) && !has_place {
            return Err(object);
        }
        self.push(object);
        Ok(())
    }

    /// Sees to it that `n` objects more can be kept without memory.
    pub(super) fn reserve(&mut self, n: usize) {
        let batches = n.div_ceil(self.batch_size);
        self.full.reserve(batches);
        while self.spares.len() < batches {
            self.spares.push(Batch::with_capacity(self.batch_size));
        }
    }

    fn spare(&mut self) -> Batch {
        (self.spares.pop()).unwrap_or_else(|| Batch::with_capacity(self.batch_size))
    }

    /// Whether the next exchange would need a batch. The caller brings one, so that no memory is asked for
    /// under the lock.
    pub(super) fn needs_spare(&self) -> bool {
        self.spares.is_empty()
    }

    pub(super) fn add_spare(&mut self, spare: Batch) {
        self.spares.push(spare);
    }

    /// Hands batches to a stack that is empty, as many as its refill allows; `false` if none is here. The owner
    /// copies them to the stack after the lock is given up.
    pub(super) fn hand_over(&mut self, stack: &mut LocalStack) -> bool {
        if self.len() == 0 {
            return false;
        }
        if self.adapts {
            stack.visit(true);
        }
        self.take_excess_spares(stack);
        while stack.incoming.len() < stack.refill() {
            let Some(batch) = self.full.pop_back() else {
                break;
            };
            stack.incoming.push(batch);
        }
        // The oldest first.
        stack.incoming.reverse();
        if stack.incoming.is_empty() {
            let spare = self.spare();
            stack.incoming.push(mem::replace(&mut self.partial, spare));
        }
        true
    }

    /// Takes over the batches that the owner of a full stack has copied out; gives how many.
    pub(super) fn take_over(&mut self, stack: &mut LocalStack) -> usize {
        let given = stack.outgoing.len();
        for batch in stack.outgoing.drain(..) {
            self.full.push_back(batch);
        }
        if self.adapts && given > 0 {
            stack.visit(false);
        }
        // For the next time.
        let wanted = stack.given().saturating_sub(stack.spares.len());
        let found = wanted.min(self.spares.len());
        for spare in self.spares.drain(self.spares.len() - found..) {
            stack.spares.push(spare);
        }
        given
    }

    /// Takes over all that a slot holds.
    pub(super) fn reclaim(&mut self, slot: &mut Opened<'_, LocalStack>) {
        for run in slot.runs() {
            if run.len() == self.batch_size {
                let mut batch = self.spare();
                batch.extend_from_slice(run);
                self.full.push_back(batch);
            } else {
                // The oldest first, so that the newest comes to lie on top.
                run.iter().for_each(|object| self.push(*object));
            }
        }
        // Copies of what was just taken, if the owner was on its way here with them.
        slot.state.keep_outgoing();
        slot.state.reset_refill();
        self.take_excess_spares(slot.state);
    }

    fn take_excess_spares(&mut self, stack: &mut LocalStack) {
        let kept = stack.given();
        while stack.spares.len() > kept {
            let Some(spare) = stack.spares.pop() else {
                break;
            };
            self.spares.push(spare);
        }
    }

    /// Takes out the `n` objects that have been idle longest, or all.
    pub(super) fn take_oldest(&mut self, n: usize, out: &mut Vec<ErasedObject>) {
        let wanted = out.len() + n;
        let missing = |out: &Vec<_>| wanted - out.len();
        while let Some(first) = self.full.front_mut() {
            out.extend(first.drain(..missing(out).min(first.len())));
            if !first.is_empty() {
                return;
            }
            self.spares.extend(self.full.pop_front());
        }
        let n = missing(out).min(self.partial.len());
        out.extend(self.partial.drain(..n));
    }

    /// Takes out memory that the objects do not need, to be freed when the lock is given up.
    pub(super) fn take_excess_memory(&mut self) -> Vec<Batch> {
        self.full.shrink_to_fit();
        mem::take(&mut self.spares)
    }
}

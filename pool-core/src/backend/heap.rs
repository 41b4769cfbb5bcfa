//! Heap: no pool at all. Every acquire makes an object in memory of its own, every drop destroys
//! it: the control to measure the others against.
//!
//! To be as fast as the allocator under it, a pool without a bound counts its objects in the
//! threads' slots. A bound is one shared count.

use std::mem;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Instant;

use super::slots::{Centre, Idle, Locked, OwnedCount, Slot, Slots, Word};
use super::{Counts, NotFrozen, Store, Taken, centre_in_slots, send_away};
use crate::config::Config;
use crate::error::AcquireError;
use crate::fork::Side;
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::trim::Keep;
use crate::wait::{Call, Grant, Ticket};

pub(crate) struct Heap {
    slots: Arc<Slots<Totals>>,
    _tail: NotFrozen,
}

/// Objects made and destroyed by threads that have given up their slots, or have none.
#[derive(Default)]
struct Totals {
    created: u64,
    destroyed: u64,
}

/// Objects made and destroyed by one thread.
#[derive(Default)]
struct Tally {
    created: OwnedCount,
    destroyed: OwnedCount,
}

impl Centre for Totals {
    type State = ();
    type Meter = Tally;

    fn empty(&self) {}

    fn gather(&mut self, _word: Word, (): &mut (), tally: &Tally) {
        self.created += tally.created.get();
        self.destroyed += tally.destroyed.get();
        tally.created.set(0);
        tally.destroyed.set(0);
    }
}

impl Heap {
    pub(super) fn new(_config: &Config) -> Self {
        Heap {
            slots: Slots::new(Totals::default()),
            _tail: NotFrozen::new(),
        }
    }

    /// Leave to make `n` objects, counted in the thread's slot if it may be.
    fn admit_many(&self, ledger: &Ledger, n: usize) -> Result<(), AcquireError> {
        let count = |tally: &Tally| {
            if ledger.is_bounded() {
                return ledger.admit_all(n);
            }
            tally.created.add(n as u64);
            true
        };
        let own = self.slots.own();
        let admitted = match own.and_then(|slot| inside(slot, count)) {
            Some(admitted) => admitted,
            None => {
                let mut centre = self.slots.lock();
                if centre.is_closed() {
                    return Err(AcquireError::Closed);
                }
                match own {
                    Some(slot) if centre.activate(slot) => count(slot.meter()),
                    _ if ledger.is_bounded() => ledger.admit_all(n),
                    _ => {
                        centre.shared().created += n as u64;
                        true
                    }
                }
            }
        };
        admitted.then_some(()).ok_or(AcquireError::Exhausted)
    }

    fn totals_of(centre: &mut Locked<'_, Totals>) -> (u64, u64) {
        // Those destroyed first: each was made before, and is among those made when these are
        // counted after.
        let mut destroyed = centre.shared().destroyed;
        centre.for_each_active(|_, tally| destroyed += tally.destroyed.get());
        let mut created = centre.shared().created;
        centre.for_each_active(|_, tally| created += tally.created.get());
        (created, destroyed)
    }
}

/// Runs `count` inside the slot, if the owner may enter.
fn inside<R>(slot: &Slot<(), Tally>, count: impl FnOnce(&Tally) -> R) -> Option<R> {
    let word = slot.enter()?;
    let result = count(slot.meter());
    slot.leave(word);
    Some(result)
}

impl Idle<Totals> for Heap {
    fn grab(&self, _: &mut Totals) -> Option<ErasedObject> {
        None
    }

    fn keep(&self, _: &mut Totals, node: ErasedObject) -> Result<(), ErasedObject> {
        Err(node)
    }
}

impl Store for Heap {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        if !make {
            let closed = self.slots.lock().is_closed();
            return if closed {
                Taken::Closed
            } else {
                Taken::Exhausted
            };
        }
        match self.admit_many(ledger, 1) {
            Ok(()) => Taken::Admitted,
            Err(AcquireError::Closed) => Taken::Closed,
            Err(_) => Taken::Exhausted,
        }
    }

    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        Err(node)
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        _surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
        // Before leave is taken, which a panic here would lose.
        let nodes = Vec::with_capacity(n);
        self.admit_many(ledger, n)?;
        Ok(nodes)
    }

    fn put_many(&self, nodes: Vec<ErasedObject>) -> Vec<ErasedObject> {
        nodes
    }

    centre_in_slots!();

    fn gather(&self, _keep: Keep) -> Vec<ErasedObject> {
        Vec::new()
    }

    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject> {
        let mut centre = self.slots.lock();
        if centre.is_closed() {
            return Vec::new();
        }
        let (grant, calls) = centre.close();
        if !ledger.is_bounded() {
            // From here on, under this lock, the ledger counts.
            let totals = mem::take(centre.shared());
            let live = totals.created - totals.destroyed;
            ledger.settle(totals.created, live as usize);
        }
        drop(centre);
        calls.into_iter().for_each(Call::ring);
        send_away(ledger, grant)
    }

    fn counts(&self) -> Counts {
        let centre = self.slots.lock();
        Counts {
            revocations: centre.revocations(),
            waits: centre.waits(),
            ..Counts::default()
        }
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        self.admit_many(ledger, 1)
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        let bounded = ledger.is_bounded();
        let own = self.slots.own();
        if let Some(slot) = own
            && let Some(word) = slot.enter()
        {
            if bounded {
                ledger.leave_room();
            } else {
                slot.meter().destroyed.add(1);
            }
            slot.leave(word);
            return bounded && ledger.release_ref();
        }
        let mut centre = self.slots.lock();
        if bounded || centre.is_closed() {
            // The next release may do without the lock, if that is allowed.
            own.map(|slot| centre.activate(slot));
            centre.leave_room(ledger);
            return ledger.release_ref();
        }
        match own {
            Some(slot) if centre.activate(slot) => slot.meter().destroyed.add(1),
            _ => centre.shared().destroyed += 1,
        }
        false
    }

    fn totals(&self, ledger: &Ledger) -> (u64, usize) {
        let mut centre = self.slots.lock();
        if ledger.is_bounded() || centre.is_closed() {
            return ledger.totals();
        }
        let (created, destroyed) = Self::totals_of(&mut centre);
        (created, created.saturating_sub(destroyed) as usize)
    }
}

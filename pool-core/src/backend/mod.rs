//! Where idle objects are kept: the contract of a backend, and the choice between four at run time.
//!
//! A backend moves pointers. It never makes, resets, drops or looks at an object, and so runs no
//! code of the user's; `inner` and `release` do that, before or after, and never in between.
#![allow(unsafe_code)] // `Sync` of a marker.

pub(crate) mod batched;
mod buffers;
mod heap;
mod mutex;
mod queue;
pub(crate) mod slots;

use std::task::{Poll, Waker};
use std::time::Instant;

use self::batched::Batched;
use self::heap::Heap;
use self::mutex::MutexStack;
use self::queue::Queue;
pub(crate) use self::slots::PoolId;
use crate::config::{Backend, Config};
use crate::error::AcquireError;
use crate::fork::Side;
use crate::ledger::Ledger;
use crate::object::ErasedObject;
use crate::trim::Keep;
use crate::wait::{Call, Grant, Ticket};

/// What came of looking for an object.
#[derive(Debug)]
pub(crate) enum Taken {
    /// One was idle; it is the caller's now.
    Idle(ErasedObject),
    /// None was idle, and the caller has leave to make one.
    Admitted,
    /// None was idle, and none may be made.
    Exhausted,
    /// The pool is closed.
    Closed,
}

/// What a backend counts, beyond what is alive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Idle objects, wherever they are.
    pub(crate) idle: usize,
    /// Those of them in thread caches.
    pub(crate) cached: usize,
    /// Visits to the depot.
    pub(crate) exchanges: u64,
    /// Revocations that paid a barrier.
    pub(crate) revocations: u64,
    /// Acquires that had to wait.
    pub(crate) waits: u64,
}

/// The contract of a backend.
///
/// All of it may be called by any thread at any time. Objects are told apart by nothing but their
/// address; each pointer a backend gives out it was given, and it gives it out once.
pub(crate) trait Store {
    /// Takes an idle object; else, with `make`, leave to make one.
    ///
    /// An idle object in another thread's cache may be missed in favour of making one, but never
    /// in favour of [`Taken::Exhausted`], which is exact: at one moment within the call nothing
    /// was idle anywhere, and, with `make`, the bound was reached.
    fn take(&self, ledger: &Ledger, make: bool) -> Taken;

    /// Keeps an object for the next who takes. Gives it back if it is not wanted: the pool is
    /// closed, or has as many idle objects as it may keep.
    ///
    /// Once kept, the object may be taken, and at the end of the pool destroyed, and the pool with
    /// it: the caller must not touch either again.
    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject>;

    /// Takes `n` objects at once, or none. Gives those that were idle, and leave to make the rest:
    /// as many as are missing to `n`.
    ///
    /// # Errors
    ///
    /// `Exhausted`, as exact as that of [`take`](Self::take); `Closed`. Then `surplus` may hold
    /// objects that were taken in vain and may not be kept: the caller destroys them.
    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError>;

    /// [`put`](Self::put) of many at once; gives back those that are not wanted. The rest is as
    /// after `put`.
    fn put_many(&self, nodes: Vec<ErasedObject>) -> Vec<ErasedObject>;

    /// Waits for `n` objects, idle or leave to make them, in the order of arrival.
    ///
    /// # Errors
    ///
    /// `Timeout` once `deadline` has passed; `Closed`. `surplus` as in
    /// [`take_many`](Self::take_many).
    fn wait(
        &self,
        ledger: &Ledger,
        n: usize,
        deadline: Option<Instant>,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Grant, AcquireError>;

    // Of the feature `async`, as `cancel_wait` is.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    /// [`wait`](Self::wait) of a task, without a deadline. `ticket` is its place in the queue, `None`
    /// at first and when it is ready.
    fn poll_wait(
        &self,
        ledger: &Ledger,
        n: usize,
        ticket: &mut Option<Ticket>,
        waker: Waker,
    ) -> Poll<Result<Grant, AcquireError>>;

    /// Gives a place in the queue up, passing on what was granted meanwhile.
    #[cfg_attr(not(feature = "async"), allow(dead_code))]
    fn cancel_wait(&self, ledger: &Ledger, ticket: Ticket, surplus: &mut Vec<ErasedObject>);

    /// Takes out the idle objects beyond `keep`, those idle longest first; leaves the others where
    /// any thread finds them first. Gives back memory that is not needed for those.
    fn gather(&self, keep: Keep) -> Vec<ErasedObject>;

    /// Closes for good and takes out every idle object: from now on each `put` gives back.
    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject>;

    /// Puts what the calling thread caches where every thread finds it.
    fn flush(&self) {}

    /// Whether the pool was closed.
    fn is_closed(&self) -> bool;

    /// Counts, exact once handles are at rest.
    fn counts(&self) -> Counts;

    /// Revocations that were not told of yet.
    fn untold_revocations(&self) -> usize;

    /// Leave to make one object more, whether or not one is idle.
    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError>;

    /// Notes that an object that was admitted is no more, and wakes a waiter, since there is room.
    /// `true` if it was the last and no [`Pool`](crate::Pool) is left: the caller frees the pool.
    /// On `false` the caller must not touch it again.
    fn dismiss(&self, ledger: &Ledger) -> bool;

    /// Has every other thread outside and kept there.
    fn before_fork(&self);

    /// Lets them in again; in a child, without the threads that waited. Gives the calls to make.
    ///
    /// # Safety
    ///
    /// As for [`Fork::after_fork`](crate::fork::Fork::after_fork).
    unsafe fn after_fork(&self, ledger: &Ledger, side: Side) -> Vec<Call>;

    /// Objects made so far, and how many of them are alive.
    fn totals(&self, ledger: &Ledger) -> (u64, usize) {
        ledger.totals()
    }
}

/// The part of [`Store`] that is the same for all who have their centre in `slots` and say what is
/// [`Idle`](slots::Idle) there: waiting, forks, and whether the pool is closed.
macro_rules! centre_in_slots {
    () => {
        fn is_closed(&self) -> bool {
            self.slots.lock().is_closed()
        }

        fn untold_revocations(&self) -> usize {
            self.slots.untold().take()
        }

        fn wait(
            &self,
            ledger: &Ledger,
            n: usize,
            deadline: Option<Instant>,
            surplus: &mut Vec<ErasedObject>,
        ) -> Result<Grant, AcquireError> {
            self.slots.wait(self, ledger, n, deadline, surplus)
        }

        fn poll_wait(
            &self,
            ledger: &Ledger,
            n: usize,
            ticket: &mut Option<Ticket>,
            waker: Waker,
        ) -> Poll<Result<Grant, AcquireError>> {
            self.slots.poll_wait(self, ledger, n, ticket, waker)
        }

        fn cancel_wait(&self, ledger: &Ledger, ticket: Ticket, surplus: &mut Vec<ErasedObject>) {
            self.slots.cancel_wait(self, ledger, ticket, surplus);
        }

        fn before_fork(&self) {
            self.slots.before_fork(self);
        }

        unsafe fn after_fork(&self, ledger: &Ledger, side: Side) -> Vec<Call> {
            // SAFETY: by contract.
            unsafe { self.slots.after_fork(self, ledger, side) }
        }
    };
}
use centre_in_slots;

/// What those who waited had when the pool was closed, to be destroyed.
fn send_away(ledger: &Ledger, grant: Grant) -> Vec<ErasedObject> {
    ledger.withdraw(grant.admitted);
    grant.into_nodes()
}

/// Leave from the ledger, unless the pool is closed.
fn admit_unless(closed: bool, ledger: &Ledger) -> Result<(), AcquireError> {
    if closed {
        Err(AcquireError::Closed)
    } else if ledger.admit() {
        Ok(())
    } else {
        Err(AcquireError::Exhausted)
    }
}

/// In a store, tells the compiler that a reference to it is no promise that it can still be read:
/// when `put` gives the object up, another thread may free the pool before `put` has returned
/// (LIFE-TAIL).
pub(crate) struct NotFrozen(#[allow(dead_code)] std::cell::UnsafeCell<()>);

impl NotFrozen {
    fn new() -> Self {
        NotFrozen(std::cell::UnsafeCell::new(()))
    }
}

// SAFETY: holds nothing.
unsafe impl Sync for NotFrozen {}

/// A backend chosen at run time.
// One per pool, and the larger variants are those that are used.
#[allow(clippy::large_enum_variant)]
pub(crate) enum AnyStore {
    Heap(Heap),
    Mutex(MutexStack),
    Queue(Queue),
    Batched(Batched),
}

macro_rules! each {
    ($any:expr, $store:ident => $call:expr) => {
        match $any {
            AnyStore::Heap($store) => $call,
            AnyStore::Mutex($store) => $call,
            AnyStore::Queue($store) => $call,
            AnyStore::Batched($store) => $call,
        }
    };
}

impl AnyStore {
    pub(crate) fn new(config: &Config) -> Self {
        match config.backend {
            Backend::Heap => AnyStore::Heap(Heap::new(config)),
            Backend::Mutex => AnyStore::Mutex(MutexStack::new(config)),
            Backend::Queue => AnyStore::Queue(Queue::new(config)),
            Backend::Batched => AnyStore::Batched(Batched::new(config)),
        }
    }

    /// The number with which a hit finds the calling thread's cache; of no pool, where there are
    /// no caches.
    pub(crate) fn cache_id(&self) -> PoolId {
        match self {
            AnyStore::Batched(batched) => batched.number(),
            _ => PoolId::NONE,
        }
    }
}

impl Store for AnyStore {
    fn take(&self, ledger: &Ledger, make: bool) -> Taken {
        each!(self, store => store.take(ledger, make))
    }

    fn put(&self, node: ErasedObject) -> Result<(), ErasedObject> {
        each!(self, store => store.put(node))
    }

    fn take_many(
        &self,
        ledger: &Ledger,
        n: usize,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Vec<ErasedObject>, AcquireError> {
        each!(self, store => store.take_many(ledger, n, surplus))
    }

    fn put_many(&self, nodes: Vec<ErasedObject>) -> Vec<ErasedObject> {
        each!(self, store => store.put_many(nodes))
    }

    fn wait(
        &self,
        ledger: &Ledger,
        n: usize,
        deadline: Option<Instant>,
        surplus: &mut Vec<ErasedObject>,
    ) -> Result<Grant, AcquireError> {
        each!(self, store => store.wait(ledger, n, deadline, surplus))
    }

    fn poll_wait(
        &self,
        ledger: &Ledger,
        n: usize,
        ticket: &mut Option<Ticket>,
        waker: Waker,
    ) -> Poll<Result<Grant, AcquireError>> {
        each!(self, store => store.poll_wait(ledger, n, ticket, waker))
    }

    fn cancel_wait(&self, ledger: &Ledger, ticket: Ticket, surplus: &mut Vec<ErasedObject>) {
        each!(self, store => store.cancel_wait(ledger, ticket, surplus));
    }

    fn gather(&self, keep: Keep) -> Vec<ErasedObject> {
        each!(self, store => store.gather(keep))
    }

    fn close(&self, ledger: &Ledger) -> Vec<ErasedObject> {
        each!(self, store => store.close(ledger))
    }

    fn flush(&self) {
        each!(self, store => store.flush());
    }

    fn is_closed(&self) -> bool {
        each!(self, store => store.is_closed())
    }

    fn counts(&self) -> Counts {
        each!(self, store => store.counts())
    }

    #[inline]
    fn untold_revocations(&self) -> usize {
        each!(self, store => store.untold_revocations())
    }

    fn admit(&self, ledger: &Ledger) -> Result<(), AcquireError> {
        each!(self, store => store.admit(ledger))
    }

    fn dismiss(&self, ledger: &Ledger) -> bool {
        each!(self, store => store.dismiss(ledger))
    }

    fn before_fork(&self) {
        each!(self, store => store.before_fork());
    }

    unsafe fn after_fork(&self, ledger: &Ledger, side: Side) -> Vec<Call> {
        // SAFETY: by contract.
        each!(self, store => unsafe { store.after_fork(ledger, side) })
    }

    fn totals(&self, ledger: &Ledger) -> (u64, usize) {
        each!(self, store => store.totals(ledger))
    }
}

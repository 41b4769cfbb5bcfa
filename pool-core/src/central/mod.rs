//! What threads share: one lock, and under it the shelf of idle objects, permits, waiters and the slots of threads.
//!
//! All four backends are this one type. They differ in their [`Shelf`], and in the fast path that each has
//! around or through the lock; whatever is unusual goes one common way.
//!
//! No user code runs in here: objects are moved, not created, reset or dropped. `shared` and `object` do that,
//! before or after.
//!
//! LIFE-TAIL: an object or a permit that is given up may have been what kept the pool's memory. So the last that
//! such a function touches of the pool is the store with which it unlocks or leaves its slot. (The references
//! that it formally still has are to types with interior mutability, which the compiler does not take to stay
//! readable.)

mod buffers;
mod depot;
mod exchange;
mod fork;
mod idle;
mod permits;
mod queue;
mod recall;
mod reclaim;
mod shelf;
pub(crate) mod trim;
mod wait;
mod waiters;

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use self::buffers::Buffers;
#[cfg(feature = "async")]
pub(crate) use self::idle::IdleWaiterId;
use self::idle::{DueWakes, IdleWaiters};
pub(crate) use self::permits::Granted;
use self::permits::Permits;
use self::queue::FifoQueue;
use self::shelf::Shelf;
use self::trim::{Period, TrimPolicy, TrimTarget};
#[cfg(feature = "async")]
pub(crate) use self::waiters::WaiterId;
use self::waiters::Waiters;
pub(crate) use self::waiters::{Grant, Wake};
use crate::config::{Backend, Config, Recall};
use crate::error::AcquireError;
use crate::local::hit::{self, Own};
use crate::local::{LocalStack, Missed, SharedInSlots, SlotKey, Slots};
use crate::object::ErasedObject;
use crate::observe::trace;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, barrier};

/// What came of looking for an object.
#[derive(Debug)]
pub(crate) enum Taken {
    /// One was idle; it is the caller's now.
    Idle(ErasedObject),
    /// None was idle, and the caller may create one.
    Permit(Granted),
    /// None was idle, and none may be created. Exact, unless slots are [asked for](Recall::Cooperate): at one moment
    /// within the call no object was idle anywhere, in the stacks of threads included, and the bound was reached.
    Exhausted,
    /// The pool is closed.
    Closed,
}

/// Idle objects, and permits to create the others that were asked for.
pub(crate) struct TakenMany {
    pub(crate) idle: Vec<ErasedObject>,
    pub(crate) permits: usize,
}

/// Why objects were not given out, and objects that were taken in vain and may not be kept: the caller destroys them.
pub(crate) struct Refused {
    pub(crate) error: AcquireError,
    pub(crate) rejected: Vec<ErasedObject>,
}

impl From<AcquireError> for Refused {
    fn from(error: AcquireError) -> Self {
        Refused {
            error,
            rejected: Vec::new(),
        }
    }
}

/// Counts of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Objects ever created, and how many of them are alive.
    pub(crate) created: u64,
    pub(crate) live: usize,
    /// Idle objects, wherever they are, and how many of them are in the stacks of threads.
    pub(crate) idle: usize,
    pub(crate) cached: usize,
    /// Visits to the depot.
    pub(crate) exchanges: u64,
    /// Revocations that paid a barrier.
    pub(crate) revocations: u64,
    /// Acquires that had to wait.
    pub(crate) waits: u64,
    /// Waiters now, and how long all others have waited.
    pub(crate) waiting: usize,
    pub(crate) wait_time: Duration,
    /// Acquires that might not wait.
    pub(crate) saturated: u64,
    /// The most objects alive at a time.
    pub(crate) peak_live: usize,
    /// The bound on objects alive.
    pub(crate) capacity: Option<usize>,
}

pub(crate) struct Central {
    /// This, for threads to find at their end. Methods that may give up what keeps the pool alive take `&self` and
    /// not `&Arc<Self>`: the `Arc` lies in the pool, without interior mutability (LIFE-TAIL).
    this: Weak<Central>,
    backend: Backend,
    batch_size: usize,
    max_idle: usize,
    max_waiting: usize,
    recall: Recall,
    /// The calling thread's slot; of no pool, where threads have none.
    slots: SlotKey<LocalStack>,
    /// The queue on the shelf, for threads inside their slots.
    queue: Option<SharedInSlots<Arc<FifoQueue>>>,
    buffers: Buffers,
    /// Whether a thread has handed over what is not wanted any more: the pool is closed, or its bound was lowered.
    has_unwanted: AtomicBool,
    /// Revocations, for the pool to emit when the lock is given up.
    unreported: trace::Unreported,
    /// Padded: written by every thread that comes here, next to what is only read.
    state: CachePadded<Mutex<State>>,
}

struct State {
    shelf: Shelf,
    permits: Permits,
    waiters: Waiters,
    idle_waiters: IdleWaiters,
    /// Inspections under way.
    inspections: usize,
    closed: bool,
    slots: Slots<LocalStack>,
    /// For how many visits slots stay revoked.
    dry: u32,
    revocations: u64,
    /// Acquires that might not wait.
    saturated: u64,
    period: Period,
}

impl Central {
    pub(crate) fn new(config: &Config) -> Arc<Self> {
        let shelf = Shelf::new(config);
        let queue = match &shelf {
            Shelf::Queue(queue) => Some(SharedInSlots::new(queue.clone())),
            _ => None,
        };
        let slots = match config.backend {
            Backend::Mutex => SlotKey::of_no_pool(),
            // Its slots hold nothing to hand over; that their owners are outside only the barrier can tell.
            Backend::Queue if config.recall == Recall::Cooperate => SlotKey::of_no_pool(),
            _ if barrier::available() => SlotKey::new(),
            _ => SlotKey::of_no_pool(),
        };
        Arc::new_cyclic(|this| Central {
            this: this.clone(),
            backend: config.backend,
            batch_size: config.batch_size,
            max_idle: config.max_idle.unwrap_or(usize::MAX),
            max_waiting: config.max_waiting.unwrap_or(usize::MAX),
            recall: config.recall,
            slots,
            queue,
            buffers: Buffers::new(),
            has_unwanted: AtomicBool::new(false),
            unreported: trace::Unreported::new(),
            state: CachePadded::new(Mutex::new(State {
                shelf,
                permits: Permits::new(config.capacity),
                waiters: Waiters::new(),
                idle_waiters: IdleWaiters::new(),
                inspections: 0,
                closed: false,
                slots: Slots::new(),
                dry: 0,
                revocations: 0,
                saturated: 0,
                period: Period::new(),
            })),
        })
    }

    /// The key to the stacks of threads; of no pool, if the backend has none.
    pub(crate) fn stacks(&self) -> SlotKey<LocalStack> {
        match self.backend {
            Backend::Batched => self.slots,
            _ => SlotKey::of_no_pool(),
        }
    }

    /// The central lock. What a fork left in the slots is on the shelf then, and so is what the calling thread was
    /// asked for.
    fn lock(&self) -> Locked<'_> {
        let mut locked = self.lock_only();
        if locked.state.slots.has_backlog() {
            locked.catch_up();
        }
        locked
    }

    #[inline(always)]
    fn lock_only(&self) -> Locked<'_> {
        Locked {
            state: self.state.lock(),
            due: DueWakes::default(),
            central: self,
        }
    }

    /// Whether a thread has handed over what is not wanted any more; asked once. While the caller keeps the pool.
    pub(crate) fn take_has_unwanted(&self) -> bool {
        // Relaxed, both: what was handed over is under the lock. One that is not seen yet is, by the next that asks.
        self.has_unwanted.load(Ordering::Relaxed)
            && self.has_unwanted.swap(false, Ordering::Relaxed)
    }

    /// The calling thread's slot, registered if it has none; `None` if it can have none.
    fn own_slot(&self) -> Option<Own<'_>> {
        self.slots.find_or_register(|| {
            let pool = self.this.upgrade();
            let pool = pool.expect("the caller keeps the pool alive");
            // Wakes nobody: the thread's registry is in use here, and a waker may use the pool.
            (self.lock_only().register(), pool)
        })
    }

    /// Pops from the stack of a `Mutex`, if that needs nothing unusual.
    #[inline(always)]
    pub(crate) fn pop_stack(&self) -> Option<ErasedObject> {
        match &mut self.state.lock().shelf {
            Shelf::Stack(stack) => stack.pop_fast(),
            _ => None,
        }
    }

    /// Pushes to the stack of a `Mutex`, if that needs nothing unusual; else gives the object back. The rest as
    /// for [`put`](Self::put).
    #[inline(always)]
    pub(crate) fn push_stack(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        match &mut self.state.lock().shelf {
            Shelf::Stack(stack) => stack.push_fast(object),
            _ => Err(object),
        }
    }

    /// Pops from the queue of a `Queue`, if the calling thread may enter its slot and no other is faster.
    #[inline(always)]
    pub(crate) fn pop_queue(&self) -> Option<ErasedObject> {
        self.in_queue(FifoQueue::try_pop)?
    }

    /// Pushes to the queue of a `Queue`, if the calling thread may enter its slot and no other is faster; else gives
    /// the object back. The rest as for [`put`](Self::put).
    #[inline(always)]
    pub(crate) fn push_queue(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        self.in_queue(|queue| queue.try_push(object))
            .unwrap_or(Err(object))
    }

    /// Runs `f` on the queue of a `Queue`, if the calling thread may enter its slot.
    #[inline(always)]
    fn in_queue<R>(&self, f: impl FnOnce(&FifoQueue) -> R) -> Option<R> {
        let queue = self.queue.as_ref()?;
        let inside = self.slots.at_hand()?.enter()?;
        Some(queue.with(inside, |queue| f(queue)))
    }

    /// Takes a permit of a `Heap` that the calling thread has at hand.
    #[inline]
    pub(crate) fn take_permit(&self) -> Option<Granted> {
        let taken = hit::take_permits(self.slots.at_hand()?, 1);
        taken.then_some(Granted)
    }

    /// Takes an idle object; else, with `may_create`, a permit to create one. A pop that `missed` is redeemed
    /// first.
    #[inline(always)]
    pub(crate) fn take(&self, missed: Option<Missed<'_, LocalStack>>, may_create: bool) -> Taken {
        match self.backend {
            Backend::Mutex => {
                if let Some(object) = self.pop_stack() {
                    return Taken::Idle(object);
                }
            }
            Backend::Queue => {
                if let Some(object) = self.in_queue(FifoQueue::pop).flatten() {
                    return Taken::Idle(object);
                }
            }
            Backend::Heap => {
                if let Some(permit) = may_create.then(|| self.take_permit()).flatten() {
                    return Taken::Permit(permit);
                }
            }
            Backend::Batched => {}
        }
        self.take_slow(missed, may_create)
    }

    /// Keeps an object for the next acquire. Gives it back if it is not wanted: the pool is closed, or has as
    /// many idle objects as it may keep.
    ///
    /// Once kept, the object may be acquired, and at the end of the pool destroyed, and the pool with it: the
    /// caller must not touch either again (LIFE-TAIL).
    #[inline(always)]
    pub(crate) fn put(&self, object: ErasedObject) -> Result<(), ErasedObject> {
        let object = match self.backend {
            Backend::Heap => return Err(object),
            Backend::Mutex => match self.push_stack(object) {
                Ok(()) => return Ok(()),
                Err(object) => object,
            },
            Backend::Queue => match self.in_queue(|queue| queue.push(object)) {
                Some(Ok(())) => return Ok(()),
                _ => object,
            },
            Backend::Batched => object,
        };
        self.put_slow(object)
    }

    /// Returns the permit of an object that is no more, or was never created; the next waiter gets it. `true` if
    /// it was what kept the pool's memory: the caller frees the pool. On `false` the caller must not touch it
    /// again (LIFE-TAIL).
    #[inline]
    pub(crate) fn return_permit(&self) -> bool {
        if self.backend == Backend::Heap && self.slots.at_hand().is_some_and(hit::return_permit) {
            return false;
        }
        self.return_permit_slow()
    }

    /// Notes that the last `Pool` is gone. `true` if that was what kept the pool's memory, as in
    /// [`return_permit`](Self::return_permit).
    pub(crate) fn drop_last_pool(&self) -> bool {
        let mut locked = self.lock();
        locked.state.permits.drop_pool();
        locked.state.permits.is_end()
    }

    /// Counts one `WeakPool` more.
    pub(crate) fn add_weak(&self) {
        self.lock().state.permits.add_weak();
    }

    /// Counts one `WeakPool` less. `true` if it was what kept the pool's memory, as in
    /// [`return_permit`](Self::return_permit).
    pub(crate) fn release_weak(&self) -> bool {
        let mut locked = self.lock();
        locked.state.permits.release_weak();
        locked.state.permits.is_end()
    }

    /// Counts an object that was created in the place of another.
    pub(crate) fn count_replaced(&self) {
        self.lock().state.permits.count_created(1);
    }

    /// What a policy leaves, if its period is over.
    pub(crate) fn end_period(&self, policy: &TrimPolicy, now: Instant) -> Option<TrimTarget> {
        self.lock().state.period.end(policy, now)
    }

    /// Whether the pool was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().state.closed
    }

    /// The bound on objects alive.
    pub(crate) fn capacity(&self) -> Option<usize> {
        self.lock().state.permits.capacity()
    }

    /// Counts, exact while no thread is inside a call.
    pub(crate) fn counts(&self) -> Counts {
        let locked = self.lock();
        let state = &locked.state;
        let (mut kept, mut created) = (0, state.permits.created());
        state.slots.for_each_occupied(|bytes, count| {
            kept += bytes;
            created += count.get();
        });
        let taken = state.permits.taken();
        let (waiting, wait_time) = state.waiters.queued();
        let (cached, live) = match self.backend {
            Backend::Batched => (kept / size_of::<ErasedObject>(), taken),
            Backend::Heap => (0, taken.saturating_sub(kept)),
            Backend::Mutex | Backend::Queue => (0, taken),
        };
        Counts {
            created,
            live,
            idle: state.shelf.len() + cached,
            cached,
            exchanges: state.shelf.exchanges(),
            revocations: state.revocations,
            waits: state.waiters.total(),
            waiting,
            wait_time,
            saturated: state.saturated,
            peak_live: state.permits.peak(),
            capacity: state.permits.capacity(),
        }
    }

    /// Revocations that were not reported yet.
    #[inline]
    pub(crate) fn unreported_revocations(&self) -> usize {
        self.unreported.take()
    }
}

impl State {
    /// Tells the fast paths whether all is as usual.
    #[inline]
    fn set_bounds(&mut self, max_idle: usize) {
        // For the shelf that has a fast path by bounds; the others need no answer.
        if let Shelf::Stack(_) = self.shelf {
            let open = self.may_bypass();
            self.shelf.set_bounds(open, max_idle);
        }
    }

    /// Whether releases may do without what is unusual: nobody waits, for an object or until none is in use, or looks
    /// at all that are idle, and no more are alive than may be.
    #[inline]
    fn may_bypass(&self) -> bool {
        !self.closed
            && self.waiters.is_empty()
            && self.idle_waiters.is_empty()
            && self.inspections == 0
            && self.permits.surplus() == 0
    }

    /// Objects and permits that somebody holds. While no slot is active; what is in slots that were asked for counts
    /// as held.
    fn in_use(&self) -> usize {
        self.permits.taken() - self.shelf.len()
    }
}

/// The central lock, for what is unusual. The thread that has it may revoke the slots.
struct Locked<'a> {
    state: MutexGuard<'a, State>,
    /// After the guard, so that they are woken when the lock is given up. While there are any no slot is activated,
    /// since a waker is never called inside one.
    due: DueWakes,
    central: &'a Central,
}

impl Locked<'_> {
    /// Ends the waits for idleness, if nothing is in use.
    #[cold]
    #[inline(never)]
    fn end_waits(&mut self) {
        if self.state.in_use() == 0 {
            self.state.idle_waiters.end_all(&mut self.due);
        }
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.state.idle_waiters.is_empty() {
            self.end_waits();
        }
        self.state.set_bounds(self.central.max_idle);
    }
}

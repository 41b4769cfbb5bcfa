//! Random sequences of operations on one thread, on every backend, against a model of a few numbers.
//!
//! After each operation the pool's counts, the objects themselves and the model agree. What depends on
//! a backend in what an operation gives is nothing but what `Heap` does not keep, so the backends agree
//! with each other as well, and the pool for one thread with them.

use crate::support;

use std::fmt::Debug;
use std::ops::DerefMut;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use pool_core::{
    AcquireError, AttachError, Backend, Burst, Lifecycle, Pool, Pooled, Recall, ResetOn,
    SharedPooled, Stats, unsync,
};

use support::{Counted, Tally, keeps, scaled};

/// The objects' text is grown past this to make them unfit to be used again.
const SPOILED: usize = 1_000;

/// Makes counted objects, and keeps those that were not spoiled.
struct Frugal(Arc<Tally>);

impl Lifecycle<Counted> for Frugal {
    fn create(&self) -> Counted {
        self.0.object()
    }

    fn reset(&self, object: &mut Counted) {
        object.resets += 1;
        object.text.clear();
    }

    fn is_reusable(&self, object: &Counted) -> bool {
        object.text.capacity() < SPOILED
    }
}

/// The choices of one pool.
#[derive(Clone, Debug)]
struct Choices {
    capacity: Option<usize>,
    max_idle: Option<usize>,
    batch_size: usize,
    prefill: usize,
    grow_by: Option<usize>,
    reset_on: ResetOn,
    /// One thread alone sees no difference: it comes by.
    recall: Recall,
}

#[derive(Clone, Debug)]
enum Op {
    Acquire,
    TryAcquire,
    TryAcquireIdle,
    AcquireTimeout,
    TryAcquireMany(usize),
    AcquireMany(usize),
    /// Asks for so many, and leaves if it would have to wait.
    LeaveQueue(usize),
    /// Fills the place that it may get, or gives it up.
    Enter(bool),
    // What is done to the handle, burst or shared handle of this number, counted round.
    Drop(usize),
    Detach(usize),
    Discard(usize),
    Spoil(usize),
    Split(usize),
    Share(usize),
    Attach,
    Reserve(usize),
    Trim(usize),
    /// Takes so many out one by one, and drops the rest with the iterator.
    Drain(usize),
    Flush,
    /// Drops each of the idle objects whose number this divides, counted as they come.
    Retain(usize),
    SetCapacity(Option<usize>),
    WaitIdle,
    Close,
    ClonePool,
    /// A `Pool` more by way of a handle.
    PoolOf(usize),
    DropPool,
    DropAllPools,
}

fn choices() -> impl Strategy<Value = Choices> {
    let reset_on = prop_oneof![Just(ResetOn::Release), Just(ResetOn::Acquire)];
    let recall = prop_oneof![Just(Recall::Interrupt), Just(Recall::Cooperate)];
    (
        proptest::option::of(1_usize..40),
        proptest::option::weighted(0.4, 0_usize..30),
        1_usize..6,
        0_usize..20,
        proptest::option::of(1_usize..10),
        (reset_on, recall),
    )
        .prop_map(
            |(capacity, max_idle, batch_size, prefill, grow_by, (reset_on, recall))| Choices {
                capacity,
                max_idle,
                batch_size,
                prefill: prefill
                    .min(capacity.unwrap_or(usize::MAX))
                    .min(max_idle.unwrap_or(usize::MAX)),
                grow_by,
                reset_on,
                recall,
            },
        )
}

/// What a pool for one thread does, too.
fn op_of_one_thread() -> impl Strategy<Value = Op> {
    prop_oneof![
        10 => Just(Op::Acquire),
        10 => Just(Op::TryAcquire),
        4 => Just(Op::TryAcquireIdle),
        6 => (0_usize..25).prop_map(Op::TryAcquireMany),
        6 => (0_usize..25).prop_map(Op::AcquireMany),
        6 => any::<bool>().prop_map(Op::Enter),
        3 => any::<usize>().prop_map(Op::Split),
        30 => any::<usize>().prop_map(Op::Drop),
        2 => any::<usize>().prop_map(Op::Detach),
        2 => any::<usize>().prop_map(Op::Discard),
        3 => any::<usize>().prop_map(Op::Spoil),
        2 => any::<usize>().prop_map(Op::Share),
        3 => Just(Op::Attach),
        2 => (0_usize..30).prop_map(Op::Reserve),
        2 => (0_usize..20).prop_map(Op::Trim),
        2 => (0_usize..20).prop_map(Op::Drain),
        1 => Just(Op::ClonePool),
        1 => any::<usize>().prop_map(Op::PoolOf),
        2 => Just(Op::DropPool),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        90 => op_of_one_thread(),
        2 => Just(Op::AcquireTimeout),
        4 => (1_usize..25).prop_map(Op::LeaveQueue),
        3 => Just(Op::Flush),
        2 => (1_usize..5).prop_map(Op::Retain),
        2 => proptest::option::of(0_usize..40).prop_map(Op::SetCapacity),
        2 => Just(Op::WaitIdle),
    ]
}

/// The last words of some pools, after which handles are given back still.
fn ops(op: impl Strategy<Value = Op> + 'static) -> impl Strategy<Value = Vec<Op>> {
    let end = prop_oneof![
        2 => Just(vec![]),
        1 => Just(vec![Op::Close]),
        1 => Just(vec![Op::DropAllPools]),
        1 => Just(vec![Op::Close, Op::DropAllPools]),
    ];
    let op = op.boxed();
    let (first, rest) = (
        proptest::collection::vec(op.clone(), 0..120),
        proptest::collection::vec(op, 0..40),
    );
    (first, end, rest).prop_map(|(first, end, rest)| [first, end, rest].concat())
}

/// A pool as the sequences see it.
trait Subject: Clone {
    type Handle: DerefMut<Target = Counted>;
    type Burst: DerefMut<Target = [Self::Handle]> + IntoIterator<Item = Self::Handle>;
    type Shared: Clone;

    fn acquire(&self) -> Self::Handle;
    fn try_acquire(&self) -> Result<Self::Handle, AcquireError>;
    fn try_acquire_idle(&self) -> Result<Self::Handle, AcquireError>;
    fn acquire_timeout(&self, timeout: Duration) -> Result<Self::Handle, AcquireError>;
    fn acquire_many(&self, n: usize) -> Self::Burst;
    fn try_acquire_many(&self, n: usize) -> Result<Self::Burst, AcquireError>;
    /// `None`, if it would have to wait.
    fn acquire_many_or_leave(&self, n: usize) -> Option<Result<Self::Burst, AcquireError>>;
    /// `None`, if a place was given up because `make` made nothing.
    fn enter(
        &self,
        make: impl FnOnce() -> Option<Counted>,
    ) -> Result<Option<Self::Handle>, AcquireError>;
    fn attach(&self, value: Counted) -> Result<Self::Handle, AttachError<Counted>>;
    fn reserve(&self, n: usize) -> usize;
    fn flush(&self);
    fn retain(&self, keep: impl FnMut(&mut Counted) -> bool) -> usize;
    fn set_capacity(&self, capacity: Option<usize>);
    /// How many are out, if any are.
    fn wait_idle(&self) -> Result<(), usize>;
    fn trim(&self, keep: usize);
    /// Takes out all that is idle, `take` of them one by one; gives how many there were.
    fn drain(&self, take: usize) -> usize;
    fn close(&self);
    fn stats(&self) -> Stats;
    fn idle(&self) -> usize;
    fn in_use(&self) -> usize;

    fn detach(handle: Self::Handle) -> Counted;
    fn discard(handle: Self::Handle);
    fn share(handle: Self::Handle) -> Self::Shared;
    fn pool_of(handle: &Self::Handle) -> Option<Self>;
}

macro_rules! same_words {
    () => {
        fn acquire(&self) -> Self::Handle {
            self.acquire()
        }
        fn try_acquire(&self) -> Result<Self::Handle, AcquireError> {
            self.try_acquire()
        }
        fn try_acquire_idle(&self) -> Result<Self::Handle, AcquireError> {
            self.try_acquire_idle()
        }
        fn acquire_many(&self, n: usize) -> Self::Burst {
            self.acquire_many(n)
        }
        fn try_acquire_many(&self, n: usize) -> Result<Self::Burst, AcquireError> {
            self.try_acquire_many(n)
        }
        fn enter(
            &self,
            make: impl FnOnce() -> Option<Counted>,
        ) -> Result<Option<Self::Handle>, AcquireError> {
            let make = || make().ok_or(());
            self.try_entry()
                .map(|entry| entry.or_try_insert_with(make).ok())
        }
        fn attach(&self, value: Counted) -> Result<Self::Handle, AttachError<Counted>> {
            self.attach(value)
        }
        fn reserve(&self, n: usize) -> usize {
            self.reserve(n)
        }
        fn trim(&self, keep: usize) {
            self.trim(keep);
        }
        fn drain(&self, take: usize) -> usize {
            let mut drain = self.drain();
            let idle = drain.len();
            let taken = drain.by_ref().take(take).count();
            assert_eq!(drain.len(), idle - taken);
            idle
        }
        fn close(&self) {
            self.close();
        }
        fn stats(&self) -> Stats {
            self.stats()
        }
        fn idle(&self) -> usize {
            self.idle()
        }
        fn in_use(&self) -> usize {
            self.in_use()
        }
        fn detach(handle: Self::Handle) -> Counted {
            Self::Handle::detach(handle)
        }
        fn discard(handle: Self::Handle) {
            Self::Handle::discard(handle);
        }
        fn pool_of(handle: &Self::Handle) -> Option<Self> {
            Self::Handle::pool(handle)
        }
    };
}

impl Subject for Pool<Counted, Frugal> {
    type Handle = Pooled<Counted, Frugal>;
    type Burst = Burst<Counted, Frugal>;
    type Shared = SharedPooled<Counted, Frugal>;

    same_words! {}

    fn acquire_timeout(&self, timeout: Duration) -> Result<Self::Handle, AcquireError> {
        self.acquire_timeout(timeout)
    }
    #[cfg(feature = "async")]
    fn acquire_many_or_leave(&self, n: usize) -> Option<Result<Self::Burst, AcquireError>> {
        use std::task::{Context, Poll, Waker};

        let acquire = std::pin::pin!(self.acquire_many_async(n));
        match acquire.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(got) => Some(got),
            Poll::Pending => None,
        }
    }
    #[cfg(not(feature = "async"))]
    fn acquire_many_or_leave(&self, n: usize) -> Option<Result<Self::Burst, AcquireError>> {
        match self.acquire_many_timeout(n, Duration::ZERO) {
            Err(AcquireError::Timeout) => None,
            got => Some(got),
        }
    }
    fn flush(&self) {
        self.flush();
    }
    fn retain(&self, keep: impl FnMut(&mut Counted) -> bool) -> usize {
        self.retain(keep)
    }
    fn set_capacity(&self, capacity: Option<usize>) {
        self.set_capacity(capacity);
    }
    fn wait_idle(&self) -> Result<(), usize> {
        self.wait_idle(Some(Duration::ZERO))
            .map_err(|error| error.in_use())
    }
    fn share(handle: Self::Handle) -> Self::Shared {
        Pooled::into_shared(handle)
    }
}

impl Subject for unsync::Pool<Counted, Frugal> {
    type Handle = unsync::Pooled<Counted, Frugal>;
    type Burst = unsync::Burst<Counted, Frugal>;
    type Shared = Rc<Self::Handle>;

    same_words! {}

    fn acquire_timeout(&self, _timeout: Duration) -> Result<Self::Handle, AcquireError> {
        unreachable!("a thread does not wait for itself")
    }
    fn acquire_many_or_leave(&self, _n: usize) -> Option<Result<Self::Burst, AcquireError>> {
        unreachable!("a thread does not wait for itself")
    }
    fn flush(&self) {
        unreachable!("no caches here")
    }
    fn retain(&self, _keep: impl FnMut(&mut Counted) -> bool) -> usize {
        unreachable!("not here")
    }
    fn set_capacity(&self, _capacity: Option<usize>) {
        unreachable!("not here")
    }
    fn wait_idle(&self) -> Result<(), usize> {
        unreachable!("a thread does not wait for itself")
    }
    fn share(handle: Self::Handle) -> Self::Shared {
        Rc::new(handle)
    }
}

/// What is out of the pool.
enum Held<S: Subject> {
    One(S::Handle),
    Many(S::Burst),
    Shared(Vec<S::Shared>),
}

/// The pool as a few numbers.
struct Model {
    capacity: usize,
    max_idle: usize,
    keeps: bool,
    reset_on: ResetOn,
    idle: usize,
    in_use: usize,
    created: usize,
    discarded: usize,
    waits: usize,
    closed: bool,
    /// Objects made outside and refused.
    refused: usize,
    /// Places for objects that were given up.
    given_up: usize,
}

impl Model {
    fn new(choices: &Choices, keeps: bool) -> Self {
        let prefill = if keeps { choices.prefill } else { 0 };
        Model {
            capacity: choices.capacity.unwrap_or(usize::MAX),
            max_idle: choices.max_idle.unwrap_or(usize::MAX),
            keeps,
            reset_on: choices.reset_on,
            idle: prefill,
            in_use: 0,
            created: prefill,
            discarded: 0,
            waits: 0,
            closed: false,
            refused: 0,
            given_up: 0,
        }
    }

    fn live(&self) -> usize {
        self.idle + self.in_use
    }

    /// `n` objects together, those that are idle first.
    fn acquire(&mut self, n: usize, make: bool) -> Result<(), AcquireError> {
        if self.closed {
            return Err(AcquireError::Closed);
        }
        let fresh = n.saturating_sub(self.idle);
        if fresh > 0 && (!make || fresh > self.capacity.saturating_sub(self.live())) {
            return Err(AcquireError::Exhausted);
        }
        self.idle -= n - fresh;
        self.created += fresh;
        self.in_use += n;
        Ok(())
    }

    fn attach(&mut self) -> Result<(), AcquireError> {
        if self.closed {
            return Err(AcquireError::Closed);
        }
        // Idle objects have their place under the bound, and are not dropped for a new one.
        if self.live() >= self.capacity {
            return Err(AcquireError::Exhausted);
        }
        self.created += 1;
        self.in_use += 1;
        Ok(())
    }

    /// `n` objects come back, of which `spoiled` are not fit to be kept.
    fn release(&mut self, n: usize, spoiled: usize) {
        self.discarded += spoiled;
        self.in_use -= spoiled;
        let surplus = self.surplus();
        let back = n - spoiled;
        self.in_use -= back;
        if self.keeps && !self.closed {
            let room = self.max_idle.saturating_sub(self.idle);
            self.idle += back.saturating_sub(surplus).min(room);
        }
    }

    /// How many are alive beyond the bound, which was lowered.
    fn surplus(&self) -> usize {
        self.live().saturating_sub(self.capacity)
    }

    fn set_capacity(&mut self, capacity: Option<usize>) {
        self.capacity = capacity.unwrap_or(usize::MAX);
        self.idle -= self.surplus().min(self.idle);
    }

    fn reserve(&mut self, n: usize) -> usize {
        if self.keeps && !self.closed {
            let missing = n.min(self.max_idle).saturating_sub(self.idle);
            let made = missing.min(self.capacity.saturating_sub(self.live()));
            self.created += made;
            self.idle += made;
        }
        self.idle
    }

    fn close(&mut self) {
        self.closed = true;
        self.idle = 0;
    }
}

/// A pool and its model, side by side.
struct Run<S: Subject> {
    pools: Vec<S>,
    held: Vec<Held<S>>,
    model: Model,
    tally: Arc<Tally>,
    /// The most that one thread caches.
    most_cached: usize,
    /// What each operation gave.
    trace: Vec<String>,
}

impl<S: Subject> Run<S> {
    fn note(&mut self, what: impl Debug) {
        self.trace.push(format!("{what:?}"));
    }

    fn hold(&mut self, mut handle: S::Handle) {
        assert!(handle.text.is_empty(), "left by another: {}", handle.text);
        handle.text.push_str("used");
        self.held.push(Held::One(handle));
    }

    fn hold_if(
        &mut self,
        expected: Result<(), AcquireError>,
        got: Result<S::Handle, AcquireError>,
    ) {
        self.note(expected);
        assert_eq!(got.as_ref().map(|_| ()).map_err(|error| *error), expected);
        if let Ok(handle) = got {
            self.hold(handle);
        }
    }

    fn hold_burst(&mut self, n: usize, mut burst: S::Burst) {
        assert_eq!(burst.len(), n);
        for object in burst.iter_mut() {
            assert!(object.text.is_empty(), "left by another: {}", object.text);
            object.text.push_str("used");
        }
        self.held.push(Held::Many(burst));
    }

    /// The place in `held` that `k` stands for.
    fn at(&self, k: usize) -> Option<usize> {
        (!self.held.is_empty()).then(|| k % self.held.len())
    }

    fn take_one(&mut self, k: usize) -> Option<S::Handle> {
        let at = self.at(k)?;
        if !matches!(self.held[at], Held::One(_)) {
            return None;
        }
        match self.held.swap_remove(at) {
            Held::One(handle) => Some(handle),
            _ => unreachable!(),
        }
    }

    /// How many of those that come back are found to be spoiled then.
    fn spoiled(&self, objects: &[S::Handle]) -> usize {
        match self.model.reset_on {
            ResetOn::Release => objects
                .iter()
                .filter(|object| object.text.capacity() >= SPOILED)
                .count(),
            ResetOn::Acquire => 0,
        }
    }

    fn release(&mut self, at: usize) {
        match self.held.swap_remove(at) {
            Held::One(handle) => {
                let spoiled = self.spoiled(std::slice::from_ref(&handle));
                self.model.release(1, spoiled);
                drop(handle);
            }
            Held::Many(burst) => {
                let spoiled = self.spoiled(&burst);
                self.model.release(burst.len(), spoiled);
                drop(burst);
            }
            Held::Shared(mut handles) => {
                handles.pop();
                if handles.is_empty() {
                    self.model.release(1, 0);
                } else {
                    self.held.push(Held::Shared(handles));
                }
            }
        }
    }

    fn step(&mut self, op: &Op) {
        // On handles, for which no `Pool` is needed.
        match *op {
            Op::Drop(k) => {
                if let Some(at) = self.at(k) {
                    self.release(at);
                }
                return;
            }
            Op::Detach(k) => {
                if let Some(handle) = self.take_one(k) {
                    self.model.in_use -= 1;
                    assert!(S::detach(handle).text.starts_with("used"));
                }
                return;
            }
            Op::Discard(k) => {
                if let Some(handle) = self.take_one(k) {
                    self.model.in_use -= 1;
                    self.model.discarded += 1;
                    S::discard(handle);
                }
                return;
            }
            Op::Spoil(k) => {
                // When the next one who acquires finds out, which that is depends on the order.
                let known = self.model.reset_on == ResetOn::Release;
                if let Some(at) = self.at(k).filter(|_| known) {
                    match &mut self.held[at] {
                        Held::One(object) => object.text.reserve(SPOILED),
                        Held::Many(burst) => {
                            for object in burst.iter_mut().step_by(2) {
                                object.text.reserve(SPOILED);
                            }
                        }
                        Held::Shared(_) => {}
                    }
                }
                return;
            }
            Op::Split(k) => {
                let is_many = |at: &usize| matches!(self.held[*at], Held::Many(_));
                let Some(at) = self.at(k).filter(is_many) else {
                    return;
                };
                if let Held::Many(burst) = self.held.swap_remove(at) {
                    self.held.extend(burst.into_iter().map(Held::One));
                }
                return;
            }
            Op::Share(k) => {
                let Some(at) = self.at(k) else {
                    return;
                };
                match &mut self.held[at] {
                    Held::Shared(handles) => handles.push(handles[0].clone()),
                    Held::One(object) if object.text.capacity() < SPOILED => {
                        let handle = self.take_one(k).unwrap();
                        self.held.push(Held::Shared(vec![S::share(handle)]));
                    }
                    _ => {}
                }
                return;
            }
            Op::PoolOf(k) => {
                let at = self.at(k);
                if let Some(Held::One(handle)) = at.map(|at| &self.held[at]) {
                    let pool = S::pool_of(handle);
                    assert_eq!(pool.is_some(), !self.pools.is_empty());
                    self.pools.extend(pool);
                }
                return;
            }
            _ => {}
        }
        let Some(pool) = self.pools.last().cloned() else {
            return;
        };
        match *op {
            Op::Acquire => {
                // It waits at the bound, and panics on a closed pool.
                if self.model.acquire(1, true).is_ok() {
                    let handle = pool.acquire();
                    self.hold(handle);
                }
            }
            Op::TryAcquire => {
                let expected = self.model.acquire(1, true);
                self.hold_if(expected, pool.try_acquire());
            }
            Op::TryAcquireIdle => {
                let expected = self.model.acquire(1, false);
                self.hold_if(expected, pool.try_acquire_idle());
            }
            Op::AcquireTimeout => {
                let mut expected = self.model.acquire(1, true);
                if expected == Err(AcquireError::Exhausted) {
                    self.model.waits += 1;
                    expected = Err(AcquireError::Timeout);
                }
                self.hold_if(expected, pool.acquire_timeout(Duration::ZERO));
            }
            Op::TryAcquireMany(n) => {
                let expected = self.model.acquire(n, true);
                self.note(expected);
                let got = pool.try_acquire_many(n);
                assert_eq!(got.as_ref().map(|_| ()).map_err(|error| *error), expected);
                if let Ok(burst) = got {
                    self.hold_burst(n, burst);
                }
            }
            Op::AcquireMany(n) => {
                if self.model.acquire(n, true).is_ok() {
                    let burst = pool.acquire_many(n);
                    self.hold_burst(n, burst);
                }
            }
            Op::LeaveQueue(n) => {
                let mut expected = Some(self.model.acquire(n, true));
                if expected == Some(Err(AcquireError::Exhausted)) && n <= self.model.capacity {
                    self.model.waits += 1;
                    // What room there was it has taken, and given back.
                    let room = self.model.capacity.saturating_sub(self.model.live());
                    self.model.created += room;
                    self.model.given_up += room;
                    expected = None;
                }
                self.note(expected);
                match pool.acquire_many_or_leave(n) {
                    Some(Ok(burst)) => {
                        assert_eq!(expected, Some(Ok(())));
                        self.hold_burst(n, burst);
                    }
                    Some(Err(error)) => assert_eq!(expected, Some(Err(error))),
                    None => assert_eq!(expected, None),
                }
            }
            Op::Enter(fills) => {
                let created = self.model.created;
                let expected = self.model.acquire(1, true);
                self.note(expected);
                let is_vacant = self.model.created > created;
                let got = pool.enter(|| fills.then(|| self.tally.object()));
                match got {
                    Ok(Some(handle)) => {
                        assert!(expected.is_ok() && (fills || !is_vacant));
                        self.hold(handle);
                    }
                    Ok(None) => {
                        assert!(expected.is_ok() && is_vacant && !fills);
                        self.model.in_use -= 1;
                        self.model.given_up += 1;
                    }
                    Err(error) => assert_eq!(expected, Err(error)),
                }
            }
            Op::Attach => {
                let expected = self.model.attach();
                self.note(expected);
                match pool.attach(self.tally.object()) {
                    Ok(handle) => {
                        assert_eq!(expected, Ok(()));
                        self.hold(handle);
                    }
                    Err(refused) => {
                        assert_eq!(Err(refused.reason()), expected);
                        self.model.refused += 1;
                    }
                }
            }
            Op::Reserve(n) => {
                let expected = self.model.reserve(n);
                self.note(expected);
                assert_eq!(pool.reserve(n), expected);
            }
            Op::Trim(keep) => {
                self.model.idle = self.model.idle.min(keep);
                pool.trim(keep);
                assert_eq!(pool.stats().cached, 0);
            }
            Op::Drain(take) => {
                let expected = std::mem::take(&mut self.model.idle);
                self.note(expected);
                assert_eq!(pool.drain(take), expected);
            }
            Op::Flush => {
                pool.flush();
                assert_eq!(pool.stats().cached, 0);
            }
            Op::Retain(n) => {
                let idle = self.model.idle;
                self.model.idle -= idle / n;
                let mut looks = 0;
                let dropped = pool.retain(|_| {
                    looks += 1;
                    looks % n != 0
                });
                assert_eq!((looks, dropped), (idle, idle / n));
            }
            Op::SetCapacity(capacity) => {
                self.model.set_capacity(capacity);
                pool.set_capacity(capacity);
            }
            Op::WaitIdle => {
                let expected = match self.model.in_use {
                    0 => Ok(()),
                    in_use => Err(in_use),
                };
                assert_eq!(pool.wait_idle(), expected);
            }
            Op::Close => {
                self.model.close();
                pool.close();
            }
            Op::ClonePool => self.pools.push(pool.clone()),
            Op::DropPool => {
                if self.pools.len() > 1 {
                    self.pools.swap_remove(0);
                }
            }
            Op::DropAllPools => {
                self.model.close();
                drop(pool);
                self.pools.clear();
            }
            _ => unreachable!("done above"),
        }
    }

    /// What is true after each step.
    fn check(&mut self) {
        let model = &self.model;
        assert!(model.surplus() == 0 || model.idle == 0);
        assert_eq!(self.tally.alive(), model.live());
        assert_eq!(
            self.tally.created() + model.given_up,
            model.created + model.refused
        );
        let Some(pool) = self.pools.first() else {
            return;
        };
        let stats = pool.stats();
        assert_eq!(
            stats.created - stats.destroyed,
            stats.idle + stats.in_use,
            "{stats:?}"
        );
        let counts = (stats.idle, stats.in_use, stats.created, stats.discarded);
        let expected = (model.idle, model.in_use, model.created, model.discarded);
        assert_eq!(counts, expected, "{stats:?}");
        assert_eq!(stats.waits, model.waits);
        assert_eq!(stats.capacity.unwrap_or(usize::MAX), model.capacity);
        assert_eq!((pool.idle(), pool.in_use()), (stats.idle, stats.in_use));
        assert!(stats.idle <= model.max_idle, "{stats:?}");
        assert!(
            stats.cached <= self.most_cached.min(stats.idle),
            "{stats:?}"
        );
        self.trace.push(format!("{counts:?}"));
    }
}

/// Runs `ops` on a pool and its model, then lets go of everything; gives what each operation gave.
fn run<S: Subject>(
    ops: &[Op],
    pool: S,
    tally: Arc<Tally>,
    model: Model,
    most_cached: usize,
) -> Vec<String> {
    let mut run = Run {
        pools: vec![pool],
        held: Vec::new(),
        model,
        tally,
        most_cached,
        trace: Vec::new(),
    };
    run.check();
    for op in ops {
        run.step(op);
        run.check();
    }
    while !run.held.is_empty() {
        run.release(0);
        run.check();
    }
    run.pools.clear();
    assert_eq!(run.tally.alive(), 0);
    run.trace
}

macro_rules! build {
    ($builder:expr, $choices:expr) => {{
        let choices: &Choices = $choices;
        let mut builder = $builder.prefill(choices.prefill).reset_on(choices.reset_on);
        if let Some(capacity) = choices.capacity {
            builder = builder.capacity(capacity);
        }
        if let Some(max_idle) = choices.max_idle {
            builder = builder.max_idle(max_idle);
        }
        if let Some(grow_by) = choices.grow_by {
            builder = builder.grow_by(grow_by);
        }
        builder.build().unwrap()
    }};
}

fn run_on(backend: Backend, choices: &Choices, ops: &[Op]) -> Vec<String> {
    let tally = Tally::new();
    let mut builder = Pool::builder_for(Frugal(tally.clone()))
        .backend(backend)
        .recall(choices.recall);
    let mut most_cached = 0;
    if backend == Backend::Batched {
        // Two batches have to fit; a limit for which none does is left to the pool, which keeps none.
        let most = choices.max_idle.map_or(usize::MAX, |max_idle| max_idle / 2);
        let batch_size = choices.batch_size.min(most);
        if batch_size > 0 {
            builder = builder.batch_size(batch_size);
        }
        most_cached = 2 * batch_size;
    }
    let pool = build!(builder, choices);
    run(
        ops,
        pool,
        tally,
        Model::new(choices, keeps(backend)),
        most_cached,
    )
}

fn run_unsync(choices: &Choices, ops: &[Op]) -> Vec<String> {
    let tally = Tally::new();
    let pool = build!(unsync::Pool::builder_for(Frugal(tally.clone())), choices);
    run(ops, pool, tally, Model::new(choices, true), 0)
}

fn config(cases: usize) -> ProptestConfig {
    ProptestConfig {
        cases: u32::try_from(scaled(cases)).unwrap(),
        // What is found becomes a scenario with a name.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn heap_does_as_the_model(choices in choices(), ops in ops(op())) {
        run_on(Backend::Heap, &choices, &ops);
    }

    #[test]
    fn mutex_does_as_the_model(choices in choices(), ops in ops(op())) {
        run_on(Backend::Mutex, &choices, &ops);
    }

    #[test]
    fn queue_does_as_the_model(choices in choices(), ops in ops(op())) {
        run_on(Backend::Queue, &choices, &ops);
    }

    #[test]
    fn batched_does_as_the_model(choices in choices(), ops in ops(op())) {
        run_on(Backend::Batched, &choices, &ops);
    }

    #[test]
    fn the_pool_for_one_thread_does_as_the_model(
        choices in choices(),
        ops in ops(op_of_one_thread()),
    ) {
        run_unsync(&choices, &ops);
    }
}

proptest! {
    #![proptest_config(config(50))]

    /// Against the simplest of them; with what all of them can do, the pool for one thread too.
    #[test]
    fn backends_agree(choices in choices(), ops in ops(op()), common in ops(op_of_one_thread())) {
        let oracle = run_on(Backend::Mutex, &choices, &ops);
        prop_assert_eq!(&run_on(Backend::Queue, &choices, &ops), &oracle);
        prop_assert_eq!(&run_on(Backend::Batched, &choices, &ops), &oracle);
        let oracle = run_on(Backend::Mutex, &choices, &common);
        prop_assert_eq!(&run_on(Backend::Batched, &choices, &common), &oracle);
        prop_assert_eq!(&run_unsync(&choices, &common), &oracle);
    }
}

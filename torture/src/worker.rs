//! What one thread does in its life: steps chosen by its dice.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use std::{iter, mem};

use pool_core::{AcquireError, Entry, Pooled, SharedPooled, TrimPolicy, VacantEntry, unsync};

use crate::alarm::{self, Scripted, check, closed_may_panic, fail, must_be_scripted};
use crate::body::{Body, Hooks, bursting, reenter_with};
use crate::book::{Book, FORGOTTEN, MAIL, Owner, SHARED};
use crate::dice::{chance, pick, roll};
use crate::jolt;
use crate::plan::{Plan, TorturePool};
use crate::round::{Handle, Happened, Held, Many, Round, Site};

thread_local! {
    /// What the thread holds until its very end.
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept(Vec::new())) };
}

struct Kept(Vec<Box<dyn Any>>);

impl Drop for Kept {
    fn drop(&mut self) {
        // A panic that left a thread-local's destructor would end the process.
        for kept in self.0.drain(..) {
            survive(|| drop(kept));
        }
    }
}

fn keep(value: impl Any) {
    KEPT.with_borrow_mut(|kept| kept.0.push(Box::new(value)));
}

/// Runs `f`, which may panic as hooks and threads are told to; `None` if it did.
fn survive<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f))
        .map_err(|payload| must_be_scripted(&*payload))
        .ok()
}

type Vacant<const WORDS: usize> = VacantEntry<Body<WORDS>, Hooks<WORDS>>;

type Pools<const WORDS: usize> = Rc<RefCell<Vec<Option<TorturePool<WORDS>>>>>;

struct Worker<'a, const WORDS: usize> {
    round: &'a Round<WORDS>,
    me: Owner,
    /// This thread's hold on each pool of the round.
    pools: Pools<WORDS>,
    held: Vec<Held<WORDS>>,
    /// Objects that left a pool.
    outside: Vec<Body<WORDS>>,
    /// Places for objects, and the books of their pools.
    vacant: Vec<(Vacant<WORDS>, Arc<Book>)>,
}

/// Takes up to `steps` steps, calls `after` with how many are left for those that come after, and ends.
pub(crate) fn live<const WORDS: usize>(
    round: &Round<WORDS>,
    me: Owner,
    steps: usize,
    after: impl FnOnce(usize),
) {
    let enlisted = jolt::enlist();
    // The thread-local is ended after the pool's own, or before.
    if chance(500) {
        KEPT.with(|_| ());
    }
    let fronts = round.sites.iter().map(|site| site.front().clone());
    let pools: Pools<WORDS> = Rc::new(RefCell::new(fronts.collect()));
    reenter_with(Some(reentry(&pools, me)));
    let mut worker = Worker {
        round,
        me,
        pools,
        held: Vec::new(),
        outside: Vec::new(),
        vacant: Vec::new(),
    };
    let mine = match roll(4) {
        0 => steps,
        1 => steps.min(1 + roll(8)),
        _ => steps.min(1 + roll(steps)),
    };
    for _ in 0..mine {
        if survive(|| worker.step()).is_none() {
            Happened::count(&round.happened.panics);
        }
        alarm::step();
    }
    worker.end();
    drop(enlisted);
    after(steps - mine);
}

/// What a hook on this thread does to use a pool.
fn reentry<const WORDS: usize>(pools: &Pools<WORDS>, me: Owner) -> Rc<dyn Fn()> {
    let pools = pools.clone();
    Rc::new(move || {
        let Ok(pools) = pools.try_borrow() else {
            return;
        };
        let Some(pool) = &pools[roll(pools.len())] else {
            return;
        };
        match roll(6) {
            0 => drop(pool.stats()),
            1 => pool.flush(),
            2 => pool.trim(roll(8)),
            3 => {
                let burst = bursting(|| pool.try_acquire_many(2));
                if let Ok(mut burst) = burst {
                    burst.iter_mut().for_each(|object| object.claim(me));
                    burst.iter().for_each(|object| object.yield_up(me));
                }
            }
            _ => {
                if let Ok(mut object) = pool.try_acquire() {
                    object.claim(me);
                    object.yield_up(me);
                }
            }
        }
    })
}

impl<const WORDS: usize> Worker<'_, WORDS> {
    fn happened(&self) -> &Happened {
        &self.round.happened
    }

    fn step(&mut self) {
        match roll(100) {
            0..28 => self.acquire(),
            28..32 => self.enter(),
            32..40 => self.acquire_many(),
            40..62 => self.release(),
            62..66 => self.send(),
            66..72 => self.receive(),
            72..75 => self.share(),
            75..77 => self.take_out(),
            77..79 => self.attach(),
            79 => self.discard(),
            80..82 => self.exchange(),
            82..84 => self.raw(),
            84..86 => self.panic_holding(),
            86 => self.private(),
            87 => self.private_unsync(),
            88 => self.fill_or_leave(),
            89 => self.keep_or_forget(),
            90..92 => self.hold_or_let_go(),
            92..96 => self.look(),
            _ => self.tidy(),
        }
    }

    /// A pool of the round, if this thread still has it.
    fn with_pool<R>(&self, f: impl FnOnce(&TorturePool<WORDS>, &Site<WORDS>) -> R) -> Option<R> {
        let at = roll(self.round.sites.len());
        let pools = self.pools.borrow();
        pools[at]
            .as_ref()
            .map(|pool| f(pool, &self.round.sites[at]))
    }

    fn note<R>(&self, result: Result<R, AcquireError>) -> Option<R> {
        let happened = self.happened();
        match result {
            Ok(object) => return Some(object),
            Err(AcquireError::Exhausted) => Happened::count(&happened.exhausted),
            Err(AcquireError::Timeout) => Happened::count(&happened.timeouts),
            Err(AcquireError::Closed) => Happened::count(&happened.closed),
            Err(error) => unreachable!("no pool here bounds its waiters: {error}"),
        }
        None
    }

    fn acquire(&mut self) {
        let object = self.with_pool(|pool, site| {
            if site.plan.gate {
                self.pass_gate(pool, &site.plan);
                return None;
            }
            let got = match roll(12) {
                0 => pool.try_acquire_idle(),
                1 => pool.acquire_timeout(Duration::from_micros(roll(1_500) as u64)),
                2 => self.poll_a_while(pool.acquire_async())?,
                3 if site.plan.capacity.is_none() => Ok(closed_may_panic(|| pool.acquire())),
                _ => pool.try_acquire(),
            };
            let mut object = self.note(got)?;
            object.claim(self.me);
            Some(object)
        });
        self.held.extend(object.flatten().map(Held::One));
        if self.held.len() > 24 {
            self.release();
        }
    }

    /// Waits without a limit: who has an object of such a pool gives it back before anything else.
    fn pass_gate(&self, pool: &TorturePool<WORDS>, plan: &Plan) {
        let capacity = plan.capacity.unwrap_or(1);
        let got = match roll(5) {
            0 => pool.acquire_timeout(Duration::from_millis(50)),
            1 => block_on(pool.acquire_async()),
            2 => {
                let n = roll(capacity.min(5) + 1);
                // More than the bound that another thread has set could never be had.
                let burst = bursting(|| match plan.resizes {
                    true => self.note(block_on(pool.acquire_many_async(n))),
                    false => Some(closed_may_panic(|| pool.acquire_many(n))),
                });
                let Some(mut burst) = burst else {
                    return;
                };
                burst.iter_mut().for_each(|object| object.claim(self.me));
                self.linger();
                burst.iter().for_each(|object| object.yield_up(self.me));
                return;
            }
            _ => Ok(closed_may_panic(|| pool.acquire())),
        };
        if let Some(mut object) = self.note(got) {
            object.claim(self.me);
            self.linger();
            object.yield_up(self.me);
        }
    }

    fn linger(&self) {
        if chance(20) {
            thread::sleep(Duration::from_micros(roll(100) as u64));
        }
    }

    /// Polls an acquire a few times; dropped before it is ready, it is cancelled.
    fn poll_a_while<F: Future>(&self, acquire: F) -> Option<F::Output> {
        let mut acquire = pin!(acquire);
        let waker = waker();
        for _ in 0..1 + roll(4) {
            match acquire.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(got) => return Some(got),
                Poll::Pending => thread::park_timeout(Duration::from_micros(roll(300) as u64)),
            }
        }
        Happened::count(&self.happened().cancelled);
        None
    }

    fn acquire_many(&mut self) {
        let burst = self.with_pool(|pool, site| {
            if site.plan.gate {
                self.pass_gate(pool, &site.plan);
                return None;
            }
            let n = roll(if chance(100) { 64 } else { 8 });
            let time = Duration::from_micros(roll(1_000) as u64);
            let burst = bursting(|| match roll(6) {
                0 => Some(pool.acquire_many_timeout(n, time)),
                1 => self.poll_a_while(pool.acquire_many_async(n)),
                _ => Some(pool.try_acquire_many(n)),
            });
            let mut burst = self.note(burst?)?;
            check(burst.len() == n, || {
                format!("a burst of {n} has {}", burst.len())
            });
            burst.iter_mut().for_each(|object| object.claim(self.me));
            Some(burst)
        });
        self.held.extend(burst.flatten().map(Held::Many));
    }

    /// Acquires an object, or a place for one.
    fn enter(&mut self) {
        let entry = self.with_pool(|pool, site| {
            if site.plan.gate {
                self.pass_gate(pool, &site.plan);
                return None;
            }
            let entry = match roll(4) {
                0 => pool.entry_timeout(Duration::from_micros(roll(1_000) as u64)),
                1 => self.poll_a_while(pool.entry_async())?,
                _ => pool.try_entry(),
            };
            Some((self.note(entry)?, site.book.clone()))
        });
        match entry.flatten() {
            None => {}
            Some((Entry::Idle(mut object), _)) => {
                object.claim(self.me);
                self.held.push(Held::One(object));
            }
            Some((Entry::Vacant(vacant), book)) => {
                Happened::count(&self.happened().vacant);
                self.vacant.push((vacant, book));
            }
        }
        if self.vacant.len() > 4 || chance(700) {
            self.fill_or_leave();
        }
    }

    /// Makes an object in a place that the thread has, or gives the place up.
    fn fill_or_leave(&mut self) {
        if self.vacant.is_empty() {
            return;
        }
        let (vacant, book) = self.vacant.swap_remove(roll(self.vacant.len()));
        let mut handle = match roll(8) {
            0 | 1 => return drop(vacant),
            2 => return keep(vacant),
            3 => {
                let made = Entry::Vacant(vacant).or_try_insert_with(|| {
                    if chance(500) {
                        Err(())
                    } else {
                        Ok(Body::outside(&book))
                    }
                });
                match made {
                    Ok(handle) => handle,
                    Err(()) => return,
                }
            }
            4 => {
                let turn = roll(3);
                let made = Entry::Vacant(vacant).or_try_insert_async(async || match turn {
                    0 => Ok(Body::outside(&book)),
                    1 => Err(()),
                    _ => std::future::pending().await,
                });
                match pin!(made).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(Ok(handle)) => handle,
                    Poll::Ready(Err(())) | Poll::Pending => return,
                }
            }
            5 => vacant.insert_with(|place| {
                if chance(300) {
                    panic_any(Scripted);
                }
                place.write(Body::outside(&book))
            }),
            _ => vacant.insert(Body::outside(&book)),
        };
        handle.claim_attached(self.me);
        self.held.push(Held::One(handle));
    }

    fn one_held(&mut self) -> Option<Held<WORDS>> {
        if self.held.is_empty() {
            return None;
        }
        let at = roll(self.held.len());
        Some(self.held.swap_remove(at))
    }

    fn one_handle(&mut self) -> Option<Handle<WORDS>> {
        match self.one_held()? {
            Held::One(handle) => Some(handle),
            other => {
                self.held.push(other);
                None
            }
        }
    }

    fn release(&mut self) {
        if let Some(held) = self.one_held() {
            drop(self.leaving(held));
        }
    }

    /// Notes that `held` is about to go back.
    fn leaving(&self, held: Held<WORDS>) -> Held<WORDS> {
        match &held {
            Held::One(handle) => handle.yield_up(self.me),
            Held::Many(burst) => burst.iter().for_each(|handle| handle.yield_up(self.me)),
            Held::Shared(handle) => handle.assert_shared(),
            Held::Raw(_) => fail("a raw pointer is held"),
        }
        held
    }

    fn pass_on(&self, held: &Held<WORDS>, from: Owner, to: Owner) {
        match held {
            Held::One(handle) => handle.hand(from, to),
            Held::Many(burst) => burst.iter().for_each(|handle| handle.hand(from, to)),
            Held::Shared(handle) => handle.assert_shared(),
            Held::Raw(_) => fail("a raw pointer is held"),
        }
    }

    fn send(&mut self) {
        let Some(held) = self.one_held() else {
            return;
        };
        self.pass_on(&held, self.me, MAIL);
        self.post(held);
    }

    fn post(&mut self, held: Held<WORDS>) {
        if let Err(held) = self.round.send(held) {
            let held = held.cooked();
            self.pass_on(&held, MAIL, self.me);
            self.held.push(held);
        }
    }

    fn receive(&mut self) {
        let Some(held) = self.round.receive() else {
            return;
        };
        self.pass_on(&held, MAIL, self.me);
        self.held.push(held);
    }

    /// Makes a handle shared, sends clones away, and changes the object if it is alone again.
    fn share(&mut self) {
        let Some(held) = self.one_held() else {
            return;
        };
        let shared = match held {
            Held::One(handle) => {
                handle.hand(self.me, SHARED);
                Pooled::into_shared(handle)
            }
            Held::Shared(shared) => shared,
            other => return self.held.push(other),
        };
        for _ in 0..roll(4) {
            let _ = self.round.send(Held::Shared(shared.clone()));
        }
        match SharedPooled::try_unwrap(shared) {
            Ok(handle) => {
                handle.hand(SHARED, self.me);
                self.held.push(Held::One(handle));
            }
            Err(shared) => {
                check(SharedPooled::handles(&shared) > 0, || "no handle".into());
                self.held.push(Held::Shared(shared));
            }
        }
    }

    fn take_out(&mut self) {
        if let Some(handle) = self.one_handle() {
            handle.move_out(self.me);
            self.outside.push(Pooled::detach(handle));
        }
        if self.outside.len() > 8 {
            self.outside.clear();
        }
    }

    /// Has a pool adopt an object: one that it had before, or one made elsewhere.
    fn attach(&mut self) {
        let at = roll(self.round.sites.len());
        let book = &self.round.sites[at].book;
        let before = self
            .outside
            .iter()
            .position(|body| Arc::ptr_eq(body.book(), book));
        let body = match before {
            Some(before) => self.outside.swap_remove(before),
            None => Body::outside(book),
        };
        let pools = self.pools.borrow();
        let Some(pool) = &pools[at] else {
            return;
        };
        match pool.attach(body) {
            Ok(mut handle) => {
                handle.claim_attached(self.me);
                if self.round.sites[at].plan.gate {
                    handle.yield_up(self.me);
                    drop(handle);
                } else {
                    self.held.push(Held::One(handle));
                }
            }
            Err(error) => self.outside.push(error.into_inner()),
        }
    }

    fn discard(&mut self) {
        if let Some(handle) = self.one_handle() {
            handle.give_up(self.me);
            Pooled::discard(handle);
        }
    }

    /// Exchanges handles between what is held, so that bursts have objects of other pools.
    fn exchange(&mut self) {
        let mut bursts: Vec<&mut Many<WORDS>> = Vec::new();
        let mut handles: Vec<&mut Handle<WORDS>> = Vec::new();
        for held in &mut self.held {
            match held {
                Held::Many(burst) if !burst.is_empty() => bursts.push(burst),
                Held::One(handle) => handles.push(handle),
                _ => {}
            }
        }
        if let ([first, .., last], true) = (&mut bursts[..], chance(500)) {
            mem::swap(&mut first[0], &mut last[0]);
        } else if let (Some(burst), Some(handle)) = (bursts.pop(), handles.pop()) {
            let at = roll(burst.len());
            mem::swap(&mut burst[at], handle);
        }
    }

    /// Sends an object as a raw pointer.
    fn raw(&mut self) {
        if let Some(handle) = self.one_handle() {
            handle.hand(self.me, MAIL);
            self.post(Held::Raw(Pooled::into_raw(handle) as usize));
        }
    }

    /// The thread panics, and what it holds goes back while it unwinds.
    fn panic_holding(&mut self) {
        let mut falling = Vec::new();
        for _ in 0..1 + roll(3) {
            let held = self.one_held();
            falling.extend(held.map(|held| self.leaving(held)));
        }
        panic_any(Scripted);
    }

    /// A pool of this thread's own, that ends before what was acquired from it, or after.
    fn private(&mut self) {
        let plan = Plan::roll(&self.round.backends);
        let (pool, book) = plan.build::<WORDS>(self.round.number());
        self.round.keep(plan.backend.name(), book);
        for _ in 0..roll(12) {
            if let Some(Ok(mut object)) = survive(|| pool.try_acquire()) {
                object.claim(self.me);
                self.held.push(Held::One(object));
            }
        }
        match roll(3) {
            0 => drop(pool),
            1 => keep(pool),
            _ => {
                self.release();
                drop(pool);
            }
        }
    }

    /// The same of the pool for one thread.
    fn private_unsync(&mut self) {
        let plan = Plan::roll(&self.round.backends);
        let (pool, book) = plan.build_unsync::<WORDS>(self.round.number());
        self.round.keep("unsync", book.clone());
        let me = self.me;
        let mut held = Vec::new();
        for _ in 0..roll(24) {
            match roll(10) {
                8 => {
                    survive(|| pool.retain(|_| !chance(200)));
                }
                9 => match survive(|| pool.try_entry()) {
                    Some(Ok(unsync::Entry::Vacant(vacant))) if chance(500) => {
                        let mut object = vacant.insert(Body::outside(&book));
                        object.claim_attached(me);
                        held.push(object);
                    }
                    Some(Ok(unsync::Entry::Idle(mut object))) => {
                        object.claim(me);
                        held.push(object);
                    }
                    _ => {}
                },
                0..5 => {
                    if let Some(Ok(mut object)) = survive(|| pool.try_acquire()) {
                        object.claim(me);
                        held.push(object);
                    }
                }
                5 => {
                    survive(|| pool.trim(roll(4)));
                }
                _ if held.is_empty() => {}
                _ => {
                    let object: unsync::Pooled<_, _> = held.swap_remove(roll(held.len()));
                    object.yield_up(me);
                    survive(|| drop(object));
                }
            }
        }
        let stats = pool.stats();
        check(
            (stats.in_use, stats.discarded) == (held.len(), book.rejected())
                && stats.in_use + stats.idle == book.alive(),
            || format!("{} are held of\n{stats:?}\n{plan:?}", held.len()),
        );
        held.iter().for_each(|object| object.yield_up(me));
        if chance(500) {
            drop(pool);
            drop(held);
        } else {
            drop(held);
            drop(pool);
        }
    }

    /// Holds something until the thread ends, or for ever.
    fn keep_or_forget(&mut self) {
        if self.round.leaky && chance(300) {
            if let Some(handle) = self.one_handle() {
                handle.hand(self.me, FORGOTTEN);
                Happened::count(&self.happened().forgotten);
                mem::forget(handle);
            }
        } else if let Some(held) = self.one_held() {
            keep(self.leaving(held));
        }
    }

    /// One hold on a pool more or less; the last less ends the pool.
    fn hold_or_let_go(&mut self) {
        let at = roll(self.round.sites.len());
        if chance(900) {
            let another = self.pools.borrow()[at].clone();
            if chance(500) {
                keep(another);
            }
            return;
        }
        let mine = self.pools.borrow_mut()[at].take();
        // Now and then the pool is to end, not just this thread's part in it.
        let front = chance(300).then(|| self.round.sites[at].front().take());
        drop(mine);
        drop(front);
    }

    /// Looks at what can be said at any time.
    fn look(&mut self) {
        self.with_pool(|pool, site| {
            let stats = pool.stats();
            check(
                stats.cached <= stats.idle && stats.destroyed <= stats.created,
                || format!("{stats:?}"),
            );
            let (now, most) = (pool.capacity(), site.plan.capacity);
            check(now == most || site.plan.resizes && now <= most, || {
                "capacity".into()
            });
            let holders = pool.holders();
            check(
                holders.is_sorted_by_key(|holder| holder.since)
                    && (site.plan.tracks_holders || holders.is_empty()),
                || format!("{holders:?}"),
            );
        });
        let handle = match self.held.last() {
            Some(Held::One(handle)) => Some(handle),
            _ => None,
        };
        if let Some((handle, pool)) =
            handle.and_then(|handle| Some((handle, Pooled::pool(handle)?)))
        {
            let theirs = Arc::as_ptr(&pool.lifecycle().0);
            check(theirs == Arc::as_ptr(handle.book()), || {
                "a handle names another pool".into()
            });
        }
    }

    /// What is rare and concerns the whole pool.
    fn tidy(&mut self) {
        let drained = self.with_pool(|pool, site| {
            match roll(12) {
                8 => self.resize(pool, &site.plan),
                9 => self.retain(pool),
                10 => self.wait_idle(pool),
                0 | 1 => pool.flush(),
                2 => pool.trim(roll(12)),
                3 => {
                    let policy = TrimPolicy::idle_for(Duration::from_micros(roll(500) as u64));
                    // A clock that jumps, both ways.
                    let now = Instant::now() + Duration::from_millis(roll(3) as u64);
                    pool.trim_by(&policy.min_idle(roll(4)), now);
                }
                4 | 5 => {
                    pool.reserve(roll(10));
                }
                6 if site.plan.closes && chance(40) => pool.close(),
                6 => {}
                _ => return self.drain(pool, site),
            }
            Vec::new()
        });
        self.outside.extend(drained.into_iter().flatten());
    }

    /// Moves the bound, to no more than what it was at first.
    fn resize(&self, pool: &TorturePool<WORDS>, plan: &Plan) {
        let Some(most) = plan.capacity.filter(|_| plan.resizes) else {
            return;
        };
        Happened::count(&self.happened().resized);
        if chance(200) {
            // Paused, and not for ever, whatever is dropped meanwhile.
            survive(|| pool.set_capacity(Some(0)));
            self.linger();
        }
        pool.set_capacity(Some(if chance(300) { most } else { 1 + roll(most) }));
    }

    fn retain(&self, pool: &TorturePool<WORDS>) {
        Happened::count(&self.happened().retained);
        let (drops, panics) = (pick(&[0, 300, 1_000]), pick(&[0, 0, 50]));
        let dropped = pool.retain(|_| {
            if chance(100) {
                self.linger();
                if let Ok(mut object) = pool.try_acquire_idle() {
                    object.claim(self.me);
                    object.yield_up(self.me);
                }
            }
            if chance(panics) {
                panic_any(Scripted);
            }
            !chance(drops)
        });
        let created = pool.stats().created;
        check(dropped <= created, || {
            format!("{dropped} of {created} were dropped")
        });
    }

    /// Waits for a while until nothing is in use, as a thread or as a task.
    fn wait_idle(&self, pool: &TorturePool<WORDS>) {
        Happened::count(&self.happened().idled);
        if chance(300) {
            self.poll_a_while(pool.wait_idle_async());
            return;
        }
        if let Err(late) = pool.wait_idle(Some(Duration::from_micros(roll(2_000) as u64))) {
            check(late.in_use() > 0, || "nothing came late".into());
        }
    }

    fn drain(&self, pool: &TorturePool<WORDS>, site: &Site<WORDS>) -> Vec<Body<WORDS>> {
        let mut drain = pool.drain();
        let some = roll(drain.len() + 1);
        let bodies: Vec<_> = iter::from_fn(|| {
            // Before its place is free for another.
            let left = drain.len() > 0;
            left.then(|| site.book.leaves());
            let body = drain.next()?;
            body.was_drained();
            Some(body)
        })
        .take(some)
        .collect();
        // The rest is dropped with the iterator, and may panic, which would leak what is returned
        // already.
        drop(drain);
        bodies
    }

    fn end(mut self) {
        for (vacant, _) in mem::take(&mut self.vacant) {
            if chance(500) {
                keep(vacant);
            }
        }
        while let Some(held) = self.one_held() {
            match roll(3) {
                0 => {
                    self.pass_on(&held, self.me, MAIL);
                    if let Err(held) = self.round.send(held) {
                        self.pass_on(&held, MAIL, self.me);
                        let held = self.leaving(held);
                        survive(|| drop(held));
                    }
                }
                1 => keep(self.leaving(held)),
                _ => {
                    let held = self.leaving(held);
                    survive(|| drop(held));
                }
            }
        }
        reenter_with(None);
        let pools = mem::take(&mut *self.pools.borrow_mut());
        for pool in pools {
            if chance(300) {
                keep(pool);
            } else {
                survive(|| drop(pool));
            }
        }
    }
}

/// Wakes a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn waker() -> Waker {
    Arc::new(Unpark(thread::current())).into()
}

/// Runs a future to its end on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = waker();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

//! Objects that the caller makes: entries and vacancies, on every backend.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use pool_core::{
    AcquireError, Backend, Entry, Lifecycle, Pool, Pooled, Recycle, ResetOn, VacantEntry,
    WithoutCreate,
};
use proptest::prelude::*;

use crate::support::{keeps, until, within_reason};

fn pool(backend: Backend, capacity: usize) -> Pool<String> {
    let builder = Pool::<String>::builder();
    builder.backend(backend).capacity(capacity).build().unwrap()
}

fn vacant<L: Recycle<String> + ?Sized>(pool: &Pool<String, L>) -> VacantEntry<String, L> {
    match pool.try_entry().unwrap() {
        Entry::Vacant(vacant) => vacant,
        Entry::Idle(object) => panic!("{object:?} was idle"),
    }
}

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn until_waits<L: Lifecycle<String>>(pool: &Pool<String, L>, waits: usize) {
    until(|| pool.stats().waits >= waits);
}

#[test]
fn a_vacancy_is_in_use_and_becomes_an_object() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let entry = vacant(&pool);
        assert_eq!((pool.in_use(), pool.idle()), (1, 0));
        assert_eq!(pool.try_acquire().unwrap_err(), AcquireError::Exhausted);
        assert_eq!(pool.try_entry().unwrap_err(), AcquireError::Exhausted);
        let timeout = pool.entry_timeout(Duration::from_millis(1));
        assert_eq!(timeout.unwrap_err(), AcquireError::Timeout);

        let object = entry.insert("made".into());
        assert_eq!((&**object, pool.in_use()), ("made", 1));
        drop(object);
        assert_eq!(matches!(pool.entry(), Ok(Entry::Idle(_))), keeps(backend));

        // Given up, it leaves nothing behind.
        pool.trim(0);
        drop(vacant(&pool));
        assert_eq!((pool.in_use(), pool.idle()), (0, 0));
        let object = vacant(&pool).insert_with(|place| place.write("in place".into()));
        assert_eq!(*object, "in place");
    }
}

#[test]
fn what_fails_or_panics_gives_the_place_back() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let failed = pool.entry().unwrap().or_try_insert_with(|| Err("refused"));
        assert_eq!(failed.unwrap_err(), "refused");
        let panicked =
            std::panic::catch_unwind(|| pool.entry().unwrap().or_insert_with(|| panic!("no luck")));
        assert!(panicked.is_err());
        let panicked =
            std::panic::catch_unwind(|| vacant(&pool).insert_with(|_| panic!("no luck")));
        assert!(panicked.is_err());
        assert_eq!(pool.in_use(), 0);
        assert!(pool.try_acquire().is_ok());
    }
}

#[test]
fn an_async_creation_that_is_cancelled_serves_the_next_waiter() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let slow = async {
            let entry = pool.entry_async().await.unwrap();
            entry
                .or_try_insert_async(async || pending::<Result<String, ()>>().await)
                .await
        };
        let mut slow = Box::pin(slow);
        assert!(poll(slow.as_mut()).is_pending());
        let mut next = pin!(pool.entry_async());
        assert!(poll(next.as_mut()).is_pending());
        drop(slow);
        let Poll::Ready(Ok(entry)) = poll(next.as_mut()) else {
            panic!("{backend}: the next waiter was not served");
        };
        assert_eq!(*entry.or_insert_with(|| "next".into()), "next");
    }
}

#[test]
fn a_vacancy_that_is_dropped_serves_a_thread_that_waits() {
    for backend in Backend::ALL {
        within_reason(move || {
            let pool = pool(backend, 1);
            let entry = vacant(&pool);
            let waiter = thread::spawn({
                let pool = pool.clone();
                move || pool.acquire().len()
            });
            until_waits(&pool, 1);
            drop(entry);
            assert_eq!(waiter.join().unwrap(), 0);
        });
    }
}

#[test]
fn acquires_entries_and_bursts_are_served_in_one_order() {
    for backend in Backend::ALL {
        within_reason(move || {
            let pool = pool(backend, 2);
            let (first, second) = (vacant(&pool), pool.acquire());
            let mut entry = pin!(pool.entry_async());
            let mut acquire = pin!(pool.acquire_async());
            assert!(poll(entry.as_mut()).is_pending() && poll(acquire.as_mut()).is_pending());
            let (done, burst) = mpsc::channel();
            let taker = thread::spawn({
                let pool = pool.clone();
                move || done.send(pool.acquire_many(2).len()).unwrap()
            });
            until_waits(&pool, 3);
            let mut last = pin!(pool.entry_async());
            assert!(poll(last.as_mut()).is_pending());

            drop(first);
            assert!(poll(acquire.as_mut()).is_pending());
            let Poll::Ready(Ok(entry)) = poll(entry.as_mut()) else {
                panic!("{backend}: the first waiter was not served first");
            };
            drop(second);
            let Poll::Ready(Ok(acquired)) = poll(acquire.as_mut()) else {
                panic!("{backend}: the second waiter was not served second");
            };
            drop((entry, acquired));
            assert_eq!(burst.recv(), Ok(2));
            taker.join().unwrap();
            assert!(poll(last.as_mut()).is_ready());
        });
    }
}

#[test]
fn an_object_that_comes_back_does_not_wait_for_a_slow_creation() {
    for backend in Backend::ALL {
        within_reason(move || {
            let (go_on, wait) = mpsc::channel::<()>();
            let (wait, calls) = (Mutex::new(wait), Arc::new(AtomicUsize::new(0)));
            let called = calls.clone();
            let create = move || {
                if calls.fetch_add(1, Ordering::SeqCst) == 1 {
                    wait.lock().unwrap().recv().unwrap();
                }
                String::new()
            };
            let pool = Pool::builder_with(create, String::clear)
                .backend(backend)
                .capacity(2)
                .build()
                .unwrap();
            let held = pool.acquire();
            let spare = pool.try_entry().unwrap();
            let waiter = |pool: &Pool<String, _>| {
                let pool = pool.clone();
                thread::spawn(move || drop(pool.acquire()))
            };
            let slow = waiter(&pool);
            until_waits(&pool, 1);
            let next = waiter(&pool);
            until_waits(&pool, 2);
            // The head of the queue gets the place, and is long about it.
            drop(spare);
            until(|| called.load(Ordering::SeqCst) == 2);
            drop(held);
            next.join().unwrap();
            assert!(!slow.is_finished());
            go_on.send(()).unwrap();
            slow.join().unwrap();
        });
    }
}

#[test]
fn an_entry_may_outlive_the_pool() {
    for backend in Backend::ALL {
        let open = vacant(&pool(backend, 1));
        let object = open.insert("late".into());
        assert_eq!(*object, "late");
        assert!(Pooled::pool(&object).is_none());
        drop(object);
        drop(vacant(&pool(backend, 1)));
        let sent = vacant(&pool(backend, 1));
        thread::spawn(move || drop(sent.insert("elsewhere".into())))
            .join()
            .unwrap();
    }
}

#[test]
fn an_entry_of_a_closed_pool_is_as_a_late_release() {
    for backend in Backend::ALL {
        let pool = pool(backend, 1);
        let entry = vacant(&pool);
        pool.close();
        assert_eq!(pool.try_entry().unwrap_err(), AcquireError::Closed);
        assert_eq!(pool.entry().unwrap_err(), AcquireError::Closed);
        let object = entry.insert("late".into());
        assert_eq!((object.as_str(), pool.in_use()), ("late", 1));
        drop(object);
        assert_eq!((pool.in_use(), pool.idle()), (0, 0));
    }
}

/// Finds what is "old" unfit.
struct Young;

impl Lifecycle<String> for Young {
    fn create(&self) -> String {
        "created".into()
    }

    fn reset(&self, _: &mut String) {}

    fn is_reusable(&self, object: &String) -> bool {
        object != "old"
    }
}

#[test]
fn an_unfit_object_leaves_its_place() {
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let builder = Pool::builder_for(Young).backend(backend).capacity(1);
        let pool = builder.reset_on(ResetOn::Acquire).build().unwrap();
        drop(vacant(&pool).insert("old".into()));
        assert_eq!(pool.idle(), 1);
        let entry = pool.entry().unwrap();
        assert_eq!(
            (pool.idle(), pool.in_use(), pool.stats().discarded),
            (0, 1, 1)
        );
        assert_eq!(*entry.or_insert_with(|| "young".into()), "young");
        let stats = pool.stats();
        assert_eq!(stats.created - stats.destroyed, stats.idle + stats.in_use);
    }
}

#[test]
fn a_pool_that_cannot_create() {
    for backend in Backend::ALL {
        let pool = Pool::<String, _>::builder_without_create(String::clear)
            .backend(backend)
            .capacity(2)
            .build()
            .unwrap();
        let object = vacant(&pool).insert("made".into());
        let other = pool.attach("attached".into()).unwrap();
        assert_eq!(
            pool.try_acquire_idle().unwrap_err(),
            AcquireError::Exhausted
        );
        drop((object, other));
        assert_eq!(pool.try_acquire_idle().is_ok(), keeps(backend));
        let object = pool.entry().unwrap().or_insert_with(String::new);
        assert!(object.is_empty(), "it was not reset");
    }
    fn is_send<P: Send + Sync>(_: &P) {}
    let pool =
        Pool::<String, WithoutCreate<fn(&mut String)>>::builder_without_create(String::clear);
    is_send(&pool.build().unwrap());

    let mut config = pool_core::PoolConfig::default();
    config.prefill = Some(3);
    let builder = Pool::<String, _>::builder_without_create(String::clear).apply(&config);
    let error = builder.build().unwrap_err().to_string();
    assert!(
        error.starts_with("prefill 3 for a pool that cannot create"),
        "{error}"
    );
}

#[test]
fn a_pool_for_one_thread_has_entries() {
    use pool_core::unsync::{Entry, Pool};

    let pool = Pool::<String>::builder().capacity(1).build().unwrap();
    let Ok(Entry::Vacant(vacant)) = pool.try_entry() else {
        panic!("nothing is idle");
    };
    assert_eq!(pool.in_use(), 1);
    assert_eq!(pool.try_entry().unwrap_err(), AcquireError::Exhausted);
    drop(vacant);
    let object = pool.try_entry().unwrap().or_insert_with(|| "made".into());
    assert_eq!(*object, "made");
    drop(object);
    assert!(matches!(pool.try_entry(), Ok(Entry::Idle(_))));
    pool.close();
    assert_eq!(pool.try_entry().unwrap_err(), AcquireError::Closed);
}

/// What is done at random.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enter,
    Acquire,
    Wait,
    WaitForTwo,
    Fill,
    GiveUp(usize),
    Release(usize),
    Cancel(usize),
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Enter),
        2 => Just(Step::Acquire),
        4 => Just(Step::Wait),
        2 => Just(Step::WaitForTwo),
        3 => Just(Step::Fill),
        3 => any::<usize>().prop_map(Step::GiveUp),
        5 => any::<usize>().prop_map(Step::Release),
        3 => any::<usize>().prop_map(Step::Cancel),
        1 => Just(Step::Close),
    ]
}

/// A future of an acquire: how many it wants, and how many it got.
type Acquiring<'a> = Pin<Box<dyn Future<Output = Result<Vec<Pooled<String>>, AcquireError>> + 'a>>;

/// The model: what is held, what is vacant, the waiters in their order. In use is the sum of the first two; no waiter
/// is left while there is room for the first; and none is served before the first.
fn check(backend: Backend, steps: &[Step]) {
    const CAPACITY: usize = 3;
    let pool = pool(backend, CAPACITY);
    let (mut held, mut vacant) = (Vec::new(), Vec::new());
    let mut waiting: VecDeque<(usize, Acquiring<'_>)> = VecDeque::new();
    let mut closed = false;
    for &step in steps {
        match step {
            Step::Enter => match pool.try_entry() {
                Ok(Entry::Idle(object)) => held.push(object),
                Ok(Entry::Vacant(entry)) => vacant.push(entry),
                Err(error) => assert_eq!(error == AcquireError::Closed, closed),
            },
            Step::Acquire => match pool.try_acquire() {
                Ok(object) => held.push(object),
                Err(error) => assert_eq!(error == AcquireError::Closed, closed),
            },
            Step::Wait => waiting.push_back((
                1,
                Box::pin(async {
                    let entry = pool.entry_async().await?;
                    Ok(vec![entry.or_insert_with(String::new)])
                }),
            )),
            Step::WaitForTwo => waiting.push_back((
                2,
                Box::pin(async { Ok(pool.acquire_many_async(2).await?.into_iter().collect()) }),
            )),
            Step::Fill => held.extend(vacant.pop().map(|entry| entry.insert(String::new()))),
            Step::GiveUp(which) if !vacant.is_empty() => {
                drop(vacant.swap_remove(which % vacant.len()));
            }
            Step::Release(which) if !held.is_empty() => {
                drop(held.swap_remove(which % held.len()));
            }
            Step::Cancel(which) if !waiting.is_empty() => {
                drop(waiting.remove(which % waiting.len()));
            }
            Step::Close => {
                pool.close();
                closed = true;
            }
            Step::GiveUp(_) | Step::Release(_) | Step::Cancel(_) => {}
        }
        // Each in its turn, so that one behind another that waits still has nothing.
        let mut left = VecDeque::new();
        for (wants, mut future) in waiting.drain(..) {
            match poll(future.as_mut()) {
                Poll::Ready(Ok(got)) => {
                    assert!(left.is_empty(), "{backend}: served before the first");
                    assert_eq!(got.len(), wants);
                    held.extend(got);
                }
                Poll::Ready(Err(error)) => assert!(closed && error == AcquireError::Closed),
                Poll::Pending => left.push_back((wants, future)),
            }
        }
        waiting = left;
        let used = held.len() + vacant.len();
        assert!(used <= CAPACITY);
        if let Some((wants, _)) = waiting.front() {
            assert!(
                !closed && used + wants > CAPACITY,
                "{backend}: the first waits in vain"
            );
        } else {
            let stats = pool.stats();
            assert_eq!((pool.in_use(), stats.waiting), (used, 0));
            assert!(stats.idle + used <= CAPACITY);
            assert!(!closed || stats.idle == 0);
        }
        assert_eq!(pool.stats().waiting, waiting.len());
    }
    drop((held, vacant, waiting));
    assert_eq!((pool.in_use(), pool.stats().waiting), (0, 0));
}

proptest! {
    #[test]
    fn whatever_is_done_nothing_is_lost_and_the_first_is_served_first(
        steps in proptest::collection::vec(step(), 1..60)
    ) {
        for backend in Backend::ALL {
            check(backend, &steps);
        }
    }
}

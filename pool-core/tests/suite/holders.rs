//! Who holds what: each way to acquire notes where and when, and each way back ends it, on every backend.

use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{
    AcquireError, Backend, Builder, Entry, Holder, Pool, Pooled, ResetOn, SharedPooled,
};

use crate::support::{Script, panic_of, within_reason};

const SHORT: Duration = Duration::from_millis(2);

/// Each backend, with either time of the reset.
fn everywhere(test: impl Fn(Builder<String>)) {
    for backend in Backend::ALL {
        for reset_on in ResetOn::ALL {
            let builder = Pool::<String>::builder();
            test((builder.backend(backend).reset_on(reset_on)).track_holders(true));
        }
    }
}

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// The lines at which the objects in use were acquired, the oldest first.
fn lines(pool: &Pool<String>) -> Vec<u32> {
    let holders = pool.holders();
    assert!(holders.is_sorted_by_key(|holder| holder.since));
    let line = |holder: &Holder| {
        assert_eq!(holder.location.file(), file!());
        holder.location.line()
    };
    holders.iter().map(line).collect()
}

#[track_caller]
fn here() -> u32 {
    Location::caller().line()
}

#[test]
fn every_way_to_acquire_is_noted_where_it_is_called() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        // With none idle, and with one.
        for turn in 0..2 {
            let before = Instant::now();
            macro_rules! noted {
                ($acquire:expr) => {
                    let held = ($acquire, here()).0;
                    assert_eq!(lines(&pool), [here()], "{pool:?}, turn {turn}");
                    assert!(pool.holders()[0].since >= before);
                    drop(held);
                    assert!(pool.holders().is_empty(), "{pool:?}, turn {turn}");
                };
            }
            noted!(pool.acquire());
            noted!(pool.try_acquire().unwrap());
            noted!(pool.acquire_timeout(SHORT).unwrap());
            noted!(ready(pool.acquire_async()).unwrap());
            noted!(pool.acquire_many(1));
            noted!(pool.try_acquire_many(1).unwrap());
            noted!(pool.acquire_many_timeout(1, SHORT).unwrap());
            noted!(ready(pool.acquire_many_async(1)).unwrap());
            noted!(pool.entry().unwrap());
            noted!(pool.try_entry().unwrap());
            noted!(pool.entry_timeout(SHORT).unwrap());
            noted!(ready(pool.entry_async()).unwrap());
            noted!(pool.attach(String::new()).unwrap());
            if pool.idle() > 0 {
                noted!(pool.try_acquire_idle().unwrap());
            }
        }
        assert_eq!(pool.in_use(), 0);
    });
}

#[test]
fn the_oldest_is_the_first() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        let first = pool.acquire();
        let line = here();
        let many = pool.acquire_many(3);
        let last = pool.entry().unwrap();
        assert_eq!(
            lines(&pool),
            [line - 1, line + 1, line + 1, line + 1, line + 2]
        );
        drop(first);
        assert_eq!(lines(&pool), [line + 1, line + 1, line + 1, line + 2]);
        drop((many, last));
        assert!(pool.holders().is_empty());
    });
}

#[test]
fn a_future_is_noted_where_it_was_made() {
    everywhere(|builder| {
        let pool = builder.capacity(1).build().unwrap();
        let held = pool.acquire();
        let mut one = pin!(pool.acquire_async());
        let made = here() - 1;
        let context = &mut Context::from_waker(Waker::noop());
        assert!(one.as_mut().poll(context).is_pending());
        drop(held);
        let Poll::Ready(Ok(handle)) = one.as_mut().poll(context) else {
            panic!("it was not served");
        };
        assert_eq!(lines(&pool), [made]);
        let mut many = pin!(pool.acquire_many_async(1));
        let made = here() - 1;
        assert!(many.as_mut().poll(context).is_pending());
        drop(handle);
        let Poll::Ready(Ok(burst)) = many.as_mut().poll(context) else {
            panic!("it was not served");
        };
        assert_eq!(lines(&pool), [made]);
        drop(burst);
    });
}

#[test]
fn a_place_is_noted_where_its_entry_was_asked_for() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        let vacant = match pool.entry().unwrap() {
            Entry::Vacant(vacant) => vacant,
            Entry::Idle(_) => panic!("none is idle"),
        };
        let asked = here() - 4;
        let since = pool.holders()[0].since;
        assert_eq!(lines(&pool), [asked]);
        let handle = vacant.insert(String::new());
        assert_eq!(lines(&pool), [asked]);
        assert_eq!(pool.holders()[0].since, since);
        let second = pool.entry().unwrap();
        drop(second); // without an object
        assert_eq!(lines(&pool), [asked]);
        drop(handle);
        assert!(pool.holders().is_empty());
    });
}

#[test]
fn a_record_stays_with_its_object() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        let handle = pool.acquire();
        let acquired = here() - 1;
        let since = pool.holders()[0].since;
        let is_kept = || {
            assert_eq!(lines(&pool), [acquired]);
            assert_eq!(pool.holders()[0].since, since);
        };
        let raw = Pooled::into_raw(handle);
        is_kept();
        // SAFETY: from `into_raw`.
        let handle: Pooled<String> = unsafe { Pooled::from_raw(raw) };
        let shared = Pooled::into_shared(handle);
        let another = shared.clone();
        drop(shared);
        is_kept();
        let handle = SharedPooled::try_unwrap(another).unwrap();
        is_kept();
        let handle = thread::spawn(move || handle).join().unwrap();
        is_kept();
        let mut burst = pool.acquire_many(2);
        burst.extend([handle]);
        let handle = burst.pop();
        drop(burst);
        is_kept();
        drop(handle);
        assert!(pool.holders().is_empty());

        let mut shared = Pooled::into_shared(pool.acquire());
        let another = shared.clone();
        let copied = here() + 1;
        SharedPooled::make_mut(&mut shared).push('a');
        assert_eq!(lines(&pool), [copied - 2 - 1, copied]);
        drop((shared, another));
        assert!(pool.holders().is_empty());
    });
}

#[test]
fn every_way_out_ends_the_record() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        drop(Pooled::detach(pool.acquire()));
        assert!(pool.holders().is_empty());
        Pooled::discard(pool.acquire());
        assert!(pool.holders().is_empty());
        let handles: Vec<_> = pool.acquire_many(5).into_iter().collect();
        assert_eq!(pool.holders().len(), 5);
        drop(handles);
        let mut burst = pool.acquire_many(5);
        let other = Pool::<String>::builder()
            .track_holders(true)
            .build()
            .unwrap();
        burst.extend([other.acquire()]);
        burst.swap(1, 5);
        drop(burst);
        assert!(pool.holders().is_empty() && other.holders().is_empty());
        assert_eq!((pool.in_use(), other.in_use()), (0, 0));

        // Forgotten it is still in use, and so it is found.
        let forgotten = here() + 1;
        let raw = Pooled::into_raw(pool.acquire());
        assert_eq!(lines(&pool), [forgotten]);
        // SAFETY: from `into_raw`.
        drop(unsafe { Pooled::<String>::from_raw(raw) });
    });
}

#[test]
fn a_leaked_object_is_not_held() {
    let builder = Pool::<String>::builder().track_holders(true);
    let pool = builder.build().unwrap();
    let leaked: &'static mut String = Pooled::leak(pool.acquire());
    assert_eq!((pool.holders().len(), pool.in_use()), (0, 1));
    // SAFETY: as `into_raw` would have given it, and not used after this.
    drop(unsafe { Pooled::<String>::from_raw(leaked) });
}

#[test]
fn hooks_that_panic_leave_no_record() {
    for backend in Backend::ALL {
        for reset_on in ResetOn::ALL {
            let fails = Arc::new(AtomicBool::new(true));
            let may = |fails: &Arc<AtomicBool>| {
                let fails = fails.clone();
                move || assert!(!fails.load(Ordering::Relaxed), "it fails")
            };
            let (create, reset, judge) = (may(&fails), may(&fails), may(&fails));
            let script = Script::new(move || {
                create();
                7_u32
            });
            let script = script.reset(move |_| reset());
            let script = script.judge(move |_| {
                judge();
                true
            });
            let builder = Pool::builder_for(script).track_holders(true);
            let pool = (builder.backend(backend).reset_on(reset_on))
                .capacity(4)
                .build()
                .unwrap();
            assert_eq!(panic_of(|| drop(pool.acquire())), "it fails");
            assert_eq!(panic_of(|| drop(pool.acquire_many(3))), "it fails");
            assert!(pool.holders().is_empty(), "{backend} {reset_on}");

            let user = || -> u32 { panic!("the user's") };
            let entry = AssertUnwindSafe(pool.entry().unwrap());
            let panicked = catch_unwind(|| drop({ entry }.0.or_insert_with(user)));
            assert!(panicked.is_err() && pool.holders().is_empty());

            for n in [1, 3] {
                fails.store(false, Ordering::Relaxed);
                let held = pool.acquire_many(n);
                fails.store(true, Ordering::Relaxed);
                // On their way back, or once they are acquired again.
                drop(catch_unwind(AssertUnwindSafe(|| drop(held))));
                drop(catch_unwind(AssertUnwindSafe(|| {
                    drop(pool.acquire_many(n));
                })));
                assert!(pool.holders().is_empty(), "{backend} {reset_on}");
            }
            assert_eq!(pool.in_use(), 0, "{backend} {reset_on}");
        }
    }
}

#[test]
fn records_outlive_the_close_and_the_pool() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        let (handle, late) = (pool.acquire(), pool.acquire());
        pool.close();
        assert_eq!(pool.holders().len(), 2);
        drop(handle);
        assert_eq!(pool.holders().len(), 1);
        drop(pool);
        drop(late);
    });
}

#[test]
fn threads_that_come_and_go_leave_nothing() {
    everywhere(|builder| {
        within_reason(move || {
            let pool = builder.capacity(4).build().unwrap();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..300 {
                            let held = pool.acquire();
                            let two = pool.try_acquire_many(2);
                            assert!(pool.holders().len() <= 4);
                            drop((held, two));
                        }
                    });
                }
            });
            assert!(pool.holders().is_empty());
        });
    });
}

#[test]
fn without_it_there_are_none() {
    for backend in Backend::ALL {
        let pool = Pool::<String>::builder().backend(backend).capacity(1);
        let pool = pool.track_holders(false).build().unwrap();
        let held = pool.acquire();
        assert!(pool.holders().is_empty());
        assert!(!format!("{pool:#?}").contains("holders"));
        let error = pool.acquire_timeout(SHORT).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("`track_holders` makes this message say where the oldest was acquired")
        );
        drop(held);
    }
}

#[test]
fn the_alternate_form_of_a_pool_shows_them() {
    everywhere(|builder| {
        let pool = builder.build().unwrap();
        let held = pool.acquire();
        let at = format!("{}:{}:", file!(), here() - 1);
        let shown = format!("{pool:#?}");
        assert!(
            shown.contains("holders: [") && shown.contains(&at),
            "{shown}"
        );
        assert!(!format!("{pool:?}").contains("holders"));
        assert!(pool.holders()[0].to_string().starts_with(&at));
        drop(held);
    });
}

#[test]
fn a_timeout_names_the_oldest() {
    everywhere(|builder| {
        let builder = builder.capacity(2);
        let pool = builder.build().unwrap();
        let held = (pool.acquire(), pool.acquire());
        let at = format!(
            "2 objects were in use, the first acquired at {}:{}:",
            file!(),
            here() - 4
        );
        let one = |error: AcquireError| {
            assert!(error == AcquireError::Timeout && matches!(error, AcquireError::Timeout));
            let message = error.to_string();
            assert!(message.contains(&at), "{message}");
        };
        one(pool.acquire_timeout(SHORT).unwrap_err());
        one(pool.acquire_many_timeout(2, SHORT).unwrap_err());
        one(pool.entry_timeout(SHORT).unwrap_err());
        // Another thread knows nothing of it, and later waits in a pool that tracks nothing are not explained by it.
        let error = pool.acquire_timeout(SHORT).unwrap_err();
        let elsewhere = thread::spawn(move || error.to_string()).join().unwrap();
        assert!(!elsewhere.contains("in use"), "{elsewhere}");
        let plain = Pool::<String>::builder().capacity(1).build().unwrap();
        let last = plain.acquire();
        let error = plain.acquire_timeout(SHORT).unwrap_err();
        assert_eq!(error.to_string(), elsewhere);
        drop((last, held));
    });
}

#[test]
fn a_configuration_may_ask_for_it() {
    let mut config = pool_core::PoolConfig::default();
    config.track_holders = Some(true);
    let pool = Pool::<String>::builder().apply(&config).build().unwrap();
    let held = pool.acquire();
    assert_eq!(pool.holders().len(), 1);
    drop(held);
    // What does not concern a pool for one thread is left out.
    let builder = pool_core::unsync::Pool::<String>::builder();
    assert!(builder.apply(&config).build().is_ok());
}

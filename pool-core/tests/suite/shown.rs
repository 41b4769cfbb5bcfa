//! What `Debug` shows of what users hold: enough to tell in a log what it is and how full.

use pool_core::{Lifecycle, Place, Pool, Poolable, Ready, unsync};

/// Takes a `Place` and a `Ready` to where they can be seen.
#[derive(Debug)]
struct Shown;

impl Lifecycle<u32> for Shown {
    fn create(&self) -> u32 {
        5
    }

    fn reset(&self, _: &mut u32) {}

    fn create_in<'a>(&self, place: Place<'a, u32>) -> Ready<'a, u32> {
        assert_eq!(format!("{place:?}"), "Place { .. }");
        let ready = place.write(self.create());
        assert_eq!(format!("{ready:?}"), "Ready(5)");
        ready
    }
}

#[test]
fn pools_show_their_settings_and_counts() {
    let pool = Pool::<u32>::builder()
        .name("orders")
        .capacity(7)
        .build()
        .unwrap();
    let held = pool.acquire();
    let shown = format!("{pool:?}");
    for part in ["\"orders\"", "Batched", "capacity: Some(7)", "created: 1"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    drop(held);

    let pool = unsync::Pool::<u32>::new();
    drop(pool.acquire());
    assert!(format!("{pool:?}").contains("created: 1"), "{pool:?}");
}

#[test]
fn the_builder_for_one_thread_shows_its_choices() {
    let builder = unsync::Pool::<u32>::builder().capacity(7);
    assert!(format!("{builder:?}").contains("capacity: Some(7)"));
}

#[test]
fn handles_show_what_they_hold() {
    let pool = Pool::<u32>::new();
    let mut one = pool.acquire();
    *one = 3;
    assert_eq!(format!("{one:?}"), "3");
    let mut many = pool.acquire_many(2);
    *many[1] = 4;
    assert_eq!(format!("{many:?}"), "[0, 4]");
    drop((one, many));
    let drain = pool.drain();
    assert_eq!(format!("{drain:?}"), "Drain { len: 3, .. }");
}

#[test]
fn a_drain_says_how_many_are_left() {
    let pool = Pool::<u32>::new();
    pool.reserve(3);
    let mut drain = pool.drain();
    assert_eq!(drain.size_hint(), (3, Some(3)));
    drain.next().unwrap();
    assert_eq!(drain.size_hint(), (2, Some(2)));
}

#[test]
fn lifecycles_and_what_they_are_given_are_shown() {
    let pool = Pool::builder_with(u32::init, |_: &mut u32| ()).build();
    assert_eq!(format!("{:?}", pool.unwrap().lifecycle()), "Hooks { .. }");
    let pool = Pool::builder_for(Shown).build().unwrap();
    assert_eq!(*pool.acquire(), 5);
}

#[cfg(feature = "async")]
#[test]
fn an_acquire_shows_whether_it_waits() {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    let pool = Pool::<u32>::builder().capacity(1).build().unwrap();
    let held = pool.acquire();
    let mut acquire = pin!(pool.acquire_async());
    assert_eq!(format!("{acquire:?}"), "Acquire { waiting: false, .. }");
    let mut context = Context::from_waker(Waker::noop());
    assert!(acquire.as_mut().poll(&mut context).is_pending());
    assert_eq!(format!("{acquire:?}"), "Acquire { waiting: true, .. }");
    drop(held);
    assert!(acquire.as_mut().poll(&mut context).is_ready());
}

//! Handles where a `Box` or an `Arc` goes: passed as what their object is, taken apart and put together again, leaked.

use crate::support;

use std::pin::Pin;

use pool_core::{AcquireError, Backend, Burst, Pool, Poolable, Pooled, SharedPooled, unsync};
use support::panic_of;

fn on_every_backend(test: impl Fn(Backend)) {
    for backend in Backend::ALL {
        test(backend);
    }
}

fn texts(backend: Backend, capacity: usize) -> Pool<String> {
    let builder = Pool::<String>::builder();
    builder.backend(backend).capacity(capacity).build().unwrap()
}

fn text(pool: &Pool<String>, text: &str) -> Pooled<String> {
    let mut handle = pool.acquire();
    handle.push_str(text);
    handle
}

/// Without a newtype that has `AsRef<[u8]>`.
#[test]
fn a_pooled_vec_is_the_owner_of_bytes() {
    let pool = Pool::<Vec<u8>>::builder().capacity(1).build().unwrap();
    let mut packet = pool.acquire();
    packet.extend_from_slice(b"AMZN 3379.09");
    let address = packet.as_slice().as_ptr();
    let bytes = bytes::Bytes::from_owner(packet);
    let price = bytes.slice(5..);
    drop(bytes);
    assert_eq!(price, "3379.09");
    assert_eq!(
        price.as_ptr(),
        address.wrapping_add(5),
        "nothing was copied"
    );
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    drop(price);
    assert_eq!(pool.acquire().as_slice().as_ptr(), address);

    let shared = SharedPooled::from(pool.acquire());
    assert_eq!(bytes::Bytes::from_owner(shared), "");
}

#[test]
fn a_handle_passes_as_what_its_object_passes_as() {
    fn sum(bytes: impl AsRef<[u8]>) -> u32 {
        bytes.as_ref().iter().map(|&byte| u32::from(byte)).sum()
    }
    fn fill(mut bytes: impl AsMut<[u8]>) {
        bytes.as_mut().fill(1);
    }
    let (pool, alone) = (Pool::<Vec<u8>>::new(), unsync::Pool::<Vec<u8>>::new());
    let (mut bytes, mut of_one) = (pool.acquire(), alone.acquire());
    bytes.resize(10, 0);
    of_one.resize(10, 0);
    fill(&mut bytes);
    fill(&mut of_one);
    assert_eq!((sum(&bytes), sum(&of_one)), (10, 10));
    assert_eq!((sum(Pooled::into_shared(bytes)), sum(of_one)), (10, 10));

    let name = text(&Pool::new(), "/proc/none/such");
    assert!(!std::path::Path::new(&*name).exists() && std::fs::File::open(&name).is_err());
    assert_eq!(
        AsRef::<str>::as_ref(&name).len(),
        AsRef::<[u8]>::as_ref(&name).len()
    );
}

#[test]
fn an_address_stays_while_its_handle_moves() {
    on_every_backend(|backend| {
        let pool = texts(backend, 2);
        let (name, other) = (text(&pool, "AMZN"), pool.acquire());
        let address = Pooled::as_ptr(&name);
        let boxed = Box::new(name);
        assert_eq!(Pooled::as_ptr(&boxed), address, "{backend}");
        assert_eq!(format!("{:p}", *boxed), format!("{address:p}"));
        // SAFETY: the handle is there, and nothing changes the object.
        assert_eq!(unsafe { &*address }, "AMZN");
        assert!(Pooled::ptr_eq(&boxed, &boxed) && !Pooled::ptr_eq(&boxed, &other));
        let shared = Pooled::into_shared(*boxed);
        assert_eq!(SharedPooled::as_ptr(&shared.clone()), address);
    });
}

#[test]
fn objects_without_a_size_have_addresses_of_their_own() {
    let pool = Pool::<()>::new();
    let (a, b) = (pool.acquire(), pool.acquire());
    assert!(!Pooled::ptr_eq(&a, &b));
    let alone = unsync::Pool::<()>::new();
    let (a, b) = (alone.acquire(), alone.acquire());
    assert!(!unsync::Pooled::ptr_eq(&a, &b));
}

/// It outlives its pool, whose memory stays for it, and counts as in use while there is a pool.
#[test]
fn what_is_leaked_stays() {
    on_every_backend(|backend| {
        let pool = texts(backend, 2);
        let name: &'static mut String = Pooled::leak(text(&pool, "AMZN"));
        let one = pool.try_acquire().unwrap();
        assert_eq!(
            pool.try_acquire().err(),
            Some(AcquireError::Exhausted),
            "{backend}"
        );
        drop(one);
        pool.trim(0);
        assert_eq!((pool.in_use(), pool.idle()), (1, 0), "{backend}");
        drop(pool);
        std::thread::spawn(move || {
            name.push_str(" 3379.09");
            assert_eq!(name, "AMZN 3379.09");
        })
        .join()
        .unwrap();
    });
    let pool = unsync::Pool::<String>::new();
    let name: &'static mut String = unsync::Pooled::leak(pool.acquire());
    pool.trim(0);
    assert_eq!(pool.in_use(), 1);
    drop(pool);
    name.push_str("AMZN");
    assert_eq!(name, "AMZN");
}

#[test]
fn a_handle_comes_back_from_its_address() {
    on_every_backend(|backend| {
        let pool = texts(backend, 1);
        let raw: *mut String = Pooled::into_raw(text(&pool, "AMZN"));
        // SAFETY: the only pointer to it.
        unsafe { &mut *raw }.push_str(" 3379.09");
        pool.trim(0);
        // SAFETY: from `into_raw`, once.
        let name = unsafe { Pooled::<String>::from_raw(raw) };
        assert_eq!(
            (name.as_str(), pool.in_use()),
            ("AMZN 3379.09", 1),
            "{backend}"
        );
        drop(name);
        assert_eq!(pool.in_use(), 0, "{backend}");
    });
    let pool = unsync::Pool::<String>::new();
    let raw = unsync::Pooled::into_raw(pool.acquire());
    drop(pool);
    // SAFETY: from `into_raw`, once.
    let mut name = unsafe { unsync::Pooled::<String>::from_raw(raw) };
    name.push_str("AMZN");
    assert!(unsync::Pooled::pool(&name).is_none());
}

/// As many as were given, on whatever threads.
#[test]
fn shared_handles_come_back_from_their_address() {
    on_every_backend(|backend| {
        let pool = texts(backend, 1);
        let name = Pooled::into_shared(text(&pool, "AMZN"));
        let raws: Vec<usize> = (0..4)
            .map(|_| SharedPooled::into_raw(name.clone()).expose_provenance())
            .collect();
        assert_eq!(SharedPooled::handles(&name), 5, "{backend}");
        drop(name);
        let threads = raws.into_iter().map(|raw| {
            std::thread::spawn(move || {
                // SAFETY: once for each that was given.
                let name: SharedPooled<String> =
                    unsafe { SharedPooled::from_raw(std::ptr::with_exposed_provenance(raw)) };
                assert_eq!(*name, "AMZN");
            })
        });
        threads.for_each(|thread| thread.join().unwrap());
        assert_eq!(pool.in_use(), 0, "{backend}");
        assert!(pool.acquire().is_empty());
    });
}

#[test]
fn a_pinned_handle_goes_back_like_any_other() {
    struct Twice(u32);
    impl Poolable for Twice {
        fn init() -> Self {
            Twice(0)
        }
        fn reset(&mut self) {
            self.0 = 0;
        }
    }
    impl Future for Twice {
        type Output = u32;
        fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<u32> {
            self.0 += 1;
            cx.waker().wake_by_ref();
            match self.0 {
                2 => std::task::Poll::Ready(2),
                _ => std::task::Poll::Pending,
            }
        }
    }
    let pool = Pool::<Twice>::builder().capacity(1).build().unwrap();
    for _ in 0..2 {
        assert_eq!(pollster::block_on(Pooled::into_pin(pool.acquire())), 2);
    }
    let alone = unsync::Pool::<Twice>::builder()
        .capacity(1)
        .build()
        .unwrap();
    let pinned = unsync::Pooled::into_pin(alone.acquire());
    assert_eq!(pollster::block_on(pinned), 2);
}

#[test]
fn the_pool_of_a_shared_handle_is_the_one_it_goes_back_to() {
    let pool = Pool::<String>::builder().name("quotes").build().unwrap();
    let quote = Pooled::into_shared(pool.acquire());
    assert_eq!(SharedPooled::pool(&quote).unwrap().name(), Some("quotes"));
    drop(pool);
    assert!(SharedPooled::pool(&quote).is_none());
}

#[test]
fn make_mut_copies_only_for_others_and_into_memory_that_is_there() {
    on_every_backend(|backend| {
        let pool = texts(backend, 2);
        let mut quote = Pooled::into_shared(text(&pool, "AMZN"));
        let first = SharedPooled::as_ptr(&quote);
        SharedPooled::make_mut(&mut quote).push('!');
        assert_eq!(SharedPooled::as_ptr(&quote), first, "{backend}");

        let mut large = pool.acquire();
        large.reserve(1_000);
        drop(large);
        let seen = quote.clone();
        SharedPooled::make_mut(&mut quote).push('?');
        assert_eq!(
            (seen.as_str(), quote.as_str()),
            ("AMZN!", "AMZN!?"),
            "{backend}"
        );
        assert_eq!(
            (SharedPooled::handles(&seen), SharedPooled::handles(&quote)),
            (1, 1)
        );
        if backend != Backend::Heap {
            assert!(quote.capacity() >= 1_000, "{backend}");
        }
        drop((seen, quote));
        assert_eq!(
            (pool.in_use(), pool.stats().created - pool.stats().destroyed),
            (0, pool.idle())
        );
    });
}

#[test]
fn make_mut_without_a_pool_panics_and_keeps_the_handle() {
    let pool = Pool::<String>::new();
    let mut quote = Pooled::into_shared(text(&pool, "AMZN"));
    let other = quote.clone();
    pool.close();
    let message = panic_of(|| SharedPooled::make_mut(&mut quote).push('!'));
    assert!(message.contains("closed"), "{message}");
    drop(pool);
    let message = panic_of(|| SharedPooled::make_mut(&mut quote).push('!'));
    assert!(
        message.contains("gone") && message.contains("get_mut"),
        "{message}"
    );
    assert_eq!((quote.as_str(), SharedPooled::handles(&quote)), ("AMZN", 2));
    drop(other);
    SharedPooled::make_mut(&mut quote).push('!');
    assert_eq!(*quote, "AMZN!");
}

#[test]
fn a_burst_is_taken_apart_and_put_together() {
    on_every_backend(|backend| {
        let (pool, other) = (texts(backend, 8), texts(backend, 8));
        let mut burst = pool.acquire_many(8);
        for (i, text) in burst.iter_mut().enumerate() {
            text.push_str(&i.to_string());
        }
        let mut rest: Burst<String> = burst.split_off(5);
        assert_eq!((burst.len(), rest.len()), (5, 3), "{backend}");
        assert_eq!(rest.pop().unwrap().as_str(), "7");
        assert_eq!(pool.in_use(), 7, "{backend}");
        drop(rest);
        assert_eq!(pool.in_use(), 5, "{backend}");
        burst.extend([text(&other, "other"), text(&pool, "own")]);
        burst.extend(other.acquire_many(2));
        let texts: Vec<_> = burst.iter().map(|text| text.as_str()).collect();
        assert_eq!(
            texts,
            ["0", "1", "2", "3", "4", "other", "own", "", ""],
            "{backend}"
        );
        assert_eq!((pool.in_use(), other.in_use()), (6, 3), "{backend}");
        drop(burst);
        assert_eq!((pool.in_use(), other.in_use()), (0, 0), "{backend}");
        assert!(pool.acquire_many(8).iter().all(|text| text.is_empty()));
        assert!(other.acquire_many(8).iter().all(|text| text.is_empty()));
    });
}

#[test]
fn a_burst_may_be_split_anywhere_but_beyond_its_end() {
    let pool = Pool::<String>::new();
    let mut burst = pool.acquire_many(3);
    assert_eq!((burst.split_off(3).len(), burst.len()), (0, 3));
    let message = panic_of(|| drop(burst.split_off(4)));
    assert!(
        message.contains("split_off(4) of a burst of 3"),
        "{message}"
    );
    let all = burst.split_off(0);
    assert!(burst.is_empty() && burst.pop().is_none());
    burst.extend(all);
    assert_eq!(burst.len(), 3);
    drop(burst);
    assert_eq!((pool.in_use(), pool.idle()), (0, 3));
}

/// Panics when it is reset as it was told.
#[derive(Default)]
struct Bomb(bool);

impl Poolable for Bomb {
    fn init() -> Self {
        Bomb(false)
    }

    fn reset(&mut self) {
        assert!(!self.0, "a bomb goes off");
    }
}

#[test]
fn a_panic_among_handles_given_one_by_one_keeps_none_of_the_others() {
    on_every_backend(|backend| {
        let pool = Pool::<Bomb>::builder()
            .backend(backend)
            .capacity(5)
            .build()
            .unwrap();
        let mut burst = pool.acquire_many(5);
        (burst[2].0, burst[3].0) = (true, true);
        let mut handles = burst.into_iter();
        drop(handles.next());
        // The second one would abort, were it let go on.
        assert!(
            panic_of(|| drop(handles)).contains("a bomb goes off"),
            "{backend}"
        );
        assert_eq!((pool.in_use(), pool.stats().discarded), (0, 2), "{backend}");
        assert_eq!(pool.acquire_many(5).len(), 5, "{backend}");
    });
}

#[test]
fn forgotten_handles_are_in_use_and_harm_no_others() {
    on_every_backend(|backend| {
        let pool = texts(backend, 8);
        std::mem::forget(pool.acquire_many(3));
        let mut handles = pool.acquire_many(4).into_iter();
        drop(handles.next());
        std::mem::forget(handles);
        assert_eq!(pool.in_use(), 6, "{backend}");
        assert_eq!(
            pool.try_acquire_many(3).err(),
            Some(AcquireError::Exhausted),
            "{backend}"
        );
        assert_eq!(pool.acquire_many(2).len(), 2, "{backend}");
        pool.trim(0);
        assert_eq!(pool.in_use(), 6, "{backend}");
    });
}

#[cfg(feature = "stable_deref_trait")]
const _: fn() = || {
    fn stable<H: stable_deref_trait::StableDeref>() {}
    fn cloned<H: stable_deref_trait::CloneStableDeref>() {}
    stable::<Pooled<String>>();
    stable::<unsync::Pooled<String>>();
    stable::<SharedPooled<String>>();
    cloned::<SharedPooled<String>>();
};

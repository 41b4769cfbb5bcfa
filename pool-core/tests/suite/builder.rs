//! The builder: every mistake by its message, every default, and the names of the backends.

use std::error::Error;

use pool_core::{AcquireError, Backend, BuildError, Builder, Pool, ResetOn, Stats, unsync};

fn message<T: pool_core::Poolable>(builder: Builder<T>) -> String {
    let error: BuildError = builder.build().unwrap_err();
    assert!(error.source().is_none());
    assert_eq!(error, error.clone());
    error.to_string()
}

fn builder() -> Builder<u64> {
    Pool::<u64>::builder()
}

#[test]
fn a_batch_of_nothing() {
    let expected = "batch size 0: a batch holds at least one object; use 1 or more";
    assert_eq!(message(builder().batch_size(0)), expected);
    // Before anything else that is wrong with it.
    for backend in Backend::ALL {
        assert_eq!(message(builder().backend(backend).batch_size(0)), expected);
    }
}

#[test]
fn a_batch_too_large() {
    assert_eq!(
        message(builder().batch_size(65_537)),
        "batch size 65537 exceeds 65536: use a smaller batch"
    );
    assert!(message(builder().batch_size(usize::MAX)).contains(&usize::MAX.to_string()));
    let pool = builder().batch_size(65_536).build().unwrap();
    drop(pool.acquire());
}

#[test]
fn batches_on_a_backend_without() {
    for backend in [Backend::Heap, Backend::Mutex, Backend::Queue] {
        assert_eq!(
            message(builder().backend(backend).batch_size(32)),
            format!(
                "batch size 32 with backend {backend}, which has no batches: drop the batch size or \
                 use backend batched"
            )
        );
    }
    // The last word counts.
    let builder = builder().backend(Backend::Queue).batch_size(32);
    assert!(builder.backend(Backend::Batched).build().is_ok());
}

#[test]
fn no_capacity() {
    for backend in Backend::ALL {
        assert_eq!(
            message(builder().backend(backend).capacity(0)),
            "capacity 0: no object could ever be acquired; use 1 or more, or leave the capacity out \
             for a pool without a bound"
        );
    }
}

/// `unwrap`, and a `main` that returns the error, print it by `Debug`.
#[test]
fn the_debug_form_shows_the_message() {
    let error = builder().capacity(0).build().unwrap_err();
    assert_eq!(format!("{error:?}"), format!("BuildError({error})"));
}

#[test]
fn no_growth() {
    assert_eq!(
        message(builder().grow_by(0)),
        "grow_by 0: the pool could never grow; use 1 or more, or leave it out"
    );
}

#[test]
fn prefill_above_capacity() {
    for backend in Backend::ALL {
        assert_eq!(
            message(builder().backend(backend).capacity(10).prefill(64)),
            "prefill 64 exceeds capacity 10: lower the prefill or raise the capacity"
        );
    }
    assert!(builder().capacity(10).prefill(10).build().is_ok());
}

#[test]
fn prefill_above_max_idle() {
    assert_eq!(
        message(builder().max_idle(10).prefill(11)),
        "prefill 11 exceeds max_idle 10: the excess would be dropped at once; lower the prefill or \
         raise max_idle"
    );
    assert!(builder().max_idle(10).prefill(10).build().is_ok());
    assert!(builder().max_idle(0).build().is_ok());
}

#[test]
fn more_memory_than_can_be_had() {
    // An object behind its header.
    let bytes = size_of::<(usize, [u32; 2], u64)>();
    let too_much = |what: &str, n: usize| {
        format!(
            "{what} {n} with {bytes} bytes an object exceeds the available memory: lower the {what}"
        )
    };
    let n = usize::MAX;
    assert_eq!(message(builder().prefill(n)), too_much("prefill", n));
    // There are as many addresses; no system of 64 bits has memory for that.
    if cfg!(target_pointer_width = "64") {
        let n = usize::MAX / 3 / bytes;
        assert_eq!(message(builder().prefill(n)), too_much("prefill", n));
    }
    let n = usize::MAX / 2;
    assert_eq!(message(builder().grow_by(n)), too_much("grow_by", n));
    // Growth never goes beyond the capacity.
    let pool = builder().capacity(4).grow_by(usize::MAX).build().unwrap();
    assert_eq!(pool.acquire_many(4).len(), 4);
    // A capacity is a bound, not a wish.
    let pool = builder().capacity(usize::MAX).build().unwrap();
    assert_eq!(*pool.acquire(), 0);
}

#[test]
fn setters_in_any_order_and_the_last_word_counts() {
    let pool = Pool::<u64>::builder()
        .prefill(20)
        .capacity(10)
        .max_idle(1)
        .name(String::from("first"))
        .batch_size(0)
        .name("second")
        .batch_size(4)
        .max_idle(30)
        .capacity(40)
        .grow_by(3)
        .reset_on(ResetOn::Acquire)
        .backend(Backend::Batched)
        .build()
        .unwrap();
    assert_eq!((pool.capacity(), pool.name()), (Some(40), Some("second")));
    assert_eq!((pool.idle(), pool.backend()), (20, Backend::Batched));
}

#[test]
fn defaults() {
    assert_eq!(Backend::default(), Backend::Batched);
    assert_eq!(ResetOn::default(), ResetOn::Release);
    let pools = [
        Pool::<u64>::new(),
        Pool::<u64>::default(),
        builder().build().unwrap(),
    ];
    for pool in pools {
        assert_eq!((pool.capacity(), pool.name()), (None, None));
        assert_eq!(pool.backend(), Backend::Batched);
        assert_eq!(pool.stats(), Stats::default());
        // Without a bound, and wiped on the way back.
        let mut handles: Vec<_> = (0..1_000).map(|_| pool.try_acquire().unwrap()).collect();
        *handles[0] = 7;
        drop(handles);
        assert_eq!(pool.idle(), 1_000);
        assert!(pool.drain().all(|object| object == 0));
    }
    let pool = unsync::Pool::<u64>::new();
    assert_eq!((pool.capacity(), pool.name()), (None, None));
    assert_eq!(pool.stats(), Stats::default());
}

/// Four threads can cache without running a small pool dry; a large one has batches of 64.
#[cfg(not(pool_no_membarrier))]
#[test]
fn the_default_batch_suits_the_bound() {
    for (capacity, batch_size) in [
        (1, 1),
        (7, 1),
        (8, 1),
        (16, 2),
        (100, 12),
        (512, 64),
        (1 << 20, 64),
    ] {
        let objects = capacity.min(1_000);
        let builder = builder().capacity(capacity).prefill(objects);
        let pool = builder.build().unwrap();
        drop((0..objects).map(|_| pool.acquire()).collect::<Vec<_>>());
        // A cache that is full, but for what its last exchange gave away.
        let cached = pool.stats().cached;
        let most = (2 * batch_size).min(objects);
        assert!(
            (most.min(batch_size)..=most).contains(&cached),
            "capacity {capacity}: {cached} cached"
        );
    }
}

#[test]
fn the_builder_shows_its_choices() {
    let shown = format!("{:?}", builder().capacity(77).name("orders"));
    assert!(shown.contains("77") && shown.contains("orders"), "{shown}");
}

#[test]
fn backends_have_names() {
    let names = ["heap", "mutex", "queue", "batched"];
    assert_eq!(Backend::ALL.map(Backend::name), names);
    for (backend, name) in Backend::ALL.into_iter().zip(names) {
        assert_eq!(backend.to_string(), name);
        assert_eq!(name.parse(), Ok(backend));
        assert_eq!(name.to_uppercase().parse(), Ok(backend));
        assert_eq!(backend.to_string().parse::<Backend>(), Ok(backend));
    }
    // As any text is padded.
    assert_eq!(format!("[{:>8}]", Backend::Heap), "[    heap]");
}

#[test]
fn a_name_that_is_no_backend() {
    for name in ["stack", "", "batched ", "Batched\n"] {
        let error = name.parse::<Backend>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("unknown backend {name:?}: expected one of heap, mutex, queue, batched")
        );
        assert!(error.source().is_none());
    }
}

#[test]
fn what_can_go_wrong_later_has_words_too() {
    let words = [
        (
            AcquireError::Exhausted,
            "not enough objects are idle, and the pool may not create more: drop a handle, ask for fewer, or raise \
             the capacity",
        ),
        (
            AcquireError::Timeout,
            "not enough objects were released in time: drop handles sooner, wait longer, or raise the capacity; \
             `track_holders` makes this message say where the oldest was acquired",
        ),
        (
            AcquireError::Closed,
            "the pool is closed, by `close` or the drop of its last `Pool`: stop acquiring, or close it later",
        ),
    ];
    for (error, message) in words {
        assert_eq!(error.to_string(), message);
    }
    let pool = builder().capacity(1).build().unwrap();
    let held = pool.acquire();
    let refused = pool.attach(7).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot attach, since the pool is at its capacity: drop a handle or raise the capacity"
    );
    assert_eq!(
        format!("{refused:?}"),
        "AttachError { reason: Exhausted, .. }"
    );
    pool.close();
    let refused = pool.attach(refused.into_inner()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "cannot attach to a closed pool: take the value back by `into_inner`, or close the pool later"
    );
    drop(held);
}

/// A limit on idle objects within which no thread could keep two batches made every operation go by the depot.
#[test]
fn a_batch_that_does_not_fit_the_limit_on_idle_objects_is_refused() {
    for (batch_size, max_idle) in [(1, 0), (1, 1), (2, 3), (64, 100)] {
        let builder = Pool::<u64>::builder().batch_size(batch_size);
        let refused = builder.max_idle(max_idle).build().unwrap_err();
        let message = refused.to_string();
        let start = format!("batch size {batch_size} does not fit max_idle {max_idle}: ");
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains("max_idle / 2"), "no remedy: {message}");
    }
    for (batch_size, max_idle) in [(1, 2), (50, 100)] {
        let builder = Pool::<u64>::builder().batch_size(batch_size);
        assert!(builder.max_idle(max_idle).build().is_ok());
    }
}

#[cfg(not(pool_no_membarrier))]
#[test]
fn the_default_batch_follows_the_limit_on_idle_objects() {
    for max_idle in [2, 10, 100, 1_000] {
        let pool = Pool::<u64>::builder().max_idle(max_idle).build().unwrap();
        drop(pool.acquire());
        drop(pool.acquire());
        let before = pool.stats().exchanges;
        for _ in 0..100 {
            drop(pool.acquire());
        }
        assert_eq!(pool.stats().exchanges, before, "max_idle {max_idle}");
    }
}

/// As for the other pools, but for the backend.
#[test]
fn a_pool_for_one_thread_is_checked_too() {
    let builder = unsync::Pool::<u64>::builder;
    let messages = [
        (builder().capacity(0), "capacity 0: "),
        (builder().grow_by(0), "grow_by 0: "),
        (
            builder().capacity(1).prefill(2),
            "prefill 2 exceeds capacity 1: ",
        ),
        (
            builder().max_idle(1).prefill(2),
            "prefill 2 exceeds max_idle 1: ",
        ),
    ];
    for (builder, start) in messages {
        let message = builder.build().unwrap_err().to_string();
        assert!(message.starts_with(start), "{message}");
    }
    let pool = builder()
        .capacity(5)
        .prefill(3)
        .max_idle(4)
        .grow_by(2)
        .name("here")
        .build()
        .unwrap();
    assert_eq!((pool.capacity(), pool.name()), (Some(5), Some("here")));
    assert_eq!(pool.idle(), 3);
}

/// A program that denies trivial casts needs none.
#[deny(trivial_casts)]
mod named {
    use std::sync::LazyLock;

    use pool_core::{Backend, FnPool, Hooks, Lifecycle, Pool, ResetOn, unsync};

    static LINES: LazyLock<FnPool<String>> = LazyLock::new(|| {
        let builder = FnPool::<String>::builder_fn(String::new, String::clear);
        builder.backend(Backend::Queue).build().unwrap()
    });

    struct Parser {
        stack: unsync::FnPool<Vec<u8>>,
        lines: Boxed,
    }

    type Boxed = Pool<String, Box<dyn Lifecycle<String> + Send + Sync>>;

    fn boxed(lifecycle: impl Lifecycle<String> + Send + Sync + 'static) -> Boxed {
        let builder = Boxed::builder_for(Box::new(lifecycle));
        builder
            .reset_on(ResetOn::Acquire)
            .prefill(1)
            .build()
            .unwrap()
    }

    #[test]
    fn the_type_of_a_pool_of_a_foreign_type_can_be_written_down() {
        LINES.acquire().push_str("used");
        assert_eq!((LINES.acquire().as_str(), LINES.stats().created), ("", 1));
        let size = LINES.capacity().unwrap_or(100);
        let parser = Parser {
            stack: unsync::FnPool::<Vec<u8>>::builder_fn(|| Vec::with_capacity(9), Vec::clear)
                .build()
                .unwrap(),
            lines: boxed(Hooks::new(
                move || String::with_capacity(size),
                String::clear,
            )),
        };
        assert!(parser.stack.acquire().capacity() >= 9);
        parser.lines.acquire().push_str("used");
        let line = parser.lines.acquire();
        assert!(line.is_empty() && line.capacity() >= 100);
    }

    struct Short;

    impl Lifecycle<String> for Short {
        fn create(&self) -> String {
            unreachable!("made in place")
        }
        fn create_in<'a>(
            &self,
            place: pool_core::Place<'a, String>,
        ) -> pool_core::Ready<'a, String> {
            place.write(String::from("short"))
        }
        fn reset(&self, line: &mut String) {
            line.push('!');
        }
        fn is_reusable(&self, line: &String) -> bool {
            line.len() < 7
        }
    }

    #[test]
    fn a_boxed_lifecycle_is_asked_all_that_it_answers() {
        let pool = boxed(Short);
        let seen: Vec<String> = (0..4).map(|_| pool.acquire().clone()).collect();
        assert_eq!(seen, ["short", "short!", "short", "short!"]);
        assert_eq!(pool.stats().discarded, 1);
    }
}

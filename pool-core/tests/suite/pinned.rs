//! What pinned threads rely on: which call interrupts them, and what a warm thread does without.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{Backend, Pool, TrimPolicy};

type Message = [u64; 8];

/// Runs `f` while each of two threads has something in its slot.
fn beside_two_threads(pool: &Pool<Message>, f: impl FnOnce()) {
    thread::scope(|scope| {
        let ends: Vec<_> = (0..2)
            .map(|_| {
                let (ready, is_ready) = mpsc::channel();
                let (end, ended) = mpsc::channel::<()>();
                scope.spawn(move || {
                    pool.warm();
                    for _ in 0..200 {
                        drop(pool.acquire());
                    }
                    ready.send(()).unwrap();
                    let _ = ended.recv();
                });
                is_ready.recv().unwrap();
                end
            })
            .collect();
        f();
        drop(ends);
    });
}

const CAPACITY: usize = 200;

fn pool(backend: Backend) -> Pool<Message> {
    let builder = Pool::<Message>::builder().backend(backend);
    builder.capacity(CAPACITY).build().unwrap()
}

type Call = fn(&Pool<Message>);

/// Each call, and whether it looks into the slots of other threads.
const CALLS: [(&str, bool, Call); 17] = [
    ("acquire", false, |pool| drop(pool.acquire())),
    ("try_acquire of a dry pool", true, |pool| {
        let mut held = Vec::new();
        while let Ok(object) = pool.try_acquire() {
            held.push(object);
        }
    }),
    ("try_acquire_idle that finds nothing", true, |pool| {
        let mut held = Vec::new();
        while let Ok(object) = pool.try_acquire_idle() {
            held.push(object);
        }
    }),
    ("acquire_many", false, |pool| drop(pool.acquire_many(20))),
    ("acquire_many of all", true, |pool| {
        drop(pool.acquire_many(CAPACITY));
    }),
    ("reserve", false, |pool| {
        pool.reserve(100);
        pool.reserve(CAPACITY);
    }),
    ("warm", false, |pool| {
        pool.warm();
        pool.warm();
    }),
    ("flush", false, Pool::flush),
    ("trim", true, |pool| pool.trim(10)),
    ("trim_idle_for", true, |pool| {
        pool.trim_idle_for(Duration::ZERO);
    }),
    ("trim_by", true, |pool| {
        let policy = TrimPolicy::idle_for(Duration::from_secs(1));
        let now = Instant::now();
        pool.trim_by(&policy, now);
        // Not over yet.
        pool.trim_by(&policy, now);
    }),
    ("drain", true, |pool| drop(pool.drain())),
    ("close", true, Pool::close),
    ("stats", false, |pool| {
        let _ = pool.stats();
    }),
    ("idle", false, |pool| {
        let _ = pool.idle();
    }),
    ("in_use", false, |pool| {
        let _ = pool.in_use();
    }),
    ("a thread's start and end", false, |pool| {
        thread::scope(|scope| {
            scope.spawn(|| drop(pool.acquire())).join().unwrap();
        });
    }),
];

/// Whether a call finds something in the slots of a backend to look for.
fn has_slots(backend: Backend) -> bool {
    cfg!(not(pool_no_membarrier)) && backend != Backend::Mutex
}

#[test]
fn who_interrupts_whom() {
    for backend in Backend::ALL {
        for (name, looks, call) in CALLS {
            let pool = pool(backend);
            beside_two_threads(&pool, || {
                let before = pool.stats().revocations;
                call(&pool);
                let revocations = pool.stats().revocations - before;
                let looks = match (backend, name) {
                    // Nothing is ever idle.
                    (Backend::Heap, "try_acquire_idle that finds nothing") => false,
                    // What threads have in their slots is no object and no permit.
                    (Backend::Queue, "acquire_many of all") => false,
                    _ => looks,
                };
                let most = usize::from(looks && has_slots(backend));
                assert_eq!(revocations, most, "{backend}: {name}");
            });
        }
    }
}

/// What others cache is theirs, and what the depot lacks is made.
#[test]
fn reserve_makes_up_what_the_depot_lacks() {
    let pool = pool(Backend::Batched);
    beside_two_threads(&pool, || {
        let cached = pool.stats().cached;
        assert_eq!(pool.reserve(50), 50 + cached);
        assert_eq!(pool.stats().cached, cached);
        // No more than the bound.
        assert_eq!(pool.reserve(1_000), CAPACITY);
    });
}

/// The first message of a warm thread is as the next one.
#[cfg(target_os = "linux")]
#[test]
fn a_warm_thread_takes_no_page_fault() {
    #[allow(unsafe_code)] // The system call.
    fn faults() -> libc::c_long {
        // SAFETY: all bytes 0 are a value of it.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: as the call asks for.
        assert_eq!(0, unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage)
        });
        usage.ru_minflt + usage.ru_majflt
    }
    // The memory of `Heap` is the allocator's.
    for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
        let batch = 64;
        let round = |pool: &Pool<[u64; 512]>, held: &mut Vec<_>| {
            held.extend((0..batch).map(|_| pool.acquire()));
            held.iter_mut().for_each(|object| object[511] = 1);
            held.clear();
        };
        let first = |warm: bool| {
            // Pages that nothing has touched before.
            let builder = Pool::builder()
                .backend(backend)
                .memory(pool_core::Memory::pages());
            let pool = builder.build().unwrap();
            thread::scope(|scope| {
                let measured = scope.spawn(|| {
                    let mut held = Vec::with_capacity(batch);
                    if warm {
                        pool.warm();
                    }
                    let before = faults();
                    round(&pool, &mut held);
                    faults() - before
                });
                measured.join().unwrap()
            })
        };
        // The first time, the code may not be there yet.
        assert!(first(false) > 0, "{backend}: it is warm that does it");
        assert_eq!(first(true), 0, "{backend}");
    }
}

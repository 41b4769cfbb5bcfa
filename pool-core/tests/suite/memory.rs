//! Where the memory of objects comes from: what was asked for is had, or refused with its reason; and all of
//! it is given back.

use pool_core::{Backend, Memory, Pool, unsync};

#[cfg(target_os = "linux")]
mod pages {
    use std::process::Command;
    use std::{env, fs};

    use pool_core::{Backend, Builder, Huge, Memory, Pool, TrimPolicy, unsync};

    use crate::support::counted;

    type Message = [u64; 64];

    const MIB: usize = 1 << 20;

    /// Names the child, in its environment.
    const CHILD: &str = "POOL_CORE_MEMORY_CHILD";

    /// Runs `scenario` in a process of its own, which this test is run in once more: limits, and what is locked, are
    /// the process's.
    fn alone(test: &str, scenario: impl FnOnce()) {
        if env::var_os(CHILD).is_some() {
            return scenario();
        }
        let output = Command::new(env::current_exe().unwrap())
            .args(["--exact", "--nocapture", &format!("memory::pages::{test}")])
            .env(CHILD, "")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}", output.status);
        assert!(said.contains("1 passed"), "no test of that name was run");
    }

    /// A line of a file under `/proc/self`, in bytes.
    fn proc_bytes(file: &str, field: &str) -> usize {
        let lines = fs::read_to_string(format!("/proc/self/{file}")).unwrap();
        let kib = |line: &str| line.split_whitespace().nth(1)?.parse::<usize>().ok();
        let of_field = lines.lines().filter(|line| line.starts_with(field));
        of_field.map(|line| kib(line).unwrap() * 1024).sum()
    }

    fn locked() -> usize {
        proc_bytes("status", "VmLck:")
    }

    /// Page faults of the calling thread.
    fn faults() -> libc::c_long {
        // SAFETY: zeros are such a structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: writes there.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        assert_eq!(result, 0);
        usage.ru_minflt + usage.ru_majflt
    }

    /// From now on the process may lock so much, and no privilege helps it.
    fn limit_locks(bytes: libc::rlim_t) {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: bytes,
        };
        // SAFETY: reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &limit) }, 0);
        // SAFETY: asks for a number.
        if unsafe { libc::geteuid() } == 0 {
            // SAFETY: the process becomes nobody's, with all its threads.
            assert_eq!(unsafe { libc::setuid(65_534) }, 0);
        }
    }

    /// Whether so much can be locked here, or says that it is skipped.
    fn can_lock(bytes: usize) -> bool {
        let start = vec![0u8; bytes];
        // SAFETY: memory of this function, unlocked below.
        let can = unsafe { libc::mlock(start.as_ptr().cast(), bytes) } == 0;
        // SAFETY: as above.
        unsafe { libc::munlock(start.as_ptr().cast(), bytes) };
        if !can {
            println!("skipped: {bytes} bytes cannot be locked here");
        }
        can
    }

    fn builder(memory: Memory) -> Builder<Message> {
        Pool::<Message>::builder().memory(memory)
    }

    fn refusal(memory: Memory, prefill: usize) -> String {
        let error = builder(memory).prefill(prefill).build().unwrap_err();
        error.to_string()
    }

    #[test]
    fn every_backend_works_on_pages() {
        for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
            for memory in [Memory::pages(), Memory::pages().prefaulted()] {
                let (builder, tally) = counted(backend);
                let pool = builder.memory(memory).prefill(10).build().unwrap();
                let page = pool.stats().memory_bytes;
                assert!(page > 0 && page % 4096 == 0, "{page}");
                let held: Vec<_> = (0..5_000).map(|_| pool.acquire()).collect();
                let stats = pool.stats();
                assert!(stats.memory_bytes >= 5_000 * 16, "{stats:?}");
                assert!(stats.memory_bytes % 4096 == 0, "{stats:?}");
                let last = (stats.locked_bytes, stats.huge_bytes, stats.memory_fallbacks);
                assert_eq!(last, (0, 0, 0));
                drop(held);
                pool.trim(0);
                assert_eq!(pool.stats().memory_bytes, 0);
                assert!(pool.try_acquire().is_ok(), "and it grows again");
                let outlives = pool.acquire();
                drop(pool);
                drop(outlives);
                assert_eq!(tally.alive(), 0);
            }
        }
    }

    #[test]
    fn one_thread_has_pages_too() {
        let pool = unsync::Pool::<Message>::builder()
            .memory(Memory::pages().prefaulted())
            .prefill(100)
            .build()
            .unwrap();
        let before = pool.stats().memory_bytes;
        assert!(before >= 100 * size_of::<Message>());
        let held: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
        assert!(pool.stats().memory_bytes >= 1_000 * size_of::<Message>());
        drop(held);
        pool.trim(0);
        assert_eq!(pool.stats().memory_bytes, 0);
    }

    #[test]
    fn the_alignment_of_an_object_is_kept() {
        #[repr(align(65536))]
        #[derive(Default)]
        struct Aligned(u8);
        let pool = Pool::builder_with(Aligned::default, |_| {})
            .memory(Memory::pages())
            .build()
            .unwrap();
        let held: Vec<_> = (0..100).map(|_| pool.acquire()).collect();
        for object in &held {
            assert_eq!((&raw const **object).addr() % 65_536, 0);
            assert_eq!(object.0, 0);
        }
    }

    #[test]
    fn chunks_fill_their_pages() {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let pool = builder(Memory::pages()).grow_by(1).build().unwrap();
        assert_eq!(pool.stats().memory_bytes, page);
        let fit = page / (size_of::<Message>() + 16);
        let held: Vec<_> = (0..fit).map(|_| pool.acquire()).collect();
        assert_eq!(pool.stats().memory_bytes, page);
        let one_more = pool.acquire();
        assert_eq!(pool.stats().memory_bytes, 2 * page);
        drop((held, one_more));
    }

    #[test]
    fn prefaulted_memory_takes_no_fault() {
        alone("prefaulted_memory_takes_no_fault", || {
            let measure = |memory: Memory| {
                let pool = builder(memory)
                    .backend(Backend::Mutex)
                    .grow_by(8_000)
                    .build();
                let pool = pool.unwrap();
                let mut held = Vec::with_capacity(7_000);
                held.resize_with(7_000, || None);
                held[0] = Some(pool.acquire());
                let before = faults();
                for object in &mut held[1..] {
                    *object = Some(pool.acquire());
                }
                faults() - before
            };
            // 900 pages, some of which come together where nobody asked for them.
            let (plain, prefaulted) = (
                measure(Memory::pages()),
                measure(Memory::pages().prefaulted()),
            );
            println!("{plain} faults on plain pages, {prefaulted} on prefaulted ones");
            assert!(prefaulted <= 5, "{prefaulted} faults");
        });
    }

    #[test]
    fn locked_memory_is_locked_and_given_back() {
        alone("locked_memory_is_locked_and_given_back", || {
            if !can_lock(4 * MIB) {
                return;
            }
            let before = locked();
            let pool = builder(Memory::pages().locked())
                .prefill(1_000)
                .build()
                .unwrap();
            let first = locked() - before;
            assert!(first >= 1_000 * size_of::<Message>(), "{first}");
            assert_eq!(pool.stats().locked_bytes, first);
            let held: Vec<_> = (0..4_000).map(|_| pool.acquire()).collect();
            let grown = locked() - before;
            assert!(grown >= 4_000 * size_of::<Message>(), "{grown}");
            let stats = pool.stats();
            assert_eq!((stats.locked_bytes, stats.memory_bytes), (grown, grown));
            assert!(format!("{pool:?}").contains(&format!("locked_bytes: {grown}")));
            drop(held);
            let policy = TrimPolicy::idle_for(std::time::Duration::ZERO);
            let now = std::time::Instant::now();
            pool.trim_by(&policy, now);
            pool.trim_by(&policy, now);
            assert_eq!((locked(), pool.stats().locked_bytes), (before, 0));
            let last = pool.acquire();
            assert!(locked() > before);
            drop(pool);
            assert!(locked() > before, "the object is in use");
            drop(last);
            assert_eq!(locked(), before);
        });
    }

    #[test]
    fn locks_beyond_the_limit() {
        alone("locks_beyond_the_limit", || {
            limit_locks(MIB as libc::rlim_t);
            let memory = Memory::pages().locked();
            let message = refusal(memory.clone(), 10_000);
            println!("{message}");
            for part in [
                "memory locked: ",
                "RLIMIT_MEMLOCK is 1048576 bytes",
                "`ulimit -l`",
                "prefill",
            ] {
                assert!(message.contains(part), "{message}");
            }
            assert_eq!(locked(), 0);

            // What fits is had; what is needed later is served all the same, and that is seen.
            let pool = builder(memory).prefill(1_000).build().unwrap();
            let fits = pool.stats().locked_bytes;
            assert_eq!(fits, locked());
            assert_eq!(pool.stats().memory_fallbacks, 0);
            let held: Vec<_> = (0..5_000).map(|_| pool.acquire()).collect();
            let stats = pool.stats();
            assert!(stats.memory_fallbacks > 0, "{stats:?}");
            assert!(
                stats.memory_bytes >= 5_000 * size_of::<Message>(),
                "{stats:?}"
            );
            assert_eq!(stats.locked_bytes, locked());
            drop(held);
            pool.trim(0);
            let after = pool.stats();
            assert_eq!((after.memory_bytes, locked()), (0, 0));
            assert_eq!(
                after.memory_fallbacks, stats.memory_fallbacks,
                "stays counted"
            );

            limit_locks(0);
            let message = refusal(Memory::pages().locked(), 1);
            assert!(message.contains("RLIMIT_MEMLOCK is 0 bytes"), "{message}");
        });
    }

    #[test]
    fn a_node_that_is_not_there() {
        for node in [99, 1_023, 1_024, u32::MAX] {
            let message = refusal(Memory::pages().node(node), 1);
            assert!(
                message.starts_with(&format!("memory node {node}: ")),
                "{message}"
            );
        }
    }

    #[test]
    fn a_node_that_is_there() {
        match builder(Memory::pages().node(0).prefaulted())
            .prefill(1_000)
            .build()
        {
            Ok(pool) => {
                // Each mapping of the pool says so.
                let bound = |maps: &str| {
                    maps.lines()
                        .filter(|line| line.contains(" bind:0 "))
                        .count()
                };
                let maps = fs::read_to_string("/proc/self/numa_maps").unwrap_or_default();
                assert!(maps.is_empty() || bound(&maps) > 0, "{maps}");
                assert_eq!(pool.stats().memory_fallbacks, 0);
            }
            Err(error) => println!("skipped: {error}"),
        }
    }

    #[test]
    fn huge_pages_that_were_not_set_aside() {
        let free = fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
        let free: usize = free.map_or(0, |free| free.trim().parse().unwrap());
        let objects = (free + 3) * 2 * MIB / size_of::<Message>();
        if free > 100 {
            println!("skipped: {free} huge pages were set aside");
            return;
        }
        let message = refusal(Memory::pages().huge(Huge::Explicit), objects);
        println!("{message}");
        for part in ["huge(Explicit)", "vm.nr_hugepages=", "Transparent"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn explicit_huge_pages() {
        match builder(Memory::pages().huge(Huge::Explicit))
            .prefill(1_000)
            .build()
        {
            Ok(pool) => {
                let stats = pool.stats();
                assert_eq!((stats.memory_bytes, stats.huge_bytes), (2 * MIB, 2 * MIB));
                // However many there are, objects are served.
                let held: Vec<_> = (0..20_000).map(|_| pool.acquire()).collect();
                drop(held);
                pool.trim(0);
                assert_eq!(pool.stats().huge_bytes, 0);
            }
            Err(error) => println!("skipped: {error}"),
        }
    }

    #[test]
    fn transparent_huge_pages() {
        alone("transparent_huge_pages", || {
            let memory = Memory::pages().huge(Huge::Transparent).prefaulted();
            let before = proc_bytes("smaps", "AnonHugePages:");
            match builder(memory).prefill(10_000).build() {
                Ok(pool) => {
                    let stats = pool.stats();
                    assert!(stats.huge_bytes >= 10_000 * size_of::<Message>());
                    assert_eq!(stats.memory_bytes % (2 * MIB), 0);
                    let first = pool.acquire();
                    let had = proc_bytes("smaps", "AnonHugePages:") - before;
                    println!("{had} bytes of {} on huge pages", stats.huge_bytes);
                    assert!(
                        had > 0,
                        "the kernel is free to have none, but not on an idle machine"
                    );
                    drop(first);
                }
                Err(error) => {
                    assert!(
                        error.to_string().contains("transparent_hugepage"),
                        "{error}"
                    );
                    println!("skipped: {error}");
                }
            }
        });
    }

    #[test]
    fn choices_for_pages_on_other_memory() {
        assert_eq!(
            refusal(Memory::system().locked().node(0), 1),
            "memory locked without pages: it applies to the pool's own pages only; begin with \
             Memory::pages(), or leave locked out"
        );
    }

    #[test]
    fn heap_has_no_pages() {
        let error = builder(Memory::pages())
            .backend(Backend::Heap)
            .build()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "memory with backend heap, which asks the global allocator for each object by itself: \
             leave the memory out or use another backend"
        );
    }

    #[test]
    fn more_than_there_is() {
        let message = refusal(Memory::pages(), usize::MAX / 1_024);
        assert!(message.contains("lower the prefill"), "{message}");
        let grows = builder(Memory::pages()).grow_by(usize::MAX / 1_024).build();
        let message = grows.unwrap_err().to_string();
        assert!(message.contains("lower the grow_by"), "{message}");
    }
}

#[test]
fn the_global_allocator_is_the_default_and_counted() {
    for backend in Backend::ALL {
        let pool = Pool::<u64>::builder()
            .backend(backend)
            .memory(Memory::system());
        let pool = pool.build().unwrap();
        assert_eq!(pool.stats().memory_bytes, 0, "nothing before it is needed");
        let object = pool.acquire();
        let bytes = pool.stats().memory_bytes;
        // Each behind its header.
        let chunk = 32 * size_of::<(usize, [u32; 2], u64)>();
        assert_eq!(bytes, if backend == Backend::Heap { 0 } else { chunk });
        drop(object);
        pool.trim(0);
        assert_eq!(pool.stats().memory_bytes, 0);
    }
    let pool = unsync::Pool::<u64>::builder().memory(Memory::default());
    assert_eq!(pool.build().unwrap().stats().memory_bytes, 0);
}

#[cfg(feature = "allocator-api2")]
mod allocator {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use allocator_api2::alloc::{AllocError, Allocator, Global, Layout};
    use pool_core::{Backend, Memory, Pool, unsync};

    use crate::support::counted;

    /// Counts the bytes that are out, and gives no more than it has.
    struct Counting {
        out: Arc<AtomicUsize>,
        most: usize,
    }

    impl Counting {
        fn memory(most: usize) -> (Memory, Arc<AtomicUsize>) {
            let out = Arc::new(AtomicUsize::new(0));
            let counting = Counting {
                out: out.clone(),
                most,
            };
            (Memory::allocator(counting), out)
        }
    }

    // SAFETY: all is passed on to the global allocator, or refused.
    unsafe impl Allocator for Counting {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            if self.out.load(Ordering::Relaxed) + layout.size() > self.most {
                return Err(AllocError);
            }
            self.out.fetch_add(layout.size(), Ordering::Relaxed);
            Global.allocate(layout)
        }

        unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
            self.out.fetch_sub(layout.size(), Ordering::Relaxed);
            // SAFETY: by contract.
            unsafe { Global.deallocate(memory, layout) };
        }
    }

    #[test]
    fn all_bytes_come_back() {
        for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
            let (memory, out) = Counting::memory(usize::MAX);
            let (builder, tally) = counted(backend);
            let pool = builder.memory(memory).prefill(100).build().unwrap();
            assert_eq!(out.load(Ordering::Relaxed), pool.stats().memory_bytes);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for n in [1, 500, 20] {
                            drop((0..n).map(|_| pool.acquire()).collect::<Vec<_>>());
                            pool.trim(0);
                        }
                    });
                }
            });
            assert_eq!(out.load(Ordering::Relaxed), pool.stats().memory_bytes);
            pool.trim(0);
            assert_eq!(out.load(Ordering::Relaxed), 0, "after a trim");
            let held: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
            assert!(out.load(Ordering::Relaxed) >= 1_000 * 16);
            drop(pool);
            drop(held);
            assert_eq!(out.load(Ordering::Relaxed), 0, "at the end");
            assert_eq!(tally.alive(), 0);
        }
    }

    #[test]
    fn one_thread_gives_all_bytes_back() {
        let (memory, out) = Counting::memory(usize::MAX);
        let pool = unsync::Pool::<String>::builder()
            .memory(memory)
            .build()
            .unwrap();
        let held: Vec<_> = (0..1_000).map(|_| pool.acquire()).collect();
        assert_eq!(out.load(Ordering::Relaxed), pool.stats().memory_bytes);
        drop(held);
        pool.trim(0);
        assert_eq!(out.load(Ordering::Relaxed), 0);
        let last = pool.acquire();
        drop((pool, last));
        assert_eq!(out.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_allocator_that_has_too_little() {
        let (memory, out) = Counting::memory(1_000);
        let build = |prefill| {
            Pool::<u64>::builder()
                .memory(memory.clone())
                .prefill(prefill)
                .build()
        };
        assert_eq!(
            build(100).unwrap_err().to_string(),
            "prefill 100 with 24 bytes an object exceeds the available memory: lower the prefill"
        );
        assert_eq!(out.load(Ordering::Relaxed), 0);
        // Once, and not tried before: it could not be had twice.
        assert_eq!(build(40).unwrap().idle(), 40);
        assert_eq!(out.load(Ordering::Relaxed), 0);
    }

    /// Panics on its second chunk.
    struct Panicking(AtomicUsize);

    // SAFETY: all is passed on to the global allocator, or a panic.
    unsafe impl Allocator for Panicking {
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
            assert_ne!(self.0.fetch_add(1, Ordering::Relaxed), 1, "no second chunk");
            Global.allocate(layout)
        }

        unsafe fn deallocate(&self, memory: NonNull<u8>, layout: Layout) {
            // SAFETY: by contract.
            unsafe { Global.deallocate(memory, layout) };
        }
    }

    #[test]
    fn an_allocator_that_panics_loses_no_permit() {
        let memory = || Memory::allocator(Panicking(AtomicUsize::new(0)));
        for backend in [Backend::Mutex, Backend::Queue, Backend::Batched] {
            let builder = Pool::<u64>::builder()
                .backend(backend)
                .grow_by(1)
                .capacity(2);
            let pool = builder.memory(memory()).build().unwrap();
            let first = pool.acquire();
            assert!(catch_unwind(AssertUnwindSafe(|| pool.try_acquire())).is_err());
            assert_eq!((pool.in_use(), pool.stats().memory_bytes), (1, 24));
            let second = pool.try_acquire().unwrap();
            drop((first, second));
        }
        let builder = unsync::Pool::<u64>::builder().grow_by(1).capacity(2);
        let pool = builder.memory(memory()).build().unwrap();
        let first = pool.acquire();
        assert!(catch_unwind(AssertUnwindSafe(|| pool.try_acquire())).is_err());
        assert_eq!((pool.in_use(), pool.stats().memory_bytes), (1, 24));
        drop((first, pool.try_acquire().unwrap()));
    }
}

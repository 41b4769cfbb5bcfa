//! Faults from outside: memory that is refused, threads and processes that are stopped, threads by the
//! hundred, a system call that is not allowed, clocks that jump.
//!
//! Who waits for whom, which these tests hold the library to:
//!
//! - A thread that is stopped inside a hook stops nobody: hooks run under no lock and in no slot.
//! - One that is stopped anywhere else may be inside its slot or under a lock. Who works on its own cache
//!   goes on; who needs the centre, or to search the caches, waits until the thread goes on, and no longer.
//! - Memory that is refused ends the process, where Rust ends it (`handle_alloc_error`), and nothing else
//!   does.
//! - Timeouts are taken from a clock that never goes back ([`Instant`]); the time of day has no part in
//!   them.
#![cfg(all(target_os = "linux", not(loom)))]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::env;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::thread::JoinHandleExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use pool_core::{AcquireError, Backend, Pool, TrimPolicy};

use support::{Script, at_rest, counted, keeps, until, within_reason};

/// Runs each scenario on each backend.
macro_rules! ladder {
    ($($scenario:ident)*) => {
        ladder! { @on heap Heap $($scenario)* }
        ladder! { @on mutex Mutex $($scenario)* }
        ladder! { @on queue Queue $($scenario)* }
        ladder! { @on batched Batched $($scenario)* }
    };
    (@on $module:ident $backend:ident $($scenario:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $scenario() {
                    super::support::within_reason(|| {
                        super::$scenario(pool_core::Backend::$backend);
                    });
                }
            )*
        }
    };
}

ladder! {
    refused_memory_ends_the_process_and_nothing_else_does
    a_thread_stopped_in_a_hook_stops_nobody
    a_thread_stopped_anywhere_stops_nobody_for_ever
    a_storm_of_threads
    a_timeout_outlives_a_stop
    a_clock_that_jumps
}

// ---- Memory ------------------------------------------------------------------------------------------

/// Refuses the block whose turn it is, on the thread that says so.
struct Refusing;

thread_local! {
    /// How many blocks are given before one is refused; none is at 0.
    static FUSE: Cell<usize> = const { Cell::new(0) };
}

/// Whether the next block is to be refused.
fn burns_down() -> bool {
    FUSE.try_with(|fuse| match fuse.get() {
        0 => false,
        left => {
            fuse.set(left - 1);
            left == 1
        }
    })
    .unwrap_or(false)
}

// SAFETY: all is passed on to the system's allocator, or refused.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if burns_down() {
            return ptr::null_mut();
        }
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: by contract.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// How a child process ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Code(i32),
    Signal(i32),
}

/// Tests fork one at a time: what a child is copied from should be as quiet as it can be.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts `child` in a copy of this process; gives its number, and the end of a pipe that has what it
/// says to standard error.
fn fork(child: impl FnOnce()) -> (libc::pid_t, File) {
    let mut ends = [0; 2];
    // SAFETY: has room for two.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the child does what is allowed after a fork of a process with threads as far as libc
    // makes it so (memory), and ends without running anything of the parent's.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        // SAFETY: the pipe is open.
        unsafe { libc::dup2(ends[1], 2) };
        // SAFETY: takes a number; it keeps a child from hanging for ever.
        unsafe { libc::alarm(120) };
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: reads the limit; a child that is meant to be ended leaves no image of itself.
        unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
        // SAFETY: the child has one thread. A backtrace of each refused block would take a minute in all.
        unsafe { libc::setenv(c"RUST_BACKTRACE".as_ptr(), c"0".as_ptr(), 1) };
        let code = i32::from(catch_unwind(AssertUnwindSafe(child)).is_err());
        // SAFETY: ends the process.
        unsafe { libc::_exit(code) };
    }
    // SAFETY: the parent does not write.
    unsafe { libc::close(ends[1]) };
    // SAFETY: the end to read from, which is nobody else's.
    (pid, unsafe { File::from_raw_fd(ends[0]) })
}

fn wait_for((pid, mut said): (libc::pid_t, File)) -> (End, String) {
    let mut text = String::new();
    let _ = said.read_to_string(&mut text);
    let mut status = 0;
    // SAFETY: `status` may be written to.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    let end = if libc::WIFSIGNALED(status) {
        End::Signal(libc::WTERMSIG(status))
    } else {
        End::Code(libc::WEXITSTATUS(status))
    };
    (end, text)
}

/// One thing that asks for memory, `arm` called when the fuse is to be lit.
type Asks = fn(Backend, &dyn Fn());

/// The code with which a process ends that was told that memory is not to be had.
const TOLD: i32 = 3;

const ASKING: [(&str, Asks); 9] = [
    ("growth", |backend, arm| {
        let pool = Pool::<[u64; 8]>::builder().backend(backend).grow_by(4);
        let pool = pool.build().unwrap();
        arm();
        let mut held = [const { None }; 24];
        held.fill_with(|| Some(pool.acquire()));
        FUSE.set(0);
        assert_eq!(pool.in_use(), 24);
    }),
    ("prefill", |backend, arm| {
        let builder = Pool::<u64>::builder().backend(backend).prefill(20);
        arm();
        // The first block is asked for where it can be told that there is none.
        let pool = builder.build().unwrap_or_else(|error| {
            FUSE.set(0);
            assert!(error.to_string().contains("exceeds the available memory"));
            std::process::exit(TOLD)
        });
        FUSE.set(0);
        assert_eq!(pool.idle(), if keeps(backend) { 20 } else { 0 });
    }),
    ("exchange", |backend, arm| {
        let builder = Pool::<u64>::builder().backend(backend);
        let pool = match backend {
            Backend::Batched => builder.batch_size(2),
            _ => builder,
        };
        let pool = pool.build().unwrap();
        let turn = || {
            let mut held = [const { None }; 16];
            held.fill_with(|| Some(pool.acquire()));
        };
        arm();
        (0..3).for_each(|_| turn());
        FUSE.set(0);
        let stats = pool.stats();
        assert_eq!(
            (stats.in_use, stats.idle),
            (0, stats.created - stats.destroyed)
        );
    }),
    ("reserve", |backend, arm| {
        let builder = Pool::<u64>::builder().backend(backend).capacity(90);
        let pool = builder.build().unwrap();
        let _one = pool.acquire();
        arm();
        let idle = pool.reserve(70);
        FUSE.set(0);
        assert_eq!(idle, if keeps(backend) { 70 } else { 0 });
    }),
    ("a burst", |backend, arm| {
        let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
        arm();
        drop(pool.acquire_many(20));
        drop(pool.try_acquire_many(30).unwrap());
        FUSE.set(0);
        assert_eq!(pool.in_use(), 0);
    }),
    ("the first use of a thread", |backend, arm| {
        let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
        drop(pool.acquire());
        arm();
        let fuse = FUSE.replace(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                FUSE.set(fuse);
                drop(pool.acquire());
                FUSE.set(0);
            });
        });
        assert_eq!(pool.in_use(), 0);
    }),
    ("a wait", |backend, arm| {
        let builder = Pool::<u64>::builder().backend(backend).capacity(1);
        let pool = builder.build().unwrap();
        let held = pool.acquire();
        arm();
        let none = pool.acquire_timeout(Duration::from_millis(1));
        FUSE.set(0);
        assert_eq!(none.err(), Some(AcquireError::Timeout));
        drop(held);
        assert!(pool.try_acquire().is_ok());
    }),
    ("what takes out objects", |backend, arm| {
        let builder = Pool::<u64>::builder().backend(backend).prefill(20);
        let pool = builder.build().unwrap();
        arm();
        pool.trim(10);
        drop(pool.drain());
        pool.close();
        FUSE.set(0);
        assert_eq!(pool.idle(), 0);
    }),
    ("a pool", |backend, arm| {
        arm();
        let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
        drop(pool.acquire());
        drop(pool);
        FUSE.set(0);
    }),
];

/// Each block in turn is refused, in a process of its own. It ends where Rust ends it and says so, or with
/// an error where there is somebody to tell, or, once
/// the fuse is longer than what is asked for, goes on with every count in order. It does not hang, nor go
/// on with a place lost, nor fall over what was half done.
fn refused_memory_ends_the_process_and_nothing_else_does(backend: Backend) {
    let _alone = alone();
    for (what, asks) in ASKING {
        let mut refused = 0;
        for turn in 1.. {
            assert!(turn < 500, "{what} never stops asking");
            let child = fork(|| asks(backend, &|| FUSE.set(turn)));
            match wait_for(child) {
                (End::Signal(libc::SIGABRT), said) => {
                    assert!(said.contains("memory allocation of"), "{what}: {said}");
                    refused += 1;
                }
                (End::Code(TOLD), _) => refused += 1,
                (End::Code(0), _) => break,
                (end, said) => panic!("{what}, block {turn}: {end:?} {said}"),
            }
        }
        let asks_for_none = match what {
            // The control keeps nothing, so there is nothing to do.
            "reserve" | "what takes out objects" => !keeps(backend),
            "the first use of a thread" => backend == Backend::Mutex,
            _ => false,
        };
        assert!(refused > 0 || asks_for_none, "{what} asked for nothing");
    }
}

// ---- Threads and processes that are stopped ----------------------------------------------------------

/// All that others may want while one is stopped; `held` objects are out.
fn others_go_on(pool: &Pool<u64, Script<u64>>) {
    let _ = pool.stats();
    drop(pool.try_acquire());
    drop(pool.try_acquire_many(2));
    drop(pool.acquire_timeout(Duration::from_millis(1)));
    pool.flush();
    pool.trim(1);
    drop(pool.drain());
    pool.reserve(1);
    drop((pool.clone(), pool.is_closed()));
}

/// Inside each hook in turn, a thread stands still for as long as others work.
fn a_thread_stopped_in_a_hook_stops_nobody(backend: Backend) {
    for hook in ["create", "reset", "judge"] {
        let (arrived, has_arrived) = mpsc::sync_channel(0);
        let (go_on, may_go_on) = mpsc::channel();
        let may_go_on = Mutex::new(may_go_on);
        thread_local! {
            static STANDS_IN: Cell<&'static str> = const { Cell::new("") };
        }
        let stand = Arc::new(move |here| {
            if STANDS_IN.get() == here {
                STANDS_IN.set("");
                arrived.send(()).unwrap();
                may_go_on.lock().unwrap().recv().unwrap();
            }
        });
        let (a, b, c) = (stand.clone(), stand.clone(), stand);
        let script = Script::new(move || {
            a("create");
            0
        })
        .reset(move |_| b("reset"))
        .judge(move |_| {
            c("judge");
            true
        });
        let builder = Pool::builder_for(script).backend(backend).capacity(4);
        let pool = builder.build().unwrap();
        let stopped = {
            let pool = pool.clone();
            thread::spawn(move || {
                STANDS_IN.set(hook);
                drop(pool.acquire());
            })
        };
        has_arrived.recv().unwrap();
        for _ in 0..3 {
            others_go_on(&pool);
            thread::scope(|scope| {
                scope.spawn(|| others_go_on(&pool));
            });
        }
        assert_eq!(pool.in_use(), 1, "in the {hook}");
        pool.close();
        go_on.send(()).unwrap();
        stopped.join().unwrap();
        assert_eq!(pool.in_use(), 0);
    }
}

/// What the handler of the signal waits for; `-1` while nobody is to stand still.
static GATE: AtomicI32 = AtomicI32::new(-1);
static STANDS: AtomicUsize = AtomicUsize::new(0);

/// Stands still until something comes through the pipe. Does only what a handler may.
extern "C" fn stand_still(_signal: libc::c_int) {
    let gate = GATE.load(Ordering::SeqCst);
    STANDS.fetch_add(1, Ordering::SeqCst);
    let mut byte = 0_u8;
    // SAFETY: one byte, into a variable of this frame.
    unsafe { libc::read(gate, (&raw mut byte).cast(), 1) };
}

/// A signal stops one thread wherever it happens to be: in its slot, under the lock, in the allocator.
fn a_thread_stopped_anywhere_stops_nobody_for_ever(backend: Backend) {
    let _alone = alone();
    let mut ends = [0; 2];
    // SAFETY: has room for two.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    GATE.store(ends[0], Ordering::SeqCst);
    let handler = stand_still as extern "C" fn(libc::c_int);
    // SAFETY: the handler does what one may do.
    unsafe { libc::signal(libc::SIGUSR1, handler as libc::sighandler_t) };

    let builder = Pool::<u64>::builder().backend(backend);
    let pool = match backend {
        Backend::Batched => builder.batch_size(4).build().unwrap(),
        _ => builder.build().unwrap(),
    };
    pool.reserve(100);
    let over = Arc::new(AtomicBool::new(false));
    let (asked, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    // Makes its way between cache and depot.
    let walker = {
        let (pool, over) = (pool.clone(), over.clone());
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let mut held = [const { None }; 16];
                held.fill_with(|| Some(pool.acquire()));
                drop(pool.acquire_many(3));
            }
        })
    };
    // Stays within its cache; asks for no memory, whose lock the walker may stand under.
    let sitter = {
        let (pool, over) = (pool.clone(), over.clone());
        let (asked, done) = (asked.clone(), done.clone());
        thread::spawn(move || {
            drop((pool.acquire(), pool.acquire()));
            while !over.load(Ordering::SeqCst) {
                if done.load(Ordering::SeqCst) < asked.load(Ordering::SeqCst) {
                    for n in 0..100 {
                        let mut object = pool.acquire();
                        assert_eq!(*object, 0);
                        *object = n;
                    }
                    done.fetch_add(1, Ordering::SeqCst);
                }
                thread::yield_now();
            }
        })
    };
    // It has its cache, which took it to the centre, before anyone is stopped there.
    asked.fetch_add(1, Ordering::SeqCst);
    until(|| done.load(Ordering::SeqCst) == 1);
    for round in 1..=100 {
        thread::sleep(Duration::from_micros(round * 37 % 400));
        // SAFETY: the thread is not joined yet.
        unsafe { libc::pthread_kill(walker.as_pthread_t(), libc::SIGUSR1) };
        until(|| STANDS.load(Ordering::SeqCst) as u64 == round);
        asked.fetch_add(1, Ordering::SeqCst);
        let goes_on = || done.load(Ordering::SeqCst) == asked.load(Ordering::SeqCst);
        if support::caches(backend) {
            // Its own cache is enough, wherever the other stands.
            until(goes_on);
        }
        // SAFETY: one byte, into the pipe.
        assert_eq!(unsafe { libc::write(ends[1], b"!".as_ptr().cast(), 1) }, 1);
        until(goes_on);
        // And so does who needs the whole picture.
        let _ = pool.stats();
        pool.flush();
    }
    over.store(true, Ordering::SeqCst);
    walker.join().unwrap();
    sitter.join().unwrap();
    STANDS.store(0, Ordering::SeqCst);
    let stats = pool.stats();
    assert_eq!(
        (stats.in_use, stats.idle),
        (0, stats.created - stats.destroyed)
    );
    for end in ends {
        // SAFETY: nobody stands at it any more.
        unsafe { libc::close(end) };
    }
}

/// The process is stopped in the middle of a wait, for longer than the wait. Then it is over.
fn a_timeout_outlives_a_stop(backend: Backend) {
    let _alone = alone();
    let (pid, said) = fork(|| {
        let builder = Pool::<u64>::builder().backend(backend).capacity(1);
        let pool = builder.build().unwrap();
        let held = pool.acquire();
        let before = Instant::now();
        for _ in 0..20 {
            let none = pool.acquire_timeout(Duration::from_millis(10));
            assert_eq!(none.err(), Some(AcquireError::Timeout));
        }
        assert!(before.elapsed() >= Duration::from_millis(200));
        drop(held);
        assert!(pool.acquire_timeout(Duration::ZERO).is_ok());
    });
    for _ in 0..5 {
        thread::sleep(Duration::from_millis(10));
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
        thread::sleep(Duration::from_millis(30));
        // SAFETY: as above.
        unsafe { libc::kill(pid, libc::SIGCONT) };
    }
    let (end, said) = wait_for((pid, said));
    assert_eq!(end, End::Code(0), "{said}");
}

// ---- Threads by the hundred --------------------------------------------------------------------------

/// Waves of threads that start together, take what they can, and end holding it.
fn a_storm_of_threads(backend: Backend) {
    const WAVE: usize = 150;
    thread_local! {
        static KEPT: Cell<Option<Box<dyn std::any::Any>>> = const { Cell::new(None) };
    }
    let (builder, tally) = counted(backend);
    let pool = builder.capacity(8).build().unwrap();
    for wave in 0..6 {
        let start = Arc::new(Barrier::new(WAVE));
        let threads: Vec<_> = (0..WAVE)
            .map(|n| {
                let (pool, start) = (pool.clone(), start.clone());
                thread::spawn(move || {
                    start.wait();
                    let object = pool.acquire();
                    object.claim(n + 1);
                    object.yield_up(n + 1);
                    if n % 2 == wave % 2 {
                        KEPT.set(Some(Box::new(object)));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let stats = at_rest(&pool, &tally);
        assert_eq!(stats.in_use, 0, "{stats:?}");
    }
    assert!(tally.most() <= 8);
    let all = pool.acquire_many(8);
    assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
    drop((all, pool));
    assert_eq!(tally.alive(), 0);
}

// ---- A system call that is not allowed ---------------------------------------------------------------

const NAME_OF_CHILD: &str = "POOL_CORE_FAULT";

/// Runs `child` in a new process, which no other test has been in; `None` in that process.
fn in_own_process(test: &str, child: impl FnOnce()) -> Option<Output> {
    if env::var_os(NAME_OF_CHILD).is_some() {
        child();
        return None;
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(NAME_OF_CHILD, "1");
    Some(command.output().unwrap())
}

/// From now on the kernel refuses `membarrier` to this thread and those it starts.
fn refuse_membarrier() {
    let instruction = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = [
        // The number of the call is the first word.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_membarrier as u32,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | libc::EPERM as u32,
        ),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: takes integers.
    let done = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    assert_eq!(done, 0);
    // SAFETY: a program of as many instructions as it says.
    let done = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    assert_eq!(done, 0);
    // SAFETY: takes integers; 0 asks what there is.
    assert_eq!(unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) }, -1);
}

/// A filter as containers have it: there are no thread caches then, and everything else is as ever. Pools
/// with a fence on each hit have not asked.
#[test]
fn a_process_without_membarrier_has_pools_without_caches() {
    let test = "a_process_without_membarrier_has_pools_without_caches";
    let Some(child) = in_own_process(test, || {
        refuse_membarrier();
        within_reason(|| {
            let (builder, tally) = counted(Backend::Batched);
            let pool = builder.capacity(6).build().unwrap();
            thread::scope(|scope| {
                for n in 1..=4 {
                    let pool = &pool;
                    scope.spawn(move || {
                        for round in 0..500 {
                            let object = pool.acquire();
                            object.claim(n);
                            object.yield_up(n);
                            if round % 50 == 0 {
                                drop(object);
                                drop(pool.acquire_many(3));
                            }
                        }
                    });
                }
            });
            let stats = at_rest(&pool, &tally);
            assert_eq!(stats.in_use, 0);
            for _ in 0..3 {
                drop(pool.acquire());
            }
            assert_eq!(pool.stats().cached > 0, cfg!(pool_fence));
            assert!(stats.exchanges > 0, "{stats:?}");
            let all = pool.acquire_many(6);
            assert_eq!(pool.try_acquire().err(), Some(AcquireError::Exhausted));
            drop((all, pool));
            assert_eq!(tally.alive(), 0);
        });
    }) else {
        return;
    };
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    // It was this test that ran.
    assert!(String::from_utf8_lossy(&child.stdout).contains("1 passed"));
}

/// A filter that comes after the first pool takes away what the pools stand on. They cannot go on, and say
/// what to do.
#[test]
#[cfg(not(any(pool_fence, pool_no_membarrier)))]
fn a_membarrier_taken_away_later_ends_the_process_with_a_reason() {
    let test = "a_membarrier_taken_away_later_ends_the_process_with_a_reason";
    let Some(child) = in_own_process(test, || {
        let builder = Pool::<u64>::builder().capacity(16).batch_size(2);
        let pool = builder.build().unwrap();
        drop(pool.acquire());
        assert_eq!(
            pool.stats().cached,
            1,
            "there is no membarrier to begin with"
        );
        refuse_membarrier();
        pool.trim(0);
        unreachable!("a cache was searched without a barrier");
    }) else {
        return;
    };
    let said = String::from_utf8_lossy(&child.stderr);
    assert!(said.contains("refuses membarrier(2)"), "{said}");
    assert!(said.contains("install the filter before"), "{said}");
    assert!(!said.contains("without a barrier"), "{said}");
}

// ---- Clocks ------------------------------------------------------------------------------------------

/// The caller's clock for trimming may stand still, go back, or leap; waits that cannot be counted are
/// waits for ever.
fn a_clock_that_jumps(backend: Backend) {
    let pool = Pool::<u64>::builder().backend(backend).build().unwrap();
    let policy = TrimPolicy::idle_for(Duration::from_secs(60)).min_idle(2);
    drop(pool.acquire_many(10));
    let now = Instant::now() + Duration::from_secs(1_000);
    pool.trim_by(&policy, now);
    let idle = pool.idle();
    for back in [0, 1, 59, 900] {
        assert_eq!(pool.trim_by(&policy, now - Duration::from_secs(back)), 0);
    }
    assert_eq!(pool.idle(), idle);
    pool.trim_by(&policy, now + Duration::from_secs(1 << 40));
    assert_eq!(pool.idle(), if keeps(backend) { 2 } else { 0 });

    let builder = Pool::<u64>::builder().backend(backend).capacity(1);
    let pool = builder.build().unwrap();
    let held = pool.acquire();
    let waiter = {
        let pool = pool.clone();
        thread::spawn(move || pool.acquire_timeout(Duration::MAX).is_ok())
    };
    until(|| pool.stats().waits == 1);
    drop(held);
    assert!(waiter.join().unwrap());
}

//! The asymmetric barrier: a fence that one side gets for nothing because the other pays for both.
//!
//! [`light`] keeps the compiler from reordering and costs no instruction. [`heavy`] has the kernel
//! interrupt every core that runs a thread of this process, and returns when each has executed a
//! full fence (Linux `membarrier`, private expedited; 0.2 µs alone, a few µs with many cores).
//! A store before a `light` and a load after it are ordered as by a sequentially consistent fence
//! towards a thread that calls `heavy` between its own store and load.
//!
//! Where the system has no such call, [`available`] is `false` and no code may rely on `light`.

#[cfg(loom)]
mod imp {
    use loom::sync::atomic::{Ordering, fence};

    pub(crate) fn available() -> bool {
        true
    }

    // A model has no interrupts: both halves are the fence they stand for.
    pub(crate) fn light() {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
    }
}

#[cfg(all(not(loom), target_os = "linux", not(pool_no_membarrier)))]
mod imp {
    #![allow(unsafe_code)] // The system call.

    use std::sync::atomic::{AtomicU8, Ordering, compiler_fence};

    fn membarrier(command: libc::c_int) -> bool {
        // SAFETY: the call takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Registers the process, and tries the barrier, the first time.
    pub(crate) fn available() -> bool {
        const UNKNOWN: u8 = 0;
        const YES: u8 = 1;
        const NO: u8 = 2;
        // No thread waits for the first that asks: that may take milliseconds, and a fork meanwhile would leave
        // a child waiting for ever. To ask twice does no harm.
        static AVAILABLE: AtomicU8 = AtomicU8::new(UNKNOWN);
        // Relaxed, both: the answer says nothing about other memory.
        match AVAILABLE.load(Ordering::Relaxed) {
            UNKNOWN => {
                let available = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
                    && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
                AVAILABLE.store(if available { YES } else { NO }, Ordering::Relaxed);
                available
            }
            answer => answer == YES,
        }
    }

    #[inline(always)]
    pub(crate) fn light() {
        // A thread sanitizer cannot see an interrupt, so it is given the fence itself.
        if cfg!(pool_real_fences) {
            std::sync::atomic::fence(Ordering::SeqCst);
        } else {
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// # Panics
    ///
    /// Aborts the process if the kernel refuses a barrier it has granted before (a filter installed
    /// after the first pool was made): no correct answer is left then.
    pub(crate) fn heavy() {
        std::sync::atomic::fence(Ordering::SeqCst);
        if membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
            return;
        }
        // The registration may be missing: a child of `fork` on some kernels.
        if membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
            && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
        {
            return;
        }
        eprintln!(
            "pool-core: the kernel refuses membarrier(2), which it granted when the first pool was \
             made; allow the call in the filter, or install the filter before the first pool"
        );
        std::process::abort();
    }
}

#[cfg(all(not(loom), any(not(target_os = "linux"), pool_no_membarrier)))]
mod imp {
    pub(crate) fn available() -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn light() {}

    pub(crate) fn heavy() {
        unreachable!("no slot is handed out without an asymmetric barrier");
    }
}

pub(crate) use imp::{available, heavy, light};

//! The barrier between a thread that uses its slot and one that revokes it: [`light`] is the owner's half, on each
//! hit, [`heavy`] that of the revoking thread.
//!
//! A store before one half and a load after it are ordered as by a sequentially consistent fence towards a thread that
//! has the other half between its own store and load. Two `light` halves order nothing.
//!
//! | system | `light` | `heavy` |
//! | --- | --- | --- |
//! | Linux | for the compiler only | `membarrier`, private expedited (the trim of `tail` in benches/TABLES.md) |
//! | Windows | for the compiler only | `FlushProcessWriteBuffers` |
//! | others, models | a fence | a fence |
//!
//! The calls interrupt every core that runs a thread of the process, and return when each has executed a full fence. A
//! kernel of Linux may refuse its call; then [`available`] is `false` and no code may rely on either half. Android's
//! often does, FreeBSD has one since 14.1, and macOS none: what comes close there is not said to be a barrier.
//!
//! `--cfg pool_fence` builds what other systems get, and `--cfg pool_no_membarrier` what a kernel that refuses leaves.

#[cfg(all(target_os = "linux", not(any(loom, pool_fence))))]
mod imp {
    #![allow(unsafe_code)] // The system call.

    use std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};

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
                let available = !cfg!(pool_no_membarrier)
                    && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
                    && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
                AVAILABLE.store(if available { YES } else { NO }, Ordering::Relaxed);
                available
            }
            answer => answer == YES,
        }
    }

    #[inline(always)]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    /// # Panics
    ///
    /// Aborts the process if the kernel refuses a barrier it has granted before (a filter installed
    /// after the first pool was made): no correct answer is left then.
    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
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

#[cfg(all(windows, not(any(loom, pool_fence))))]
mod imp {
    #![allow(unsafe_code)] // The system call.

    use std::sync::atomic::{Ordering, compiler_fence, fence};

    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn FlushProcessWriteBuffers();
    }

    pub(crate) fn available() -> bool {
        !cfg!(pool_no_membarrier)
    }

    #[inline(always)]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
        FlushProcessWriteBuffers();
    }
}

// In a model too, which has no interrupts.
#[cfg(any(loom, pool_fence, not(any(target_os = "linux", windows))))]
mod imp {
    use crate::sync::{Ordering, fence};

    pub(crate) fn available() -> bool {
        !cfg!(pool_no_membarrier)
    }

    #[inline(always)]
    pub(crate) fn light() {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn heavy() {
        fence(Ordering::SeqCst);
    }
}

pub(crate) use imp::{available, heavy, light};

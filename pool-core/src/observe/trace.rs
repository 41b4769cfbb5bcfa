//! The events of a pool, for the `tracing` facade. Without the feature `tracing` all functions here are empty.
//!
//! A subscriber is user code, which may use the same pool. So events are emitted while no lock is held and outside of
//! slots: what happens there is counted ([`Unreported`]), and emitted by the call that comes out. If a subscriber
//! panics, that event is lost and nothing else. Events caused by the subscriber itself are suppressed.

// What only pools for many threads emit.
#![cfg_attr(not(feature = "std"), allow(dead_code))]

use core::time::Duration;

#[cfg(feature = "std")]
pub(crate) use self::imp::Unreported;
use crate::config::Config;

/// Memory for `blocks` more objects, of `size` bytes each, was added.
#[inline]
pub(crate) fn grew(config: &Config, blocks: usize, size: usize) {
    if blocks > 0 {
        imp::grew(config, blocks, blocks * size);
    }
}

/// The slots of all threads were revoked, `times` times.
#[inline]
pub(crate) fn revoked(config: &Config, times: usize) {
    if times > 0 {
        imp::revoked(config, times);
    }
}

/// An acquire of `objects` failed: fewer are idle, and the bound does not allow to create the rest.
#[inline]
pub(crate) fn exhausted(config: &Config, objects: usize) {
    imp::exhausted(config, objects);
}

/// A thread or a task goes to wait for `objects`.
#[inline]
pub(crate) fn waits(config: &Config, objects: usize) {
    imp::waits(config, objects);
}

/// A wait for `objects` is over, and took so long. (One that was served at once is none.)
#[inline]
pub(crate) fn waited(config: &Config, objects: usize, time: Duration) {
    if !time.is_zero() {
        imp::waited(config, objects, time);
    }
}

/// The pool was closed, `idle` objects being dropped.
#[inline]
pub(crate) fn closed(config: &Config, idle: usize) {
    imp::closed(config, idle);
}

#[cfg(feature = "tracing")]
mod imp {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use crate::config::Config;
    use crate::panics::forget_panic;
    use crate::sync::{AtomicUsize, Ordering};

    /// How much has happened under a lock and is not emitted yet.
    pub(crate) struct Unreported(AtomicUsize);

    impl Unreported {
        pub(crate) fn new() -> Self {
            Unreported(AtomicUsize::new(0))
        }

        /// Notes some more.
        pub(crate) fn note(&self, more: usize) {
            // Relaxed, as below: a number that says nothing about other memory.
            self.0.fetch_add(more, Ordering::Relaxed);
        }

        /// Takes what there is to emit, whichever thread noted it.
        #[inline]
        pub(crate) fn take(&self) -> usize {
            match self.0.load(Ordering::Relaxed) {
                0 => 0,
                _ => self.0.swap(0, Ordering::Relaxed),
            }
        }
    }

    /// Runs `emit`, unless the thread is emitting an event already: a subscriber that uses the pool would cause the
    /// next event, and so on.
    fn once_at_a_time(emit: impl FnOnce()) {
        // Without a destructor, so it is there while the thread ends.
        thread_local!(static EMITTING: Cell<bool> = const { Cell::new(false) });
        if EMITTING.replace(true) {
            return;
        }
        // The caller may have objects in hand, which must not be lost.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(emit)) {
            forget_panic(panic);
        }
        EMITTING.set(false);
    }

    macro_rules! event {
        ($config:ident, $message:literal $(, $field:ident)*) => {
            once_at_a_time(|| {
                let pool = $config.name.as_deref();
                tracing::debug!(target: "pool_core", pool, $($field,)* $message);
            })
        };
    }

    #[cold]
    pub(super) fn grew(config: &Config, blocks: usize, bytes: usize) {
        event!(config, "grew", blocks, bytes);
    }

    #[cold]
    pub(super) fn revoked(config: &Config, times: usize) {
        event!(config, "recalled the caches", times);
    }

    pub(super) fn exhausted(config: &Config, objects: usize) {
        event!(config, "exhausted", objects);
    }

    pub(super) fn waits(config: &Config, objects: usize) {
        event!(config, "waits", objects);
    }

    pub(super) fn waited(config: &Config, objects: usize, time: Duration) {
        let micros = time.as_micros() as u64;
        event!(config, "waited", objects, micros);
    }

    pub(super) fn closed(config: &Config, idle: usize) {
        event!(config, "closed", idle);
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use core::time::Duration;

    use crate::config::Config;

    pub(crate) struct Unreported;

    impl Unreported {
        pub(crate) fn new() -> Self {
            Unreported
        }

        #[inline(always)]
        pub(crate) fn note(&self, _more: usize) {}

        #[inline(always)]
        pub(crate) fn take(&self) -> usize {
            0
        }
    }

    #[inline(always)]
    pub(super) fn grew(_config: &Config, _blocks: usize, _bytes: usize) {}

    #[inline(always)]
    pub(super) fn revoked(_config: &Config, _times: usize) {}

    #[inline(always)]
    pub(super) fn exhausted(_config: &Config, _objects: usize) {}

    #[inline(always)]
    pub(super) fn waits(_config: &Config, _objects: usize) {}

    #[inline(always)]
    pub(super) fn waited(_config: &Config, _objects: usize, _time: Duration) {}

    #[inline(always)]
    pub(super) fn closed(_config: &Config, _idle: usize) {}
}

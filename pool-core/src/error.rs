//! What can go wrong: building a pool, acquiring from it, attaching to it, naming a choice.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::error::Error;
use core::fmt;

use crate::config::{Backend, Recall, ResetOn};
use crate::object::Refusal;

/// A pool could not be built as configured. The message names the settings in conflict, their values, and what to
/// change. `Debug` shows the message too, so `unwrap` and a `main` that returns the error print it.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let error = Pool::<String>::builder().capacity(10).prefill(64).build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "prefill 64 exceeds capacity 10: lower the prefill or raise the capacity",
/// );
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    kind: BuildErrorKind,
}

// Hidden so that it can grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuildErrorKind {
    ZeroBatchSize,
    BatchSizeTooLarge {
        batch_size: usize,
        most: usize,
    },
    BatchSizeWithoutBatches {
        batch_size: usize,
        backend: Backend,
    },
    ZeroCapacity,
    ZeroGrowBy,
    PrefillAboveCapacity {
        prefill: usize,
        capacity: usize,
    },
    #[cfg_attr(not(feature = "std"), allow(dead_code))] // Only pools for many threads are made so.
    PrefillWithoutCreate {
        prefill: usize,
    },
    PrefillAboveMaxIdle {
        prefill: usize,
        max_idle: usize,
    },
    BatchSizeAboveMaxIdle {
        batch_size: usize,
        max_idle: usize,
    },
    TooMuchMemory {
        what: &'static str,
        objects: usize,
        node_size: usize,
    },
    MemoryWithHeap,
    ChoiceWithoutPages {
        choice: &'static str,
    },
    Refused(Refusal),
}

impl From<BuildErrorKind> for BuildError {
    fn from(kind: BuildErrorKind) -> Self {
        BuildError { kind }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BuildErrorKind::ZeroBatchSize => {
                f.write_str("batch size 0: a batch holds at least one object; use 1 or more")
            }
            BuildErrorKind::BatchSizeTooLarge { batch_size, most } => write!(
                f,
                "batch size {batch_size} exceeds {most}: use a smaller batch"
            ),
            BuildErrorKind::BatchSizeWithoutBatches {
                batch_size,
                backend,
            } => write!(
                f,
                "batch size {batch_size} with backend {backend}, which has no batches: drop the \
                 batch size or use backend batched"
            ),
            BuildErrorKind::ZeroCapacity => f.write_str(
                "capacity 0: no object could ever be acquired; use 1 or more, or leave the \
                 capacity out for a pool without a bound",
            ),
            BuildErrorKind::ZeroGrowBy => {
                f.write_str("grow_by 0: the pool could never grow; use 1 or more, or leave it out")
            }
            BuildErrorKind::PrefillAboveCapacity { prefill, capacity } => write!(
                f,
                "prefill {prefill} exceeds capacity {capacity}: lower the prefill or raise the \
                 capacity"
            ),
            BuildErrorKind::PrefillWithoutCreate { prefill } => write!(
                f,
                "prefill {prefill} for a pool that cannot create: drop the prefill, and attach objects \
                 once the pool is built"
            ),
            BuildErrorKind::PrefillAboveMaxIdle { prefill, max_idle } => write!(
                f,
                "prefill {prefill} exceeds max_idle {max_idle}: the excess would be dropped at \
                 once; lower the prefill or raise max_idle"
            ),
            BuildErrorKind::BatchSizeAboveMaxIdle {
                batch_size,
                max_idle,
            } => write!(
                f,
                "batch size {batch_size} does not fit max_idle {max_idle}: a thread keeps up to two \
                 batches; lower the batch size to max_idle / 2 or less, leave it out, or raise max_idle"
            ),
            BuildErrorKind::TooMuchMemory {
                what,
                objects,
                node_size,
            } => write!(
                f,
                "{what} {objects} with {node_size} bytes an object exceeds the available memory: lower the \
                 {what}"
            ),
            BuildErrorKind::MemoryWithHeap => f.write_str(
                "memory with backend heap, which asks the global allocator for each object by itself: \
                 leave the memory out or use another backend",
            ),
            BuildErrorKind::ChoiceWithoutPages { choice } => write!(
                f,
                "memory {choice} without pages: it applies to the pool's own pages only; begin \
                 with Memory::pages(), or leave {choice} out"
            ),
            BuildErrorKind::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BuildError")
            .field(&format_args!("{self}"))
            .finish()
    }
}

impl Error for BuildError {}

/// An object could not be acquired.
///
/// With `std`, `?` converts it to an [`io::Error`](std::io::Error): `Timeout` to the kind `TimedOut`, `Closed` to
/// `BrokenPipe`, and the others to `WouldBlock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AcquireError {
    /// No object is idle anywhere, thread caches included, and none may be created: the bound is reached, or the call
    /// never creates one. From an acquire of several objects: fewer are available than it asks for.
    Exhausted,
    /// No object was released before the timeout.
    ///
    /// In a pool that [tracks holders](crate::Builder::track_holders), the message says how many objects were in use,
    /// and where the oldest of them was acquired. The error itself is a plain value, so the message describes the latest
    /// timeout of the thread that formats it.
    Timeout,
    /// The pool was closed.
    Closed,
    /// The queue of waiters is full: see [`max_waiting`](crate::Builder::max_waiting).
    Saturated,
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AcquireError::Exhausted => {
                "not enough objects are idle, and the pool may not create more: drop a handle, ask for fewer, or \
                 raise the capacity"
            },
            AcquireError::Timeout => {
                "not enough objects were released in time: drop handles sooner, wait longer, or raise the capacity"
            },
            AcquireError::Closed => {
                "the pool is closed, by `close` or the drop of its last `Pool`: stop acquiring, or close it later"
            },
            AcquireError::Saturated => {
                "no object is idle and the queue of waiters is full: try again later, or raise max_waiting"
            },
        })?;
        #[cfg(feature = "std")]
        if *self == AcquireError::Timeout {
            return crate::observe::holders::explain_timeout(f);
        }
        Ok(())
    }
}

impl Error for AcquireError {}

/// Objects were still in use at the timeout of [`Pool::wait_idle`](crate::Pool::wait_idle).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WaitIdleError {
    in_use: usize,
}

impl WaitIdleError {
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) fn new(in_use: usize) -> Self {
        WaitIdleError { in_use }
    }

    /// How many objects were in use, as [`Pool::in_use`](crate::Pool::in_use) counts them.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use
    }
}

impl fmt::Display for WaitIdleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.in_use {
            1 => f.write_str("1 object is")?,
            n => write!(f, "{n} objects are")?,
        }
        f.write_str(
            " still in use: drop all handles or wait longer; `holders` of a pool built with `track_holders` says \
             where they were acquired",
        )
    }
}

impl Error for WaitIdleError {}

#[cfg(feature = "std")]
impl From<AcquireError> for std::io::Error {
    fn from(error: AcquireError) -> Self {
        use std::io::ErrorKind;

        let kind = match error {
            AcquireError::Timeout => ErrorKind::TimedOut,
            AcquireError::Closed => ErrorKind::BrokenPipe,
            AcquireError::Exhausted | AcquireError::Saturated => ErrorKind::WouldBlock,
        };
        std::io::Error::new(kind, error)
    }
}

/// A value could not be attached to a pool. Holds the value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttachError<T> {
    value: T,
    reason: AcquireError,
}

impl<T> AttachError<T> {
    pub(crate) fn new(value: T, reason: AcquireError) -> Self {
        AttachError { value, reason }
    }

    /// The value that was to be attached.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Why it was not: [`Exhausted`](AcquireError::Exhausted) at the bound, or [`Closed`](AcquireError::Closed).
    #[must_use]
    pub fn reason(&self) -> AcquireError {
        self.reason
    }
}

impl<T> fmt::Debug for AttachError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttachError")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Display for AttachError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            AcquireError::Closed => {
                "cannot attach to a closed pool: take the value back by `into_inner`, or close the pool later"
            },
            _ => "cannot attach, since the pool is at its capacity: drop a handle or raise the capacity",
        })
    }
}

impl<T> Error for AttachError<T> {}

/// A name that is none of a choice's.
macro_rules! unknown_name {
    ($(#[$doc:meta])* $Error:ident, $Choice:ident, $field:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $Error {
            name: String,
        }

        impl $Error {
            pub(crate) fn new(name: &str) -> Self {
                $Error {
                    name: name.to_owned(),
                }
            }
        }

        impl fmt::Display for $Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("unknown ", $field, " {:?}: expected one of "), self.name)?;
                for (i, choice) in $Choice::ALL.into_iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    f.write_str(choice.name())?;
                }
                Ok(())
            }
        }

        impl Error for $Error {}
    };
}

unknown_name! {
    /// A name is not a backend's.
    ParseBackendError, Backend, "backend"
}

unknown_name! {
    /// A name does not say when an object is reset.
    ParseResetOnError, ResetOn, "reset_on"
}

unknown_name! {
    /// A name does not say how a pool gets at what threads cache.
    ParseRecallError, Recall, "recall"
}

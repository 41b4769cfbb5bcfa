//! The pool for one thread: the same API, without atomics.
//!
//! For a loop that owns its objects: an event loop, a simulation, a parser. An acquire is a pop from a vector, a drop a
//! push. The pool and its handles stay on one thread, which the compiler checks.
//!
//! # Examples
//!
//! ```
//! use pool_core::unsync::{Pool, Pooled};
//!
//! let pool = Pool::<Vec<u8>>::new();
//! let mut buffer: Pooled<Vec<u8>> = pool.acquire();
//! buffer.push(1);
//! drop(buffer);
//! assert!(pool.acquire().is_empty());
//! assert_eq!(pool.stats().created, 1);
//! ```

mod builder;
mod shared;
mod pool;
mod pooled;
mod burst;
mod stack;
mod send;
mod entry;

pub use builder::Builder;
pub use burst::Burst;
pub use entry::{Entry, VacantEntry};
pub use pool::{FnPool, FnPooled, Pool};
pub use pooled::Pooled;

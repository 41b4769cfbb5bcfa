//! The pool for one thread: the same API, without atomics.
//!
//! For a loop that owns its objects: an event loop, a simulation, a parser. Neither the pool nor its
//! handles can leave the thread, and that is checked when the program is compiled. An acquire is a
//! pop from a vector, a drop a push.
//!
//! It does not track who holds its objects, as [`pool_core::Builder::track_holders`](crate::Builder::track_holders) has
//! it: it has no clock without `std`, and whoever holds one is on this thread's stack or in its data.
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

//! Typed object pools for message loops that cannot afford the allocator.
//!
//! The derive generates the code that creates and resets a struct, a builder picks the backend, and a handle
//! one word wide gives the object back when it drops:
//!
//! ```
//! use pool_core::{Backend, Pool, Poolable};
//!
//! #[derive(Poolable)]
//! struct Order {
//!     id: u64,
//!     symbol: String, // cleared on its way back; its memory stays
//!     #[poolable(default = 100)]
//!     size: u32,
//! }
//!
//! let pool = Pool::<Order>::builder()
//!     .backend(Backend::Batched)
//!     .capacity(10_000)
//!     .build()?;
//!
//! let mut order = pool.acquire();
//! order.id = 7;
//! order.symbol.push_str("AMZN");
//! std::thread::spawn(move || drop(order)).join().unwrap(); // back in the pool, reset
//!
//! let order = pool.acquire();
//! assert_eq!((order.id, order.symbol.as_str(), order.size), (0, "", 100));
//! # Ok::<(), pool_core::BuildError>(())
//! ```
//!
//! # Do you need a pool?
//!
//! Often not. An allocator takes 9 to 20 ns for a small object that a thread frees itself. A pool
//! pays where objects are passed between threads, are costly to make (they own buffers), must be
//! bounded, or where the allocator's worst case hurts. [`Backend::Heap`] is plain allocation behind
//! the same API, chosen by a value: measure with it, and keep what is faster. Where one thread does
//! everything, [`unsync::Pool`] is as cheap as a `Vec` of boxes; where objects live as long as each
//! other, an arena is better than any pool.
//!
//! # Which backend
//!
//! | | a hit costs | bound | for |
//! | --- | --- | --- | --- |
//! | [`Batched`](Backend::Batched) | no lock, no atomic read-modify-write, no fence | exact | message loops; the default |
//! | [`Mutex`](Backend::Mutex) | one uncontended lock each way | exact | few threads, little traffic |
//! | [`Queue`](Backend::Queue) | a compare-and-swap each way, on shared lines | exact | first in, first out |
//! | [`Heap`](Backend::Heap) | an allocation, a little more than `Box` | exact | the control; hunting for memory errors |
//! | [`unsync`] | a push and a pop | exact | one thread |
//!
//! # What is promised
//!
//! - **The bound is exact.** [`capacity`](Builder::capacity) counts every object alive, on every
//!   backend, and [`Exhausted`](AcquireError::Exhausted) is returned only when no object is idle anywhere: the
//!   pool finds objects in other threads' caches.
//! - **Every object is destroyed exactly once**: handles may outlive the pool and the thread they came from.
//! - **Steady state allocates nothing**, except for `Heap`.
//! - **Hooks may do anything**: use the same pool, panic, take long. They run under no lock. If a hook panics,
//!   the pool drops the object the hook was given and stays usable.
//! - **What the types can forbid does not compile**: a double release, a use after it, a release into
//!   another pool, a `T` on a thread where it may not be.
//! - **An object is reset before another thread can acquire it**; the derive resets every field that its author
//!   does not exempt.
//!
//! # Costs
//!
//! A block is 16 bytes more than its object. A thread that uses a `Batched` pool keeps up to two batches
//! of idle objects for itself (until another thread needs them), and 72 bytes for each object of a batch. A `Heap`
//! pool counts in thread slots, with a bound as without, until the bound is near. The exact bound costs a hit nothing.
//! When the pool runs dry it searches the caches, at the price of one barrier on every core, at most once in 64
//! visits to the central lock.
//!
//! # Safety
//!
//! The `unsafe` code is in the modules that say so at their head; each block says why it is sound and
//! names the invariant that it rests on. ARCHITECTURE.md in the repository states the invariants and
//! the protocol of the thread caches, which is checked by loom models of this code.
//!
//! # Features
//!
//! - `derive` (default): [`derive@Poolable`], at the price of building `syn`.
//! - `std` (default): everything that threads share, the types of `std`, and panics that are caught.
//!   Without it the crate needs `alloc` only, and is [`Poolable`] with its derive, [`Lifecycle`] and
//!   [`unsync`]. A panic of a hook still costs no more than its object, but a panic while another unwinds
//!   aborts.
//! - `async`: `Pool::acquire_async`, for any executor. Adds no dependency.
//! - `serde`: [`PoolConfig`], [`Backend`], [`Recall`] and [`ResetOn`] are read from and written to any format, with
//!   errors that name the field; [`Stats`] and what handles hold are written. At the price of building
//!   `serde` and its derive. (To read into an object of a pool: `T::deserialize_in_place`.)
//! - `stable_deref_trait`: handles implement the traits of that crate, for `owning_ref`, `yoke` and their like.
//! - `metrics`: `Pool::record_metrics` hands [`Stats`] to the recorder of the `metrics` facade when it
//!   is called; nothing is counted as it happens, so a hit pays nothing.
//! - `allocator-api2`: `Memory::allocator` takes the memory of objects from any `Allocator` of that crate.
//! - `tracing`: events of level `DEBUG` and target `pool_core` when a pool grows, recalls the caches of
//!   its threads, is exhausted, is waited for, or is closed, with the pool's name as field `pool`. Events are
//!   emitted while no lock is held, so a subscriber may use the same pool. Events caused by the subscriber itself
//!   are suppressed. A hit emits nothing and pays nothing; a miss pays a load, the creation of an object another.
//! - `arrayvec`, `bytes`, `chrono`, `hashbrown`, `heapless`, `indexmap`, `rust_decimal`, `smallvec`, `uuid`:
//!   [`Poolable`] for the types of the crate of that name, and [`MaxCapacity`] for those that grow, as the table
//!   in [`poolable::impls`] says. At the price of building that crate, without its default features.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]
// On docs.rs, what needs a feature says so.
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

#[cfg(all(feature = "std", not(target_has_atomic = "64")))]
compile_error!(
    "pool-core: the pools that threads share count in 64-bit atomics, which this target does not have; turn the \
     feature `std` off (`default-features = false`), and `Poolable`, the derive and `unsync` remain"
);

// In the order in which an object passes through them.
pub mod poolable;
mod lifecycle;
#[cfg(feature = "std")]
mod builder;
mod config;
mod memory;
#[cfg(feature = "std")]
mod pool;
mod entry;
#[cfg(feature = "async")]
mod acquire;
#[cfg(feature = "std")]
mod shared;
mod handle;
mod object;
#[cfg(feature = "std")]
mod local;
#[cfg(feature = "std")]
mod central;
mod panics;
#[cfg(feature = "std")]
mod fork;
pub mod unsync;
mod error;
mod observe;
#[cfg(feature = "stable_deref_trait")]
mod stable;
mod sync;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(
    test,
    feature = "std",
    target_os = "linux",
    target_env = "gnu",
    not(loom)
))]
mod messages;

#[cfg(feature = "async")]
pub use acquire::{Acquire, WaitIdle};
#[cfg(feature = "std")]
pub use builder::Builder;
#[cfg(feature = "std")]
pub use central::trim::TrimPolicy;
pub use config::{Backend, PoolConfig, Recall, ResetOn};
#[cfg(feature = "std")]
pub use entry::{Entry, VacantEntry};
pub use error::{
    AcquireError, AttachError, BuildError, ParseBackendError, ParseRecallError, ParseResetOnError,
    WaitIdleError,
};
#[cfg(feature = "std")]
pub use handle::{Burst, Pooled, SharedPooled};
pub use lifecycle::{Derived, Hooks, Lifecycle, Recycle, WithoutCreate};
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub use memory::Huge;
pub use memory::Memory;
#[cfg(feature = "std")]
pub use observe::holders::Holder;
#[cfg(feature = "metrics")]
pub use observe::metrics::describe_metrics;
pub use observe::stats::Stats;
#[cfg(feature = "std")]
pub use pool::{Drain, FnPool, FnPooled, Pool, WeakPool};
#[doc(hidden)]
pub use poolable::build as __private;
pub use poolable::{MaxCapacity, Place, Poolable, Ready};

#[cfg(feature = "derive")]
pub use pool_derive::Poolable;

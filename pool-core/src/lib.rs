//! Typed object pools for message loops that cannot afford the allocator.
//!
//! The derive generates the code that creates and resets a struct. A builder selects the backend. A handle, one
//! word wide, returns the object to the pool when it is dropped:
//!
//! ```
//! use pool_core::{Backend, Pool, Poolable};
//!
//! #[derive(Poolable)]
//! struct Order {
//!     id: u64,
//!     symbol: String, // cleared on release; its memory stays
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
//! std::thread::spawn(move || drop(order)).join().unwrap(); // reset and released
//!
//! let order = pool.acquire();
//! assert_eq!((order.id, order.symbol.as_str(), order.size), (0, "", 100));
//! # Ok::<(), pool_core::BuildError>(())
//! ```
//!
//! # Do you need a pool?
//!
//! Often not. An allocator is fast for a small object that the same thread frees (`cargo bench -p pool-benches --bench
//! hot_path` in the repository). A pool pays off for objects that are passed between threads, that are costly to create
//! (they own buffers), or whose number must be bounded. It also pays off where the allocator's worst case is too slow.
//! [`Backend::Heap`] allocates each object behind the same API, so it shows whether pooling helps at all. If one thread
//! does everything, [`unsync::Pool`] is as cheap as a `Vec` of boxes. If all objects are dropped at the same time, an
//! arena is better than any pool.
//!
//! # Which backend
//!
//! | | a hit costs | bound | for |
//! | --- | --- | --- | --- |
//! | [`Batched`](Backend::Batched) | no lock, no atomic read-modify-write, no fence | exact | message loops; the default |
//! | [`Mutex`](Backend::Mutex) | one uncontended lock each way | exact | few threads, little traffic |
//! | [`Queue`](Backend::Queue) | a compare-and-swap each way, on shared cache lines | exact | first in, first out |
//! | [`Heap`](Backend::Heap) | an allocation, slightly more than `Box` | exact | a baseline; finding memory errors |
//! | [`unsync`] | a push and a pop | exact | one thread |
//!
//! # Guarantees
//!
//! - **The bound is exact.** [`capacity`](Builder::capacity) counts every live object, idle ones included, on every
//!   backend. At the bound [`Pool::acquire`] waits for a release, and [`Pool::try_acquire`] fails. It returns
//!   [`Exhausted`](AcquireError::Exhausted) only when no object is idle anywhere: the pool also searches the caches of
//!   other threads.
//! - **Every object is destroyed exactly once.** A handle may outlive the pool and the thread that acquired it.
//! - **Steady state allocates nothing**, except with `Heap`.
//! - **Hooks may do anything**: use the same pool, panic, run for long. They run while no lock is held. If a hook
//!   panics, the pool drops the object the hook was given and stays usable.
//! - **Misuse that types can forbid does not compile**: a double release, a use after release, a release into another
//!   pool, a `T` on a thread where it must not be.
//! - **An object is reset before another thread can acquire it.** The derive resets every field, unless an attribute
//!   exempts the field.
//!
//! # Costs
//!
//! - A block is 16 bytes larger than its object.
//! - In a `Batched` pool each thread caches up to two batches of idle objects, until another thread needs them. The
//!   cache takes 72 bytes of memory for each object of a batch.
//! - A `Heap` pool counts live objects in thread slots, with or without a bound. Near the bound its threads use the
//!   central lock.
//! - The exact bound costs a hit nothing. When the pool runs dry, it searches the caches. A search costs one barrier on
//!   every core, and runs at most once in 64 visits to the central lock.
//!
//! # Safety
//!
//! Each module that contains `unsafe` code says so at its head. Each `unsafe` block says why it is sound, and names the
//! invariant that it relies on. ARCHITECTURE.md in the repository states the invariants and the protocol of the thread
//! caches. Loom models of this code check the protocol.
//!
//! # Features
//!
//! An item whose feature is off does not exist. Without `async`, for example, the compiler finds no `acquire_async` and
//! may suggest `acquire`, which blocks the thread.
//!
//! - `derive` (default): [`derive@Poolable`]. Costs the build of `syn`.
//! - `std` (default): every pool that threads share, [`Poolable`] for types of `std`, and hooks whose panics are
//!   caught. Without it the crate needs `alloc` only, and contains [`Poolable`] with its derive, [`Lifecycle`] and
//!   [`unsync`]. A hook that panics still costs only its object, but a panic during another panic aborts.
//! - `async`: `Pool::acquire_async` and other futures, for any executor. Adds no dependency.
//! - `serde`: [`PoolConfig`], [`Backend`], [`Recall`] and [`ResetOn`] can be serialized and deserialized; errors name
//!   the field. [`Stats`] and handles can be serialized. To deserialize into an object of a pool, call
//!   `T::deserialize_in_place`. Costs the build of `serde` and its derive.
//! - `stable_deref_trait`: handles implement the traits of that crate, for `owning_ref`, `yoke` and similar crates.
//! - `metrics`: `Pool::record_metrics` writes [`Stats`] to the recorder of the `metrics` facade when it is called.
//!   Nothing is recorded between calls, so a hit pays nothing.
//! - `allocator-api2`: `Memory::allocator` takes the memory of objects from any `Allocator` of that crate.
//! - `tracing`: the pool emits an event of level `DEBUG` and target `pool_core` when it grows, recalls the caches of
//!   its threads, is exhausted, is waited for, or is closed. The field `pool` is the pool's name. Events are emitted
//!   while no lock is held, so a subscriber may use the same pool. Events caused by the subscriber itself are
//!   suppressed. A hit emits nothing and pays nothing. A miss pays one load, and the creation of an object another.
//! - `arrayvec`, `bytes`, `chrono`, `hashbrown`, `heapless`, `indexmap`, `rust_decimal`, `smallvec`, `uuid`:
//!   [`Poolable`] for the types of that crate, and [`MaxCapacity`] for those that grow. [`poolable::impls`] has a
//!   table. Each costs the build of its crate, without its default features.

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

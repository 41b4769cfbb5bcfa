//! The tests that can share a process and need the default features.
//!
//! Beside this folder are the tests that need a process of their own (for a global allocator, a fork or a
//! measurement of the process), `derive_hygiene.rs`, which sets lints for a whole crate, and `features`,
//! the tests of optional features. Programs that must not compile are in the package `compile-fail`.

#[path = "../support/mod.rs"]
mod support;

mod builder;
mod burst;
mod contract;
mod derive;
mod derive_properties;
#[cfg(feature = "async")]
mod entry;
#[cfg(feature = "async")]
mod executors;
mod handles;
#[cfg(feature = "async")]
mod holders;
mod idle_data;
mod like_box;
mod memory;
mod model;
mod pinned;
mod pitfalls;
mod poolable;
#[cfg(feature = "async")]
mod reported;
#[cfg(feature = "async")]
mod reset_on_acquire;
mod retain;
#[cfg(feature = "async")]
mod services;
mod set_capacity;
mod shown;
mod threads;
mod trim;
mod types;
mod unsync;
mod wait_idle;
mod waiting;

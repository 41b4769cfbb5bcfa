//! The code of the README and of the guide: each block is a documentation test of this package, which
//! has as dependencies what a published one should not, such as the pools that users come from.
//!
//! Called by nobody. A chapter that `docs/SUMMARY.md` lists and this file does not is found by
//! `tests/links.rs`.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/introduction.md")]
struct Introduction;

#[doc = include_str!("../../docs/when-not.md")]
struct WhenNot;

#[doc = include_str!("../../docs/backend.md")]
struct ChoosingABackend;

#[doc = include_str!("../../docs/sizing.md")]
struct Sizing;

#[doc = include_str!("../../docs/reset.md")]
struct Reset;

#[doc = include_str!("../../docs/messages.md")]
struct Messages;

#[doc = include_str!("../../docs/services.md")]
struct Services;

#[doc = include_str!("../../docs/pinned.md")]
struct Pinned;

#[doc = include_str!("../../docs/pitfalls.md")]
struct Pitfalls;

#[doc = include_str!("../../docs/comparison.md")]
struct Comparison;

#[doc = include_str!("../../docs/migrating-rust.md")]
struct MigratingRust;

#[doc = include_str!("../../docs/migrating-languages.md")]
struct MigratingLanguages;

#[doc = include_str!("../../docs/inside.md")]
struct Inside;

#[doc = include_str!("../../docs/idle-data.md")]
struct IdleData;

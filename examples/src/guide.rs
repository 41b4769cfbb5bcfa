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
struct Backends;

#[doc = include_str!("../../docs/sizing.md")]
struct Sizing;

#[doc = include_str!("../../docs/reset.md")]
struct Reset;

#[doc = include_str!("../../docs/idle-data.md")]
struct IdleData;

#[doc = include_str!("../../docs/pinned.md")]
struct Pinned;

#[doc = include_str!("../../docs/services.md")]
struct Services;

#[doc = include_str!("../../docs/messages.md")]
struct Messages;

#[doc = include_str!("../../docs/observing.md")]
struct Observing;

#[doc = include_str!("../../docs/pitfalls.md")]
struct Pitfalls;

#[doc = include_str!("../../docs/comparison.md")]
struct Comparison;

#[doc = include_str!("../../docs/from-object-pool.md")]
struct FromObjectPool;

#[doc = include_str!("../../docs/from-lockfree-object-pool.md")]
struct FromLockfreeObjectPool;

#[doc = include_str!("../../docs/from-deadpool.md")]
struct FromDeadpool;

#[doc = include_str!("../../docs/from-array-queue.md")]
struct FromArrayQueue;

#[doc = include_str!("../../docs/from-bdlcc.md")]
struct FromBdlcc;

#[doc = include_str!("../../docs/from-netty.md")]
struct FromNetty;

#[doc = include_str!("../../docs/from-go.md")]
struct FromGo;

#[doc = include_str!("../../docs/from-dotnet.md")]
struct FromDotnet;

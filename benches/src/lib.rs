//! How pool-core is measured: what every contender does, and how two of them are compared.
//!
//! ```text
//! payload ──► contender ──► pattern ──► team ──► duel ──► report
//! one object   who takes     one loop    threads  A B B A   table, JSON
//!              and gives     for all     of one   medians
//!                                        side
//! ```
//!
//! [`rows`] names the comparisons, and the program `ratios` runs them. The criterion benches show the
//! same contenders singly, in teams with the same loops, beside those of [`by_hand`] and other crates;
//! the program `tables` prints what they found. The program `counts` is what `ci/counts.sh` counts the
//! instructions of. The program `pool-bench`, a package of its own in `pool-bench/`, measures the case that
//! its user describes, with the same contenders.
#![deny(unsafe_code)]

pub mod payload;
pub mod contender;
pub mod by_hand;
pub mod work;
pub mod pattern;
pub mod clock;
pub mod team;
pub mod pipeline;
pub mod cold;
pub mod duel;
#[cfg(feature = "allocators")]
pub mod rows;
pub mod report;

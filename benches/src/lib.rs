//! How pool-core is measured: what every contender does, and how two of them are compared.
//!
//! ```text
//! payload ──► contender ──► pattern ──► team ──► duel ──► report
//! one object   who takes     one loop    threads  A B B A   table, JSON
//!              and gives     for all     of one   medians
//!                                        side
//! ```
//!
//! [`rows`] names the comparisons; the program `ratios` runs them, the criterion bench `hot_path`
//! shows the same contenders singly, and the program `hit` is what `ci/hit.sh` counts the
//! instructions of.
#![deny(unsafe_code)]

pub mod payload;
pub mod contender;
pub mod pattern;
pub mod clock;
pub mod team;
pub mod duel;
pub mod rows;
pub mod report;

//! Parts shared by the examples, in the order a market-data message meets them.
//!
//! ```text
//! bytes ──format──► Message ──run──► pooled Inbound ──book──► Figures ──report──► text
//!   ▲                                     │  ▲
//!   └── a file, or generator              └──┘ released to its pool once applied
//! ```
//!
//! Beside those: what the programs do alike at a command line, in `cli`, and how a thread waits for the
//! next message of a ring, in `ring`. A program is a file beside `src/`, and what only it needs is there.
#![forbid(unsafe_code)]

pub mod lobster;
pub mod itch;
pub mod fix;
pub mod format;
pub mod generator;
pub mod store;
pub mod book;
pub mod run;
pub mod report;
pub mod compare;
pub mod ring;
pub mod cli;
#[cfg(doctest)]
mod guide;

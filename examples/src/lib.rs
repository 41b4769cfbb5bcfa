//! Parts shared by the examples, in the order a market-data message meets them.
//!
//! ```text
//! bytes ──lobster──► Message ──run──► pooled Inbound ──book──► Figures ──report──► text
//!   ▲                                     │  ▲
//!   └── a file, or generator              └──┘ released to its pool once applied
//! ```
//!
//! Nothing here knows of a command line; `order_book.rs` beside `src/` does.
#![forbid(unsafe_code)]

pub mod lobster;
pub mod generator;
pub mod book;
pub mod run;
pub mod report;

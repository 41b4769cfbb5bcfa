//! The workload of `locked_pool_vs_malloc` in a process whose allocator is mimalloc.

#[path = "../support/cold.rs"]
mod cold_rows;
#[path = "../support/mod.rs"]
mod support;
mod workload;

use mimalloc::MiMalloc;

#[global_allocator]
static GLOBAL: MiMalloc = MiMalloc;

fn main() {
    workload::run_as(["mimalloc", "heap on mimalloc", "batched on mimalloc"]);
}

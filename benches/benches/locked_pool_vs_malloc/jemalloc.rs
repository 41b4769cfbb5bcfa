//! The workload of `locked_pool_vs_malloc` in a process whose allocator is jemalloc.

#[path = "../support/cold.rs"]
mod cold_rows;
#[path = "../support/mod.rs"]
mod support;
mod workload;

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static GLOBAL: Jemalloc = Jemalloc;

fn main() {
    workload::run_as(["jemalloc", "heap on jemalloc", "batched on jemalloc"]);
}

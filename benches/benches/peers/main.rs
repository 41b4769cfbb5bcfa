//! Workloads that authors of other pools and of allocators publish, written anew: each contender does the same with
//! the same object. Handles are owned, as ours are.

mod allocators;
#[path = "../rivals/crates.rs"]
mod crates;
mod forwarding;
mod lockfree_object_pool;
#[path = "../support/mod.rs"]
mod support;

use criterion::{criterion_group, criterion_main};
use pool_bench::by_hand::FreshBox;
use pool_bench::contender::{Contender, Pooled};
use pool_bench::payload::Payload;
use pool_bench::team::Team;
use pool_core::Backend;

use crates::{
    LockfreeLinearOwned, LockfreeMutexOwned, LockfreeNone, LockfreeSpinOwned, ObjectPoolOwned,
    ShardedSlabOwned,
};
use support::{Group, row};

/// What the threads of a row do, in one column of its table.
trait Workload<T: Payload> {
    /// What to call the column.
    fn column(&self) -> String;

    /// A team at work with what `make` makes: a contender that its threads share by clones.
    fn team<C>(&self, make: impl Fn() -> C + Send + Sync + 'static) -> Team
    where
        C: Contender<T, Handle: Send> + Clone + Send + Sync + 'static;
}

/// Rows of pools that take any object.
fn pools<T: Payload + Clone>(group: &mut Group<'_>, workload: &impl Workload<T>) {
    for backend in Backend::ALL {
        peer(group, workload, backend.name(), move || Pooled::on(backend));
    }
    let make = LockfreeLinearOwned::default;
    peer(group, workload, "lockfree-object-pool, linear", make);
    let make = LockfreeSpinOwned::default;
    peer(group, workload, "lockfree-object-pool, spin lock", make);
    let make = LockfreeMutexOwned::default;
    peer(group, workload, "lockfree-object-pool, mutex", make);
    let make = LockfreeNone::default;
    peer(group, workload, "lockfree-object-pool, none", make);
    peer(group, workload, "object-pool", ObjectPoolOwned::default);
    peer(group, workload, "sharded-slab", ShardedSlabOwned::default);
    peer(group, workload, "no pool: Box", FreshBox::default);
}

/// A row.
fn peer<T: Payload, C>(
    group: &mut Group<'_>,
    workload: &impl Workload<T>,
    name: &str,
    make: impl Fn() -> C + Clone + Send + Sync + 'static,
) where
    C: Contender<T, Handle: Send> + Clone + Send + Sync + 'static,
{
    row(group, name, &workload.column(), || {
        workload.team(make.clone())
    });
}

criterion_group! {
    name = benches;
    config = support::criterion();
    targets = lockfree_object_pool::holding, lockfree_object_pool::forwarding, allocators::allocators
}
criterion_main!(benches);

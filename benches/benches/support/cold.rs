//! Rows of bursts, cold and warm: what the benches of growth and of the locked pool have in common.

use std::iter;
use std::time::Duration;

use criterion::BenchmarkId;
use pool_bench::cold::{Entrant, first_burst};
use pool_bench::team::Team;

use crate::support::{Group, row};

/// Adds a row of an entrant's bursts, in a column, to a group.
pub(crate) type Row = fn(&mut Group<'_>, &Entrant, &str, usize);

/// A row of first bursts, each in a process of its own: the time on a core, since a process that was
/// only just started is the likeliest to be interrupted.
pub(crate) fn cold_row(group: &mut Group<'_>, entrant: &Entrant, column: &str, burst: usize) {
    group.bench_function(BenchmarkId::new(entrant.name, column), |bencher| {
        bencher.iter_custom(|turns| {
            let bursts = iter::repeat_with(|| {
                let span = first_burst(entrant.name, burst).expect("a first burst");
                span.busy
            });
            bursts.take(turns as usize).sum::<Duration>()
        });
    });
}

/// A row of the same burst over and over.
pub(crate) fn warm_row(group: &mut Group<'_>, entrant: &Entrant, column: &str, burst: usize) {
    let work = entrant.work;
    row(group, entrant.name, column, || {
        Team::new(1, move |_| work(burst))
    });
}

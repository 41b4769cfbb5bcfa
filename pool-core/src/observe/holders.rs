//! Where and when each object in use was acquired, of a pool that tracks it.
//!
//! A record begins once its block is the caller's, and ends before the block is returned: so there is one at most of each
//! block.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::Instant;

use crate::sync::{Mutex, Seized, thread_local_const};

pub(crate) type Caller = &'static Location<'static>;

/// Where and when an object in use was acquired. From [`Pool::holders`](crate::Pool::holders).
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
///
/// let pool = Pool::<String>::builder().track_holders(true).build()?;
/// let held = pool.acquire();
/// let holder = pool.holders()[0];
/// assert_eq!(holder.location.line(), line!() - 2);
/// println!("acquired at {holder}"); // src/main.rs:4:17, 12 ms ago
/// # drop(held);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Holder {
    /// The call that acquired it.
    pub location: Caller,
    /// When it was acquired.
    pub since: Instant,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:.0?} ago", self.location, self.since.elapsed())
    }
}

/// As it is written by `Display`: an `Instant` has no form of its own.
impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The holders of one pool. Its lock is taken while no other is held.
pub(crate) struct Holders {
    records: Mutex<Records>,
}

struct Records {
    /// By the addresses of the objects, with the number of each.
    by_address: HashMap<usize, (u64, Holder)>,
    /// The number of the next: the clock may stand still between two.
    next: u64,
}

impl Records {
    /// The one that has held longest.
    fn oldest(&self) -> Option<Holder> {
        let oldest = self.by_address.values().min_by_key(|(number, _)| *number);
        oldest.map(|(_, holder)| *holder)
    }
}

impl Holders {
    pub(crate) fn new() -> Self {
        Holders {
            records: Mutex::new(Records {
                by_address: HashMap::new(),
                next: 0,
            }),
        }
    }

    /// Notes who holds the objects at these addresses from now on.
    pub(crate) fn begin(&self, addresses: impl IntoIterator<Item = usize>, location: Caller) {
        let mut records = self.records.lock();
        // Under the lock, so that the order of the records is that of their times.
        let since = Instant::now();
        for address in addresses {
            let record = (records.next, Holder { location, since });
            records.next += 1;
            records.by_address.insert(address, record);
        }
    }

    /// Notes that nobody holds the objects at these addresses any more.
    pub(crate) fn end(&self, addresses: impl IntoIterator<Item = usize>) {
        let mut records = self.records.lock();
        for address in addresses {
            records.by_address.remove(&address);
        }
    }

    /// The oldest first.
    pub(crate) fn list(&self) -> Vec<Holder> {
        let mut records: Vec<_> = self.records.lock().by_address.values().copied().collect();
        records.sort_unstable_by_key(|(number, _)| *number);
        records.into_iter().map(|(_, holder)| holder).collect()
    }

    pub(crate) fn before_fork(&self) {
        self.records.seize(|_| {});
    }

    pub(crate) fn after_fork(&self, seized: &Seized) {
        self.records.release(seized, |_| {});
    }
}

#[derive(Clone, Copy)]
struct Late {
    held: usize,
    oldest: Holder,
}

thread_local_const! {
    /// Who held objects when the calling thread last timed out. `AcquireError::Timeout` has no room for it: it is
    /// a plain value, which callers compare and match.
    static LATEST: Cell<Option<Late>> = Cell::new(None);
}

/// Notes that the calling thread's wait has timed out, and who held the objects of the pool, if it tracks them.
#[cold]
pub(crate) fn note_timeout(holders: Option<&Holders>) {
    let late = holders.and_then(|holders| {
        let records = holders.records.lock();
        Some(Late {
            held: records.by_address.len(),
            oldest: records.oldest()?,
        })
    });
    // A thread that ends has none.
    let _ = LATEST.try_with(|latest| latest.set(late));
}

/// Says what the calling thread's latest timeout is explained by, if that is known.
pub(crate) fn explain_timeout(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(Late { held, oldest }) = LATEST.try_with(Cell::get).ok().flatten() else {
        return f
            .write_str("; `track_holders` makes this message say where the oldest was acquired");
    };
    let were = if held == 1 {
        "object was"
    } else {
        "objects were"
    };
    write!(
        f,
        "; at this thread's last timeout, {held} {were} in use, the first acquired at {oldest}"
    )
}

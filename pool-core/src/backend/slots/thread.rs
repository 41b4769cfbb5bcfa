//! Which slots the calling thread has: a small table that every hit goes through, and behind it
//! the roster of all of them, which gives the slots up when the thread ends.
//!
//! The table has no destructor and is always there, even while a thread is being torn down; the
//! roster may be gone, and then the thread has no slots any more and goes to the centre each time.
//! Nothing in here knows the type of an object, keeps a pool alive, or runs code of the user's.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Weak};

use crate::sync::thread_local_const;

/// Entries of the table. Pools are numbered one after another, so this many that were made in a
/// row never push each other out.
const RECENT: usize = 8;

/// The number of no pool that has slots: looking it up finds nothing.
pub(crate) const NO_POOL: u64 = 0;

/// The number in an entry that is not in use; no pool is ever given it.
const UNUSED: u64 = u64::MAX;

/// An address that was given to [`remember`]; its type is the business of whoever gave it.
pub(super) type Address = *const ();

struct Recent {
    pool: Cell<u64>,
    slot: Cell<Address>,
}

impl Recent {
    const fn new() -> Self {
        Recent {
            pool: Cell::new(UNUSED),
            slot: Cell::new(std::ptr::null()),
        }
    }

    fn clear(&self) {
        self.pool.set(UNUSED);
        self.slot.set(std::ptr::null());
    }
}

thread_local_const! {
    /// The slots used last, by the low bits of the pool's number.
    static TABLE: [Recent; RECENT] = [const { Recent::new() }; RECENT];
}

thread_local_const! {
    /// Whether the roster has been destroyed, or is being.
    static ENDED: Cell<bool> = Cell::new(false);
}

thread_local_const! {
    static ROSTER: RefCell<Roster> = RefCell::new(Roster::new());
}

/// A pool's slots, as the roster sees them.
pub(super) trait GiveUp: Send + Sync {
    /// Takes over what the slot at `address` holds, and the slot with it.
    ///
    /// Called by the thread that owned the slot, at its end, and never again for that slot.
    fn give_up(&self, address: Address);
}

struct Entry {
    pool: u64,
    slots: Weak<dyn GiveUp>,
    slot: Address,
}

/// All slots of this thread, ordered by the pool's number.
struct Roster {
    entries: Vec<Entry>,
    /// The length at which entries of pools that are gone are next looked for.
    prune_at: usize,
}

impl Roster {
    const fn new() -> Self {
        Roster {
            entries: Vec::new(),
            prune_at: 2 * RECENT,
        }
    }

    fn find(&self, pool: u64) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&pool, |entry| entry.pool)
    }

    fn add(&mut self, entry: Entry) {
        if self.entries.len() >= self.prune_at {
            self.entries.retain(|entry| entry.slots.strong_count() > 0);
            self.entries.shrink_to(2 * RECENT);
            self.prune_at = 2 * self.entries.len().max(RECENT);
        }
        if let Err(at) = self.find(entry.pool) {
            self.entries.insert(at, entry);
        }
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        // From here on this thread has no slots: neither the table nor a late destructor of some
        // other thread-local may lead to one.
        ENDED.with(|ended| ended.set(true));
        TABLE.with(|table| table.iter().for_each(Recent::clear));
        for entry in self.entries.drain(..) {
            if let Some(slots) = entry.slots.upgrade() {
                slots.give_up(entry.slot);
            }
        }
    }
}

/// The calling thread's slot in the pool numbered `pool`, if it was used lately.
///
/// Numbers are never used twice, so an entry of a pool that is gone is never found.
#[inline(always)]
pub(super) fn recent(pool: u64) -> Option<Address> {
    TABLE.with(|table| {
        let recent = &table[pool as usize % RECENT];
        (recent.pool.get() == pool).then(|| recent.slot.get())
    })
}

fn remember(pool: u64, slot: Address) {
    TABLE.with(|table| {
        let recent = &table[pool as usize % RECENT];
        recent.pool.set(pool);
        recent.slot.set(slot);
    });
}

/// The calling thread's slot in the pool numbered `pool`: from the roster, or else made by `make`,
/// which is not called when the thread is ending and can have no slot.
#[cold]
pub(super) fn find_or_make(
    pool: u64,
    make: impl FnOnce() -> (Address, Arc<dyn GiveUp>),
) -> Option<Address> {
    if ENDED.with(Cell::get) {
        return None;
    }
    let slot = ROSTER
        .try_with(|roster| {
            // Borrowed already only if the allocator itself came here; it can do without a slot.
            let mut roster = roster.try_borrow_mut().ok()?;
            if let Ok(at) = roster.find(pool) {
                return Some(roster.entries[at].slot);
            }
            let (slot, slots) = make();
            roster.add(Entry {
                pool,
                slots: Arc::downgrade(&slots),
                slot,
            });
            Some(slot)
        })
        .ok()
        .flatten()?;
    remember(pool, slot);
    Some(slot)
}

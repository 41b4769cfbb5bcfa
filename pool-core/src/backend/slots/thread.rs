//! Which slots the calling thread has: a small table that every hit goes through, and behind it
//! the roster of all of them, which gives the slots up when the thread ends.
//!
//! The table has no destructor and is always there, even while a thread is being torn down; the
//! roster may be gone, and then the thread has no slots any more and goes to the centre each time.
//! Nothing in here knows the type of an object, keeps a pool alive, or runs code of the user's.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

pub(crate) use crate::object::PoolId;
use crate::sync::thread_local_const;

/// Entries that a hit compares one after another. The slot is then at a fixed address, whatever
/// object is released: were it looked up by the pool's number, which a release reads from the
/// object, each operation would wait for the loads of the one before.
const FRONT: usize = 2;

/// Entries behind the front, found by the pool's number. Pools are numbered one after another, so
/// this many that were made in a row never push each other out.
const TABLE: usize = 32;

/// The number in an entry that is not in use; no pool is ever given it.
const UNUSED: PoolId = PoolId::UNUSED;

/// An address that was given to [`remember`]; its type is the business of whoever gave it.
pub(super) type Address = NonNull<()>;

/// A pool's number, and the slot that this thread has there.
struct Entry {
    pool: Cell<PoolId>,
    slot: Cell<Address>,
}

impl Entry {
    const fn new() -> Self {
        Entry {
            pool: Cell::new(UNUSED),
            slot: Cell::new(Address::dangling()),
        }
    }

    #[inline(always)]
    fn is_of(&self, pool: PoolId) -> bool {
        self.pool.get() == pool
    }

    fn set(&self, pool: PoolId, slot: Address) {
        self.pool.set(pool);
        self.slot.set(slot);
    }
}

/// The slots used lately.
struct Recent {
    /// Copies of entries of the table, those used last.
    front: [Entry; FRONT],
    /// The entry of the front to be overwritten next.
    oldest: Cell<usize>,
    table: [Entry; TABLE],
}

impl Recent {
    const fn new() -> Self {
        Recent {
            front: [const { Entry::new() }; FRONT],
            oldest: Cell::new(0),
            table: [const { Entry::new() }; TABLE],
        }
    }

    fn in_table(&self, pool: PoolId) -> &Entry {
        &self.table[pool.index() % TABLE]
    }

    fn bring_to_front(&self, pool: PoolId, slot: Address) {
        let oldest = self.oldest.get();
        self.front[oldest].set(pool, slot);
        self.oldest.set((oldest + 1) % FRONT);
    }

    fn clear(&self) {
        for entry in self.front.iter().chain(&self.table) {
            entry.set(UNUSED, Address::dangling());
        }
    }
}

thread_local_const! {
    static RECENT: Recent = Recent::new();
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

struct Membership {
    pool: PoolId,
    slots: Weak<dyn GiveUp>,
    slot: Address,
}

/// All slots of this thread, ordered by the pool's number.
struct Roster {
    members: Vec<Membership>,
    /// The length at which members that are gone are next looked for.
    prune_at: usize,
}

impl Roster {
    const fn new() -> Self {
        Roster {
            members: Vec::new(),
            prune_at: 2 * TABLE,
        }
    }

    fn find(&self, pool: PoolId) -> Result<usize, usize> {
        self.members
            .binary_search_by_key(&pool, |member| member.pool)
    }

    fn add(&mut self, member: Membership) {
        if self.members.len() >= self.prune_at {
            self.members
                .retain(|member| member.slots.strong_count() > 0);
            self.members.shrink_to(2 * TABLE);
            self.prune_at = 2 * self.members.len().max(TABLE);
        }
        if let Err(at) = self.find(member.pool) {
            self.members.insert(at, member);
        }
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        // From here on this thread has no slots: neither the table nor a late destructor of some
        // other thread-local may lead to one.
        let _ = ENDED.try_with(|ended| ended.set(true));
        let _ = RECENT.try_with(Recent::clear);
        for member in self.members.drain(..) {
            if let Some(slots) = member.slots.upgrade() {
                slots.give_up(member.slot);
            }
        }
    }
}

/// The calling thread's slot in the pool numbered `pool`, if it was used lately.
///
/// Numbers are never used twice, so an entry of a pool that is gone is never found.
#[inline(always)]
pub(super) fn recent(pool: PoolId) -> Option<Address> {
    RECENT.with(|recent| {
        let [first, second] = &recent.front;
        if first.is_of(pool) {
            return Some(first.slot.get());
        }
        unlikely();
        if second.is_of(pool) {
            return Some(second.slot.get());
        }
        // As every object of a backend without caches has it.
        if pool == PoolId::NONE {
            return None;
        }
        recent_in_table(pool)
    })
}

/// Has the compiler lay the code that comes after out of the way.
#[cold]
fn unlikely() {}

#[inline(never)]
fn recent_in_table(pool: PoolId) -> Option<Address> {
    RECENT.with(|recent| {
        let entry = recent.in_table(pool);
        if !entry.is_of(pool) {
            return None;
        }
        let slot = entry.slot.get();
        recent.bring_to_front(pool, slot);
        Some(slot)
    })
}

fn remember(pool: PoolId, slot: Address) {
    RECENT.with(|recent| {
        recent.in_table(pool).set(pool, slot);
        recent.bring_to_front(pool, slot);
    });
}

/// The calling thread's slot in the pool numbered `pool`: from the roster, or else made by `make`,
/// which is not called when the thread is ending and can have no slot.
#[cold]
pub(super) fn find_or_make(
    pool: PoolId,
    make: impl FnOnce() -> (Address, Arc<dyn GiveUp>),
) -> Option<Address> {
    if ENDED.try_with(Cell::get).unwrap_or(true) {
        return None;
    }
    let slot = ROSTER
        .try_with(|roster| {
            // Borrowed already only if the allocator itself came here; it can do without a slot.
            let mut roster = roster.try_borrow_mut().ok()?;
            if let Ok(at) = roster.find(pool) {
                return Some(roster.members[at].slot);
            }
            let (slot, slots) = make();
            roster.add(Membership {
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

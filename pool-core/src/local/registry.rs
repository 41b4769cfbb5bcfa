//! Which slots the calling thread has: a small table that every hit goes through, and behind it the registry of
//! all of them, which gives the slots back when the thread ends.
//!
//! The table has no destructor and is always there, even while a thread is torn down. The registry may be gone;
//! then the thread has no slots any more and uses the central lock each time. Nothing in here knows the type of
//! an object, keeps a pool alive, or runs user code.
#![allow(unsafe_code)] // A table that one thread-local owns and another one reads.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

use super::SlotAddress;
use crate::object::PoolId;
use crate::sync::thread_local_const;

/// Entries that a hit compares one after another. The slot is then at a fixed address, whatever object is
/// released: were it looked up by the pool's id, which a release reads from the object, each operation would
/// wait for the loads of the one before.
const FRONT: usize = 2;

/// Entries behind the front, found by the pool's id. Ids are consecutive, so this many pools that were made in a
/// row never evict each other.
const TABLE: usize = 32;

/// How many slots of a thread are registered before slots of pools that have ended are looked for.
const FIRST_PRUNE: usize = 64;

/// A pool's id, and the slot that this thread has there.
struct Entry {
    pool: Cell<PoolId>,
    slot: Cell<SlotAddress>,
}

impl Entry {
    const fn new() -> Self {
        Entry {
            pool: Cell::new(PoolId::UNUSED),
            slot: Cell::new(SlotAddress::dangling()),
        }
    }

    #[inline(always)]
    fn is_of(&self, pool: PoolId) -> bool {
        self.pool.get() == pool
    }

    fn set(&self, pool: PoolId, slot: SlotAddress) {
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
    /// The table that is used instead, once a thread has more slots than that; the registry owns it.
    larger: Cell<Option<NonNull<[Entry]>>>,
}

impl Recent {
    const fn new() -> Self {
        Recent {
            front: [const { Entry::new() }; FRONT],
            oldest: Cell::new(0),
            table: [const { Entry::new() }; TABLE],
            larger: Cell::new(None),
        }
    }

    fn in_table(&self, pool: PoolId) -> &Entry {
        let table = match self.larger.get() {
            None => &self.table[..],
            // SAFETY: the registry, which is of this thread, takes the table away before it frees it.
            Some(table) => unsafe { table.as_ref() },
        };
        // The length is a power of two.
        &table[pool.index() & (table.len() - 1)]
    }

    fn bring_to_front(&self, pool: PoolId, slot: SlotAddress) {
        let oldest = self.oldest.get();
        self.front[oldest].set(pool, slot);
        self.oldest.set((oldest + 1) % FRONT);
    }

    fn clear(&self) {
        for entry in self.front.iter().chain(&self.table) {
            entry.set(PoolId::UNUSED, SlotAddress::dangling());
        }
        self.larger.set(None);
    }
}

thread_local_const! {
    static RECENT: Recent = Recent::new();
}

thread_local_const! {
    /// Whether the registry has been destroyed, or is being.
    static ENDED: Cell<bool> = Cell::new(false);
}

thread_local_const! {
    static REGISTRY: RefCell<Registry> = RefCell::new(Registry::new());
}

/// A pool that takes back the slots of threads that end.
pub(crate) trait Unregister: Send + Sync {
    /// Takes back the slot at `address` and what it holds.
    ///
    /// Called by the thread that owned the slot, at its end, and never again for that slot.
    fn unregister(&self, address: SlotAddress);
}

struct Registration {
    pool: Weak<dyn Unregister>,
    slot: SlotAddress,
}

/// All slots of this thread, by the pool's id.
struct Registry {
    /// Room to find twice as many slots at a glance, if they are more than the table of [`Recent`] holds.
    larger_table: Option<NonNull<[Entry]>>,
    slots: HashMap<PoolId, Registration, BuildHasherDefault<IdHasher>>,
    /// The number of slots at which slots of pools that have ended are next looked for.
    prune_at: usize,
}

/// Spreads consecutive ids (Fibonacci hashing): no user can choose an id, so no more is needed.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, id: u32) {
        // 2^64 divided by the golden ratio.
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Registry {
    const fn new() -> Self {
        Registry {
            larger_table: None,
            slots: HashMap::with_hasher(BuildHasherDefault::new()),
            prune_at: FIRST_PRUNE,
        }
    }

    fn add(&mut self, pool: PoolId, registration: Registration) {
        if self.slots.len() >= self.prune_at {
            self.slots
                .retain(|_, registration| registration.pool.strong_count() > 0);
            self.slots.shrink_to(FIRST_PRUNE);
            self.prune_at = (2 * self.slots.len()).max(FIRST_PRUNE);
        }
        self.slots.insert(pool, registration);
        let entries = self.larger_table.map_or(TABLE, NonNull::len);
        // Not shrunk by half of it, so that a few pools more or less do not make it each time.
        if self.slots.len() > entries || entries > TABLE && self.slots.len() < entries / 8 {
            self.replace_table();
        }
    }

    /// Has the slots found in a table that suits their number.
    fn replace_table(&mut self) {
        let entries = (2 * self.slots.len()).next_power_of_two();
        let table = (entries > TABLE).then(|| {
            let table: Box<[Entry]> = (0..entries).map(|_| Entry::new()).collect();
            NonNull::from(Box::leak(table))
        });
        RECENT.with(|recent| recent.larger.set(table));
        self.free_table();
        self.larger_table = table;
        for (&pool, registration) in &self.slots {
            RECENT.with(|recent| recent.in_table(pool).set(pool, registration.slot));
        }
    }

    /// Frees the table, in which nothing is looked up any more.
    fn free_table(&mut self) {
        if let Some(table) = self.larger_table.take() {
            // SAFETY: leaked in `replace_table`; `RECENT` has another one, or none.
            drop(unsafe { Box::from_raw(table.as_ptr()) });
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // From here on this thread has no slots: neither the table nor a late destructor of another
        // thread-local may find one.
        let _ = ENDED.try_with(|ended| ended.set(true));
        let _ = RECENT.try_with(Recent::clear);
        self.free_table();
        for (_, registration) in self.slots.drain() {
            if let Some(pool) = registration.pool.upgrade() {
                pool.unregister(registration.slot);
            }
        }
    }
}

/// The calling thread's slot in the pool with this id, if it was used lately.
///
/// Ids are never used twice, so an entry of a pool that is gone is never found.
#[inline(always)]
pub(super) fn recent(pool: PoolId) -> Option<SlotAddress> {
    RECENT.with(|recent| {
        let [first, second] = &recent.front;
        if first.is_of(pool) {
            return Some(first.slot.get());
        }
        unlikely();
        // As every object of a backend without caches has it.
        if pool == PoolId::NONE {
            return None;
        }
        if second.is_of(pool) {
            return Some(second.slot.get());
        }
        recent_in_table(pool)
    })
}

/// Has the compiler lay the code that comes after out of the way.
#[cold]
fn unlikely() {}

#[inline(never)]
fn recent_in_table(pool: PoolId) -> Option<SlotAddress> {
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

/// The calling thread's slot in the pool with this id, if it has one.
#[cold]
pub(super) fn find(pool: PoolId) -> Option<SlotAddress> {
    let find = |registry: &RefCell<Registry>| {
        // Borrowed while a slot is registered: the thread has none then.
        let registry = registry.try_borrow().ok()?;
        Some(registry.slots.get(&pool)?.slot)
    };
    match ENDED.try_with(Cell::get) {
        Ok(false) => recent(pool).or_else(|| REGISTRY.try_with(find).ok().flatten()),
        _ => None,
    }
}

/// The calling thread's slot in the pool with this id: the slot registered before, or else a slot that `register`
/// makes. `None` if the thread is ending and can have no slot; `register` is not called then.
#[cold]
pub(super) fn find_or_register(
    pool: PoolId,
    register: impl FnOnce() -> (SlotAddress, Arc<dyn Unregister>),
) -> Option<SlotAddress> {
    if ENDED.try_with(Cell::get).unwrap_or(true) {
        return None;
    }
    let slot = REGISTRY
        .try_with(|registry| {
            // Borrowed already only if the allocator itself came here; it can do without a slot.
            let mut registry = registry.try_borrow_mut().ok()?;
            if let Some(registration) = registry.slots.get(&pool) {
                return Some(registration.slot);
            }
            let (slot, owner) = register();
            let pool_ref = Arc::downgrade(&owner);
            registry.add(
                pool,
                Registration {
                    pool: pool_ref,
                    slot,
                },
            );
            Some(slot)
        })
        .ok()
        .flatten()?;
    RECENT.with(|recent| {
        recent.in_table(pool).set(pool, slot);
        recent.bring_to_front(pool, slot);
    });
    Some(slot)
}

//! Where an object lives, and who owns it.
//!
//! Ownership is a type: [`Object`] owns a block with a live object in it, [`Vacancy`](owned::Vacancy) an empty block and
//! the permit to fill it, [`Permit`] the permit alone, and [`SharedRef`] is a counted handle of the pool. Each
//! is consumed by what it becomes, and dropping one undoes it: an object is destroyed, a vacancy gives back
//! block and permit, and the last of them all frees the pool (LIFE-REFS). So code elsewhere moves these types
//! and needs no `unsafe` for it. Raw pointers to blocks exist in this folder alone.
//!
//! ```text
//! Permit ──vacancy()──► Vacancy ──create(), adopt()──► Object ──► Acquired: in a handle, released when dropped
//!                          ▲                           │  │  ▲
//!                          └─────────vacate()──────────┘  ▼  │
//!                                                  ErasedObject: idle, in a slot or a shelf
//! ```
//!
//! Shared pools and pools for one thread use the same types; [`ObjectPool`] is what differs between them.
#![allow(unsafe_code)] // The contract of a pool.

#[cfg(feature = "std")]
mod arena;
mod acquired;
mod block;
mod chunks;
#[cfg(feature = "std")]
mod erased;
mod owned;
mod pages;
#[cfg(feature = "std")]
pub(crate) mod release;
#[cfg(feature = "std")]
mod send;
mod shared_ref;

use core::ptr::NonNull;

pub(crate) use self::acquired::Acquired;
#[cfg(feature = "std")]
pub(crate) use self::acquired::RefCounted;
#[cfg(feature = "std")]
pub(crate) use self::arena::Arena;
pub(crate) use self::block::Block;
pub(crate) use self::chunks::{Chunk, Chunks, NoChunk};
#[cfg(feature = "std")]
pub(crate) use self::erased::{ErasedObject, ObjectCell, ObjectWord, erase_all, unerase_all};
#[cfg(feature = "std")]
pub(crate) use self::owned::Permits;
pub(crate) use self::owned::{Object, Permit, Reclaimed, Vacancy};
pub(crate) use self::pages::{Held, PageChoices, Refusal};
pub(crate) use self::shared_ref::SharedRef;
use crate::lifecycle::Recycle;

/// Names a pool, once in the life of the process. Half a word, so that it fits into the header of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct PoolId(u32);

impl PoolId {
    /// The id of no pool that has slots: looking it up finds nothing.
    pub(crate) const NONE: PoolId = PoolId(0);
}

#[cfg(feature = "std")]
impl PoolId {
    /// The id in an entry that is not in use. No pool is ever given it.
    pub(crate) const UNUSED: PoolId = PoolId(u32::MAX);

    /// The `n`th id from 1; [`NONE`](Self::NONE) once they are used up.
    pub(crate) fn nth(n: u64) -> PoolId {
        match u32::try_from(n) {
            Ok(n) if n != u32::MAX => PoolId(n),
            _ => PoolId::NONE,
        }
    }

    /// The id as an index.
    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a pool holds of its lifecycle.
pub(crate) type HooksOf<T, P> = <<P as ObjectPool<T>>::Lifecycle as Recycle<T>>::Hooks;

/// A pool as its objects see it: what pools for many threads and for one have in common.
///
/// The pool is a `Box` that was leaked, and counts two things. Each permit keeps it alive, from when it is
/// acquired until it is returned, so a live object does; and so do all references of `Pool`s together
/// (LIFE-REFS).
///
/// # Safety
///
/// [`take_block`](Self::take_block) gives a vacant block that is alive until it is given to
/// [`return_block`](Self::return_block) or the pool is freed. The pool is not freed while a permit or a
/// reference is left.
pub(crate) unsafe trait ObjectPool<T>: Sized {
    type Lifecycle: Recycle<T> + ?Sized;

    fn hooks(&self) -> &HooksOf<T, Self>;

    /// The id under which the drop of a handle looks the thread's slot up.
    fn pool_id(&self) -> PoolId;

    /// Counts an object that was not kept because of what it was.
    fn count_discarded(&self);

    /// Counts an object that another was created in the place of.
    fn count_remade(&self);

    /// Notes that nobody holds the object, or the place for one, at this address any more: it is about to be given back.
    #[inline(always)]
    fn end_hold(&self, _address: usize) {}

    /// A vacant block, growing the pool if there is none.
    fn take_block(&self) -> Block<T>;

    /// Takes back a vacant block.
    ///
    /// # Safety
    ///
    /// The block came from [`take_block`](Self::take_block) of this pool, and its object is gone.
    unsafe fn return_block(&self, block: Block<T>);

    /// Takes back a permit, and frees the pool if nothing else keeps it alive.
    ///
    /// # Safety
    ///
    /// The caller has a permit of this pool and gives it up; it does not touch the pool again.
    unsafe fn return_permit(pool: NonNull<Self>);

    /// Gives an acquired object back.
    ///
    /// # Panics
    ///
    /// If a hook does; not while the thread unwinds already.
    fn release(object: Object<T, Self>);

    /// One reference more. The caller has one already.
    fn add_ref(&self);

    /// One reference more, if there is one still.
    fn try_add_ref(&self) -> bool;

    /// One reference less. After the last one, which closes the pool, the pool may be gone.
    ///
    /// # Safety
    ///
    /// The caller has a reference and gives it up; it does not touch the pool again.
    unsafe fn release_ref(pool: NonNull<Self>);
}

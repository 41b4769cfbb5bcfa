//! A block: room for one object, with a header before it.
//!
//! The raw pointers to objects start here: every one is made of a [`Block`], and a `Block` is made of a
//! pointer into a chunk only.
#![allow(unsafe_code)] // Raw memory.

use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::mem::{MaybeUninit, offset_of};
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;

use super::PoolId;
use crate::poolable::{Place, Ready};
use crate::sync::AtomicU32;

/// What [`Header::extra_refs`] holds while an idle object was never acquired: it is as it was created, and
/// needs no reset. No count of references comes near it.
const NEVER_ACQUIRED: u32 = u32::MAX;

/// What stands before each object.
#[repr(C)]
pub(super) struct Header {
    /// Of a block that holds an object, the address of its pool; of a vacant one, that of the next vacant
    /// block. See [`Block::pool`] and [`Block::take_next_vacant`].
    link: Cell<*const ()>,
    /// While the object is shared, the handles beyond the first. While it is idle, 0 or
    /// [`NEVER_ACQUIRED`].
    extra_refs: AtomicU32,
    /// The pool under which the drop of a handle looks the thread's slot up. It lies beside the object, so
    /// that a hit does not touch the pool.
    pool_id: Cell<PoolId>,
}

/// Room for one object.
///
/// The address of the room is that of the object. The cell makes every type that points here invariant
/// in `T`: an object outlives its handle in the pool, so it must not be replaced by a value that lives less long.
#[repr(transparent)]
struct Room<T>(UnsafeCell<MaybeUninit<T>>);

/// A block as it lies in a chunk.
#[repr(C)]
pub(super) struct BlockMemory<T> {
    header: Header,
    room: Room<T>,
}

/// Owns a block: its header and the room behind it, vacant or with an object.
///
/// One pointer, to the room (BLOCK-ADDRESS). While a `Block` exists its chunk is not freed (BLOCK-LIVES), and
/// no other `Block` of the same memory is used. Dropping a `Block` leaks it until the pool ends; its
/// owner gives it back to the chunks that it came from.
#[repr(transparent)]
pub(crate) struct Block<T> {
    room: NonNull<Room<T>>,
    _owns: PhantomData<T>,
}

impl<T> Block<T> {
    /// The offset of the room from the start of the block.
    const ROOM: usize = offset_of!(BlockMemory<T>, room);

    /// A block in memory that was none before. Writes its header.
    ///
    /// # Safety
    ///
    /// `memory` is memory for a block in a chunk, and the caller's alone.
    pub(super) unsafe fn prepare(memory: NonNull<BlockMemory<T>>) -> Self {
        let header = Header {
            link: Cell::new(ptr::null()),
            extra_refs: AtomicU32::new(0),
            pool_id: Cell::new(PoolId::NONE),
        };
        // SAFETY: by contract.
        unsafe { memory.cast::<Header>().write(header) };
        // SAFETY: within the block; of a room without a size, at its end.
        let room = unsafe { memory.byte_add(Self::ROOM) };
        Block {
            room: room.cast(),
            _owns: PhantomData,
        }
    }

    /// The block of an object.
    ///
    /// # Safety
    ///
    /// `value` came from [`value`](Self::value) with its provenance, and the block that it came from is not
    /// used any more, or only as the caller's new one allows.
    #[inline(always)]
    pub(super) unsafe fn from_value(value: NonNull<T>) -> Self {
        Block {
            room: value.cast(),
            _owns: PhantomData,
        }
    }

    /// A second owner of the block.
    ///
    /// # Safety
    ///
    /// The first is not used any more.
    #[inline(always)]
    pub(super) unsafe fn duplicate(&self) -> Self {
        Block {
            room: self.room,
            _owns: PhantomData,
        }
    }

    /// Where the block lies.
    #[inline(always)]
    pub(super) fn memory(&self) -> NonNull<BlockMemory<T>> {
        // SAFETY: undoes the step that `prepare` made (BLOCK-ADDRESS).
        unsafe { self.room.byte_sub(Self::ROOM) }.cast()
    }

    /// Where the block lies, to be freed.
    #[cfg(feature = "std")]
    pub(super) fn into_memory(self) -> NonNull<BlockMemory<T>> {
        self.memory()
    }

    #[inline(always)]
    fn header(&self) -> &Header {
        let header = self.memory().cast::<Header>();
        // SAFETY: alive while there is a `Block` (BLOCK-LIVES); `prepare` wrote it, and only shared
        // references to it are made.
        unsafe { header.as_ref() }
    }

    /// Where the object is, or will be.
    #[inline(always)]
    pub(super) fn value(&self) -> NonNull<T> {
        self.room.cast()
    }

    /// The address of the pool that the object belongs to, as it was given to [`fill`](Self::fill).
    ///
    /// # Safety
    ///
    /// The block holds an object, or held one since it was last in a list.
    #[inline(always)]
    pub(super) unsafe fn pool<P>(&self) -> NonNull<P> {
        let pool = self.header().link.get().cast_mut();
        // SAFETY: by contract noted by `fill`, and not null.
        unsafe { NonNull::new_unchecked(pool.cast()) }
    }

    /// The id under which a hit finds the thread's slot. Only of a block that holds an object.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn pool_id(&self) -> PoolId {
        self.header().pool_id.get()
    }

    /// Notes the next vacant block of a list.
    pub(super) fn set_next_vacant(&self, next: Option<Self>) {
        let next = next.map_or(ptr::null(), |next| next.room.as_ptr().cast_const().cast());
        self.header().link.set(next);
    }

    /// Takes the next vacant block of the list that this one is in.
    ///
    /// # Safety
    ///
    /// [`set_next_vacant`](Self::set_next_vacant) was called, and neither this nor `fill` since.
    pub(super) unsafe fn take_next_vacant(&self) -> Option<Self> {
        let next = self.header().link.get();
        let room = NonNull::new(next.cast_mut().cast())?;
        Some(Block {
            room,
            _owns: PhantomData,
        })
    }

    /// The handles beyond the first, while the object is shared.
    pub(super) fn extra_refs(&self) -> &AtomicU32 {
        &self.header().extra_refs
    }

    /// Notes that the object, which becomes idle, is as it was created.
    pub(super) fn set_never_acquired(&self) {
        // Relaxed: whatever passes the object on to another thread orders this with it.
        self.extra_refs().store(NEVER_ACQUIRED, Ordering::Relaxed);
    }

    /// Whether the object is as it was created; not any more after this.
    pub(super) fn take_never_acquired(&self) -> bool {
        // Relaxed: as above.
        let never = self.extra_refs().load(Ordering::Relaxed) == NEVER_ACQUIRED;
        if never {
            self.extra_refs().store(0, Ordering::Relaxed);
        }
        never
    }

    /// Creates an object in the block. An object that was there is forgotten.
    ///
    /// # Panics
    ///
    /// If `create` panics, or returns a [`Ready`] of another place. The block is vacant then.
    pub(super) fn fill(
        &mut self,
        pool: NonNull<()>,
        pool_id: PoolId,
        create: impl FnOnce(Place<'_, T>) -> Ready<'_, T>,
    ) {
        let mut room = self.value().cast::<MaybeUninit<T>>();
        // SAFETY: alive, and the caller's alone as its `Block` is; uninitialised memory is a valid
        // `MaybeUninit`.
        let place = unsafe { room.as_mut() };
        Place::new(place).fill_with(create).into_ptr();
        let header = self.header();
        header.link.set(pool.as_ptr());
        header.extra_refs.store(0, Ordering::Relaxed);
        header.pool_id.set(pool_id);
    }
}

//! The owning types: an object, a vacancy, a permit.
#![allow(unsafe_code)] // Ownership of raw memory becomes a type here.

use alloc::vec::Vec;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};

use super::block::Block;
use super::{HooksOf, ObjectPool, SharedRef};
use crate::lifecycle::Lifecycle;
use crate::panics::{
    FirstPanic, OnPanic, Panic, for_each_despite_panics, reject_with, reset_and_validate,
    unless_unwinding,
};
use crate::poolable::{Place, Ready};

/// An object of the pool `P`: owns its block, its value and its permit.
///
/// One pointer. Dropped, the object is destroyed: its value is dropped, block and permit go back, and the
/// pool is freed if nothing else keeps it alive. A panic of the value's drop goes on after all of that, unless
/// the thread unwinds already.
#[repr(transparent)]
pub(crate) struct Object<T, P: ObjectPool<T>> {
    /// Holds a live `T`. Its header has the address of a `P`, which is alive as long as the permit under which
    /// the object was created, and that is the object's (LIFE-REFS).
    block: Block<T>,
    _pool: PhantomData<(T, P)>,
}

// Moving the owner does not move the object.
impl<T, P: ObjectPool<T>> Unpin for Object<T, P> {}

impl<T, P: ObjectPool<T>> Object<T, P> {
    /// # Safety
    ///
    /// `block` holds a live object of a pool `P`, the caller's alone, with its permit.
    #[inline(always)]
    pub(super) unsafe fn from_block(block: Block<T>) -> Self {
        Object {
            block,
            _pool: PhantomData,
        }
    }

    #[inline(always)]
    pub(super) fn into_block(self) -> Block<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: the object is not used again.
        unsafe { this.block.duplicate() }
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn block(&self) -> &Block<T> {
        &self.block
    }

    /// The address of the object's pool.
    #[inline(always)]
    pub(crate) fn pool_ptr(&self) -> NonNull<P> {
        // SAFETY: the block holds an object.
        unsafe { self.block.pool() }
    }

    /// The object's pool.
    #[inline(always)]
    pub(crate) fn pool(&self) -> &P {
        // SAFETY: the object keeps its pool alive (LIFE-REFS).
        unsafe { self.pool_ptr().as_ref() }
    }

    /// A counted reference of the pool; `None` once the last of those is gone.
    pub(crate) fn shared_ref(&self) -> Option<SharedRef<T, P>> {
        let counted = self.pool().try_add_ref();
        // Only then: a reference that is made is dropped, and releases what it counts.
        // SAFETY: counted just now.
        counted.then(|| unsafe { SharedRef::from_counted(self.pool_ptr()) })
    }

    /// The address of the object.
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.block.value().as_ptr()
    }

    /// The address of the object, as a number.
    pub(crate) fn address(&self) -> usize {
        self.block.value().addr().get()
    }

    /// The address of the object, which goes with its ownership.
    pub(crate) fn into_raw(self) -> *mut T {
        self.into_block().value().as_ptr()
    }

    /// # Safety
    ///
    /// `value` came from [`as_ptr`](Self::as_ptr) or [`into_raw`](Self::into_raw) of an object of the same types,
    /// which is not used any more or only as the caller's new one allows.
    pub(crate) unsafe fn from_raw(value: *mut T) -> Self {
        // SAFETY: by contract the address of an object, which is not null.
        let value = unsafe { NonNull::new_unchecked(value) };
        // SAFETY: by contract from `Block::value` (BLOCK-ADDRESS).
        let block = unsafe { Block::from_value(value) };
        // SAFETY: by contract of an object that was given up, and taken up once.
        unsafe { Self::from_block(block) }
    }

    /// Gives up the object without giving it back.
    pub(crate) fn leak<'a>(self) -> &'a mut T
    where
        T: 'a,
    {
        // SAFETY: the caller's alone. Its permit is not given back, so the pool is not freed (LIFE-REFS), nor is the
        // block, which is not given back either (BLOCK-LIVES).
        unsafe { self.into_block().value().as_mut() }
    }

    /// Asks the hooks; an error is a hook's panic.
    ///
    /// Where panics are not caught, one passes on from here and destroys the object on its way.
    #[inline(always)]
    fn check(&mut self, reset: bool) -> Result<bool, Panic> {
        // The pool is not looked at, and so not loaded, where the lifecycle is a type and nothing more.
        // SAFETY: as in `pool`.
        let pool = unsafe { self.pool_ptr().as_ref() };
        let discarded = OnPanic::new(|| pool.count_discarded());
        let checked = reset_and_validate::<T, P::Lifecycle>(pool.hooks(), &mut **self, reset);
        discarded.disarm();
        checked
    }

    /// Resets and validates an object. `None`: it was not reusable, and is destroyed.
    ///
    /// # Panics
    ///
    /// If a hook does, and the thread does not unwind already: a second panic would abort. The object is
    /// destroyed then.
    #[inline(always)]
    pub(crate) fn reset(mut self) -> Option<Self> {
        match self.check(true) {
            Ok(true) => Some(self),
            checked => {
                self.reject(checked.err());
                None
            }
        }
    }

    /// [`reset`](Self::reset) that leaves the object where it is.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(super) fn reset_in_place(&mut self) -> Result<(), Option<Panic>> {
        match self.check(true) {
            Ok(true) => Ok(()),
            checked => Err(checked.err()),
        }
    }

    /// Resets and validates an idle object of a pool that does so when one is acquired. An object that was
    /// never acquired is as it was created, and is only validated.
    ///
    /// `None`: it was not reusable, and is destroyed.
    ///
    /// # Panics
    ///
    /// As [`reset`](Self::reset).
    pub(crate) fn reset_used(mut self) -> Option<Self> {
        let used = !self.block.take_never_acquired();
        match self.check(used) {
            Ok(true) => Some(self),
            checked => {
                self.reject(checked.err());
                None
            }
        }
    }

    /// As [`reset_used`](Self::reset_used), but of an object that is not reusable the block and the permit are
    /// left: a caller that was given an object need not look for another.
    ///
    /// # Panics
    ///
    /// If a hook does; the object is destroyed then.
    pub(crate) fn reset_or_vacate(mut self) -> Result<Self, Vacancy<T, P>> {
        let used = !self.block.take_never_acquired();
        match self.check(used) {
            Ok(true) => Ok(self),
            Ok(false) => Err(self.vacate_rejected()),
            Err(panic) => match unless_unwinding(panic) {
                None => Err(self.vacate_rejected()),
                panic => {
                    self.reject(panic);
                    unreachable!("the panic has gone on");
                }
            },
        }
    }

    /// [`reset_or_vacate`](Self::reset_or_vacate), and creates an object in the place of one that was not reusable.
    #[cfg(feature = "std")]
    pub(crate) fn reset_or_remake(self) -> Self
    where
        HooksOf<T, P>: Lifecycle<T>,
    {
        self.reset_or_vacate().unwrap_or_else(Vacancy::create)
    }

    #[cold]
    fn vacate_rejected(self) -> Vacancy<T, P> {
        let pool = self.pool();
        pool.count_discarded();
        pool.count_remade();
        self.vacate()
    }

    /// Destroys an object that a hook found not reusable, or broke.
    #[cold]
    #[inline(never)]
    pub(super) fn reject(self, panic: Option<Panic>) {
        reject_with(panic, || self.discard());
    }

    /// Destroys an object that would have been kept were it not for what it is.
    #[cold]
    pub(crate) fn discard(self) {
        self.pool().count_discarded();
        drop(self);
    }

    /// Notes that the object, which becomes idle, was never acquired.
    pub(crate) fn set_never_acquired(&mut self) {
        self.block.set_never_acquired();
    }

    /// Moves the value out; block and permit go back.
    pub(crate) fn detach(self) -> T {
        let (value, vacancy) = self.take_apart();
        // SAFETY: a live value, which is given up.
        let value = unsafe { value.read() };
        vacancy.give_back();
        value
    }

    /// The value, which is the caller's to give up before anything else, and what is left then.
    fn take_apart(self) -> (NonNull<T>, Vacancy<T, P>) {
        let block = self.into_block();
        // SAFETY: the block holds an object.
        let pool = unsafe { block.pool() };
        // SAFETY: the object's permit.
        let permit = unsafe { Permit::new(pool) };
        (block.value(), Vacancy { block, permit })
    }

    /// Drops the value, and keeps block and permit.
    ///
    /// # Panics
    ///
    /// If the value's drop does; block and permit go back then.
    fn vacate(self) -> Vacancy<T, P> {
        let (value, vacancy) = self.take_apart();
        let mut panics = FirstPanic::default();
        // SAFETY: a live value, which is given up.
        panics.catch(|| unsafe { value.drop_in_place() });
        // Goes on unless the thread unwinds already, and drops the vacancy on its way.
        panics.resume();
        vacancy
    }
}

impl<T, P: ObjectPool<T>> Drop for Object<T, P> {
    // Inlined, and the object handed on by value: so one that is released need not lie in memory.
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the object is not used after its drop; `destroy` takes it apart.
        destroy(unsafe { ptr::read(self) });
    }
}

/// Destroys an object.
///
/// # Panics
///
/// As [`Object::vacate`].
#[inline(never)]
fn destroy<T, P: ObjectPool<T>>(object: Object<T, P>) {
    object.vacate().give_back();
}

impl<T, P: ObjectPool<T>> Deref for Object<T, P> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object's value, borrowed as the object is.
        unsafe { self.block.value().as_ref() }
    }
}

impl<T, P: ObjectPool<T>> DerefMut for Object<T, P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the object's value, borrowed as the object is.
        unsafe { self.block.value().as_mut() }
    }
}

/// Idle objects that were taken out of a pool. Dropped, they are destroyed; a panic of one does not keep the
/// others, and the first goes on at the end.
pub(crate) struct Reclaimed<T, P: ObjectPool<T>> {
    objects: Vec<Object<T, P>>,
}

impl<T, P: ObjectPool<T>> Reclaimed<T, P> {
    pub(crate) fn new(objects: Vec<Object<T, P>>) -> Self {
        Reclaimed { objects }
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    #[cfg(feature = "std")]
    pub(crate) fn pop(&mut self) -> Option<Object<T, P>> {
        self.objects.pop()
    }

    /// The objects, without what their drop would do.
    pub(crate) fn into_vec(mut self) -> Vec<Object<T, P>> {
        mem::take(&mut self.objects)
    }
}

impl<T, P: ObjectPool<T>> Drop for Reclaimed<T, P> {
    fn drop(&mut self) {
        for_each_despite_panics(mem::take(&mut self.objects), drop);
    }
}

/// A permit to create an object, and what keeps the pool alive for it (LIFE-REFS). Dropped, it goes back.
pub(crate) struct Permit<T, P: ObjectPool<T>> {
    pool: NonNull<P>,
    _of: PhantomData<T>,
}

impl<T, P: ObjectPool<T>> Permit<T, P> {
    /// # Safety
    ///
    /// The pool is alive and has given out a permit, which is the caller's.
    pub(crate) unsafe fn new(pool: NonNull<P>) -> Self {
        Permit {
            pool,
            _of: PhantomData,
        }
    }

    fn pool(&self) -> &P {
        // SAFETY: the permit keeps the pool alive (LIFE-REFS).
        unsafe { self.pool.as_ref() }
    }

    /// The vacant block that the permit allows to fill.
    pub(crate) fn vacancy(self) -> Vacancy<T, P> {
        Vacancy {
            block: self.pool().take_block(),
            permit: self,
        }
    }
}

impl<T, P: ObjectPool<T>> Drop for Permit<T, P> {
    fn drop(&mut self) {
        // SAFETY: this permit's pool, which is not touched again here.
        unsafe { P::return_permit(self.pool) };
    }
}

/// Any number of [`Permit`]s of one pool.
#[cfg(feature = "std")]
pub(crate) struct Permits<T, P: ObjectPool<T>> {
    pool: NonNull<P>,
    left: usize,
    _of: PhantomData<T>,
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Permits<T, P> {
    /// # Safety
    ///
    /// As for [`Permit::new`], for `n` of them.
    pub(crate) unsafe fn new(pool: NonNull<P>, n: usize) -> Self {
        Permits {
            pool,
            left: n,
            _of: PhantomData,
        }
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Iterator for Permits<T, P> {
    type Item = Permit<T, P>;

    fn next(&mut self) -> Option<Permit<T, P>> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: one of the permits left, which keeps the pool alive.
        Some(unsafe { Permit::new(self.pool) })
    }
}

#[cfg(feature = "std")]
impl<T, P: ObjectPool<T>> Drop for Permits<T, P> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

/// An empty block, and the permit to fill it. Dropped, both go back.
pub(crate) struct Vacancy<T, P: ObjectPool<T>> {
    /// A vacant block of the pool that the permit is of.
    block: Block<T>,
    permit: Permit<T, P>,
}

impl<T, P: ObjectPool<T>> Vacancy<T, P> {
    /// The address of the object to be, as a number.
    #[cfg(feature = "std")]
    pub(crate) fn address(&self) -> usize {
        self.block.value().addr().get()
    }

    /// Gives back block and permit, which nobody holds.
    fn give_back(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: the vacancy is not used again.
        let _permit = unsafe { (&raw const this.permit).read() };
        // SAFETY: as above.
        unsafe { this.return_block() };
    }

    /// # Safety
    ///
    /// The block is not used again.
    unsafe fn return_block(&self) {
        // SAFETY: by contract.
        let block = unsafe { self.block.duplicate() };
        // SAFETY: `take_block` of this pool gave it, and it is vacant.
        unsafe { self.permit.pool().return_block(block) };
    }

    /// Creates an object in the block.
    ///
    /// # Panics
    ///
    /// If the lifecycle's `create` does; block and permit go back then.
    pub(crate) fn create(self) -> Object<T, P>
    where
        HooksOf<T, P>: Lifecycle<T>,
    {
        self.fill_by(|pool, place| pool.hooks().create_in(place))
    }

    /// Moves a value made elsewhere into the block.
    pub(crate) fn adopt(self, value: T) -> Object<T, P> {
        self.fill(|place| place.write(value))
    }

    /// Has `create` make an object in place.
    ///
    /// # Panics
    ///
    /// If `create` does; block and permit go back then.
    pub(crate) fn fill(
        self,
        create: impl for<'a> FnOnce(Place<'a, T>) -> Ready<'a, T>,
    ) -> Object<T, P> {
        self.fill_by(|_, place| create(place))
    }

    fn fill_by(
        mut self,
        create: impl for<'a> FnOnce(&P, Place<'a, T>) -> Ready<'a, T>,
    ) -> Object<T, P> {
        let pool = self.permit.pool();
        (self.block).fill(self.permit.pool.cast(), pool.pool_id(), |place| {
            create(pool, place)
        });
        // SAFETY: the vacancy is forgotten.
        let block = unsafe { self.block.duplicate() };
        mem::forget(self);
        // SAFETY: filled just now, with the address of a pool `P` and under its permit.
        unsafe { Object::from_block(block) }
    }
}

impl<T, P: ObjectPool<T>> Drop for Vacancy<T, P> {
    /// Gives back the block; the permit follows by itself.
    fn drop(&mut self) {
        self.permit.pool().end_hold(self.block.value().addr().get());
        // SAFETY: the vacancy is not used after its drop.
        unsafe { self.return_block() };
    }
}

//! How a pool creates, resets and validates an object.

use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;

use crate::poolable::{Place, Poolable, Ready};

/// Creates, resets and validates the objects of one pool. A value, so it can hold settings.
///
/// The hooks are called by the thread that acquires or drops a handle, never under a lock, so a hook may use the same
/// pool. If a hook panics, the pool drops the object the hook was given and stays usable.
///
/// # Examples
///
/// ```
/// use pool_core::{Lifecycle, Pool};
///
/// struct Buffers {
///     size: usize,
/// }
///
/// impl Lifecycle<Vec<u8>> for Buffers {
///     fn create(&self) -> Vec<u8> {
///         Vec::with_capacity(self.size)
///     }
///
///     fn reset(&self, buffer: &mut Vec<u8>) {
///         buffer.clear();
///     }
///
///     fn is_reusable(&self, buffer: &Vec<u8>) -> bool {
///         buffer.capacity() <= 4 * self.size
///     }
/// }
///
/// let pool = Pool::builder_for(Buffers { size: 4096 }).build()?;
/// assert!(pool.acquire().capacity() >= 4096);
/// # Ok::<(), pool_core::BuildError>(())
/// ```
pub trait Lifecycle<T> {
    /// Creates an object.
    fn create(&self) -> T;

    /// Returns `object` to the state of a new one. It may keep its memory.
    fn reset(&self, object: &mut T);

    /// Whether to keep `object`, which was just reset. If `false`, the pool drops it.
    #[inline]
    fn is_reusable(&self, object: &T) -> bool {
        let _ = object;
        true
    }

    /// Creates an object in place. The default creates it on the stack and moves it.
    #[inline]
    fn create_in<'a>(&self, place: Place<'a, T>) -> Ready<'a, T> {
        place.write(self.create())
    }
}

/// The part of a lifecycle that handles released objects, which every [`Lifecycle`] and [`WithoutCreate`] have. The bound
/// of a function for any pool is `L: Recycle<T> + ?Sized`.
pub trait Recycle<T> {
    /// What the pool holds.
    type Hooks;

    #[doc(hidden)]
    fn recycle(hooks: &Self::Hooks, object: &mut T);

    #[doc(hidden)]
    fn passes(hooks: &Self::Hooks, object: &T) -> bool;
}

impl<T, L: Lifecycle<T>> Recycle<T> for L {
    type Hooks = L;

    #[inline(always)]
    fn recycle(hooks: &L, object: &mut T) {
        hooks.reset(object);
    }

    #[inline(always)]
    fn passes(hooks: &L, object: &T) -> bool {
        hooks.is_reusable(object)
    }
}

/// The lifecycle of a pool that creates no objects itself; see
/// [`Pool::builder_without_create`](crate::Pool::builder_without_create). Such a pool has no `acquire`:
///
/// ```compile_fail,E0599
/// use pool_core::Pool;
///
/// let pool = Pool::<String, _>::builder_without_create(String::clear).build().unwrap();
/// pool.acquire(); // its trait bounds are not satisfied
/// ```
pub struct WithoutCreate<R> {
    _reset: PhantomData<R>,
    // Without a size, as no `Lifecycle` is that a pool holds: so this is known to be none of them.
    _no_value: [()],
}

impl<T, R: Fn(&mut T)> Recycle<T> for WithoutCreate<R> {
    type Hooks = R;

    #[inline(always)]
    fn recycle(reset: &R, object: &mut T) {
        reset(object);
    }

    #[inline(always)]
    fn passes(_reset: &R, _object: &T) -> bool {
        true
    }
}

impl<R> fmt::Debug for WithoutCreate<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithoutCreate").finish_non_exhaustive()
    }
}

/// The lifecycle of a [`Poolable`] type, and the default of [`Pool`](crate::Pool): calls the methods of the type.
/// Has no size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Derived;

impl<T: Poolable> Lifecycle<T> for Derived {
    #[inline]
    fn create(&self) -> T {
        T::init()
    }

    #[inline]
    fn reset(&self, object: &mut T) {
        object.reset();
    }

    #[inline]
    fn is_reusable(&self, object: &T) -> bool {
        object.is_reusable()
    }

    #[inline]
    fn create_in<'a>(&self, place: Place<'a, T>) -> Ready<'a, T> {
        T::init_in(place)
    }
}

/// A lifecycle of two functions or closures, as [`Pool::builder_with`](crate::Pool::builder_with) takes them.
#[derive(Clone, Copy)]
pub struct Hooks<C, R> {
    create: C,
    reset: R,
}

/// The hooks of a pool whose type can be written down.
pub(crate) type FnHooks<T> = Hooks<fn() -> T, fn(&mut T)>;

impl<C, R> Hooks<C, R> {
    /// `create` makes an object, `reset` returns a used one to that state.
    #[must_use]
    pub fn new<T>(create: C, reset: R) -> Self
    where
        C: Fn() -> T,
        R: Fn(&mut T),
    {
        Hooks { create, reset }
    }
}

impl<T, C, R> Lifecycle<T> for Hooks<C, R>
where
    C: Fn() -> T,
    R: Fn(&mut T),
{
    #[inline]
    fn create(&self) -> T {
        (self.create)()
    }

    #[inline]
    fn reset(&self, object: &mut T) {
        (self.reset)(object);
    }
}

impl<C, R> fmt::Debug for Hooks<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

/// So the type of a pool can be written with `Box<dyn Lifecycle<T> + Send + Sync>`.
impl<T, L: Lifecycle<T> + ?Sized> Lifecycle<T> for Box<L> {
    fn create(&self) -> T {
        (**self).create()
    }

    fn reset(&self, object: &mut T) {
        (**self).reset(object);
    }

    fn is_reusable(&self, object: &T) -> bool {
        (**self).is_reusable(object)
    }

    fn create_in<'a>(&self, place: Place<'a, T>) -> Ready<'a, T> {
        (**self).create_in(place)
    }
}

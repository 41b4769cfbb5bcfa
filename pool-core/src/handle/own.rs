//! What the handles that own their object alone have in common: those of pools for many threads and for one.

/// All of a handle with a field `acquired`, which is made at this visibility, but `Deref` (which errors of the compiler
/// point at). `$module` is where a user finds the handle.
macro_rules! own_object {
    ($visibility:vis $Pooled:ident, $module:literal) => {
        // As for `Box`.
        impl<T: UnwindSafe, L: Recycle<T> + ?Sized> UnwindSafe for $Pooled<T, L> {}
        impl<T: RefUnwindSafe, L: Recycle<T> + ?Sized> RefUnwindSafe for $Pooled<T, L> {}
        // Moving the handle does not move the object.
        impl<T, L: Recycle<T> + ?Sized> Unpin for $Pooled<T, L> {}

        impl<T, L: Recycle<T> + ?Sized> $Pooled<T, L> {
            #[inline(always)]
            $visibility fn new(object: Object<T, Shared<T, L>>) -> Self {
                $Pooled {
                    acquired: Acquired::new(object),
                }
            }

            #[inline(always)]
            $visibility fn into_object(this: Self) -> Object<T, Shared<T, L>> {
                this.acquired.into_object()
            }

            /// Takes the object out of the pool: moves it to the caller, as it is. Its memory is used for
            /// the next object that the pool makes, its place under the bound is free at once.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("use ", $module, "::{Pool, Pooled};")]
            ///
            /// let pool = Pool::<String>::builder().capacity(1).build()?;
            /// let mut name = pool.acquire();
            /// name.push_str("kept");
            /// let name: String = Pooled::detach(name);
            /// assert_eq!(name, "kept");
            /// assert!(pool.try_acquire().is_ok());
            /// # Ok::<(), pool_core::BuildError>(())
            /// ```
            #[must_use = "an object that is to be dropped is discarded with `Pooled::discard`"]
            pub fn detach(this: Self) -> T {
                this.acquired.take_out().detach()
            }

            /// Drops the object instead of giving it back, without a reset: for an object that is known to be
            /// broken. Counts as [`discarded`](crate::Stats::discarded).
            ///
            /// # Panics
            ///
            /// If the drop of `T` does; the place under the bound is given back all the same.
            pub fn discard(this: Self) {
                this.acquired.take_out().discard();
            }

            /// Gives the address of the object, and with it the duty to make a handle of it again with
            /// [`from_raw`](Self::from_raw): for passing an object through foreign code.
            #[must_use = "the object is leaked unless a handle is made of it again"]
            pub fn into_raw(this: Self) -> *mut T {
                Self::into_object(this).into_raw()
            }

            /// Makes a handle again of what [`into_raw`](Self::into_raw) gave.
            ///
            /// # Safety
            ///
            /// `object` came from `into_raw` of a handle of this type, and this is called once for it: two
            /// handles of one object would both give it back. A reference to the object can be cast to the same
            /// address and is not enough: a handle also needs the memory before the object.
            #[must_use]
            pub unsafe fn from_raw(object: *mut T) -> Self {
                // SAFETY: by contract given up by `into_raw`, and taken up once.
                Self::new(unsafe { Object::from_raw(object) })
            }

            /// The address of the object. It stays the same until the handle is dropped or taken apart, wherever
            /// the handle is moved. May be read through while the handle lives and nothing changes the object.
            #[must_use]
            pub fn as_ptr(this: &Self) -> *const T {
                this.acquired.object().as_ptr()
            }

            /// Whether both have the object at one address. A handle has its object alone, so this is true
            /// of a handle and itself, and of no others, even if `T` has no size.
            #[must_use]
            pub fn ptr_eq(this: &Self, other: &Self) -> bool {
                core::ptr::addr_eq(Self::as_ptr(this), Self::as_ptr(other))
            }

            /// Gives the object up for good, and a reference that lives as long as `T` can: for what is set up
            /// once and used until the process ends.
            ///
            /// The object never goes back: it counts as in use and under the bound for ever, and it keeps the
            /// memory of the pool, and its lifecycle, from being freed. It is not dropped.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("use ", $module, "::{Pool, Pooled};")]
            ///
            /// let pool = Pool::<String>::new();
            /// let mut name = pool.acquire();
            /// name.push_str("AMZN");
            /// let name: &'static mut String = Pooled::leak(name);
            /// assert_eq!(pool.in_use(), 1);
            /// drop(pool);
            /// assert_eq!(name, "AMZN");
            /// ```
            pub fn leak<'a>(this: Self) -> &'a mut T
            where
                T: 'a,
            {
                this.acquired.take_out().leak()
            }

            /// Pins the handle, for what wants a `Pin`.
            ///
            /// For a `T` that is `Unpin`, other than `Box`: the object is reset and used again, so it cannot be
            /// promised that it stays where it is until it is dropped.
            #[must_use]
            pub fn into_pin(this: Self) -> core::pin::Pin<Self>
            where
                T: Unpin,
            {
                core::pin::Pin::new(this)
            }
        }

        $crate::handle::forward::forward_to_own_object!($Pooled);
    };
}

pub(crate) use own_object;

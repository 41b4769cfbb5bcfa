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

            /// Moves the object out of the pool to the caller, without a reset. The pool may create another in its
            /// place at once, and uses its memory for that.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("use ", $module, "::{Pool, Pooled};")]
            ///
            /// let pool = Pool::<String>::builder().capacity(1).build()?; let mut name = pool.acquire();
            /// name.push_str("kept"); let name: String = Pooled::detach(name); assert_eq!(name, "kept");
            /// assert!(pool.try_acquire().is_ok());
            /// # Ok::<(), pool_core::BuildError>(())
            /// ```
            #[must_use = "an object that is to be dropped is discarded with `Pooled::discard`"]
            pub fn detach(this: Self) -> T {
                this.acquired.take_out().detach()
            }

            /// Drops the object instead of returning it to the pool, without a reset, such as a broken one. It counts as
            /// [`discarded`](crate::Stats::discarded).
            ///
            /// # Panics
            ///
            /// If the drop of `T` panics. The permit of the object is returned nevertheless.
            pub fn discard(this: Self) {
                this.acquired.take_out().discard();
            }

            /// Converts the handle into the address of its object, to pass the object through foreign code. The
            /// caller has to convert it back with [`from_raw`](Self::from_raw), or the object is leaked.
            #[must_use = "the object is leaked unless a handle is made of it again"]
            pub fn into_raw(this: Self) -> *mut T {
                Self::into_object(this).into_raw()
            }

            /// Converts what [`into_raw`](Self::into_raw) returned back into a handle.
            ///
            /// # Safety
            ///
            /// `object` came from `into_raw` of a handle of this type, and this is called once for it: two
            /// handles of one object would both release it. A reference to the object, cast to a pointer, is not
            /// enough: a handle also needs the memory before the object.
            #[must_use]
            pub unsafe fn from_raw(object: *mut T) -> Self {
                // SAFETY: by contract given up by `into_raw`, and taken up once.
                Self::new(unsafe { Object::from_raw(object) })
            }

            /// The address of the object, which stays the same wherever the handle is moved. It may be read through
            /// while the handle lives and nothing changes the object.
            #[must_use]
            pub fn as_ptr(this: &Self) -> *const T {
                this.acquired.object().as_ptr()
            }

            /// Whether both are the same handle, even if `T` is zero-sized.
            #[must_use]
            pub fn ptr_eq(this: &Self, other: &Self) -> bool {
                core::ptr::addr_eq(Self::as_ptr(this), Self::as_ptr(other))
            }

            /// Leaks the object, and returns a reference to it that lives as long as `T` can. The object counts as in
            /// use for ever, and keeps the memory of the pool and its lifecycle.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("use ", $module, "::{Pool, Pooled};")]
            ///
            /// let pool = Pool::<String>::new(); let mut name = pool.acquire(); name.push_str("AMZN"); let name:
            /// &'static mut String = Pooled::leak(name); assert_eq!(pool.in_use(), 1); drop(pool); assert_eq!(name,
            /// "AMZN");
            /// ```
            pub fn leak<'a>(this: Self) -> &'a mut T
            where
                T: 'a,
            {
                this.acquired.take_out().leak()
            }

            /// Pins the handle. Unlike `Box::into_pin` this needs a `T` that is `Unpin`, because the pool resets and
            /// reuses the object.
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

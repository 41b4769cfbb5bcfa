//! An object, or the permit to make one: creation that may fail, takes time, or needs arguments.
//!
//! Written once for the pool for many threads and the pool for one: [`entry_types`] makes the types of either.

/// Defines `Entry` and `VacantEntry` over the `Pooled` and the `Shared` that are in scope; what only the pool calls
/// is visible as said.
macro_rules! entry_types {
    ($visibility:vis, $(#[$example:meta])*) => {
        /// An idle object, or a place for a new one that the caller creates. From `entry` and its variants.
        ///
$(#[$example])*
        #[must_use = "a vacant entry that is dropped gives its place back"]
        pub enum Entry<T, L: Recycle<T> + ?Sized = Derived> {
            /// An idle object.
            Idle(Pooled<T, L>),
            /// No object is idle, and there is a place for one.
            Vacant(VacantEntry<T, L>),
        }

        impl<T, L: Recycle<T> + ?Sized> Entry<T, L> {
            /// The idle object, or one that `make` creates.
            ///
            /// # Panics
            ///
            /// If `make` panics. Then the place returns to the pool.
            #[must_use = "dropped at once, it is given back at once"]
            pub fn or_insert_with(self, make: impl FnOnce() -> T) -> Pooled<T, L> {
                match self {
                    Entry::Idle(handle) => handle,
                    Entry::Vacant(vacant) => vacant.insert(make()),
                }
            }

            /// The idle object, or one that `make` creates.
            ///
            /// # Errors
            ///
            /// The error of `make`. Then the place returns to the pool.
            ///
            /// # Panics
            ///
            /// As [`or_insert_with`](Self::or_insert_with).
            pub fn or_try_insert_with<E>(
                self,
                make: impl FnOnce() -> Result<T, E>,
            ) -> Result<Pooled<T, L>, E> {
                Ok(match self {
                    Entry::Idle(handle) => handle,
                    Entry::Vacant(vacant) => vacant.insert(make()?),
                })
            }

            /// Like [`or_try_insert_with`](Self::or_try_insert_with), with an async `make`. If the future is dropped
            /// before it is done, the place returns to the pool.
            ///
            /// # Errors
            ///
            /// The error of `make`.
            ///
            /// # Panics
            ///
            /// As [`or_insert_with`](Self::or_insert_with).
            pub async fn or_try_insert_async<E>(
                self,
                make: impl AsyncFnOnce() -> Result<T, E>,
            ) -> Result<Pooled<T, L>, E> {
                Ok(match self {
                    Entry::Idle(handle) => handle,
                    Entry::Vacant(vacant) => vacant.insert(make().await?),
                })
            }

            /// Resets an idle object; the entry is vacant if it is not reusable.
            $visibility fn reset(object: Object<T, Shared<T, L>>) -> Self {
                match object.reset_or_vacate() {
                    Ok(object) => Entry::Idle(Pooled::new(object)),
                    Err(vacancy) => Entry::Vacant(VacantEntry { vacancy }),
                }
            }

            $visibility fn vacant(permit: Permit<T, Shared<T, L>>) -> Self {
                Entry::Vacant(VacantEntry {
                    vacancy: permit.vacancy(),
                })
            }
        }

        impl<T, L: Lifecycle<T>> Entry<T, L> {
            /// The idle object, or one that the lifecycle creates.
            $visibility fn or_create(self) -> Pooled<T, L> {
                match self {
                    Entry::Idle(handle) => handle,
                    Entry::Vacant(vacant) => Pooled::new(vacant.vacancy.create()),
                }
            }
        }

        impl<T, L: Recycle<T> + ?Sized> fmt::Debug for Entry<T, L>
        where
            T: fmt::Debug,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Entry::Idle(handle) => f.debug_tuple("Idle").field(&**handle).finish(),
                    Entry::Vacant(vacant) => f.debug_tuple("Vacant").field(vacant).finish(),
                }
            }
        }

        /// A place for one object: memory and a permit, which counts as in use. If it is dropped, the next waiter is
        /// served. Like a handle it borrows nothing, and may outlive the pool.
        #[must_use = "a vacant entry that is dropped gives its place back"]
        pub struct VacantEntry<T, L: Recycle<T> + ?Sized = Derived> {
            vacancy: Vacancy<T, Shared<T, L>>,
        }

        // What is in it is not a `T`, and nothing of the pool can be seen half done.
        impl<T, L: Recycle<T> + ?Sized> UnwindSafe for VacantEntry<T, L> {}
        impl<T, L: Recycle<T> + ?Sized> RefUnwindSafe for VacantEntry<T, L> {}
        impl<T, L: Recycle<T> + ?Sized> Unpin for VacantEntry<T, L> {}

        impl<T, L: Recycle<T> + ?Sized> VacantEntry<T, L> {
            /// Puts `value` into the pool, as an object in use.
            #[must_use = "dropped at once, it is given back at once"]
            pub fn insert(self, value: T) -> Pooled<T, L> {
                Pooled::new(self.vacancy.adopt(value))
            }

            /// Creates an object in its [`Place`], so that a large one does not cross the stack.
            ///
            /// # Panics
            ///
            /// If `make` panics, or returns the [`Ready`] of another place. Then the place returns to the pool.
            #[must_use = "dropped at once, it is given back at once"]
            pub fn insert_with(
                self,
                make: impl for<'a> FnOnce(Place<'a, T>) -> Ready<'a, T>,
            ) -> Pooled<T, L> {
                Pooled::new(self.vacancy.fill(make))
            }
        }

        impl<T, L: Recycle<T> + ?Sized> fmt::Debug for VacantEntry<T, L> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("VacantEntry").finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use entry_types;

#[cfg(feature = "std")]
pub use self::shared::{Entry, VacantEntry};

#[cfg(feature = "std")]
mod shared {
    use core::fmt;
    use core::panic::{RefUnwindSafe, UnwindSafe};

    use crate::handle::Pooled;
    use crate::lifecycle::{Derived, Lifecycle, Recycle};
    use crate::object::{Object, Permit, Vacancy};
    use crate::poolable::{Place, Ready};
    use crate::shared::Shared;

    impl<T, L: Recycle<T> + ?Sized> Entry<T, L> {
        /// Where the object is, or will be.
        pub(crate) fn address(&self) -> usize {
            match self {
                Entry::Idle(handle) => Pooled::address(handle),
                Entry::Vacant(vacant) => vacant.vacancy.address(),
            }
        }
    }

    super::entry_types! {
        pub(crate),
        /// # Examples
        ///
        /// ```
        /// use pool_core::{Entry, Pool};
        ///
        /// fn connect(address: &str) -> Result<String, std::io::Error> {
        ///     Ok(format!("connection to {address}"))
        /// }
        ///
        /// let pool = Pool::<String, _>::builder_without_create(|_| ()).capacity(8).build()?;
        /// let connection = match pool.try_entry()? {
        ///     Entry::Idle(connection) => connection,
        ///     Entry::Vacant(vacant) => vacant.insert(connect("[::1]:80")?),
        /// };
        /// // The same in one line:
        /// let another = pool.entry()?.or_try_insert_with(|| connect("[::1]:80"))?;
        /// assert_eq!(*connection, *another);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
    }
}

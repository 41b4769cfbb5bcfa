//! What bursts have in common, of pools for many threads and for one: a slice of handles, that can be taken apart.

/// All of a burst but how it is dropped: of a type with a field `handles`, that derefs to a vector, and a method
/// `into_handles`. `$module` is where a user finds it.
macro_rules! slice_of_handles {
    ($Burst:ident, $module:literal) => {
        impl<T, L: Recycle<T> + ?Sized> $Burst<T, L> {
            /// The number of objects.
            #[must_use]
            pub fn len(&self) -> usize {
                self.handles.len()
            }

            /// Whether there are none.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.handles.is_empty()
            }

            /// Removes the last handle and returns it.
            pub fn pop(&mut self) -> Option<Pooled<T, L>> {
                self.handles.pop()
            }

            /// Splits the burst in two: keeps the first `at` handles, and returns the others. Allocates an array.
            ///
            /// # Panics
            ///
            /// If `at` exceeds the length.
            ///
            /// # Examples
            ///
            /// ```
            #[doc = concat!("use ", $module, "::Pool;")]
            ///
            /// let pool = Pool::<Vec<u8>>::new(); let mut frames = pool.acquire_many(32); drop(frames.split_off(20));
            /// // fewer came than there was room for assert_eq!((frames.len(), pool.idle()), (20, 12));
            /// ```
            #[must_use = "the others go back to their pool at once"]
            #[track_caller]
            pub fn split_off(&mut self, at: usize) -> Self {
                let len = self.len();
                assert!(
                    at <= len,
                    "split_off({at}) of a burst of {len}: the index is at most {len}"
                );
                $Burst::new(self.handles.split_off(at))
            }

            pub(crate) fn push(&mut self, handle: Pooled<T, L>) {
                self.handles.push(handle);
            }
        }

        impl<T, L: Recycle<T> + ?Sized> ::core::ops::Deref for $Burst<T, L> {
            type Target = [Pooled<T, L>];

            fn deref(&self) -> &[Pooled<T, L>] {
                &self.handles
            }
        }

        impl<T, L: Recycle<T> + ?Sized> ::core::ops::DerefMut for $Burst<T, L> {
            fn deref_mut(&mut self) -> &mut [Pooled<T, L>] {
                &mut self.handles
            }
        }

        /// Handles of any pool, one by one or of another burst: each goes back to its own.
        impl<T, L: Recycle<T> + ?Sized> Extend<Pooled<T, L>> for $Burst<T, L> {
            fn extend<I: IntoIterator<Item = Pooled<T, L>>>(&mut self, handles: I) {
                self.handles.extend(handles);
            }
        }

        impl<T, L: Recycle<T> + ?Sized> IntoIterator for $Burst<T, L> {
            type Item = Pooled<T, L>;
            type IntoIter = ::alloc::vec::IntoIter<Pooled<T, L>>;

            /// The handles, one by one; each goes back on its own, and those left with the iterator. The array is
            /// freed then.
            fn into_iter(self) -> Self::IntoIter {
                self.into_handles().into_iter()
            }
        }

        impl<'a, T, L: Recycle<T> + ?Sized> IntoIterator for &'a $Burst<T, L> {
            type Item = &'a Pooled<T, L>;
            type IntoIter = ::core::slice::Iter<'a, Pooled<T, L>>;

            fn into_iter(self) -> Self::IntoIter {
                self.handles.iter()
            }
        }

        impl<'a, T, L: Recycle<T> + ?Sized> IntoIterator for &'a mut $Burst<T, L> {
            type Item = &'a mut Pooled<T, L>;
            type IntoIter = ::core::slice::IterMut<'a, Pooled<T, L>>;

            fn into_iter(self) -> Self::IntoIter {
                self.handles.iter_mut()
            }
        }

        impl<T: ::core::fmt::Debug, L: Recycle<T> + ?Sized> ::core::fmt::Debug for $Burst<T, L> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_list().entries(&**self).finish()
            }
        }
    };
}

pub(crate) use slice_of_handles;

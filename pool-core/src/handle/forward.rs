//! The traits that a handle passes on to its object, as `Box` does: written once for every handle.

/// Passes `std`'s traits on from a handle that derefs to its object; with `mutable`, those too that
/// need the object alone.
macro_rules! forward_to_object {
    ($Handle:ident, mutable) => {
        $crate::handle::forward::forward_to_object!($Handle);

        impl<T, L: $crate::Lifecycle<T>> ::std::convert::AsMut<T> for $Handle<T, L> {
            fn as_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<T, L: $crate::Lifecycle<T>> ::std::borrow::BorrowMut<T> for $Handle<T, L> {
            fn borrow_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<I: Iterator, L: $crate::Lifecycle<I>> Iterator for $Handle<I, L> {
            type Item = I::Item;

            fn next(&mut self) -> Option<I::Item> {
                (**self).next()
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (**self).size_hint()
            }

            fn nth(&mut self, n: usize) -> Option<I::Item> {
                (**self).nth(n)
            }
        }

        impl<I: DoubleEndedIterator, L: $crate::Lifecycle<I>> DoubleEndedIterator
            for $Handle<I, L>
        {
            fn next_back(&mut self) -> Option<I::Item> {
                (**self).next_back()
            }
        }

        impl<I: ExactSizeIterator, L: $crate::Lifecycle<I>> ExactSizeIterator for $Handle<I, L> {
            fn len(&self) -> usize {
                (**self).len()
            }
        }

        impl<I: ::std::iter::FusedIterator, L: $crate::Lifecycle<I>> ::std::iter::FusedIterator
            for $Handle<I, L>
        {
        }

        impl<H: ::std::hash::Hasher, L: $crate::Lifecycle<H>> ::std::hash::Hasher
            for $Handle<H, L>
        {
            fn finish(&self) -> u64 {
                (**self).finish()
            }

            fn write(&mut self, bytes: &[u8]) {
                (**self).write(bytes);
            }
        }

        impl<F: Future + Unpin, L: $crate::Lifecycle<F>> Future for $Handle<F, L> {
            type Output = F::Output;

            fn poll(
                mut self: ::std::pin::Pin<&mut Self>,
                cx: &mut ::std::task::Context<'_>,
            ) -> ::std::task::Poll<F::Output> {
                ::std::pin::Pin::new(&mut **self).poll(cx)
            }
        }

        impl<A, E: Extend<A>, L: $crate::Lifecycle<E>> Extend<A> for $Handle<E, L> {
            fn extend<I: IntoIterator<Item = A>>(&mut self, items: I) {
                (**self).extend(items);
            }
        }

        impl<R: ::std::io::Read, L: $crate::Lifecycle<R>> ::std::io::Read for $Handle<R, L> {
            fn read(&mut self, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                (**self).read(buffer)
            }

            fn read_vectored(
                &mut self,
                buffers: &mut [::std::io::IoSliceMut<'_>],
            ) -> ::std::io::Result<usize> {
                (**self).read_vectored(buffers)
            }
        }

        impl<R: ::std::io::BufRead, L: $crate::Lifecycle<R>> ::std::io::BufRead for $Handle<R, L> {
            fn fill_buf(&mut self) -> ::std::io::Result<&[u8]> {
                (**self).fill_buf()
            }

            fn consume(&mut self, n: usize) {
                (**self).consume(n);
            }
        }

        impl<S: ::std::io::Seek, L: $crate::Lifecycle<S>> ::std::io::Seek for $Handle<S, L> {
            fn seek(&mut self, to: ::std::io::SeekFrom) -> ::std::io::Result<u64> {
                (**self).seek(to)
            }
        }

        impl<W: ::std::io::Write, L: $crate::Lifecycle<W>> ::std::io::Write for $Handle<W, L> {
            fn write(&mut self, buffer: &[u8]) -> ::std::io::Result<usize> {
                (**self).write(buffer)
            }

            fn write_vectored(
                &mut self,
                buffers: &[::std::io::IoSlice<'_>],
            ) -> ::std::io::Result<usize> {
                (**self).write_vectored(buffers)
            }

            fn flush(&mut self) -> ::std::io::Result<()> {
                (**self).flush()
            }
        }

        impl<W: ::std::fmt::Write, L: $crate::Lifecycle<W>> ::std::fmt::Write for $Handle<W, L> {
            fn write_str(&mut self, s: &str) -> ::std::fmt::Result {
                (**self).write_str(s)
            }
        }
    };
    ($Handle:ident) => {
        impl<T, L: $crate::Lifecycle<T>> ::std::convert::AsRef<T> for $Handle<T, L> {
            fn as_ref(&self) -> &T {
                self
            }
        }

        impl<T, L: $crate::Lifecycle<T>> ::std::borrow::Borrow<T> for $Handle<T, L> {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T: ::std::fmt::Debug, L: $crate::Lifecycle<T>> ::std::fmt::Debug for $Handle<T, L> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<T: ::std::fmt::Display, L: $crate::Lifecycle<T>> ::std::fmt::Display
            for $Handle<T, L>
        {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&**self, f)
            }
        }

        impl<T, L: $crate::Lifecycle<T>> ::std::fmt::Pointer for $Handle<T, L> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Pointer::fmt(&(&raw const **self), f)
            }
        }

        impl<T: PartialEq, L: $crate::Lifecycle<T>> PartialEq for $Handle<T, L> {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl<T: Eq, L: $crate::Lifecycle<T>> Eq for $Handle<T, L> {}

        impl<T: PartialOrd, L: $crate::Lifecycle<T>> PartialOrd for $Handle<T, L> {
            fn partial_cmp(&self, other: &Self) -> Option<::std::cmp::Ordering> {
                (**self).partial_cmp(&**other)
            }
        }

        impl<T: Ord, L: $crate::Lifecycle<T>> Ord for $Handle<T, L> {
            fn cmp(&self, other: &Self) -> ::std::cmp::Ordering {
                (**self).cmp(&**other)
            }
        }

        impl<T: ::std::hash::Hash, L: $crate::Lifecycle<T>> ::std::hash::Hash for $Handle<T, L> {
            fn hash<H: ::std::hash::Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        impl<T: ::std::error::Error, L: $crate::Lifecycle<T>> ::std::error::Error
            for $Handle<T, L>
        {
            fn source(&self) -> Option<&(dyn ::std::error::Error + 'static)> {
                (**self).source()
            }
        }
    };
}

pub(crate) use forward_to_object;

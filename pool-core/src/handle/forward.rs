//! The traits that a handle passes on to its object, as `Box` does: written once for every handle.

/// Passes `std`'s traits on from a handle that derefs to its object; with `mutable`, those too that
/// need the object alone.
macro_rules! forward_to_object {
    ($Handle:ident, mutable) => {
        $crate::handle::forward::forward_to_object!($Handle);

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::convert::AsMut<T> for $Handle<T, L> {
            fn as_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::borrow::BorrowMut<T> for $Handle<T, L> {
            fn borrow_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<I: Iterator, L: $crate::Recycle<I> + ?Sized> Iterator for $Handle<I, L> {
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

        impl<I: DoubleEndedIterator, L: $crate::Recycle<I> + ?Sized> DoubleEndedIterator
            for $Handle<I, L>
        {
            fn next_back(&mut self) -> Option<I::Item> {
                (**self).next_back()
            }

            fn nth_back(&mut self, n: usize) -> Option<I::Item> {
                (**self).nth_back(n)
            }
        }

        impl<I: ExactSizeIterator, L: $crate::Recycle<I> + ?Sized> ExactSizeIterator
            for $Handle<I, L>
        {
            fn len(&self) -> usize {
                (**self).len()
            }
        }

        impl<I: ::core::iter::FusedIterator, L: $crate::Recycle<I> + ?Sized>
            ::core::iter::FusedIterator for $Handle<I, L>
        {
        }

        impl<H: ::core::hash::Hasher, L: $crate::Recycle<H> + ?Sized> ::core::hash::Hasher
            for $Handle<H, L>
        {
            fn finish(&self) -> u64 {
                (**self).finish()
            }

            fn write(&mut self, bytes: &[u8]) {
                (**self).write(bytes);
            }

            // Each by itself: a hasher may make something else of a number than of its bytes.
            fn write_u8(&mut self, number: u8) {
                (**self).write_u8(number);
            }

            fn write_u16(&mut self, number: u16) {
                (**self).write_u16(number);
            }

            fn write_u32(&mut self, number: u32) {
                (**self).write_u32(number);
            }

            fn write_u64(&mut self, number: u64) {
                (**self).write_u64(number);
            }

            fn write_u128(&mut self, number: u128) {
                (**self).write_u128(number);
            }

            fn write_usize(&mut self, number: usize) {
                (**self).write_usize(number);
            }

            fn write_i8(&mut self, number: i8) {
                (**self).write_i8(number);
            }

            fn write_i16(&mut self, number: i16) {
                (**self).write_i16(number);
            }

            fn write_i32(&mut self, number: i32) {
                (**self).write_i32(number);
            }

            fn write_i64(&mut self, number: i64) {
                (**self).write_i64(number);
            }

            fn write_i128(&mut self, number: i128) {
                (**self).write_i128(number);
            }

            fn write_isize(&mut self, number: isize) {
                (**self).write_isize(number);
            }
        }

        impl<F: Future + Unpin, L: $crate::Recycle<F> + ?Sized> Future for $Handle<F, L> {
            type Output = F::Output;

            fn poll(
                mut self: ::core::pin::Pin<&mut Self>,
                cx: &mut ::core::task::Context<'_>,
            ) -> ::core::task::Poll<F::Output> {
                ::core::pin::Pin::new(&mut **self).poll(cx)
            }
        }

        impl<A, E: Extend<A>, L: $crate::Recycle<E> + ?Sized> Extend<A> for $Handle<E, L> {
            fn extend<I: IntoIterator<Item = A>>(&mut self, items: I) {
                (**self).extend(items);
            }
        }

        #[cfg(feature = "std")]
        impl<R: ::std::io::Read, L: $crate::Recycle<R> + ?Sized> ::std::io::Read for $Handle<R, L> {
            fn read(&mut self, buffer: &mut [u8]) -> ::std::io::Result<usize> {
                (**self).read(buffer)
            }

            fn read_vectored(
                &mut self,
                buffers: &mut [::std::io::IoSliceMut<'_>],
            ) -> ::std::io::Result<usize> {
                (**self).read_vectored(buffers)
            }

            fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> ::std::io::Result<usize> {
                (**self).read_to_end(buffer)
            }

            fn read_to_string(&mut self, buffer: &mut String) -> ::std::io::Result<usize> {
                (**self).read_to_string(buffer)
            }

            fn read_exact(&mut self, buffer: &mut [u8]) -> ::std::io::Result<()> {
                (**self).read_exact(buffer)
            }
        }

        #[cfg(feature = "std")]
        impl<R: ::std::io::BufRead, L: $crate::Recycle<R> + ?Sized> ::std::io::BufRead
            for $Handle<R, L>
        {
            fn fill_buf(&mut self) -> ::std::io::Result<&[u8]> {
                (**self).fill_buf()
            }

            fn consume(&mut self, n: usize) {
                (**self).consume(n);
            }

            fn read_until(&mut self, byte: u8, buffer: &mut Vec<u8>) -> ::std::io::Result<usize> {
                (**self).read_until(byte, buffer)
            }

            fn skip_until(&mut self, byte: u8) -> ::std::io::Result<usize> {
                (**self).skip_until(byte)
            }

            fn read_line(&mut self, buffer: &mut String) -> ::std::io::Result<usize> {
                (**self).read_line(buffer)
            }
        }

        #[cfg(feature = "std")]
        impl<S: ::std::io::Seek, L: $crate::Recycle<S> + ?Sized> ::std::io::Seek for $Handle<S, L> {
            fn seek(&mut self, to: ::std::io::SeekFrom) -> ::std::io::Result<u64> {
                (**self).seek(to)
            }

            fn rewind(&mut self) -> ::std::io::Result<()> {
                (**self).rewind()
            }

            fn stream_position(&mut self) -> ::std::io::Result<u64> {
                (**self).stream_position()
            }

            fn seek_relative(&mut self, offset: i64) -> ::std::io::Result<()> {
                (**self).seek_relative(offset)
            }
        }

        #[cfg(feature = "std")]
        impl<W: ::std::io::Write, L: $crate::Recycle<W> + ?Sized> ::std::io::Write
            for $Handle<W, L>
        {
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

            fn write_all(&mut self, buffer: &[u8]) -> ::std::io::Result<()> {
                (**self).write_all(buffer)
            }

            fn write_fmt(&mut self, args: ::core::fmt::Arguments<'_>) -> ::std::io::Result<()> {
                (**self).write_fmt(args)
            }
        }

        impl<W: ::core::fmt::Write, L: $crate::Recycle<W> + ?Sized> ::core::fmt::Write
            for $Handle<W, L>
        {
            fn write_str(&mut self, s: &str) -> ::core::fmt::Result {
                (**self).write_str(s)
            }

            fn write_char(&mut self, c: char) -> ::core::fmt::Result {
                (**self).write_char(c)
            }

            fn write_fmt(&mut self, args: ::core::fmt::Arguments<'_>) -> ::core::fmt::Result {
                (**self).write_fmt(args)
            }
        }
    };
    ($Handle:ident) => {
        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::convert::AsRef<T> for $Handle<T, L> {
            fn as_ref(&self) -> &T {
                self
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::borrow::Borrow<T> for $Handle<T, L> {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T: ::core::fmt::Debug, L: $crate::Recycle<T> + ?Sized> ::core::fmt::Debug
            for $Handle<T, L>
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<T: ::core::fmt::Display, L: $crate::Recycle<T> + ?Sized> ::core::fmt::Display
            for $Handle<T, L>
        {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&**self, f)
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::fmt::Pointer for $Handle<T, L> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Pointer::fmt(&(&raw const **self), f)
            }
        }

        impl<T: PartialEq, L: $crate::Recycle<T> + ?Sized> PartialEq for $Handle<T, L> {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }

            // What the object's type makes of it, even where that is not the opposite.
            #[allow(clippy::partialeq_ne_impl)]
            fn ne(&self, other: &Self) -> bool {
                **self != **other
            }
        }

        impl<T: Eq, L: $crate::Recycle<T> + ?Sized> Eq for $Handle<T, L> {}

        impl<T: PartialOrd, L: $crate::Recycle<T> + ?Sized> PartialOrd for $Handle<T, L> {
            fn partial_cmp(&self, other: &Self) -> Option<::core::cmp::Ordering> {
                (**self).partial_cmp(&**other)
            }

            fn lt(&self, other: &Self) -> bool {
                **self < **other
            }

            fn le(&self, other: &Self) -> bool {
                **self <= **other
            }

            fn gt(&self, other: &Self) -> bool {
                **self > **other
            }

            fn ge(&self, other: &Self) -> bool {
                **self >= **other
            }
        }

        impl<T: Ord, L: $crate::Recycle<T> + ?Sized> Ord for $Handle<T, L> {
            fn cmp(&self, other: &Self) -> ::core::cmp::Ordering {
                (**self).cmp(&**other)
            }
        }

        impl<T: ::core::hash::Hash, L: $crate::Recycle<T> + ?Sized> ::core::hash::Hash
            for $Handle<T, L>
        {
            fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        impl<T: ::core::error::Error, L: $crate::Recycle<T> + ?Sized> ::core::error::Error
            for $Handle<T, L>
        {
            fn source(&self) -> Option<&(dyn ::core::error::Error + 'static)> {
                (**self).source()
            }

            #[allow(deprecated)] // As `Box` has it.
            fn cause(&self) -> Option<&dyn ::core::error::Error> {
                (**self).cause()
            }
        }

        #[cfg(all(feature = "std", unix))]
        impl<T: ::std::os::fd::AsFd, L: $crate::Recycle<T> + ?Sized> ::std::os::fd::AsFd
            for $Handle<T, L>
        {
            fn as_fd(&self) -> ::std::os::fd::BorrowedFd<'_> {
                (**self).as_fd()
            }
        }

        #[cfg(all(feature = "std", unix))]
        impl<T: ::std::os::fd::AsRawFd, L: $crate::Recycle<T> + ?Sized> ::std::os::fd::AsRawFd
            for $Handle<T, L>
        {
            fn as_raw_fd(&self) -> ::std::os::fd::RawFd {
                (**self).as_raw_fd()
            }
        }

        #[cfg(all(feature = "std", windows))]
        impl<T: ::std::os::windows::io::AsHandle, L: $crate::Recycle<T> + ?Sized>
            ::std::os::windows::io::AsHandle for $Handle<T, L>
        {
            fn as_handle(&self) -> ::std::os::windows::io::BorrowedHandle<'_> {
                (**self).as_handle()
            }
        }

        #[cfg(all(feature = "std", windows))]
        impl<T: ::std::os::windows::io::AsSocket, L: $crate::Recycle<T> + ?Sized>
            ::std::os::windows::io::AsSocket for $Handle<T, L>
        {
            fn as_socket(&self) -> ::std::os::windows::io::BorrowedSocket<'_> {
                (**self).as_socket()
            }
        }

        #[cfg(feature = "serde")]
        impl<T: ::serde::Serialize, L: $crate::Recycle<T> + ?Sized> ::serde::Serialize
            for $Handle<T, L>
        {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (**self).serialize(serializer)
            }
        }
    };
}

pub(crate) use forward_to_object;

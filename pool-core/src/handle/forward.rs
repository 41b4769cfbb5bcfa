//! The traits that a handle passes on to its object, as `Box` does: written once for every handle.

/// Implements traits for a handle by calling the same method of the object. `ref` and `mut` say how a method takes
/// `self`, the word for which comes with the call since it has to be the same in head and body.
macro_rules! pass_on {
    ($Handle:ident $self:ident $(
        $(#[$attribute:meta])*
        impl<$T:ident: $Trait:path> {
            $(type $Type:ident;)?
            $(ref $(#[$by_ref:meta])* fn $get:ident($($arg:ident: $Arg:ty),*) $(-> $Got:ty)?;)*
            $(mut fn $do:ident($($with:ident: $With:ty),*) $(-> $Done:ty)?;)*
        }
    )*) => {$(
        $(#[$attribute])*
        impl<$T: $Trait, L: $crate::Recycle<$T> + ?Sized> $Trait for $Handle<$T, L> {
            $(type $Type = $T::$Type;)?
            $($(#[$by_ref])* fn $get(&$self, $($arg: $Arg),*) $(-> $Got)? {
                (**$self).$get($($arg),*)
            })*
            $(fn $do(&mut $self, $($with: $With),*) $(-> $Done)? {
                (**$self).$do($($with),*)
            })*
        }
    )*};
}

/// Passes `std`'s traits on from a handle that derefs to its object.
macro_rules! forward_to_object {
    ($Handle:ident) => {
        impl<T: AsRef<U>, U: ?Sized, L: $crate::Recycle<T> + ?Sized> AsRef<U> for $Handle<T, L> {
            fn as_ref(&self) -> &U {
                (**self).as_ref()
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::borrow::Borrow<T> for $Handle<T, L> {
            fn borrow(&self) -> &T {
                self
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::fmt::Pointer for $Handle<T, L> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Pointer::fmt(&Self::as_ptr(self), f)
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

        impl<T: ::core::hash::Hash, L: $crate::Recycle<T> + ?Sized> ::core::hash::Hash
            for $Handle<T, L>
        {
            fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                (**self).hash(state);
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

        $crate::handle::forward::pass_on! { $Handle self
            impl<T: ::core::fmt::Debug> {
                ref fn fmt(f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result;
            }

            impl<T: ::core::fmt::Display> {
                ref fn fmt(f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result;
            }

            impl<T: ::core::cmp::PartialOrd> {
                ref fn partial_cmp(other: &Self) -> Option<::core::cmp::Ordering>;
                ref fn lt(other: &Self) -> bool;
                ref fn le(other: &Self) -> bool;
                ref fn gt(other: &Self) -> bool;
                ref fn ge(other: &Self) -> bool;
            }

            impl<T: ::core::cmp::Ord> {
                ref fn cmp(other: &Self) -> ::core::cmp::Ordering;
            }

            impl<T: ::core::error::Error> {
                ref fn source() -> Option<&(dyn ::core::error::Error + 'static)>;
                // As `Box` has it.
                ref #[allow(deprecated)] fn cause() -> Option<&dyn ::core::error::Error>;
            }

            #[cfg(all(feature = "std", unix))]
            impl<T: ::std::os::fd::AsFd> {
                ref fn as_fd() -> ::std::os::fd::BorrowedFd<'_>;
            }

            #[cfg(all(feature = "std", unix))]
            impl<T: ::std::os::fd::AsRawFd> {
                ref fn as_raw_fd() -> ::std::os::fd::RawFd;
            }

            #[cfg(all(feature = "std", windows))]
            impl<T: ::std::os::windows::io::AsHandle> {
                ref fn as_handle() -> ::std::os::windows::io::BorrowedHandle<'_>;
            }

            #[cfg(all(feature = "std", windows))]
            impl<T: ::std::os::windows::io::AsSocket> {
                ref fn as_socket() -> ::std::os::windows::io::BorrowedSocket<'_>;
            }
        }
    };
}

/// Passes on those of `std`'s traits, too, that need the object alone.
macro_rules! forward_to_own_object {
    ($Handle:ident) => {
        $crate::handle::forward::forward_to_object!($Handle);

        impl<T: AsMut<U>, U: ?Sized, L: $crate::Recycle<T> + ?Sized> AsMut<U> for $Handle<T, L> {
            fn as_mut(&mut self) -> &mut U {
                (**self).as_mut()
            }
        }

        impl<T, L: $crate::Recycle<T> + ?Sized> ::core::borrow::BorrowMut<T> for $Handle<T, L> {
            fn borrow_mut(&mut self) -> &mut T {
                self
            }
        }

        impl<F: Future + Unpin, L: $crate::Lifecycle<F>> Future for $Handle<F, L> {
            type Output = F::Output;

            fn poll(
                mut self: ::core::pin::Pin<&mut Self>,
                cx: &mut ::core::task::Context<'_>,
            ) -> ::core::task::Poll<F::Output> {
                ::core::pin::Pin::new(&mut **self).poll(cx)
            }
        }

        impl<A, E: Extend<A>, L: $crate::Lifecycle<E>> Extend<A> for $Handle<E, L> {
            fn extend<I: IntoIterator<Item = A>>(&mut self, items: I) {
                (**self).extend(items);
            }
        }

        $crate::handle::forward::pass_on! { $Handle self
            impl<I: ::core::iter::Iterator> {
                type Item;
                ref fn size_hint() -> (usize, Option<usize>);
                mut fn next() -> Option<I::Item>;
                mut fn nth(n: usize) -> Option<I::Item>;
            }

            impl<I: ::core::iter::DoubleEndedIterator> {
                mut fn next_back() -> Option<I::Item>;
                mut fn nth_back(n: usize) -> Option<I::Item>;
            }

            impl<I: ::core::iter::ExactSizeIterator> {
                ref fn len() -> usize;
            }

            impl<I: ::core::iter::FusedIterator> {}

            // Each number by itself: a hasher may make something else of it than of its bytes.
            impl<H: ::core::hash::Hasher> {
                ref fn finish() -> u64;
                mut fn write(bytes: &[u8]);
                mut fn write_u8(number: u8);
                mut fn write_u16(number: u16);
                mut fn write_u32(number: u32);
                mut fn write_u64(number: u64);
                mut fn write_u128(number: u128);
                mut fn write_usize(number: usize);
                mut fn write_i8(number: i8);
                mut fn write_i16(number: i16);
                mut fn write_i32(number: i32);
                mut fn write_i64(number: i64);
                mut fn write_i128(number: i128);
                mut fn write_isize(number: isize);
            }

            #[cfg(feature = "std")]
            impl<R: ::std::io::Read> {
                mut fn read(buffer: &mut [u8]) -> ::std::io::Result<usize>;
                mut fn read_vectored(buffers: &mut [::std::io::IoSliceMut<'_>]) -> ::std::io::Result<usize>;
                mut fn read_to_end(buffer: &mut Vec<u8>) -> ::std::io::Result<usize>;
                mut fn read_to_string(buffer: &mut String) -> ::std::io::Result<usize>;
                mut fn read_exact(buffer: &mut [u8]) -> ::std::io::Result<()>;
            }

            #[cfg(feature = "std")]
            impl<R: ::std::io::BufRead> {
                mut fn fill_buf() -> ::std::io::Result<&[u8]>;
                mut fn consume(n: usize);
                mut fn read_until(byte: u8, buffer: &mut Vec<u8>) -> ::std::io::Result<usize>;
                mut fn skip_until(byte: u8) -> ::std::io::Result<usize>;
                mut fn read_line(buffer: &mut String) -> ::std::io::Result<usize>;
            }

            #[cfg(feature = "std")]
            impl<S: ::std::io::Seek> {
                mut fn seek(to: ::std::io::SeekFrom) -> ::std::io::Result<u64>;
                mut fn rewind() -> ::std::io::Result<()>;
                mut fn stream_position() -> ::std::io::Result<u64>;
                mut fn seek_relative(offset: i64) -> ::std::io::Result<()>;
            }

            #[cfg(feature = "std")]
            impl<W: ::std::io::Write> {
                mut fn write(buffer: &[u8]) -> ::std::io::Result<usize>;
                mut fn write_vectored(buffers: &[::std::io::IoSlice<'_>]) -> ::std::io::Result<usize>;
                mut fn flush() -> ::std::io::Result<()>;
                mut fn write_all(buffer: &[u8]) -> ::std::io::Result<()>;
                mut fn write_fmt(args: ::core::fmt::Arguments<'_>) -> ::std::io::Result<()>;
            }

            impl<W: ::core::fmt::Write> {
                mut fn write_str(s: &str) -> ::core::fmt::Result;
                mut fn write_char(c: char) -> ::core::fmt::Result;
                mut fn write_fmt(args: ::core::fmt::Arguments<'_>) -> ::core::fmt::Result;
            }
        }
    };
}

pub(crate) use forward_to_object;
pub(crate) use forward_to_own_object;
pub(crate) use pass_on;

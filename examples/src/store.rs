//! Where objects live: a pool, or what programs have that use none. Called by `book` and `run`.

use pool_core::{AcquireError, Pool, Poolable, Pooled, unsync};

/// Holds objects of one type.
pub trait Store<T> {
    /// What an object is found by.
    type Handle;

    /// Takes an object in.
    ///
    /// # Errors
    ///
    /// When there is no room for it.
    fn put(&mut self, object: T) -> Result<Self::Handle, AcquireError>;

    /// The object.
    fn get<'a>(&'a mut self, handle: &'a mut Self::Handle) -> &'a mut T;

    /// Lets an object go. One that `take` is not called for may stay until the store goes.
    fn take(&mut self, handle: Self::Handle);
}

/// A store whose handles own their objects: to let go is to drop.
macro_rules! owning {
    ($store:ty, $handle:ty, $($bound:ident)*, |$self:ident, $object:ident| $put:expr) => {
        impl<T $(: $bound)*> Store<T> for $store {
            type Handle = $handle;

            #[inline]
            fn put(&mut $self, $object: T) -> Result<Self::Handle, AcquireError> {
                $put
            }

            #[inline]
            fn get<'a>(&'a mut self, handle: &'a mut Self::Handle) -> &'a mut T {
                handle
            }

            #[inline]
            fn take(&mut self, handle: Self::Handle) {
                drop(handle);
            }
        }
    };
}

owning!(Pool<T>, Pooled<T>, Poolable, |self, object| {
    let mut handle = self.try_acquire()?;
    *handle = object;
    Ok(handle)
});

owning!(
    unsync::Pool<T>,
    unsync::Pooled<T>,
    Poolable,
    |self, object| {
        let mut handle = self.try_acquire()?;
        *handle = object;
        Ok(handle)
    }
);

/// No pool: a `Box` each.
#[derive(Debug, Default)]
pub struct Boxes;

owning!(Boxes, Box<T>, , |self, object| Ok(Box::new(object)));

/// No pool: objects in a `Vec`, found by their index, and a list of the free ones.
#[derive(Debug)]
pub struct Slab<T> {
    objects: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// With room for so many objects before it grows.
    #[must_use]
    pub fn with_capacity(objects: usize) -> Slab<T> {
        Slab {
            objects: Vec::with_capacity(objects),
            free: Vec::with_capacity(objects),
        }
    }
}

impl<T> Store<T> for Slab<T> {
    type Handle = u32;

    #[inline]
    fn put(&mut self, object: T) -> Result<u32, AcquireError> {
        if let Some(index) = self.free.pop() {
            self.objects[index as usize] = object;
            return Ok(index);
        }
        let index = u32::try_from(self.objects.len()).expect("fewer objects than memory holds");
        self.objects.push(object);
        Ok(index)
    }

    #[inline]
    fn get<'a>(&'a mut self, handle: &'a mut u32) -> &'a mut T {
        &mut self.objects[*handle as usize]
    }

    #[inline]
    fn take(&mut self, handle: u32) {
        self.free.push(handle);
    }
}

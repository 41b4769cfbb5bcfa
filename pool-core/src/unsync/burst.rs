//! Many objects at once, on one thread.

use alloc::vec::Vec;
use core::mem;

use super::Pooled;
use crate::handle::slice::slice_of_handles;
use crate::lifecycle::{Derived, Recycle};
use crate::panics::for_each_despite_panics;

/// Objects of one pool, acquired together and given back together; from
/// [`Pool::acquire_many`](super::Pool::acquire_many). As [`pool_core::Burst`](crate::Burst), but stays on its thread.
///
/// The array is the pool's and is used again, so a burst allocates nothing in steady state.
pub struct Burst<T, L: Recycle<T> + ?Sized = Derived> {
    handles: Vec<Pooled<T, L>>,
}

impl<T, L: Recycle<T> + ?Sized> Burst<T, L> {
    pub(super) fn new(handles: Vec<Pooled<T, L>>) -> Self {
        Burst { handles }
    }

    fn into_handles(mut self) -> Vec<Pooled<T, L>> {
        mem::take(&mut self.handles)
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for Burst<T, L> {
    fn drop(&mut self) {
        let pool = self.handles.first().and_then(Pooled::pool);
        for_each_despite_panics(self.handles.drain(..), drop);
        if let Some(pool) = pool {
            pool.keep_buffer(mem::take(&mut self.handles));
        }
    }
}

slice_of_handles!(Burst, "pool_core::unsync");

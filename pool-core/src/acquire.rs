//! Futures: of an acquire, and of waiting until nothing is in use.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::central::{IdleWaiterId, WaiterId};
use crate::entry::Entry;
use crate::error::AcquireError;
use crate::handle::Pooled;
use crate::lifecycle::{Derived, Lifecycle, Recycle};
use crate::observe::holders::Caller;
use crate::pool::Pool;

/// The future of [`Pool::acquire_async`], which says what a drop does. Forgotten (`mem::forget`), it keeps its place in
/// the queue, and what it is granted, for ever.
///
/// Requires feature `async`.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Acquire<'a, T, L: Recycle<T> + ?Sized = Derived> {
    waiting: Waiting<'a, T, L>,
}

impl<'a, T, L: Lifecycle<T>> Acquire<'a, T, L> {
    pub(crate) fn new(pool: &'a Pool<T, L>, caller: Caller) -> Self {
        Acquire {
            waiting: Waiting::new(pool, caller),
        }
    }
}

impl<T, L: Lifecycle<T>> Future for Acquire<'_, T, L> {
    type Output = Result<Pooled<T, L>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.waiting)
            .poll(cx)
            .map_ok(Entry::or_create)
    }
}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for Acquire<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquire")
            .field("waiting", &self.waiting.waiter.is_some())
            .finish_non_exhaustive()
    }
}

/// The future of [`Pool::wait_idle_async`].
///
/// Requires feature `async`.
#[must_use = "a future does nothing unless it is awaited"]
pub struct WaitIdle<'a, T, L: Recycle<T> + ?Sized = Derived> {
    pool: &'a Pool<T, L>,
    /// The place among the waiters for idleness, while there is one to give up.
    waiter: Option<IdleWaiterId>,
}

impl<'a, T, L: Recycle<T> + ?Sized> WaitIdle<'a, T, L> {
    pub(crate) fn new(pool: &'a Pool<T, L>) -> Self {
        WaitIdle { pool, waiter: None }
    }
}

impl<T, L: Recycle<T> + ?Sized> Future for WaitIdle<'_, T, L> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let pool = self.pool;
        pool.poll_idle(&mut self.waiter, cx.waker())
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for WaitIdle<'_, T, L> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.pool.cancel_idle(waiter);
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> fmt::Debug for WaitIdle<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitIdle")
            .field("waiting", &self.waiter.is_some())
            .finish_non_exhaustive()
    }
}

/// An entry to come: what every wait of a task for one object is.
pub(crate) struct Waiting<'a, T, L: Recycle<T> + ?Sized> {
    pool: &'a Pool<T, L>,
    /// Where it was asked for.
    caller: Caller,
    /// The place in the queue, while there is one to give up.
    pub(crate) waiter: Option<WaiterId>,
}

impl<'a, T, L: Recycle<T> + ?Sized> Waiting<'a, T, L> {
    pub(crate) fn new(pool: &'a Pool<T, L>, caller: Caller) -> Self {
        Waiting {
            pool,
            caller,
            waiter: None,
        }
    }
}

impl<T, L: Recycle<T> + ?Sized> Future for Waiting<'_, T, L> {
    type Output = Result<Entry<T, L>, AcquireError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let pool = self.pool;
        let caller = self.caller;
        pool.poll_entry(&mut self.waiter, cx.waker(), caller)
    }
}

impl<T, L: Recycle<T> + ?Sized> Drop for Waiting<'_, T, L> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.pool.cancel_wait(waiter);
        }
    }
}

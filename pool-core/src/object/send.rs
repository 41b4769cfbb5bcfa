//! What may go to another thread, or be used by several.
//!
//! The owning types hold raw pointers, so none of them is `Send` or `Sync`, and nothing of `unsync` is. The types
//! that a user has of a shared pool are, under the bounds below, which stand at the public types so that an
//! error of the compiler names those. `Burst` is a vector of `Pooled`, and follows.
#![allow(unsafe_code)] // `Send` and `Sync`.

use crate::entry::VacantEntry;
use crate::handle::{Pooled, SharedPooled};
use crate::lifecycle::Recycle;
use crate::pool::{Drain, Pool, WeakPool};

// SAFETY: objects go from thread to thread through a pool (`T: Send`), none is ever shared by it; the lifecycle
// is used by all threads at once (`L: Sync`) and dropped by any (`L: Send`).
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Send for Pool<T, L> {}
// SAFETY: as above; a shared `Pool` can be cloned anyway.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Sync for Pool<T, L> {}

// SAFETY: the handle is its `T`, hence `T: Send`. Dropped elsewhere it calls the hooks there, which other threads
// may be doing too (`L: Sync`), and may be what ends the pool (`L: Send`).
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Send for Pooled<T, L> {}
// SAFETY: a shared handle gives a shared `T`, hence `T: Sync`, and `pool()`, a `Pool` that could then be used from
// that thread: that needs what sharing a `Pool` needs, `T: Send` and the rest, unless `pool()` asks for it
// itself, as it does.
unsafe impl<T: Sync, L: Recycle<T> + Send + Sync + ?Sized> Sync for Pooled<T, L> {}

// SAFETY: as for `Arc`: a handle shares the object (`T: Sync`), and the last one takes it back wherever it is
// dropped (`T: Send`); the lifecycle as for `Pooled`.
unsafe impl<T: Send + Sync, L: Recycle<T> + Send + Sync + ?Sized> Send for SharedPooled<T, L> {}
// SAFETY: as above; a shared handle can be cloned.
unsafe impl<T: Send + Sync, L: Recycle<T> + Send + Sync + ?Sized> Sync for SharedPooled<T, L> {}

// SAFETY: the objects are this iterator's alone (`T: Send`), and use their pool where they are dropped.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Send for Drain<'_, T, L> {}
// SAFETY: shared, it gives nothing but its length.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Sync for Drain<'_, T, L> {}

// SAFETY: it becomes a `Pool`, so what that needs.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Send for WeakPool<T, L> {}
// SAFETY: as above.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Sync for WeakPool<T, L> {}

// SAFETY: it becomes a `Pooled` where it is filled, so what that needs.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Send for VacantEntry<T, L> {}
// SAFETY: shared, it gives nothing.
unsafe impl<T: Send, L: Recycle<T> + Send + Sync + ?Sized> Sync for VacantEntry<T, L> {}

//! An object, or the permit to make one.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::Pooled;
use super::shared::Shared;
use crate::entry::entry_types;
use crate::lifecycle::{Derived, Lifecycle, Recycle};
use crate::object::{Object, Permit, Vacancy};
use crate::poolable::{Place, Ready};

entry_types! {
    pub(super),
    /// # Examples
    ///
    /// ```
    /// use pool_core::unsync::Pool;
    ///
    /// let pool = Pool::<Vec<u8>>::builder().capacity(1).build()?;
    /// let buffer = pool.try_entry()?.or_insert_with(|| Vec::with_capacity(1500));
    /// assert!(buffer.capacity() >= 1500 && pool.try_entry().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
}

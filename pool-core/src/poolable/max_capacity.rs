//! Collections whose memory a pool can bound: derived code calls this for a field with
//! `#[poolable(max_capacity = n)]`, after its reset.

use alloc::boxed::Box;
use alloc::collections::{BinaryHeap, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

/// A collection that can free excess memory: what `#[poolable(max_capacity = n)]` needs of a field.
///
/// # Examples
///
/// ```
/// use pool_core::{MaxCapacity, Poolable};
///
/// struct Stack(Vec<u64>);
///
/// impl Poolable for Stack {
///     fn init() -> Self {
///         Stack(Vec::new())
///     }
///     fn reset(&mut self) {
///         self.0.clear();
///     }
/// }
///
/// impl MaxCapacity for Stack {
///     fn limit_capacity(&mut self, max: usize) {
///         self.0.limit_capacity(max);
///     }
/// }
///
/// # #[cfg(feature = "derive")] {
/// #[derive(Poolable)]
/// struct Machine {
///     #[poolable(max_capacity = 16)]
///     stack: Stack,
/// }
///
/// let mut machine = Machine::init();
/// machine.stack.0.extend(0..1000);
/// machine.reset();
/// assert!(machine.stack.0.is_empty() && machine.stack.0.capacity() <= 16);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`max_capacity` asks for the trait `MaxCapacity`, which `{Self}` does not implement",
    label = "not `MaxCapacity`",
    note = "a type of your own can implement it:\n\
            impl pool_core::MaxCapacity for {Self} {{\n\
            \x20   // gives back the memory beyond what `max` elements need\n\
            \x20   fn limit_capacity(&mut self, max: usize) {{ self.shrink_to(max); }}\n\
            }}",
    note = "types of `bytes`, `hashbrown`, `indexmap` and `smallvec` implement it with the feature of that name",
    note = "for any other type, say it in `reset`: \
            `#[poolable(default, reset = |field| {{ field.clear(); field.shrink_to(n); }})]`"
)]
pub trait MaxCapacity: Sized {
    /// Frees the memory beyond what `max` elements need. The contents stay. A hash table may stay as large as
    /// `with_capacity(max)` makes it.
    fn limit_capacity(&mut self, max: usize);

    /// Becomes equal to `value`, in the memory it already has if possible: called for a field that is `default` as well.
    /// The default implementation assigns, which drops the memory.
    #[inline]
    fn refill(&mut self, value: Self) {
        *self = value;
    }
}

/// `limit_capacity` of a collection of std.
macro_rules! limit_by_shrinking {
    () => {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            if self.capacity() > max {
                self.shrink_to(max);
            }
        }
    };
}

impl<T> MaxCapacity for Vec<T> {
    limit_by_shrinking!();

    #[inline]
    fn refill(&mut self, mut value: Self) {
        self.clear();
        self.append(&mut value);
    }
}

impl<T> MaxCapacity for VecDeque<T> {
    limit_by_shrinking!();

    #[inline]
    fn refill(&mut self, mut value: Self) {
        self.clear();
        self.append(&mut value);
    }
}

impl<T: Ord> MaxCapacity for BinaryHeap<T> {
    limit_by_shrinking!();

    #[inline]
    fn refill(&mut self, value: Self) {
        self.clear();
        // Not `append`, which takes the memory of the longer one.
        self.extend(value);
    }
}

/// Capacity in bytes.
impl MaxCapacity for String {
    limit_by_shrinking!();

    #[inline]
    fn refill(&mut self, value: Self) {
        self.clear();
        self.push_str(&value);
    }
}

/// Asks the boxed collection.
impl<C: MaxCapacity> MaxCapacity for Box<C> {
    #[inline]
    fn limit_capacity(&mut self, max: usize) {
        (**self).limit_capacity(max);
    }

    #[inline]
    fn refill(&mut self, value: Self) {
        (**self).refill(*value);
    }
}

/// `max` is for each element.
impl<C: MaxCapacity, const N: usize> MaxCapacity for [C; N] {
    #[inline]
    fn limit_capacity(&mut self, max: usize) {
        for element in self {
            element.limit_capacity(max);
        }
    }

    #[inline]
    fn refill(&mut self, value: Self) {
        for (element, value) in self.iter_mut().zip(value) {
            element.refill(value);
        }
    }
}

/// Asks the collection in the cell.
impl<C: MaxCapacity> MaxCapacity for RefCell<C> {
    #[inline]
    fn limit_capacity(&mut self, max: usize) {
        self.get_mut().limit_capacity(max);
    }

    #[inline]
    fn refill(&mut self, value: Self) {
        self.get_mut().refill(value.into_inner());
    }
}

/// Of the types that need an operating system.
#[cfg(feature = "std")]
mod of_std {
    use std::collections::{HashMap, HashSet};
    use std::ffi::OsString;
    use std::hash::{BuildHasher, Hash};
    use std::io::Cursor;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError, RwLock};

    use super::MaxCapacity;

    impl<K: Eq + Hash, V, S: BuildHasher> MaxCapacity for HashMap<K, V, S> {
        limit_by_shrinking!();

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear();
            self.extend(value);
        }
    }

    impl<T: Eq + Hash, S: BuildHasher> MaxCapacity for HashSet<T, S> {
        limit_by_shrinking!();

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear();
            self.extend(value);
        }
    }

    /// Capacity in bytes, in the encoding that the platform uses.
    impl MaxCapacity for OsString {
        limit_by_shrinking!();

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear();
            self.push(value);
        }
    }

    /// Capacity in bytes, in the encoding that the platform uses.
    impl MaxCapacity for PathBuf {
        limit_by_shrinking!();

        #[inline]
        fn refill(&mut self, value: Self) {
            self.as_mut_os_string().refill(value.into_os_string());
        }
    }

    /// Asks the collection under the cursor.
    impl<C: MaxCapacity> MaxCapacity for Cursor<C> {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            self.get_mut().limit_capacity(max);
        }

        #[inline]
        fn refill(&mut self, value: Self) {
            self.set_position(value.position());
            self.get_mut().refill(value.into_inner());
        }
    }

    /// Asks the collection under the lock, poisoned or not.
    impl<C: MaxCapacity> MaxCapacity for Mutex<C> {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            let inner = self.get_mut().unwrap_or_else(PoisonError::into_inner);
            inner.limit_capacity(max);
        }

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear_poison();
            let value = value.into_inner().unwrap_or_else(PoisonError::into_inner);
            let inner = self.get_mut().unwrap_or_else(PoisonError::into_inner);
            inner.refill(value);
        }
    }

    /// Asks the collection under the lock, poisoned or not.
    impl<C: MaxCapacity> MaxCapacity for RwLock<C> {
        #[inline]
        fn limit_capacity(&mut self, max: usize) {
            let inner = self.get_mut().unwrap_or_else(PoisonError::into_inner);
            inner.limit_capacity(max);
        }

        #[inline]
        fn refill(&mut self, value: Self) {
            self.clear_poison();
            let value = value.into_inner().unwrap_or_else(PoisonError::into_inner);
            let inner = self.get_mut().unwrap_or_else(PoisonError::into_inner);
            inner.refill(value);
        }
    }
}

//! A buffer of borrows, from one lifetime to the next.

use alloc::vec::Vec;

/// Empties a `Vec` and gives its memory to a `Vec` of another type of the same layout.
///
/// It is for types that differ in a lifetime. A `Vec<(u32, &'a [u8])>` cannot stay in a pool, which outlives each
/// message. The pool holds `Vec<(u32, &'static [u8])>`; `recycle` turns it into a `Vec` for this message, and back.
///
/// Allocates nothing. That the memory is kept rests on how `std` collects an iterator of a `Vec` in place, which the
/// project's tests check; `std` does not promise it.
///
/// Two types that differ in size or alignment do not compile.
///
/// # Examples
///
/// ```
/// use pool_core::Pool;
/// use pool_core::poolable::recycle;
///
/// /// Tag and value of each field of a FIX message.
/// type Fields<'a> = Vec<(u32, &'a str)>;
///
/// fn decode<'a>(message: &'a str, fields: &mut Fields<'a>) {
///     for field in message.split_terminator('\x01') {
///         if let Some((tag, value)) = field.split_once('=') {
///             fields.push((tag.parse().unwrap_or(0), value));
///         }
///     }
/// }
///
/// let pool = Pool::<Fields<'static>>::new();
/// for sequence in 1..=3 {
///     let message = format!("8=FIX.4.4\x0135=D\x0134={sequence}\x0155=AMZN\x01");
///
///     let mut buffer = pool.acquire();
///     let mut fields = recycle(std::mem::take(&mut *buffer));
///     let capacity = fields.capacity();
///     decode(&message, &mut fields);
///     assert_eq!(fields[3], (55, "AMZN"));
///     *buffer = recycle(fields); // the memory stays in the pool
///
///     assert!(sequence == 1 || capacity >= 4);
/// }
/// ```
#[must_use = "the memory is in the result"]
pub fn recycle<T, U>(mut used: Vec<T>) -> Vec<U> {
    const {
        assert!(
            size_of::<T>() == size_of::<U>() && align_of::<T>() == align_of::<U>(),
            "`recycle` needs two types of the same size and alignment"
        );
    }
    used.clear();
    used.into_iter()
        .map(|_| unreachable!("it was emptied"))
        .collect()
}

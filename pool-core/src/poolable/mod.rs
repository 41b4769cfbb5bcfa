//! How an object is created and reset. [`Place`] and [`Ready`] create a large object in place. [`impls`] has the
//! implementations for types of `std`.

#[doc(hidden)]
pub mod build;
#[macro_use]
mod max_capacity;
pub mod impls;
mod place;
mod recycle;

pub use max_capacity::MaxCapacity;
pub use place::{Place, Ready};
pub use recycle::recycle;

/// An object that a pool can create, reset, and hand to the next user.
///
/// Usually derived. Written by hand, the rule is: after [`reset`](Self::reset) the object equals what
/// [`init`](Self::init) creates, except that it should keep its memory.
///
/// # Examples
///
/// ```
/// use pool_core::Poolable;
///
/// struct Frame {
///     bytes: Vec<u8>,
///     sequence: u64,
/// }
///
/// impl Poolable for Frame {
///     fn init() -> Self {
///         Frame { bytes: Vec::with_capacity(1500), sequence: 0 }
///     }
///
///     fn reset(&mut self) {
///         self.bytes.clear();
///         self.sequence = 0;
///     }
///
///     fn is_reusable(&self) -> bool {
///         self.bytes.capacity() <= 64 * 1024
///     }
/// }
///
/// let mut frame = Frame::init();
/// frame.bytes.extend_from_slice(b"hello");
/// frame.reset();
/// assert!(frame.bytes.is_empty() && frame.bytes.capacity() >= 1500);
/// ```
#[diagnostic::on_unimplemented(
    message = "a pool does not know how to make and reset a `{Self}`",
    label = "not `Poolable`",
    note = "a type of your own can derive or implement `Poolable`",
    note = "a field of any other type can say how it is made and reset, and keep its memory: \
            `#[poolable(default, reset = Type::clear)]`, or a closure: `reset = |field| …`",
    note = "`#[poolable(default)]` alone drops what the field holds, memory and all, at each release",
    note = "a pool of any other type is built by `Pool::builder_with(create, reset)`",
    note = "a type of `arrayvec`, `bytes`, `chrono`, `hashbrown`, `heapless`, `indexmap`, `rust_decimal`, \
            `smallvec` or `uuid` is `Poolable` with the feature of that name"
)]
pub trait Poolable: Sized {
    /// Creates an object.
    fn init() -> Self;

    /// Returns the object to the state of a new one. It may keep its memory. If `reset` panics, the pool drops the
    /// object.
    fn reset(&mut self);

    /// Whether to keep the object, called after [`reset`](Self::reset). If `false`, the pool drops it: usually because
    /// one huge message has grown a buffer.
    #[inline]
    fn is_reusable(&self) -> bool {
        true
    }

    /// Creates an object in `place`. The default creates it on the stack and moves it. The derive, arrays and boxes
    /// create it in place, so it may be larger than the stack.
    #[inline]
    fn init_in(place: Place<'_, Self>) -> Ready<'_, Self> {
        place.write(Self::init())
    }
}

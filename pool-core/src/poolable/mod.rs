//! What an object promises: how a fresh one is made, and how a used one is made fresh again.
//!
//! [`Poolable`] is the whole promise. [`Place`] and [`Ready`] are how an object is made where it
//! will live, so that a large one never crosses the stack. Implementations for the types of `std`
//! are in [`impls`]; `#[derive(Poolable)]` writes one for a user's type.

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
/// Usually derived. Written by hand, the rule is: after [`reset`](Self::reset) the object must be
/// indistinguishable from what [`init`](Self::init) makes, except for memory it has allocated,
/// which it may (and to be worth pooling, should) keep.
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
    /// Makes a fresh object.
    fn init() -> Self;

    /// Puts the object back to the state a fresh one is in. Allocations may stay.
    ///
    /// A pool that sees `reset` panic drops the object, gives its place back, and lets the panic
    /// go on.
    fn reset(&mut self);

    /// Says whether the object, just reset, is worth keeping; asked right after
    /// [`reset`](Self::reset).
    ///
    /// `false` has the pool drop the object instead: the usual reason is a buffer that one huge
    /// message has grown for good.
    #[inline]
    fn is_reusable(&self) -> bool {
        true
    }

    /// Makes a fresh object in `place`, where it will live.
    ///
    /// The default makes it on the stack with [`init`](Self::init) and moves it. The derive makes
    /// it field by field in place, as the implementations for arrays and boxes do, so that an
    /// object larger than the stack can be pooled.
    #[inline]
    fn init_in(place: Place<'_, Self>) -> Ready<'_, Self> {
        place.write(Self::init())
    }
}

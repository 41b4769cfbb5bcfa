//! What derived code calls: building a struct field by field in its place, and handing a field or
//! a whole object to a function that its author named.
//!
//! Only `#[derive(Poolable)]` calls this, through the crate root's hidden `__private`; none of it
//! is a promise. What must stay true: [`__build_in_place`](crate::__build_in_place) is sound
//! whatever tokens it is given, because it is a safe macro that anyone can call. Its `unsafe`
//! stands here and not in what the derive emits, so that a crate that forbids `unsafe` can derive.
#![allow(unsafe_code)] // Field places are carved out of raw memory.

pub use core::mem::offset_of;

pub use super::Place;

use super::Ready;

/// The place of a part of `whole`.
///
/// # Safety
///
/// `part` points into the memory of `whole`, is aligned, and no other [`Place`] or [`Ready`] for any of it is alive or
/// is made later. `whole` is not written to while the returned place, or the `Ready` it becomes, is in use.
#[inline]
pub unsafe fn part<'a, S, F>(_whole: &Place<'a, S>, part: *mut F) -> Place<'a, F> {
    // SAFETY: the caller promises that `part` is aligned and within memory that is borrowed
    // exclusively for `'a`, and that this is the only borrow of that share of it.
    Place::new(unsafe { &mut *part.cast() })
}

/// Implemented for each expression that makes a field: so that it is written once, and a `static`
/// in it is one, however many functions make the field.
pub trait Make<F, const POSITION: usize> {
    /// Makes the field, which has `POSITION` others before it.
    fn make() -> F;
}

/// Has a closure that takes a struct apart compiled, not run.
#[inline]
pub fn check_shape<S>(_whole: &Place<'_, S>, _apart: fn(&S)) {}

/// Calls a closure with a field, after saying which type the field has.
#[inline]
pub fn reset_with<F: ?Sized, R>(field: &mut F, reset: impl FnOnce(&mut F) -> R) {
    drop(reset(field));
}

/// Calls a closure with an object, after saying which type the object has.
#[inline]
pub fn validate_with<S: ?Sized>(object: &S, validate: impl FnOnce(&S) -> bool) -> bool {
    validate(object)
}

/// Keeps the `Ready`s of all fields from dropping what they own: the whole owns it now.
#[inline]
pub fn hand_over<'a, S>(whole: Place<'a, S>, parts: impl Sized) -> Place<'a, S> {
    core::mem::forget(parts);
    whole
}

/// Declares that all fields of `whole` have been made.
///
/// # Safety
///
/// Each field of `S` holds a value that has no other owner.
#[inline]
pub unsafe fn finish<S>(whole: Place<'_, S>) -> Ready<'_, S> {
    // SAFETY: a struct whose fields hold values is a value; the caller promises the former.
    unsafe { whole.assume_init() }
}

/// Builds a struct in its place, a field at a time, with no copy of the whole on the stack.
///
/// `__build_in_place!(place, Name { field: make, 0: make })`, where each `make` is called with the field's `Place` and
/// returns its `Ready`. When one panics, the fields already made are dropped.
///
/// Sound for any tokens, because:
///
/// - *Exhaustive.* `check_shape` takes `*value`, which has the place's own type, apart with a
///   pattern that has no `..`: each field is named, once, and is visible here; the type is not a
///   union, which needs `unsafe` for that, nor a foreign `#[non_exhaustive]` one.
/// - *Direct.* `offset_of!` takes only a field of the type itself. So `(*at).field` is that field
///   and asks no `Deref`; and the type is no enum, which has a tag besides its fields even when it
///   has a single variant. Without fields there is nothing to build, and the value is written.
/// - *Aligned.* `&value.field` does not compile for a field that a packed struct may misalign.
/// - *Owned once.* A field's value is owned by its `Ready` until all of them are forgotten
///   together, right before the whole is declared made; a panic or a `return` in a `make` drops
///   those there are. `fill_with` has checked that each stands in its own place.
/// - *No tokens of the caller's inside `unsafe`*, but for the field's name, which is one token and
///   the same one that the pattern took.
#[doc(hidden)]
#[macro_export]
macro_rules! __build_in_place {
    ($place:expr, $shape:ident {}) => {
        $crate::__private::Place::write($place, $shape {})
    };
    ($place:expr, $shape:ident { $($field:tt : $make:expr),+ $(,)? }) => {{
        let mut whole: $crate::__private::Place<'_, $shape> = $place;
        $crate::__private::check_shape(&whole, |value| {
            let $shape { $($field: _),+ } = *value;
            $(
                let _ = $crate::__private::offset_of!($shape, $field);
                let _ = &value.$field;
            )+
        });
        let at = $crate::__private::Place::as_mut_ptr(&mut whole);
        let parts = ($(
            $crate::__private::Place::fill_with(
                // SAFETY: one field of the struct at `at`, aligned and named once, as the pattern
                // above has checked; `whole` is left alone until the parts are forgotten.
                unsafe { $crate::__private::part(&whole, &raw mut (*at).$field) },
                $make,
            ),
        )+);
        let whole = $crate::__private::hand_over(whole, parts);
        // SAFETY: the pattern above named every field, and `parts` held a value for each.
        unsafe { $crate::__private::finish(whole) }
    }};
}

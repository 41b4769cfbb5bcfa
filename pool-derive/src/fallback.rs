//! What goes out instead when the input has mistakes: all of them as errors, and an impl that does nothing.
//!
//! [`Errors`] goes through attr, ast and check, which report and carry on, so that one build shows
//! every mistake of a type. The stub keeps the type `Poolable`, so that no use of it fails as well.

use std::fmt::Display;
use std::thread;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Generics, Ident, Path};

/// The mistakes found so far. Must be asked for them: dropping it unasked is a bug of the derive's.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    found: Option<syn::Error>,
    asked: bool,
    /// The type has no size, so not even a stub can be an impl for it.
    unsized_type: bool,
}

impl Errors {
    /// Reports a mistake at `span`.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Reports a mistake, underlining all of `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Reports a mistake that syn has found.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.found {
            Some(found) => found.combine(error),
            none => *none = Some(error),
        }
    }

    /// Reports a mistake because of which no impl at all would compile.
    pub(crate) fn on_unsized(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.unsized_type = true;
        self.on(tokens, message);
    }

    /// Whether a [`stub`] can stand for the impl.
    pub(crate) fn stub_fits(&self) -> bool {
        !self.unsized_type
    }

    /// How many there are so far.
    pub(crate) fn count(&self) -> usize {
        self.found.iter().flatten().count()
    }

    /// All mistakes, in the order they were found.
    pub(crate) fn finish(mut self) -> Result<(), syn::Error> {
        self.asked = true;
        self.found.take().map_or(Ok(()), Err)
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        assert!(
            self.asked || thread::panicking(),
            "nobody asked which mistakes the input has"
        );
    }
}

/// An impl of the right type that does nothing.
///
/// `krate` is where `Poolable` is, as far as that is known.
pub(crate) fn stub(ident: &Ident, generics: &Generics, krate: &Path) -> TokenStream {
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Poolable for #ident #ty_generics #where_clause {
            fn init() -> Self {
                ::core::unreachable!()
            }

            fn reset(&mut self) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_kept_in_order() {
        let mut errors = Errors::default();
        errors.at(Span::call_site(), "first");
        errors.on(quote!(a b), "second");
        let all: Vec<String> = errors
            .finish()
            .unwrap_err()
            .into_iter()
            .map(|error| error.to_string())
            .collect();
        assert_eq!(all, ["first", "second"]);
    }

    #[test]
    #[should_panic(expected = "nobody asked")]
    fn mistakes_cannot_be_dropped_unasked() {
        let mut errors = Errors::default();
        errors.at(Span::call_site(), "lost");
    }
}

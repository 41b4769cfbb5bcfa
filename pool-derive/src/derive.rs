//! The road from the type to the code, without the compiler at either end: for `lib.rs`, for tests, and for the fuzzer.

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::fallback::Errors;
use crate::{ast, check, expand, fallback};

/// attr and ast read, check judges, expand writes; fallback is for when there were mistakes.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let (ident, generics) = (input.ident.clone(), input.generics.clone());
    let mut errors = Errors::default();
    let input = ast::Input::read(input, &mut errors);
    let krate = input.krate();
    let plan = check::check(input, &mut errors);
    let stub_fits = errors.stub_fits();
    match (errors.finish(), plan) {
        (Ok(()), Some(plan)) => expand::expand(&plan),
        (result, _) => {
            let mut output = match stub_fits {
                true => fallback::stub(&ident, &generics, &krate),
                false => TokenStream::new(),
            };
            output.extend(result.err().map(syn::Error::into_compile_error));
            output
        }
    }
}

//! `#[derive(Poolable)]`.
use proc_macro::TokenStream;
/// Derives `Poolable`.
#[proc_macro_derive(Poolable, attributes(poolable))]
pub fn derive_poolable(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

//! `#[derive(Poolable)]` on any text that Rust can read: it never panics, and what it writes is Rust.
//!
//! The text is taken as a whole type, or, where it begins with `!`, as the words of the attributes of a
//! type, its variants and its fields, separated by `;;`.
#![no_main]

// Included, since a macro's crate gives nothing else away. They have more than this target needs.
#[allow(dead_code)]
#[path = "../../pool-derive/src/ast.rs"]
mod ast;
#[allow(dead_code)]
#[path = "../../pool-derive/src/attr.rs"]
mod attr;
#[allow(dead_code)]
#[path = "../../pool-derive/src/check.rs"]
mod check;
#[allow(dead_code)]
#[path = "../../pool-derive/src/derive.rs"]
mod derive;
#[allow(dead_code)]
#[path = "../../pool-derive/src/expand.rs"]
mod expand;
#[allow(dead_code)]
#[path = "../../pool-derive/src/fallback.rs"]
mod fallback;

use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use proc_macro2::TokenStream;

fn types(text: &str) -> Vec<String> {
    let Some(words) = text.strip_prefix('!') else {
        return vec![text.to_owned()];
    };
    let mut words = words.split(";;");
    let mut word = || words.next().unwrap_or_default();
    let (of_type, of_variant, of_field) = (word(), word(), word());
    vec![
        format!("#[poolable({of_type})] struct Object<T> {{ #[poolable({of_field})] field: Vec<T> }}"),
        format!("#[poolable({of_type})] struct Object(#[poolable({of_field})] u8, u8);"),
        format!(
            "#[poolable({of_type})] enum Object {{ #[poolable({of_variant})] A(#[poolable({of_field})] u8), B }}"
        ),
    ]
}

fuzz_target!(|text: &str| {
    for input in types(text) {
        let Ok(tokens) = TokenStream::from_str(&input) else {
            continue;
        };
        let output = derive::derive(tokens);
        if let Err(error) = syn::parse2::<syn::File>(output.clone()) {
            panic!("{error}\n{input}\n{output}");
        }
    }
});

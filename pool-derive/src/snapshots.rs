//! What the derive writes, as files that a person can read: `snapshots/*.rs`, one for each of the
//! main shapes.
//!
//! After a change that is meant: `UPDATE_SNAPSHOTS=1 cargo test -p pool-derive`, and read the diff.

use std::path::Path;
use std::{env, fs};

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;

use super::derive;

/// Compares what `input` expands to with the file of that name.
fn check(name: &str, input: &TokenStream) {
    let file = |tokens| {
        let file = syn::parse2(without_bang(tokens)).expect("it is Rust");
        prettyplease::unparse(&file).replace("__build_in_place(", "__build_in_place!(")
    };
    let actual = format!(
        "// The input:\n{}\n// What is derived from it:\n{}",
        file(quote!(#[derive(Poolable)] #input)),
        file(derive(input.clone())),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("snapshots/{name}.rs"));
    if env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        actual == expected,
        "snapshots/{name}.rs is out of date; UPDATE_SNAPSHOTS=1 writes this there:\n{actual}"
    );
}

/// Takes the `!` from `__build_in_place!`, because a macro's tokens are not formatted, and a
/// function's arguments are.
fn without_bang(tokens: TokenStream) -> TokenStream {
    let mut output: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match (token, output.last()) {
            (TokenTree::Punct(bang), Some(TokenTree::Ident(name)))
                if bang.as_char() == '!' && name == "__build_in_place" => {}
            (TokenTree::Group(group), _) => {
                let inner = without_bang(group.stream());
                output.push(Group::new(group.delimiter(), inner).into());
            }
            (token, _) => output.push(token),
        }
    }
    output.into_iter().collect()
}

macro_rules! snapshots {
    ($($name:ident: { $($input:tt)* })*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), &quote! { $($input)* });
            }
        )*
    };
}

snapshots! {
    named_struct: {
        struct Order {
            id: u64,
            legs: Vec<Leg>,
            r#type: Option<Kind>,
        }
    }

    tuple_struct: {
        struct Level(u64, #[poolable(default = 1)] u32);
    }

    unit_struct: {
        struct Heartbeat;
    }

    every_field_word: {
        struct Message {
            plain: u64,
            #[poolable(default)]
            default: Side,
            #[poolable(default = Price::MAX)]
            default_expr: Price,
            #[poolable(init = Vec::with_capacity(64))]
            init: Vec<u8>,
            #[poolable(reset = Header::wipe)]
            reset_path: Header,
            #[poolable(reset = |field| field.fill(0))]
            reset_closure: [u8; 32],
            #[poolable(skip)]
            skip: u64,
            #[poolable(skip, init = next_id())]
            skip_init: u64,
            #[poolable(max_capacity = 4096)]
            max_capacity: String,
            #[poolable(default, max_capacity = 16)]
            default_max_capacity: Vec<u8>,
        }
    }

    every_type_word: {
        #[poolable(reset_with = Self::after, reusable = is_small, bound = "T: Codec", crate = pools)]
        struct Message<T> {
            bytes: Vec<u8>,
            codec: T,
        }
    }

    enum_of_several_variants: {
        #[poolable(reusable = |session| !session.is_broken())]
        enum Session {
            #[poolable(initial)]
            Idle {
                buffer: Vec<u8>,
                #[poolable(skip)]
                id: u64,
            },
            Open(Connection),
            Closed,
        }
    }

    enum_in_place: {
        #[poolable(in_place, reusable = Message::is_small)]
        enum Message<T> {
            #[poolable(initial)]
            Heartbeat,
            Order {
                #[poolable(max_capacity = 64)]
                legs: Vec<T>,
                #[poolable(default = 100)]
                size: u32,
            },
            Text(String, #[poolable(skip)] u64),
        }
    }

    enum_of_units: {
        enum Side {
            #[poolable(initial)]
            Unknown,
            Buy,
            Sell,
        }
    }

    generic_struct: {
        struct Book<'a, K: Ord, V = u64, const N: usize = 8>
        where
            V: Value,
        {
            name: Option<&'a str>,
            keys: Vec<K>,
            values: [V; N],
            unit: V::Unit,
            #[poolable(default)]
            best: Option<K>,
            #[poolable(skip, init = None)]
            worst: Option<K>,
            parent: Option<Box<Book<'a, K, V, N>>>,
        }
    }

    packed_struct: {
        #[repr(C, packed)]
        struct Wire {
            tag: u8,
            #[poolable(default)]
            length: u32,
        }
    }

    mistakes: {
        struct Message<T: Codec> {
            #[poolable(skp)]
            bytes: Vec<u8>,
            #[poolable(default, init = 1)]
            codec: T,
        }
    }
}

//! The type as its author wrote it: its shape, and the words on each part.
//!
//! Reads syn's tree into one that holds what the derive asks about and nothing else. Judges nothing; that is check's.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Generics, Ident, LitInt, Member, Path, Token, Type, parse_quote,
    token,
};

use crate::attr::{ContainerWords, FieldWords, VariantWords};
use crate::fallback::Errors;

pub(crate) struct Input {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) words: ContainerWords,
    /// The alignment that `#[repr(packed)]` allows a field at most.
    pub(crate) packed: Option<u64>,
    /// Something in it is deprecated, or is allowed to name what is. Everywhere else the derive
    /// must not allow it, because the crate may forbid it.
    pub(crate) deprecated: bool,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Struct(Fields<Field>),
    Enum(Vec<Variant>),
    Union(Token![union]),
}

pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) words: VariantWords,
    pub(crate) fields: Fields<Field>,
}

/// The fields of a struct or variant.
pub(crate) struct Fields<F> {
    pub(crate) style: Style,
    pub(crate) list: Vec<F>,
}

#[derive(Clone, Copy)]
pub(crate) enum Style {
    Named,
    Tuple,
    Unit,
}

pub(crate) struct Field {
    pub(crate) member: Member,
    pub(crate) ty: Type,
    pub(crate) words: FieldWords,
}

impl Input {
    pub(crate) fn read(input: DeriveInput, errors: &mut Errors) -> Self {
        let words = ContainerWords::parse(&input.attrs, errors);
        let deprecated = mentions_deprecated(&input);
        let shape = match input.data {
            Data::Struct(data) => Shape::Struct(Fields::read(data.fields, errors)),
            Data::Enum(data) => {
                let read = |variant| Variant::read(variant, errors);
                Shape::Enum(data.variants.into_iter().map(read).collect())
            }
            Data::Union(data) => Shape::Union(data.union_token),
        };
        Input {
            packed: packed(&input.attrs),
            deprecated,
            ident: input.ident,
            generics: input.generics,
            words,
            shape,
        }
    }

    /// Where `Poolable` is.
    pub(crate) fn krate(&self) -> Path {
        let given = self.words.krate.as_ref();
        given.map_or_else(|| parse_quote!(::pool_core), |given| given.value.clone())
    }
}

impl Variant {
    fn read(variant: syn::Variant, errors: &mut Errors) -> Self {
        Variant {
            words: VariantWords::parse(&variant.attrs, errors),
            ident: variant.ident,
            fields: Fields::read(variant.fields, errors),
        }
    }
}

impl Fields<Field> {
    fn read(fields: syn::Fields, errors: &mut Errors) -> Self {
        let style = match fields {
            syn::Fields::Named(_) => Style::Named,
            syn::Fields::Unnamed(_) => Style::Tuple,
            syn::Fields::Unit => Style::Unit,
        };
        let members: Vec<Member> = fields.members().collect();
        let read = |(field, member): (syn::Field, Member)| Field {
            words: FieldWords::parse(&field.attrs, errors),
            member,
            ty: field.ty,
        };
        let list = fields.into_iter().zip(members).map(read).collect();
        Fields { style, list }
    }
}

impl Field {
    /// Where to report a mistake about the field as a whole.
    pub(crate) fn span(&self) -> Span {
        match &self.member {
            Member::Named(ident) => ident.span(),
            Member::Unnamed(_) => self.ty.span(),
        }
    }
}

/// The `n` of `#[repr(packed(n))]`. Mistakes in `repr` are the compiler's to report.
fn packed(attrs: &[Attribute]) -> Option<u64> {
    let mut packed = None;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        let _ = attr.parse_nested_meta(|meta| {
            let is_packed = meta.path.is_ident("packed");
            let mut n = 1;
            if meta.input.peek(token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                n = content.parse::<LitInt>()?.base10_parse()?;
            }
            if is_packed {
                packed = Some(n);
            }
            Ok(())
        });
    }
    packed
}

/// Whether something in the input may be deprecated: it says `#[deprecated]`, or `#[allow(deprecated)]`, or the like.
fn mentions_deprecated(input: &DeriveInput) -> bool {
    any_ident(input.to_token_stream(), &|_, ident| {
        ident == "deprecated" || ident == "warnings"
    })
}

/// Whether `found` says yes to an identifier in `tokens`, given the punctuation before it.
pub(crate) fn any_ident(
    tokens: TokenStream,
    found: &impl Fn(Option<char>, &Ident) -> bool,
) -> bool {
    let mut before = None;
    for token in tokens {
        let yes = match &token {
            TokenTree::Ident(ident) => found(before, ident),
            TokenTree::Group(group) => any_ident(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => false,
        };
        if yes {
            return true;
        }
        before = match token {
            TokenTree::Punct(punct) => Some(punct.as_char()),
            _ => None,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_is_found_among_other_reprs() {
        let packed_of = |input: DeriveInput| packed(&input.attrs);
        assert_eq!(
            packed_of(parse_quote!(
                struct S;
            )),
            None
        );
        assert_eq!(
            packed_of(parse_quote!(
                #[repr(C, align(8))]
                struct S;
            )),
            None
        );
        assert_eq!(
            packed_of(parse_quote!(
                #[repr(packed)]
                struct S;
            )),
            Some(1)
        );
        assert_eq!(
            packed_of(parse_quote!(
                #[repr(C)]
                #[repr(packed(4))]
                struct S;
            )),
            Some(4)
        );
    }
}

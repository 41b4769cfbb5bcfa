//! From a plan to code.
//!
//! What must stay true of the code: every path is absolute, because the user's module may have no prelude and names of
//! its own; every local is one that nobody would write; there is no `unsafe` token; an expression of the user's appears
//! once, because a `static` inside must exist once; and code about a field stands at the span of that field's type,
//! because that is where an error belongs.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Generics, Ident, Member, Type, parse_quote};

use crate::ast::{Fields, Style, any_ident};
use crate::attr::Function;
use crate::check::{FieldPlan, Make, Plan, Reset, State, VariantPlan};

pub(crate) fn expand(plan: &Plan) -> TokenStream {
    let Plan { ident, krate, .. } = plan;
    let generics = plan.bounded_generics();
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    let makers = plan.makers(&generics);
    let init = plan.init();
    let reset = plan.reset();
    let is_reusable = plan.is_reusable();
    let init_in = plan.init_in();
    let allow = plan.allow();
    quote! {
        #[automatically_derived]
        #allow
        impl #impl_generics #krate::Poolable for #ident #ty_generics #where_clause {
            #init
            #reset
            #is_reusable
            #init_in
        }
        #(#makers)*
    }
}

impl Plan {
    /// What the input does with something deprecated, it may.
    fn allow(&self) -> Option<TokenStream> {
        self.deprecated.then(|| quote!(#[allow(deprecated)]))
    }

    /// The type's generics, and what its fields ask of them.
    fn bounded_generics(&self) -> Generics {
        let mut generics = self.generics.clone();
        let params: Vec<Ident> = generics
            .type_params()
            .map(|param| param.ident.clone())
            .collect();
        if let Some(bound) = &self.bound {
            generics
                .make_where_clause()
                .predicates
                .extend(bound.clone());
            return generics;
        }
        let mut seen = Vec::new();
        for field in self.state.fields() {
            // A predicate about a field that contains the type itself would ask whether the impl
            // holds in order to say when it holds. The body asks instead.
            if !mentions(&field.ty, &params) || mentions_type(&field.ty, &self.ident) {
                continue;
            }
            for needed in field.needs(self) {
                let asked = predicate(&field.ty, &needed);
                let text = asked.to_token_stream().to_string();
                if !seen.contains(&text) {
                    seen.push(text);
                    generics.make_where_clause().predicates.push(asked);
                }
            }
        }
        generics
    }

    /// An impl for each expression that makes a field. A function of the type's own would do, but
    /// lints on signatures would judge the field's type a second time there.
    fn makers(&self, generics: &Generics) -> Vec<TokenStream> {
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        let ident = &self.ident;
        let allow = self.allow();
        let maker = |field: &FieldPlan| {
            let Make::Expr(expr) = &field.make else {
                return None;
            };
            let ty = &field.ty;
            let make = field.maker(self);
            Some(quote! {
                #[automatically_derived]
                #allow
                impl #impl_generics #make for #ident #ty_generics #where_clause {
                    #[inline]
                    fn make() -> #ty {
                        #expr
                    }
                }
            })
        };
        self.state.fields().filter_map(maker).collect()
    }

    fn init(&self) -> TokenStream {
        let fresh = self.state.initial.with(|field| field.made(self));
        quote! {
            #[inline]
            fn init() -> Self {
                #fresh
            }
        }
    }

    fn reset(&self) -> TokenStream {
        let Plan { krate, .. } = self;
        let reset = |variant: &VariantPlan| {
            let pattern = variant.with(|field| {
                let assigned = self.packed && !field.is_borrowed();
                match field.reset {
                    Reset::Skip => quote!(_),
                    _ if assigned => quote!(_),
                    _ => field.local(field.ty.span()).into_token_stream(),
                }
            });
            let resets = variant.fields.list.iter().map(|field| field.reset(self));
            (pattern, quote!(#(#resets)*))
        };
        let State {
            initial, replaced, ..
        } = &self.state;
        let fields = if initial.variant.is_none() {
            let (pattern, resets) = reset(initial);
            quote! {
                let #pattern = self;
                #resets
            }
        } else {
            let arms = self.state.variants().map(|variant| {
                let (pattern, resets) = reset(variant);
                quote!(#pattern => { #resets })
            });
            let replace =
                replaced.then(|| quote!(_ => *self = <Self as #krate::Poolable>::init(),));
            quote! {
                match self {
                    #(#arms)*
                    #replace
                }
            }
        };
        let hook = self.reset_with.as_ref().map(|hook| match hook {
            Function::Path(path) => quote_spanned!(at(path.span())=> let _ = #path(self);),
            Function::Closure(closure) => {
                quote_spanned!(at(closure.span())=> #krate::__private::reset_with(self, #closure);)
            }
        });
        quote! {
            #[inline]
            fn reset(&mut self) {
                #fields
                #hook
            }
        }
    }

    /// Asks the fields that were reset by their own impl, then `reusable`. Nothing to ask: nothing generated.
    fn is_reusable(&self) -> Option<TokenStream> {
        let Plan { krate, .. } = self;
        let asked = |field: &FieldPlan| matches!(field.reset, Reset::Poolable);
        // `None`: nothing is asked.
        let answer =
            |variant: &VariantPlan| {
                let pattern = variant.with(|field| match asked(field) {
                    true => field.local(field.ty.span()).into_token_stream(),
                    false => quote!(_),
                });
                let list = variant.fields.list.iter();
                let mut answers = list.filter(|field| asked(field)).map(|field| {
                let ty = &field.ty;
                let local = field.local(ty.span());
                quote_spanned!(at(ty.span())=> <#ty as #krate::Poolable>::is_reusable(#local))
            }).peekable();
                answers.peek()?;
                Some((pattern, quote!(#(#answers)&&*)))
            };
        let answers: Vec<_> = self.state.variants().filter_map(answer).collect();
        let validate = self.reusable.as_ref().map(|reusable| match reusable {
            Function::Path(path) => quote_spanned!(at(path.span())=> #path(self)),
            Function::Closure(closure) => {
                quote_spanned!(at(closure.span())=> #krate::__private::validate_with(self, #closure))
            }
        });
        let State {
            initial,
            in_place,
            replaced,
        } = &self.state;
        let body = match &*answers {
            [] => validate?,
            [(pattern, answers)] if initial.variant.is_none() => {
                let and = validate.as_ref().map(|_| quote!(&&));
                quote! {
                    let #pattern = self;
                    #answers #and #validate
                }
            }
            all => {
                let (patterns, answers): (Vec<_>, Vec<_>) = all.iter().cloned().unzip();
                let others = *replaced || all.len() < 1 + in_place.len();
                let others = others.then(|| quote!(_ => true,));
                let fields = quote! {
                    match self {
                        #(#patterns => #answers,)*
                        #others
                    }
                };
                match validate {
                    Some(validate) => quote!((#fields) && #validate),
                    None => fields,
                }
            }
        };
        Some(quote! {
            #[inline]
            fn is_reusable(&self) -> ::core::primitive::bool {
                #body
            }
        })
    }

    /// Builds a struct field by field where it will live. An enum is written whole: its fields have
    /// no place before it is known which variant it is.
    fn init_in(&self) -> Option<TokenStream> {
        let Plan { krate, .. } = self;
        let VariantPlan { variant, fields } = &self.state.initial;
        let list = &fields.list;
        if variant.is_some() || list.is_empty() || self.packed {
            return None;
        }
        let members = list.iter().map(|field| &field.member);
        let makes = list.iter().map(|field| field.made_in_place(self));
        let place = Ident::new("__pool_place", Span::mixed_site());
        Some(quote! {
            #[inline]
            fn init_in(#place: #krate::Place<'_, Self>) -> #krate::Ready<'_, Self> {
                #krate::__build_in_place!(#place, Self { #(#members: #makes),* })
            }
        })
    }
}

impl VariantPlan {
    /// The state, with `part` for each field: a pattern or an expression.
    fn with(&self, part: impl Fn(&FieldPlan) -> TokenStream) -> TokenStream {
        let path = match &self.variant {
            None => quote!(Self),
            Some(variant) => quote!(Self::#variant),
        };
        let Fields { style, list } = &self.fields;
        let parts = list.iter().map(part);
        match style {
            Style::Unit => path,
            Style::Tuple => quote!(#path(#(#parts),*)),
            Style::Named => {
                let members = list.iter().map(|field| &field.member);
                quote!(#path { #(#members: #parts),* })
            }
        }
    }
}

impl FieldPlan {
    fn name(&self) -> String {
        match &self.member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        }
    }

    /// The variable that the field is bound to, as used at `span`.
    fn local(&self, span: Span) -> Ident {
        let name = format!("__pool_{}", self.name());
        Ident::new(&name, Span::mixed_site().located_at(span))
    }

    /// The trait whose impl holds the expression that makes the field.
    fn maker(&self, plan: &Plan) -> TokenStream {
        let FieldPlan { ty, .. } = self;
        let krate = &plan.krate;
        let position = Literal::usize_unsuffixed(self.position);
        quote!(#krate::__private::Make<#ty, #position>)
    }

    /// A fresh value.
    fn made(&self, plan: &Plan) -> TokenStream {
        let FieldPlan { ty, .. } = self;
        let krate = &plan.krate;
        match self.make {
            Make::Poolable => quote_spanned!(at(ty.span())=> <#ty as #krate::Poolable>::init()),
            Make::Default => {
                quote_spanned!(at(ty.span())=> <#ty as ::core::default::Default>::default())
            }
            Make::Expr(_) => {
                let make = self.maker(plan);
                quote!(<Self as #make>::make())
            }
            Make::Never => unreachable!("a field that is never made"),
        }
    }

    /// Something that makes a fresh value in a `Place`.
    fn made_in_place(&self, plan: &Plan) -> TokenStream {
        let FieldPlan { ty, .. } = self;
        let krate = &plan.krate;
        let part = Ident::new("__pool_part", Span::mixed_site());
        match self.make {
            Make::Poolable => {
                quote_spanned!(at(ty.span())=> |#part| <#ty as #krate::Poolable>::init_in(#part))
            }
            Make::Default | Make::Expr(_) | Make::Never => {
                let made = self.made(plan);
                quote!(|#part| #krate::Place::write(#part, #made))
            }
        }
    }

    /// Statements that reset the field.
    fn reset(&self, plan: &Plan) -> TokenStream {
        let FieldPlan { ty, member, .. } = self;
        let krate = &plan.krate;
        let span = at(ty.span());
        let local = self.local(ty.span());
        let reset = match (&self.reset, &self.limit) {
            (Reset::Skip, _) => TokenStream::new(),
            (Reset::Poolable, _) => {
                quote_spanned!(span=> <#ty as #krate::Poolable>::reset(#local);)
            }
            (Reset::Remake, Some(_)) => {
                let made = self.made(plan);
                quote_spanned!(span=> <#ty as #krate::MaxCapacity>::refill(#local, #made);)
            }
            (Reset::Remake, None) => {
                let made = self.made(plan);
                if plan.packed {
                    quote!(self.#member = #made;)
                } else {
                    quote!(*#local = #made;)
                }
            }
            (Reset::Call(Function::Path(path)), limit) => {
                let local = self.local(path.span());
                let again = limit.as_ref().map(|_| quote!(&mut *));
                quote_spanned!(at(path.span())=> let _ = #path(#again #local);)
            }
            (Reset::Call(Function::Closure(closure)), _) => {
                let local = self.local(closure.span());
                quote_spanned!(at(closure.span())=> #krate::__private::reset_with(#local, #closure);)
            }
        };
        let limit = self.limit.as_ref().map(|limit| {
            quote_spanned!(span=> <#ty as #krate::MaxCapacity>::limit_capacity(#local, #limit);)
        });
        quote!(#reset #limit)
    }

    /// The traits that the field's type must have.
    fn needs(&self, plan: &Plan) -> Vec<TokenStream> {
        let krate = &plan.krate;
        let mut needs = Vec::new();
        if matches!(self.make, Make::Poolable) || matches!(self.reset, Reset::Poolable) {
            needs.push(quote!(#krate::Poolable));
        }
        if matches!(self.make, Make::Default) {
            needs.push(quote!(::core::default::Default));
        }
        if self.limit.is_some() {
            needs.push(quote!(#krate::MaxCapacity));
        }
        needs
    }
}

/// The span of code that the derive writes about something that stands at `span`.
fn at(span: Span) -> Span {
    Span::call_site().located_at(span)
}

fn predicate(ty: &Type, needed: &TokenStream) -> syn::WherePredicate {
    parse_quote!(#ty: #needed)
}

/// Whether one of `params` stands in `ty`.
fn mentions(ty: &Type, params: &[Ident]) -> bool {
    // `'T` and `path::T` are other things called `T`.
    any_ident(ty.to_token_stream(), &|before, ident| {
        !matches!(before, Some('\'' | ':')) && params.iter().any(|param| param == ident)
    })
}

/// Whether the type called `name`, the one that is being derived for, stands in `ty`.
fn mentions_type(ty: &Type, name: &Ident) -> bool {
    any_ident(ty.to_token_stream(), &|before, ident| {
        before != Some('\'') && (ident == name || ident == "Self")
    })
}

#[cfg(test)]
mod tests {
    use quote::{format_ident, quote};
    use syn::parse_quote;

    use super::{mentions, mentions_type};
    use crate::ast::any_ident;

    /// Every word on every shape, with the crate under another name.
    fn expansions() -> [proc_macro2::TokenStream; 2] {
        let words = quote! {
            plain: T,
            #[poolable(default)] default: u8,
            #[poolable(default = 1)] default_expr: u8,
            #[poolable(init = 1, reset = zero)] path: u8,
            #[poolable(reset = |field| *field = 0)] closure: u8,
            #[poolable(skip)] skip: u8,
            #[poolable(default, max_capacity = 1)] limit: Vec<u8>,
        };
        let of_type = quote!(#[poolable(crate = other, reset_with = |_| (), reusable = |_| true)]);
        [
            crate::derive(quote!(#of_type struct Object<T> { #words })),
            crate::derive(quote!(#of_type enum Object<T> { #[poolable(initial)] A { #words }, B })),
        ]
    }

    #[test]
    fn what_has_the_name_of_a_parameter_is_not_always_one() {
        let params = [format_ident!("T")];
        assert!(mentions(&parse_quote!(Vec<(T, u8)>), &params));
        assert!(mentions(&parse_quote!(T::Item), &params));
        assert!(!mentions(&parse_quote!(Vec<path::T>), &params));
        assert!(!mentions(&parse_quote!(Of<'T>), &params));
        let name = &params[0];
        assert!(mentions_type(&parse_quote!(Option<Box<path::T>>), name));
        assert!(mentions_type(&parse_quote!([Self; 2]), name));
        assert!(!mentions_type(&parse_quote!(Of<'T>), name));
    }

    #[test]
    fn a_renamed_crate_is_not_called_by_its_own_name() {
        for code in expansions() {
            assert!(!any_ident(code, &|_, ident| ident == "pool_core"));
        }
    }

    #[test]
    fn there_is_no_unsafe_token() {
        for code in expansions() {
            assert!(!any_ident(code, &|_, ident| ident == "unsafe"));
        }
    }
}

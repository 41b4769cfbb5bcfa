//! From what was written to what is meant: every field gets one way to be made and one to be reset.
//!
//! Judges what words mean together and on this shape of type. Reports whatever cannot be meant, so
//! that expand need not think about mistakes at all.

use std::iter;

use syn::punctuated::Punctuated;
use syn::{Expr, Generics, Ident, Member, Path, Token, Type, WherePredicate};

use crate::ast::{Field, Fields, Input, Shape, Variant};
use crate::attr::{ContainerWords, Function, Given};
use crate::fallback::Errors;

/// What to generate.
pub(crate) struct Plan {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    /// Where `Poolable` is.
    pub(crate) krate: Path,
    /// Instead of the predicates that the fields ask for.
    pub(crate) bound: Option<Punctuated<WherePredicate, Token![,]>>,
    /// No field may be borrowed that was not found to be aligned.
    pub(crate) packed: bool,
    /// What is generated may name something deprecated.
    pub(crate) deprecated: bool,
    pub(crate) state: State,
    /// Called after the fields are reset.
    pub(crate) reset_with: Option<Function>,
    /// Asked whether to keep the object.
    pub(crate) reusable: Option<Function>,
}

/// The states that are reset field by field.
pub(crate) struct State {
    /// The one that a fresh object is in.
    pub(crate) initial: VariantPlan,
    /// Those that an object is left in.
    pub(crate) in_place: Vec<VariantPlan>,
    /// Whether there are more, which are replaced by a fresh object.
    pub(crate) replaced: bool,
}

/// A struct, or a variant of an enum.
pub(crate) struct VariantPlan {
    /// `None` for a struct.
    pub(crate) variant: Option<Ident>,
    pub(crate) fields: Fields<FieldPlan>,
}

impl State {
    pub(crate) fn variants(&self) -> impl Iterator<Item = &VariantPlan> {
        iter::once(&self.initial).chain(&self.in_place)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &FieldPlan> {
        self.variants().flat_map(|variant| &variant.fields.list)
    }
}

pub(crate) struct FieldPlan {
    /// How many fields there are before this one, in all states.
    pub(crate) position: usize,
    pub(crate) member: Member,
    pub(crate) ty: Type,
    pub(crate) make: Make,
    pub(crate) reset: Reset,
    /// `max_capacity`.
    pub(crate) limit: Option<Expr>,
}

/// How a field is made.
pub(crate) enum Make {
    /// `Poolable::init`
    Poolable,
    /// `Default::default`
    Default,
    Expr(Expr),
    /// Not at all: no fresh object has it, and reset does not make it anew.
    Never,
}

/// How a field is reset.
pub(crate) enum Reset {
    /// `Poolable::reset`
    Poolable,
    /// Assigned what it is made of.
    Remake,
    Call(Function),
    /// Left alone.
    Skip,
}

/// What to generate for `input`, or `None` when that cannot be said; why not is in `errors`.
pub(crate) fn check(input: Input, errors: &mut Errors) -> Option<Plan> {
    let krate = input.krate();
    let state = match input.shape {
        Shape::Struct(fields) => {
            if let Some(in_place) = &input.words.in_place {
                errors.on(
                    &in_place.word,
                    "`in_place` leaves the variant of an enum as it is, and a struct has none: its fields are \
                     always reset in place; remove it",
                );
            }
            let fields = fields.into_plans(0, |position, field| {
                plan_field(position, field, None, input.packed, errors)
            });
            State {
                initial: VariantPlan {
                    variant: None,
                    fields,
                },
                in_place: Vec::new(),
                replaced: false,
            }
        }
        Shape::Enum(variants) => plan_enum(&input.ident, &input.words, variants, errors)?,
        Shape::Union(token) => {
            errors.on(
                token,
                "a union does not know which of its fields to reset; implement `Poolable` by hand, \
                 or derive it for an enum",
            );
            return None;
        }
    };
    Some(Plan {
        ident: input.ident,
        generics: input.generics,
        krate,
        bound: value(input.words.bound),
        packed: input.packed.is_some(),
        deprecated: input.deprecated,
        state,
        reset_with: value(input.words.reset_with),
        reusable: value(input.words.reusable),
    })
}

fn value<T>(given: Option<Given<T>>) -> Option<T> {
    given.map(|given| given.value)
}

fn plan_enum(
    ident: &Ident,
    words: &ContainerWords,
    variants: Vec<Variant>,
    errors: &mut Errors,
) -> Option<State> {
    if variants.is_empty() {
        errors.on(
            ident,
            "an enum without variants has no value, so a pool cannot make one; give it a variant \
             and mark that `#[poolable(initial)]`",
        );
        return None;
    }
    let (mut fresh, others): (Vec<Variant>, Vec<Variant>) = variants
        .into_iter()
        .partition(|variant| variant.words.initial.is_some());
    for second in fresh.drain(1.min(fresh.len())..).collect::<Vec<_>>() {
        errors.on(
            second.words.initial.map(|given| given.word),
            format_args!(
                "a fresh object is in one state, and `{}` is already marked `initial`; remove one \
                 of the two",
                fresh[0].ident
            ),
        );
    }
    let Some(initial) = fresh.pop() else {
        // When a word failed, it is reported, and may have been this one.
        if words.initial_misplaced || others.iter().any(|variant| variant.words.mistaken) {
            return None;
        }
        errors.on(
            ident,
            "which variant is a fresh object in? mark it `#[poolable(initial)]`",
        );
        return None;
    };
    let mut count = 0;
    let mut plan = |variant: Variant, made: bool| {
        let never_made = (!made).then_some(&variant.ident);
        let before = count;
        count += variant.fields.list.len();
        let fields = variant.fields.into_plans(before, |position, field| {
            plan_field(position, field, never_made, None, errors)
        });
        VariantPlan {
            variant: Some(variant.ident),
            fields,
        }
    };
    let initial = plan(initial, true);
    let Some(in_place) = &words.in_place else {
        for variant in &others {
            refuse_unused_words(variant, errors);
        }
        return Some(State {
            initial,
            in_place: Vec::new(),
            replaced: !others.is_empty(),
        });
    };
    let others = others
        .into_iter()
        .map(|variant| plan(variant, false))
        .collect();
    if count == 0 {
        errors.on(
            &in_place.word,
            "`in_place` would leave this enum as it was used, since none of its variants has a field to reset; \
             remove it",
        );
    }
    Some(State {
        initial,
        in_place: others,
        replaced: false,
    })
}

/// Words in a variant that is never fresh would be ignored in silence.
fn refuse_unused_words(variant: &Variant, errors: &mut Errors) {
    for word in variant
        .fields
        .list
        .iter()
        .flat_map(|field| field.words.given())
    {
        errors.on(
            word,
            format_args!(
                "`{word}` does nothing here: reset replaces a `{}` by a fresh object; remove it, \
                 or mark this variant `#[poolable(initial)]`, or the enum `#[poolable(in_place)]`",
                variant.ident
            ),
        );
    }
}

impl Fields<Field> {
    /// What `plan` makes of each field, given its position, of which the first is `position`.
    fn into_plans(
        self,
        position: usize,
        mut plan: impl FnMut(usize, Field) -> FieldPlan,
    ) -> Fields<FieldPlan> {
        let fields = (position..).zip(self.list);
        Fields {
            style: self.style,
            list: fields
                .map(|(position, field)| plan(position, field))
                .collect(),
        }
    }
}

/// `never_made` is the variant's name if a fresh object is in another.
fn plan_field(
    position: usize,
    field: Field,
    never_made: Option<&Ident>,
    packed: Option<u64>,
    errors: &mut Errors,
) -> FieldPlan {
    let span = field.span();
    let words = field.words;
    if is_unsized(&field.ty) {
        errors.on_unsized(
            &field.ty,
            "an object of a pool has a size, and this field has none; put it behind a `Box`",
        );
    }
    if let (Some(_), Some(init)) = (&words.default, &words.init) {
        errors.on(
            &init.word,
            "`default` and `init` contradict each other: both say how the field is made; keep \
             `default` if reset makes it anew, `init` if it does not",
        );
    }
    if let Some(skip) = &words.skip {
        let others = [
            words.reset.as_ref().map(|given| &given.word),
            words.max_capacity.as_ref().map(|given| &given.word),
        ];
        for other in others.into_iter().flatten() {
            errors.on(
                other,
                format_args!(
                    "`{}` and `{other}` contradict each other: a skipped field is left alone on \
                     reset; remove one of the two",
                    skip.word
                ),
            );
        }
    }
    let remade = words.default.is_some() && words.skip.is_none() && words.reset.is_none();
    if let Some(variant) = never_made {
        let making = [
            words
                .default
                .as_ref()
                .map(|given| &given.word)
                .filter(|_| !remade),
            words.init.as_ref().map(|given| &given.word),
        ];
        for word in making.into_iter().flatten() {
            errors.on(
                word,
                format_args!(
                    "`{word}` does nothing here: a fresh object is no `{variant}`, so the pool never makes this \
                     field; remove it, or mark this variant `#[poolable(initial)]`"
                ),
            );
        }
    }
    let make = match (value(words.default), value(words.init)) {
        _ if never_made.is_some() && !remade => Make::Never,
        (Some(Some(expr)), _) | (None, Some(expr)) => Make::Expr(expr),
        (Some(None), _) => Make::Default,
        (None, None) => Make::Poolable,
    };
    let reset = match (words.skip, words.reset) {
        (Some(_), _) => Reset::Skip,
        (None, Some(reset)) => Reset::Call(reset.value),
        (None, None) if remade => Reset::Remake,
        (None, None) => Reset::Poolable,
    };
    let plan = FieldPlan {
        position,
        member: field.member,
        ty: field.ty,
        make,
        reset,
        limit: value(words.max_capacity),
    };
    if packed.is_some_and(|packed| plan.is_borrowed() && !is_aligned(&plan.ty, packed)) {
        errors.at(
            span,
            "reset would borrow this field, which may be unaligned in a packed struct; have it \
             assigned with `#[poolable(default)]`, or left alone with `#[poolable(skip)]`",
        );
    }
    plan
}

impl FieldPlan {
    /// Whether reset takes a reference to the field.
    pub(crate) fn is_borrowed(&self) -> bool {
        match self.reset {
            Reset::Poolable | Reset::Call(_) => true,
            Reset::Remake | Reset::Skip => self.limit.is_some(),
        }
    }
}

/// Whether the type, as it is written, has no size.
fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_unsized(&group.elem),
        Type::Paren(paren) => is_unsized(&paren.elem),
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.qself.is_none() && path.path.is_ident("str"),
        _ => false,
    }
}

/// Whether a field of this type is known to be aligned in a struct packed to `packed` bytes. When
/// the name is not the primitive's, the compiler finds the borrow.
fn is_aligned(ty: &Type, packed: u64) -> bool {
    let align = match ty {
        Type::Group(group) => return is_aligned(&group.elem, packed),
        Type::Paren(paren) => return is_aligned(&paren.elem, packed),
        Type::Array(array) => return is_aligned(&array.elem, packed),
        Type::Tuple(tuple) => return tuple.elems.iter().all(|elem| is_aligned(elem, packed)),
        Type::Path(path) => match path.path.get_ident().map(Ident::to_string).as_deref() {
            Some("bool" | "u8" | "i8") => 1,
            Some("u16" | "i16") => 2,
            Some("char" | "u32" | "i32" | "f32") => 4,
            Some("u64" | "i64" | "f64" | "usize" | "isize") => 8,
            Some("u128" | "i128") => 16,
            _ => return false,
        },
        _ => return false,
    };
    align <= packed
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
    use quote::{ToTokens, quote};
    use syn::parse_quote;

    use super::*;

    /// As `macro_rules!` puts around `$ty:ty`.
    fn grouped(ty: TokenStream) -> Type {
        syn::parse2(TokenTree::Group(Group::new(Delimiter::None, ty)).into()).unwrap()
    }

    fn shown(ty: &Type) -> String {
        ty.to_token_stream().to_string()
    }

    #[test]
    fn types_without_a_size() {
        for ty in [
            parse_quote!(str),
            parse_quote!((str)),
            grouped(quote!(str)),
            parse_quote!([u8]),
            parse_quote!(dyn Send),
            parse_quote!((dyn Send)),
        ] {
            assert!(is_unsized(&ty), "{}", shown(&ty));
        }
        for ty in [
            parse_quote!(&'static str),
            parse_quote!([u8; 2]),
            parse_quote!((u8, u16)),
            parse_quote!(path::str),
            parse_quote!(<T as Tr>::str),
            parse_quote!(Box<[u8]>),
        ] {
            assert!(!is_unsized(&ty), "{}", shown(&ty));
        }
    }

    #[test]
    fn types_whose_alignment_is_known() {
        let aligned: [(Type, u64); 14] = [
            (parse_quote!(bool), 1),
            (parse_quote!(u8), 1),
            (parse_quote!(i16), 2),
            (parse_quote!(char), 4),
            (parse_quote!(u32), 4),
            (parse_quote!(f32), 4),
            (parse_quote!(f64), 8),
            (parse_quote!(usize), 8),
            (parse_quote!(u128), 16),
            (parse_quote!((u32)), 4),
            (grouped(quote!(u32)), 4),
            (parse_quote!([u16; 9]), 2),
            (parse_quote!((u8, [u32; 2])), 4),
            (parse_quote!(()), 1),
        ];
        for (ty, align) in aligned {
            assert!(is_aligned(&ty, align), "{}", shown(&ty));
            assert!(align == 1 || !is_aligned(&ty, align / 2), "{}", shown(&ty));
        }
        // They may be anything.
        for ty in [
            parse_quote!(Price),
            parse_quote!(path::u8),
            parse_quote!(&u8),
        ] {
            assert!(!is_aligned(&ty, 16), "{}", shown(&ty));
        }
    }
}

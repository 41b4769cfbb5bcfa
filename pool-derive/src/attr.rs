//! `#[poolable(…)]`: words and their values, as their author wrote them.
//!
//! Called by ast, once for each thing an attribute can stand on. Knows each word by itself: what it is called, where it
//! belongs, which kind of value it takes. What words mean together is for check.

use proc_macro2::{Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprClosure, ExprLit, ExprPath, Ident, Lit, Meta, Path, Token, WherePredicate,
    token,
};

use crate::fallback::Errors;

/// What a word can stand on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Home {
    /// The struct or enum itself.
    Container,
    /// A variant of an enum.
    Variant,
    /// A field of a struct or variant.
    Field,
}

impl Home {
    fn name(self) -> &'static str {
        match self {
            Home::Container => "the type",
            Home::Variant => "a variant of an enum",
            Home::Field => "a field",
        }
    }
}

/// Every word: what it is called, where it belongs, how it is written.
const WORDS: [(&str, Home, &str); 11] = [
    ("default", Home::Field, "`default` or `default = expr`"),
    ("init", Home::Field, "`init = expr`"),
    (
        "reset",
        Home::Field,
        "`reset = path` or `reset = |field| …`",
    ),
    ("skip", Home::Field, "`skip`"),
    ("max_capacity", Home::Field, "`max_capacity = n`"),
    ("initial", Home::Variant, "`initial`"),
    ("in_place", Home::Container, "`in_place`"),
    ("reset_with", Home::Container, "`reset_with = path`"),
    ("reusable", Home::Container, "`reusable = path`"),
    ("bound", Home::Container, "`bound = \"T: Trait\"`"),
    ("crate", Home::Container, "`crate = path`"),
];

/// What other derives call the same thing.
const SYNONYMS: [(&str, &str); 20] = [
    ("bounds", "bound"),
    ("capacity", "max_capacity"),
    ("fresh", "initial"),
    ("ignore", "skip"),
    ("is_reusable", "reusable"),
    ("judge", "reusable"),
    ("keep", "skip"),
    ("krate", "crate"),
    ("limit", "max_capacity"),
    ("max", "max_capacity"),
    ("new", "init"),
    ("no_reset", "skip"),
    ("on_reset", "reset_with"),
    ("rename_crate", "crate"),
    ("reset_fn", "reset"),
    ("start", "initial"),
    ("value", "default"),
    ("where", "bound"),
    ("with", "reset"),
    ("zeroize", "reset"),
];

/// A word that was given, with what it was given.
pub(crate) struct Given<T> {
    /// The word itself: its name, and the span to report it at.
    pub(crate) word: Ident,
    pub(crate) value: T,
}

/// Something to call with a reference.
pub(crate) enum Function {
    Path(ExprPath),
    Closure(ExprClosure),
}

/// The words on a field.
#[derive(Default)]
pub(crate) struct FieldWords {
    /// `None` inside: `Default::default()`.
    pub(crate) default: Option<Given<Option<Expr>>>,
    pub(crate) init: Option<Given<Expr>>,
    pub(crate) reset: Option<Given<Function>>,
    pub(crate) skip: Option<Given<()>>,
    pub(crate) max_capacity: Option<Given<Expr>>,
}

/// The words on a variant.
#[derive(Default)]
pub(crate) struct VariantWords {
    pub(crate) initial: Option<Given<()>>,
    /// A word that failed may have been meant to say `initial`.
    pub(crate) mistaken: bool,
}

/// The words on the type.
#[derive(Default)]
pub(crate) struct ContainerWords {
    pub(crate) in_place: Option<Given<()>>,
    pub(crate) reset_with: Option<Given<Function>>,
    pub(crate) reusable: Option<Given<Function>>,
    pub(crate) bound: Option<Given<Punctuated<WherePredicate, Token![,]>>>,
    pub(crate) krate: Option<Given<Path>>,
    /// `initial` was here, where it does not belong.
    pub(crate) initial_misplaced: bool,
}

impl FieldWords {
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut words = FieldWords::default();
        for word in all_words(attrs, errors) {
            if !word.is_at_home(Home::Field, errors) {
                continue;
            }
            match word.name.to_string().as_str() {
                "default" => word.store(&mut words.default, Word::optional_expr, errors),
                "init" => word.store(&mut words.init, Word::expr, errors),
                "reset" => word.store(&mut words.reset, Word::function, errors),
                "skip" => word.store(&mut words.skip, Word::nothing, errors),
                "max_capacity" => word.store(&mut words.max_capacity, Word::expr, errors),
                other => unreachable!("`{other}` is no word of a field"),
            }
        }
        words
    }

    /// Each word that was given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Ident> {
        [
            self.default.as_ref().map(|given| &given.word),
            self.init.as_ref().map(|given| &given.word),
            self.reset.as_ref().map(|given| &given.word),
            self.skip.as_ref().map(|given| &given.word),
            self.max_capacity.as_ref().map(|given| &given.word),
        ]
        .into_iter()
        .flatten()
    }
}

impl VariantWords {
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut words = VariantWords::default();
        let before = errors.count();
        for word in all_words(attrs, errors) {
            if !word.is_at_home(Home::Variant, errors) {
                continue;
            }
            match word.name.to_string().as_str() {
                "initial" => word.store(&mut words.initial, Word::nothing, errors),
                other => unreachable!("`{other}` is no word of a variant"),
            }
        }
        words.mistaken = errors.count() > before;
        words
    }
}

impl ContainerWords {
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut words = ContainerWords::default();
        for word in all_words(attrs, errors) {
            words.initial_misplaced |= word.name == "initial";
            if !word.is_at_home(Home::Container, errors) {
                continue;
            }
            match word.name.to_string().as_str() {
                "in_place" => word.store(&mut words.in_place, Word::nothing, errors),
                "reset_with" => word.store(&mut words.reset_with, Word::function, errors),
                "reusable" => word.store(&mut words.reusable, Word::function, errors),
                "bound" => word.store(&mut words.bound, Word::predicates, errors),
                "crate" => word.store(&mut words.krate, Word::path, errors),
                other => unreachable!("`{other}` is no word of a type"),
            }
        }
        words
    }
}

/// A word as it was written, before anyone looked at its value.
struct Word {
    name: Ident,
    value: Value,
}

enum Value {
    /// `word`
    None,
    /// `word = expr`
    Expr(Box<Expr>),
    /// `word =`, and nothing after it.
    Missing,
    /// `word(…)`
    Group(Span),
}

impl Word {
    /// Whether the word belongs on `home`. Reports it when not.
    fn is_at_home(&self, home: Home, errors: &mut Errors) -> bool {
        match place(&self.name) {
            Some(there) if there == home => return true,
            Some(there) => errors.on(&self.name, misplaced(&self.name, there, home)),
            None => errors.on(&self.name, unknown(&self.name, home)),
        }
        false
    }

    /// Puts the word's value, read by `read`, where it belongs, unless the word was there before.
    fn store<T>(
        self,
        slot: &mut Option<Given<T>>,
        read: impl FnOnce(&Ident, Value) -> syn::Result<T>,
        errors: &mut Errors,
    ) {
        if slot.is_some() {
            errors.on(
                &self.name,
                format_args!("`{}` is given twice; remove one of the two", self.name),
            );
            return;
        }
        match read(&self.name, self.value) {
            Ok(value) => {
                *slot = Some(Given {
                    word: self.name,
                    value,
                });
            }
            Err(error) => errors.add(error),
        }
    }

    fn nothing(name: &Ident, value: Value) -> syn::Result<()> {
        let message = format!("`{name}` takes no value; write {}", usage(name));
        match value {
            Value::None => Ok(()),
            Value::Expr(expr) => Err(syn::Error::new_spanned(expr, message)),
            Value::Missing => Err(syn::Error::new_spanned(name, message)),
            Value::Group(span) => Err(syn::Error::new(span, message)),
        }
    }

    fn optional_expr(name: &Ident, value: Value) -> syn::Result<Option<Expr>> {
        match value {
            Value::None => Ok(None),
            value => Word::expr(name, value).map(Some),
        }
    }

    fn expr(name: &Ident, value: Value) -> syn::Result<Expr> {
        let (span, problem) = match value {
            Value::Expr(expr) => return Ok(*expr),
            Value::None | Value::Missing => (name.span(), "needs a value"),
            Value::Group(span) => (span, "takes its value after `=`"),
        };
        Err(syn::Error::new(
            span,
            format_args!("`{name}` {problem}; write {}", usage(name)),
        ))
    }

    fn function(name: &Ident, value: Value) -> syn::Result<Function> {
        match ungroup(Word::expr(name, value)?) {
            Expr::Path(path) => Ok(Function::Path(path)),
            Expr::Closure(closure) if closure.inputs.len() == 1 => Ok(Function::Closure(closure)),
            Expr::Closure(closure) => Err(syn::Error::new_spanned(
                closure,
                format_args!(
                    "`{name}` calls this with one argument; write `{name} = |{}| …`",
                    if name == "reset" { "field" } else { "object" },
                ),
            )),
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) => path.parse().map(Function::Path).map_err(|_| {
                syn::Error::new_spanned(
                    &path,
                    format_args!("this is not a path; write {}", usage(name)),
                )
            }),
            other => Err(syn::Error::new_spanned(
                other,
                format_args!("`{name}` takes something to call; write {}", usage(name)),
            )),
        }
    }

    fn path(name: &Ident, value: Value) -> syn::Result<Path> {
        match ungroup(Word::expr(name, value)?) {
            Expr::Path(ExprPath {
                qself: None, path, ..
            }) if path
                .segments
                .iter()
                .all(|segment| segment.arguments.is_none()) =>
            {
                Ok(path)
            }
            Expr::Lit(ExprLit {
                lit: Lit::Str(path),
                ..
            }) => path.parse_with(Path::parse_mod_style).map_err(|_| {
                syn::Error::new_spanned(
                    &path,
                    format_args!("this is not the path of a crate; write {}", usage(name)),
                )
            }),
            other => Err(syn::Error::new_spanned(
                other,
                format_args!("`{name}` takes the path of a crate; write {}", usage(name)),
            )),
        }
    }

    fn predicates(
        name: &Ident,
        value: Value,
    ) -> syn::Result<Punctuated<WherePredicate, Token![,]>> {
        match ungroup(Word::expr(name, value)?) {
            Expr::Lit(ExprLit {
                lit: Lit::Str(predicates),
                ..
            }) => predicates
                .parse_with(Punctuated::parse_terminated)
                .map_err(|error| {
                    let help = "write what would stand after `where`, as in `bound = \"T: Clone\"`";
                    syn::Error::new_spanned(&predicates, format_args!("{error}; {help}"))
                }),
            other => Err(syn::Error::new_spanned(
                other,
                format_args!("`{name}` takes a string; write {}", usage(name)),
            )),
        }
    }
}

/// How a word is written.
fn usage(name: &Ident) -> &'static str {
    WORDS
        .iter()
        .find(|(word, _, _)| name == word)
        .map_or("", |(_, _, usage)| usage)
}

/// The words in `attrs`, whichever they are.
fn all_words(attrs: &[Attribute], errors: &mut Errors) -> Vec<Word> {
    let mut all = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("poolable")) {
        match &attr.meta {
            Meta::List(list) => {
                let read = |input: ParseStream<'_>| {
                    read_words(input, &mut all, errors);
                    Ok(())
                };
                if let Err(error) = read.parse2(list.tokens.clone()) {
                    errors.add(error);
                }
            }
            meta => errors.on(
                meta,
                "this says nothing; write `#[poolable(…)]` with words inside",
            ),
        }
    }
    all
}

/// Reads `word`, `word = expr` and `word(…)` with commas between. Reports what cannot be read, and
/// goes on after the next comma.
fn read_words(input: ParseStream<'_>, all: &mut Vec<Word>, errors: &mut Errors) {
    while !input.is_empty() {
        if let Err(error) = read_word(input).map(|word| all.push(word)) {
            errors.add(error);
            skip_to_comma(input);
        } else if !input.is_empty() && !input.peek(Token![,]) {
            let name = all.last().map(|word| word.name.to_string());
            let message = match name.as_deref() {
                Some("bound") => "bounds are written as a string: `bound = \"T: Clone\"`",
                _ => "expected `,` and the next word here",
            };
            errors.at(input.span(), message);
            // What came before the surplus is only half of what was meant.
            all.pop();
            skip_to_comma(input);
        }
        if input.parse::<Token![,]>().is_err() {
            break;
        }
    }
}

fn read_word(input: ParseStream<'_>) -> syn::Result<Word> {
    let Ok(name) = input.call(Ident::parse_any) else {
        return Err(input.error("expected a word, as in `#[poolable(skip)]`"));
    };
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if input.is_empty() || input.peek(Token![,]) {
            Value::Missing
        } else {
            Value::Expr(Box::new(input.parse()?))
        }
    } else if input.peek(token::Paren) || input.peek(token::Bracket) || input.peek(token::Brace) {
        Value::Group(input.parse::<TokenTree>()?.span())
    } else {
        Value::None
    };
    Ok(Word { name, value })
}

fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

/// Where a word belongs.
fn place(name: &Ident) -> Option<Home> {
    WORDS
        .iter()
        .find(|(word, _, _)| name == word)
        .map(|&(_, home, _)| home)
}

/// The words that belong on `home`, for a message.
fn known(home: Home) -> String {
    let words: Vec<String> = WORDS
        .iter()
        .filter(|(_, there, _)| *there == home)
        .map(|(word, _, _)| format!("`{word}`"))
        .collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

fn misplaced(name: &Ident, there: Home, here: Home) -> String {
    let instead = match (name.to_string().as_str(), here) {
        ("default" | "init", Home::Variant) => "; the fresh variant is marked `initial`",
        ("reset", Home::Container) => "; a hook for the whole object is `reset_with = path`",
        ("skip", Home::Container) => "; mark each field that reset leaves alone",
        ("default" | "init", Home::Container) => "; write it on each field that needs it",
        ("reset_with", Home::Field) => "; a field is reset by `reset = path`",
        ("reusable", Home::Field) => "; it judges the whole object",
        ("initial", Home::Field) => "; a field's value is given by `default = expr`",
        ("initial", Home::Container) => "; write it on the variant that a fresh object is in",
        _ => "; move it there",
    };
    format!(
        "`{name}` belongs on {}, not on {}{instead}",
        there.name(),
        here.name()
    )
}

fn unknown(name: &Ident, home: Home) -> String {
    let name = name.to_string();
    let synonym = SYNONYMS
        .iter()
        .find(|(synonym, _)| *synonym == name)
        .map(|&(_, word)| word);
    // A slip of the finger changes a letter in three, no more.
    let nearest = || {
        WORDS
            .iter()
            .map(|&(word, _, _)| (distance(word, &name), word))
            .min()
            .filter(|(distance, word)| *distance <= word.len().max(3) / 3)
            .map(|(_, word)| word)
    };
    match synonym.or_else(nearest) {
        Some(word) => format!("unknown word `{name}`; did you mean `{word}`?"),
        None => format!(
            "unknown word `{name}`; on {} you can write {}",
            home.name(),
            known(home)
        ),
    }
}

/// How many letters to insert, remove or replace to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = index;
        row[0] = index + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

/// The expression inside the invisible or visible parentheses around it, such as those that
/// `macro_rules!` puts around `$e:expr`.
fn ungroup(expr: Expr) -> Expr {
    match expr {
        Expr::Group(group) => ungroup(*group.expr),
        Expr::Paren(paren) => ungroup(*paren.expr),
        expr => expr,
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;

    fn field(tokens: TokenStream) -> (FieldWords, Vec<String>) {
        let attrs = Attribute::parse_outer.parse2(tokens).unwrap();
        let mut errors = Errors::default();
        let words = FieldWords::parse(&attrs, &mut errors);
        (words, said(errors))
    }

    fn said(errors: Errors) -> Vec<String> {
        let errors = errors.finish().err().into_iter().flatten();
        errors.map(|error| error.to_string()).collect()
    }

    #[test]
    fn words_add_up_over_attributes() {
        let (words, errors) = field(quote! {
            #[poolable(init = Vec::with_capacity(a, b))]
            #[doc = "in between"]
            #[poolable(reset = |field| field.clear(), max_capacity = 1 << 10,)]
        });
        assert_eq!(errors, [""; 0]);
        let given: Vec<String> = words.given().map(Ident::to_string).collect();
        assert_eq!(given, ["init", "reset", "max_capacity"]);
    }

    #[test]
    fn a_mistake_does_not_hide_the_next() {
        let (words, errors) = field(quote! {
            #[poolable(7, skp, init, reset = 3, skip = true, initial, default = a b, max_capacity = 9)]
        });
        assert_eq!(errors.len(), 7, "{errors:#?}");
        let given: Vec<String> = words.given().map(Ident::to_string).collect();
        assert_eq!(given, ["max_capacity"]);
    }

    #[test]
    fn nonsense_is_reported_and_never_panics() {
        for nonsense in [
            quote!(#[poolable(= 3)]),
            quote!(#[poolable(, skip)]),
            quote!(#[poolable(skip,, default)]),
            quote!(#[poolable(init = , )]),
            quote!(#[poolable(init = let)]),
            quote!(#[poolable(init == 3)]),
            quote!(#[poolable(reset = |a, b| ())]),
            quote!(#[poolable(reset = "")]),
            quote!(#[poolable(default => 3)]),
            quote!(#[poolable(skip[0])]),
            quote!(#[poolable(skip { reset })]),
            quote!(#[poolable('a)]),
            quote!(#[poolable(r#skip_ = 1, #)]),
            quote!(#[poolable(crate, bound)]),
            quote!(#[poolable = 3]),
        ] {
            let (_, errors) = field(nonsense.clone());
            assert!(!errors.is_empty(), "{nonsense}");
        }
        for fine in [
            quote!(#[poolable()]),
            quote!(#[poolable[skip,]]),
            quote!(#[other(= 3)]),
        ] {
            assert_eq!(field(fine).1, [""; 0]);
        }
    }

    #[test]
    fn suggestions_are_near() {
        let suggestion = |name: &str| unknown(&Ident::new(name, Span::call_site()), Home::Field);
        assert!(suggestion("skp").ends_with("did you mean `skip`?"));
        assert!(suggestion("max_capcity").ends_with("did you mean `max_capacity`?"));
        assert!(suggestion("ignore").ends_with("did you mean `skip`?"));
        assert!(suggestion("banana").contains("`default`, `init`, `reset`, `skip` or"));
    }

    #[test]
    fn distances() {
        assert_eq!(distance("skip", "skip"), 0);
        assert_eq!(distance("skip", "skp"), 1);
        assert_eq!(distance("", "init"), 4);
        assert_eq!(distance("init", "initial"), 3);
        assert_eq!(distance("askip", "skip"), 1);
        assert_eq!(distance("kisp", "skip"), 2);
    }

    #[test]
    fn a_misplaced_word_is_told_what_was_meant() {
        for (word, here, meant) in [
            ("default", Home::Container, "write it on each field"),
            ("init", Home::Container, "write it on each field"),
            ("init", Home::Variant, "is marked `initial`"),
            ("initial", Home::Container, "write it on the variant"),
            ("initial", Home::Field, "`default = expr`"),
            ("reset", Home::Container, "`reset_with = path`"),
            ("reset", Home::Variant, "move it there"),
            ("reset_with", Home::Field, "`reset = path`"),
            ("reusable", Home::Field, "judges the whole object"),
            ("skip", Home::Container, "each field that reset leaves"),
        ] {
            let name = Ident::new(word, Span::call_site());
            let told = misplaced(&name, place(&name).unwrap(), here);
            assert!(told.contains(meant), "{told}");
        }
    }

    #[test]
    fn the_crate_is_a_path_without_arguments() {
        let errors_of = |tokens: TokenStream| {
            let attrs = Attribute::parse_outer.parse2(tokens).unwrap();
            let mut errors = Errors::default();
            ContainerWords::parse(&attrs, &mut errors);
            said(errors)
        };
        for path in [quote!(a::b), quote!(::a), quote!((a)), quote!("a::b")] {
            assert_eq!(errors_of(quote!(#[poolable(crate = #path)])), [""; 0]);
        }
        for other in [
            quote!(a::<u8>::b),
            quote!(<a as b>::c),
            quote!("a::<u8>::b"),
        ] {
            let errors = errors_of(quote!(#[poolable(crate = #other)]));
            assert!(errors[0].contains("the path of a crate"), "{errors:?}");
        }
    }

    #[test]
    fn whatever_the_brackets_a_group_is_no_value() {
        let [paren, bracket, brace] = [
            quote!(#[poolable(skip(1))]),
            quote!(#[poolable(skip[1])]),
            quote!(#[poolable(skip { 1 })]),
        ]
        .map(|tokens| field(tokens).1);
        assert_eq!(paren.len(), 1, "{paren:?}");
        assert_eq!((&bracket, &brace), (&paren, &paren));
    }
}

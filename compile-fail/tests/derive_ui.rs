//! What `#[derive(Poolable)]` says about mistakes: one in each file of `ui/derive/fail`, which is
//! named after it. The file of the same name in `ui/derive/pass` is how it was meant, so that no
//! mistake is one for another reason than it seems.
//!
//! After a change that is meant: `TRYBUILD=overwrite ci/compile_fail.sh`, and read the diff.

use std::collections::BTreeSet;
use std::fs;

#[test]
fn every_mistake_is_explained() {
    trybuild::TestCases::new().compile_fail("tests/ui/derive/fail/*.rs");
}

/// `__build_in_place!` is callable by anyone, so it refuses what it could not do soundly.
#[test]
fn building_in_place_refuses_what_is_unsound() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/build/fail/*.rs");
    cases.pass("tests/ui/build/pass/*.rs");
}

/// Compiles the twins, all in this binary because that is faster, and runs each.
macro_rules! twins {
    ($($name:ident,)*) => {
        const TWINS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[allow(dead_code)]
            mod $name {
                include!(concat!("ui/derive/pass/", stringify!($name), ".rs"));

                #[test]
                fn compiles() {
                    main();
                }
            }
        )*
    };
}

twins! {
    all_mistakes_at_once,
    attribute_with_value,
    attribute_without_words,
    bound_that_is_none,
    bound_without_quotes,
    crate_by_a_number,
    crate_by_a_string_that_is_no_path,
    default_and_init,
    default_in_a_variant_that_is_never_made,
    default_of_another_type,
    duplicate_word,
    duplicate_word_over_attributes,
    enum_of_units_without_initial,
    enum_without_initial,
    enum_without_variants,
    field_type_has_no_capacity,
    field_type_has_no_default,
    field_type_in_enum_is_not_poolable,
    field_type_is_not_poolable,
    field_without_size,
    field_word_on_type,
    field_word_on_variant,
    in_place_on_struct,
    in_place_on_variant,
    in_place_with_value,
    in_place_without_fields,
    in_place_without_initial,
    init_in_a_variant_that_is_never_made,
    init_with_nothing_after_equals,
    init_without_value,
    initial_with_value,
    judge_does_not_answer,
    max_capacity_is_a_string,
    max_capacity_without_value,
    missing_comma,
    packed_field_borrowed,
    packed_field_reset,
    parameter_is_not_poolable,
    reset_by_a_closure_without_parameter,
    reset_by_a_number,
    reset_by_a_string_that_is_no_path,
    reset_closure_fails,
    reset_on_type,
    reset_takes_another_type,
    skip_and_max_capacity,
    skip_and_reset,
    skip_with_value,
    string_for_a_word,
    two_initial_variants,
    type_word_on_field,
    type_word_on_variant,
    union,
    unknown_word,
    unknown_word_like_no_other,
    unknown_word_of_another_derive,
    unknown_word_with_a_path,
    value_in_parentheses,
    variant_word_on_field,
    variant_word_on_type,
    word_in_a_variant_that_is_not_initial,
    words_in_parentheses,
}

#[test]
fn every_mistake_has_a_twin() {
    let names = |folder: &str| -> BTreeSet<String> {
        let files = fs::read_dir(folder).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        sources
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    let mistakes = names("tests/ui/derive/fail");
    assert_eq!(mistakes, names("tests/ui/derive/pass"));
    assert_eq!(
        mistakes,
        TWINS.iter().map(|&name| name.to_owned()).collect()
    );
}

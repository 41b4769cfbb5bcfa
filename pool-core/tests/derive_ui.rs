//! What `#[derive(Poolable)]` says about mistakes: one in each file of `ui/derive/fail`, which is
//! named after it. The file of the same name in `ui/derive/pass` is how it was meant.
#![cfg(feature = "derive")]

use std::collections::BTreeSet;
use std::fs;

#[test]
fn every_mistake_is_explained() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/derive/fail/*.rs");
    cases.pass("tests/ui/derive/pass/*.rs");
}

/// So that a test cannot fail to compile for another reason than its mistake.
#[test]
fn every_mistake_has_a_twin_that_compiles() {
    let names = |folder: &str| -> BTreeSet<_> {
        let files = fs::read_dir(folder).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        sources
            .map(|path| path.file_name().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names("tests/ui/derive/fail"), names("tests/ui/derive/pass"));
}

/// `__build_in_place!` is callable by anyone, so it refuses what it could not do soundly.
#[test]
fn building_in_place_refuses_what_is_unsound() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/build/fail/*.rs");
    cases.pass("tests/ui/build/pass/*.rs");
}

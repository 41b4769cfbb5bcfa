//! What the types forbid: one in each file of `ui_pool/fail`, which is named after it. The file of the
//! same name in `ui_pool/pass` is how it is done, so that nothing is forbidden for another reason than
//! it seems. (Where the compiler would quote std's sources, which not everyone has, a row of the table in
//! `pool-core/tests/suite/types.rs` says it instead.)
//!
//! After a change that is meant: `TRYBUILD=overwrite ci/compile_fail.sh`, and read the diff.

use std::collections::BTreeSet;
use std::fs;

#[test]
fn what_is_forbidden_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/ui_pool/fail/*.rs");
}

/// Compiles the twins, all in this binary because that is faster, and runs each.
macro_rules! twins {
    ($($name:ident,)*) => {
        const TWINS: &[&str] = &[$(stringify!($name)),*];

        $(
            mod $name {
                include!(concat!("ui_pool/pass/", stringify!($name), ".rs"));

                #[test]
                fn compiles() {
                    main();
                }
            }
        )*
    };
}

twins! {
    borrow_of_the_object_kept_after_drop,
    borrowed_field_that_outlives_its_message,
    drain_that_outlives_its_pool,
    handle_of_another_lifecycle,
    hooks_that_cannot_be_shared,
    method_of_the_object_hidden,
    object_that_cannot_be_sent,
    object_that_cannot_be_shared,
    object_that_must_stay_pinned,
    object_that_outlives_its_borrow,
    pool_of_objects_that_cannot_be_sent,
    shared_object_changed,
    shared_object_that_cannot_be_shared,
    static_taken_as_short,
    unsync_handle_sent,
    unsync_pool_sent,
    use_after_detach,
    use_after_drop,
    use_after_into_shared,
}

#[test]
fn everything_forbidden_has_a_twin() {
    let names = |folder: &str| -> BTreeSet<String> {
        let files = fs::read_dir(folder).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let sources = paths.filter(|path| path.extension().is_some_and(|end| end == "rs"));
        sources
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    let forbidden = names("tests/ui_pool/fail");
    assert_eq!(forbidden, names("tests/ui_pool/pass"));
    assert_eq!(
        forbidden,
        TWINS.iter().map(|&name| name.to_owned()).collect()
    );
}

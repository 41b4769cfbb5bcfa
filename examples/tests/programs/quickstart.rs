//! The quickstart: what each step of the tour finds.

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, stdout};

#[test]
fn every_step_finds_what_it_says() {
    let output = Program("quickstart").run(&[]);
    assert_succeeds(&output);
    let lines: Vec<_> = stdout(&output).lines().collect();
    assert_eq!(
        lines[..3],
        [
            r#"acquired: Order { id: 7, symbol: "AMZN", size: 100 }"#,
            r#"used again: Order { id: 0, symbol: "", size: 100 }"#,
            "with 8 of 8 out: not enough objects are idle, and the pool may not create more: drop a handle, ask for fewer, or raise the capacity",
        ]
    );
    for says in [
        "at the end: Pool",
        r#"name: Some("orders")"#,
        "created: 8",
        "in_use: 0",
    ] {
        assert!(lines[3].contains(says), "no {says:?} in {}", lines[3]);
    }
}

#[test]
fn it_takes_no_arguments_and_may_be_read_in_part() {
    assert_fails(&Program("quickstart").run(&["--fast"]), 2, &["--fast"]);
    assert_leaves_quietly(Program("quickstart"), &[]);
}

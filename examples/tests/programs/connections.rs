//! The pool of connections to a server with faults.

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, number};

#[test]
fn every_request_is_answered_and_every_connection_accounted_for() {
    for backend in ["batched", "mutex", "queue", "heap"] {
        let output = Program("connections").run(&["--requests", "400", "--backend", backend]);
        assert_succeeds(&output);
        assert_eq!(number(&output, "requests answered"), 400);
        assert_eq!(number(&output, "open still"), 0);
        // What the server did is met.
        assert!(number(&output, "refused by the server") > 0);
        assert!(number(&output, "given up after a failed request") > 0);
    }
}

#[test]
fn connections_have_an_age() {
    let output = Program("connections").run(&["--requests", "400", "--max-age", "1"]);
    assert_succeeds(&output);
    assert!(number(&output, "too old") > 0);
}

#[test]
fn options_have_limits_and_it_may_be_read_in_part() {
    let output = Program("connections").run(&["--connections", "0"]);
    assert_fails(&output, 2, &["--connections"]);
    let output = Program("connections").run(&["--batch-size", "8", "--backend", "mutex"]);
    assert_fails(&output, 2, &["batch"]);
    assert_leaves_quietly(Program("connections"), &[]);
}

//! The server that ends in order: with all buffers back, and without.

use crate::{Program, assert_fails, assert_leaves_quietly, assert_succeeds, number};

#[test]
fn all_buffers_come_back_on_every_backend() {
    for backend in ["batched", "mutex", "queue", "heap"] {
        let output = Program("shutdown").run(&["--clients", "200", "--backend", backend]);
        assert_succeeds(&output);
        assert_eq!(number(&output, "clients served"), 200);
        assert_eq!(number(&output, "buffers out at the end"), 0);
    }
}

#[test]
fn clients_that_stay_are_counted() {
    let output = Program("shutdown").run(&["--silent", "3", "--patience", "50"]);
    assert_fails(&output, 1, &["3 of the buffers", "50 ms", "100 clients"]);
}

#[test]
fn options_have_limits_and_it_may_be_read_in_part() {
    let output = Program("shutdown").run(&["--patience", "0"]);
    assert_fails(&output, 2, &["--patience"]);
    let output = Program("shutdown").run(&["--batch-size", "8", "--backend", "mutex"]);
    assert_fails(&output, 2, &["batch"]);
    assert_leaves_quietly(Program("shutdown"), &[]);
}

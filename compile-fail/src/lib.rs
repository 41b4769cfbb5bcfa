//! Programs that must not compile: mistakes in a derive (`tests/derive_ui.rs`), and uses of a pool that its
//! types forbid (`tests/ui_pool.rs`). `ci/compile_fail.sh` runs them. There is no code here: each program
//! is built with what this package depends on, and that is kept short.

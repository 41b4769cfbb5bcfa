#!/usr/bin/env bash
# Tests and torture under ThreadSanitizer: accesses that nothing orders. Seconds of torture: 20, or as many as are
# given. Before them a race on purpose, which it must find.
#
# std is built with the sanitizer too, so what its locks, channels and `Arc` order is seen. That takes its source: the
# toolchain's, if it has the component rust-src, or else Debian's with Debian's compiler. The barrier that interrupts
# other cores is not seen, nor are fences: what they order is the matter of `ci/loom.sh`.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/debian_rust.sh
seconds="${1:-20}"
target=x86_64-unknown-linux-gnu
[[ $(uname -sm) == "Linux x86_64" ]] || {
    echo "tsan.sh: made for Linux on x86-64, this is $(uname -sm)" >&2
    exit 1
}

# Every feature but `heapless`, which needs a later compiler than Debian's.
features=$(awk '/^\[/ { on = $0 == "[features]" } on && /^[a-z][a-z0-9_-]* *=/ { print $1 }' \
    pool-core/Cargo.toml | grep -vx heapless | paste -sd,)
if [[ -e $(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock ]]; then
    features+=,heapless
else
    runtime=$(echo "$(rustc --print target-libdir)"/librustc-*_rt.tsan.a)
    debian_rust "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"
    # Debian leaves the sanitizer's runtime out; the toolchain's has the same functions.
    cp "$runtime" "$("$RUSTC" --print target-libdir)/librustc-stable_rt.tsan.a"
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export RUSTC_BOOTSTRAP=1 CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=line-tables-only
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread"
# An instrumented std takes seconds for the backtrace of a panic. Memory that is refused is no error.
export RUST_BACKTRACE=0
export TSAN_OPTIONS="halt_on_error=1 allocator_may_return_null=1"
# What only tests use asks for a later compiler, and does without.
options=(-Zbuild-std=std,panic_unwind,test --target "$target" --ignore-rust-version)

report=$CARGO_TARGET_DIR/race.log
cargo build "${options[@]}" --manifest-path ci/race/Cargo.toml
if "$CARGO_TARGET_DIR/$target/debug/race" 2>"$report" ||
    ! grep -q 'WARNING: ThreadSanitizer: data race' "$report"; then
    echo "tsan.sh: the race on purpose was not found, but:" >&2
    cat "$report" >&2
    exit 1
fi

# The tests with threads. (A sanitizer's shadow takes page faults.)
cargo test "${options[@]}" -p pool-core --features "$features" --lib --test tls
cargo test "${options[@]}" -p pool-core --features "$features" --test suite -- \
    burst:: executors:: holders:: pinned:: set_capacity:: threads:: wait_idle:: waiting:: \
    --skip a_warm_thread_takes_no_page_fault
cargo run --release "${options[@]}" -p torture -- --seconds "$seconds" --threads 4 --steps 4000

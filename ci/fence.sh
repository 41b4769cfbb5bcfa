#!/usr/bin/env bash
# The library as it is where the system has no asymmetric barrier: a fence on each hit. Seconds of torture: 5, or as
# many as are given.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/fence"
export RUSTFLAGS="${RUSTFLAGS:-} --cfg pool_fence"
cargo test -p pool-core --all-features --lib --test suite --test tls --test fork --test faults --test alloc
cargo run --release -p torture -- --seconds "${1:-5}"

#!/usr/bin/env bash
# The loom models of the slots, the depot and the end of a pool's life.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export RUSTFLAGS="${RUSTFLAGS:-} --cfg loom"
cargo test --release -p pool-core --features async --lib -- --test-threads=2 models:: "$@"

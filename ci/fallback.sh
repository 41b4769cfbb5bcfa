#!/usr/bin/env bash
# The library as it is where a kernel refuses the asymmetric barrier: no thread caches.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/fallback"
export RUSTFLAGS="${RUSTFLAGS:-} --cfg pool_no_membarrier"
cargo test -p pool-core --lib --test suite --test tls --test fork "$@"

#!/usr/bin/env bash
# Every test of the workspace with every feature, the examples and documentation's code included, but for
# those of ci/compile_fail.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace --exclude compile-fail --all-features "$@"

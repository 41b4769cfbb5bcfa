#!/usr/bin/env bash
# Every test of the workspace, the examples and documentation's code included.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test --workspace --all-features "$@"

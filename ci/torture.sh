#!/usr/bin/env bash
# Tortures the library under a new seed each time: for 5 seconds, or as many as are given.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo run --release -p torture -- --seconds "${1:-5}"

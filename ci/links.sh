#!/usr/bin/env bash
# Every link of the Markdown leads somewhere. Prints the addresses outside the repository, which are not
# asked.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test -p pool-examples --test links -- --nocapture

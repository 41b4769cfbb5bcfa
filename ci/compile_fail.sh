#!/usr/bin/env bash
# Programs that must not compile, and what the compiler says of each: mistakes in a derive, and uses of a
# pool that its types forbid.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo test -p compile-fail "$@"

#!/usr/bin/env bash
# Each fuzz target for a minute, or as many seconds as are given, from the corpus in fuzz/corpus. What is
# found is in fuzz/artifacts; how to play it again is said there. `ci/fuzz.sh SECONDS TARGET` for one.
#
# The fuzzer's instrumentation is an unstable option of the compiler, hence RUSTC_BOOTSTRAP.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-60}"
cargo fuzz --version >/dev/null 2>&1 || {
    echo "fuzz.sh: cargo-fuzz is missing; install it: cargo install cargo-fuzz" >&2
    exit 1
}
export RUSTC_BOOTSTRAP=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for target in ${2:-operations lobster derive}; do
    # New inputs go to the first folder, so that the corpus stays as small as it is.
    cargo fuzz run --release "$target" "$scratch" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
    rm -rf "${scratch:?}"/*
done

#!/usr/bin/env bash
# Measures, and writes what came of it: every table (benches/TABLES.md) and the README's chart (docs/chart.svg), which
# name the commit, the processor and the allocator. Takes half an hour, most of it builds, and wants a quiet machine.
# `cargo test -p pool-benches --bin tables` checks what the README and the guide quote against it.
#
#     ci/tables.sh          writes both into the repository
#     ci/tables.sh DIR      writes both into DIR, for a look
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "tables.sh: $*" >&2
    exit 1
}

tables=benches/TABLES.md chart=docs/chart.svg
if (($# > 0)); then
    mkdir -p "$1"
    tables=$1/TABLES.md chart=$1/chart.svg
elif [[ -n $(git status --porcelain --untracked-files=no) ]]; then
    fail "commit first, since the tables name the commit; or say where to write: ci/tables.sh DIR"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# All rows of one run.
export CRITERION_HOME=$scratch/criterion

cargo bench -p pool-benches
cargo run --release -p pool-benches --bin ratios -- --json "$scratch/ratios.json"
cargo run --release -p pool-bench -- --out "$scratch/pool-bench"
cargo run --release -p pool-benches --bin tables -- --ratios "$scratch/ratios.json" \
    --tail "$scratch/pool-bench/results.json" >"$scratch/TABLES.md"
cargo run --release -p pool-bench -- chart --results "$scratch/pool-bench/results.json" --out "$scratch/chart.svg"
# Both or none.
mv "$scratch/TABLES.md" "$tables"
mv "$scratch/chart.svg" "$chart"

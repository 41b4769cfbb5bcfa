#!/usr/bin/env bash
# Licences, sources and bans of every dependency (deny.toml), known advisories where their database can be
# had, and that what the library itself builds on is what CONTRIBUTING.md justifies.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "deny.sh: $*" >&2
    exit 1
}

# Named in the table, and no crate besides.
for package in pool-core pool-derive; do
    for crate in $(cargo tree --package "$package" --all-features --edges normal --depth 1 --prefix none \
        --target all --format '{p}' | awk 'NR > 1 { print $1 }' | sort -u); do
        [[ $crate == pool-* ]] && continue
        # Of the models, and of nothing that is published.
        [[ $crate == loom ]] && continue
        grep -q "^| .*\`$crate\`" CONTRIBUTING.md ||
            fail "$package depends on $crate, which CONTRIBUTING.md does not justify; add it to the table there, or do without"
    done
done

cargo deny --version >/dev/null 2>&1 || fail "cargo-deny is missing; install it: cargo install cargo-deny"
cargo deny --all-features check licenses bans sources
# The database is a repository, which not every machine can reach.
if ! cargo deny --all-features fetch db >/dev/null 2>&1; then
    echo "deny.sh: the database of advisories cannot be had here; advisories were not checked"
else
    cargo deny --all-features check advisories
fi

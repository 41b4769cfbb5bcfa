#!/usr/bin/env bash
# The library without features, with each of its features alone, and with all of them, without a
# warning. Then the tests of what is optional, each with its feature alone: nothing leans on another.
# Then a program without `std`, in which nothing of it may be found.
set -euo pipefail
cd "$(dirname "$0")/.."

# The names on the left of the table [features], but for `default`.
features=$(awk '/^\[/ { on = $0 == "[features]" } on && /^[a-z][a-z0-9_-]* *=/ { print $1 }' \
    pool-core/Cargo.toml | grep -v '^default$')

check() {
    echo "features: ${1:-none}" >&2
    cargo clippy --quiet -p pool-core --lib --no-default-features --features "$1" -- -D warnings
}

check ""
for feature in $features; do
    check "$feature"
done
check "$(echo $features | tr ' ' ',')"

crates=arrayvec,bytes,chrono,hashbrown,heapless,indexmap,rust_decimal,smallvec,uuid
for set in "" metrics tracing derive,serde,std "$crates"; do
    cargo test --quiet -p pool-core --test features --no-default-features --features "$set"
done

echo "without std" >&2
cp Cargo.lock ci/bare/Cargo.lock # The versions that the workspace has.
cargo build --quiet --manifest-path ci/bare/Cargo.toml
bare="${CARGO_TARGET_DIR:-ci/bare/target}/debug/libbare.a"
if nm --demangle "$bare" 2>/dev/null | grep -E '(^| )<?std::'; then
    echo "$bare: something of std was linked; see above" >&2
    exit 1
fi
# (All of the list is read: what closes a pipe early fails it.)
nm "$bare" 2>/dev/null | grep ' T use_pools$' >/dev/null || {
    echo "$bare: the program is not in it" >&2
    exit 1
}

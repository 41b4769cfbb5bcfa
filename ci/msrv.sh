#!/usr/bin/env bash
# Compiles the libraries with the oldest compiler that Cargo.toml promises: rustup's where it has that version, or
# else Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/debian_rust.sh

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if rustc=$(rustup which --toolchain "$version" rustc 2>/dev/null); then
    export RUSTC=$rustc
else
    debian_rust "$version"
fi
"$RUSTC" --version

# Every feature but `heapless`, since that crate needs a later compiler than the library.
features=$(awk '/^\[/ { on = $0 == "[features]" } on && /^[a-z][a-z0-9_-]* *=/ { print $1 }' \
    pool-core/Cargo.toml | grep -vx heapless | paste -sd,)
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/msrv"
cargo check -p pool-derive
cargo check -p pool-core --no-default-features
cargo check -p pool-core --features "$features"

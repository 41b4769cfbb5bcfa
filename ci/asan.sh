#!/usr/bin/env bash
# Tests and torture under AddressSanitizer, with leaks: what is used after its end, what is freed twice,
# what is never freed. Seconds of torture: 20, or as many as are given.
#
# A sanitizer is an unstable option of the compiler, hence RUSTC_BOOTSTRAP. std is not built with it,
# but its allocator's calls are seen all the same.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-20}"
target=x86_64-unknown-linux-gnu
[[ $(uname -sm) == "Linux x86_64" ]] || {
    echo "asan.sh: made for Linux on x86-64, this is $(uname -sm)" >&2
    exit 1
}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/asan"
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer"
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1"

# What forgets handles on purpose, leaks; it is asked by name, so that a test that comes to leak unnoticed
# is found. Threads by the thousand are other tests' matter: a sanitizer's shadow of their stacks is not. A sanitizer
# locks no memory (its mlock does nothing), and its shadow takes page faults.
cargo test --target "$target" -p pool-core --all-features --lib --test tls
cargo test --target "$target" -p pool-core --all-features --test suite -- \
    contract:: memory:: model:: threads:: burst:: waiting:: unsync:: reported:: reset_on_acquire:: \
    --skip forgotten --skip thousands_of_threads --skip memory::pages::lock --skip memory::pages::prefaulted
ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" \
    cargo test --target "$target" -p pool-core --all-features --test suite -- forgotten
cargo run --release --target "$target" -p torture -- \
    --seconds "$seconds" --threads 4 --steps 4000 --no-forget

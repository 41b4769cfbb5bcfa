#!/usr/bin/env bash
# Torture under ThreadSanitizer: accesses that nothing orders. Seconds: 20, or as many as are given.
#
# Built with `--cfg pool_real_fences`: the light half of the asymmetric barrier is a real fence then,
# since the sanitizer cannot see the interrupt that stands in for it.
#
# std is not built with the sanitizer, whose source a plain toolchain has not, so what std orders in code
# of its own is not seen. The library takes nothing from there but `Arc`: its locks are parking_lot's, its
# queues crossbeam's, and they and its atomics are compiled here and seen. Torture does the same. That is
# why only torture runs here and not the tests, which use std's channels and barriers. What is left is the
# end of an `Arc` and of a `Weak`; suppressed in tsan.supp.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-20}"
target=x86_64-unknown-linux-gnu
[[ $(uname -sm) == "Linux x86_64" ]] || {
    echo "tsan.sh: made for Linux on x86-64, this is $(uname -sm)" >&2
    exit 1
}
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="${RUSTFLAGS:-} -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg pool_fence --cfg pool_real_fences"
export TSAN_OPTIONS="suppressions=$PWD/ci/tsan.supp halt_on_error=1"
cargo run --release --target "$target" -p torture -- \
    --seconds "$seconds" --threads 4 --steps 4000

#!/usr/bin/env bash
# A small torture under valgrind's memcheck: nothing read that was not written, nothing used after its
# end, nothing lost at exit. Rounds: 8, or as many as are given.
#
# helgrind and drd are no help here: neither knows atomics or fences, which the slots are made of, and
# both report every one of them. ci/tsan.sh and ci/loom.sh are there for that.
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-8}"
command -v valgrind >/dev/null || {
    echo "valgrind.sh: valgrind is missing; install it: apt-get install valgrind, or dnf install valgrind" >&2
    exit 1
}
cargo build --release -p torture
# What is still reachable at exit is the table of threads that parking_lot keeps for the process.
valgrind --quiet --error-exitcode=9 --leak-check=full \
    --show-leak-kinds=definite,indirect,possible --errors-for-leak-kinds=definite,indirect,possible \
    "${CARGO_TARGET_DIR:-target}/release/torture" \
    --rounds "$rounds" --threads 3 --steps 4000 --no-forget

#!/usr/bin/env bash
# What takes too long for each change: a minute of torture under each of some seeds, the random tests ten
# times as long, the sanitizers, valgrind, the fuzzers. Half an hour on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/torture.sh 60
POOL_TEST_SCALE=10 cargo test --release -p pool-core --all-features --test suite -- model:: threads::
ci/asan.sh 60
ci/tsan.sh 60
ci/valgrind.sh 20
ci/deny.sh
ci/fuzz.sh 120

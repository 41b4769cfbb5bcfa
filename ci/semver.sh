#!/usr/bin/env bash
# What the public interface of pool-core lost or changed since a release, and whether the version says so:
# ci/semver.sh [REVISION], by default the last tag of the form v1.2.3. (Of pool-derive, whose interface is
# what it accepts, cargo-semver-checks sees nothing; ci/compile_fail.sh does.)
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "semver.sh: $*" >&2
    exit 1
}

command -v cargo-semver-checks >/dev/null ||
    fail "cargo-semver-checks is missing; install it: cargo install cargo-semver-checks --locked"
since=${1:-$(git describe --tags --match 'v[0-9]*' --abbrev=0 2>/dev/null)} ||
    fail "no release is tagged yet; say what to compare with: ci/semver.sh REVISION"
git rev-parse --quiet --verify "$since^{commit}" >/dev/null ||
    fail "$since is no revision here; say a commit, a branch or a tag"
cargo semver-checks check-release -p pool-core --all-features --baseline-rev "$since"

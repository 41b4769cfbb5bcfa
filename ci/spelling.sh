#!/usr/bin/env bash
# The spelling of code, comments and documentation; typos.toml says what is meant.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v typos >/dev/null || {
    echo "spelling.sh: typos is missing; install it: pip install typos, or cargo install typos-cli" >&2
    exit 1
}
typos "$@"

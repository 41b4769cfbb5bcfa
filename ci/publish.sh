#!/usr/bin/env bash
# Packs both crates as they would be published, builds each from its package alone, and looks at what is in
# it. Publishes nothing. A tree with changes that are not committed is packed as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "publish.sh: $*" >&2
    exit 1
}

# Together, since pool-core needs a pool-derive that the registry does not have yet.
cargo package -p pool-derive -p pool-core --allow-dirty --all-features

for crate in pool-derive pool-core; do
    files=$(cargo package -p "$crate" --list --allow-dirty)
    for file in Cargo.toml README.md LICENSE-MIT LICENSE-APACHE src/lib.rs; do
        grep -qx "$file" <<<"$files" || fail "$crate is packed without $file"
    done
    # What is read when the crate is built or documented has to be in it.
    outside=$(grep -rn 'include_\(str\|bytes\)!("\(\.\./\)\+' "$crate/src" || true)
    [[ -z $outside ]] || fail "$crate reads what is not packed: $outside"
done

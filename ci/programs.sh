#!/usr/bin/env bash
# The pool in place of another in published programs: the same lines changed as anyone would change
# them, the same output, and memory counted. Takes the sources from the registry.
#
# zopfli 0.8.1 keeps its hash tables in a static lockfree-object-pool, metrics-tracing-context 0.18.1
# the labels of its spans.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
    echo "programs.sh: $*" >&2
    exit 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
target="${CARGO_TARGET_DIR:-$PWD/ci/programs/target}"

cargo vendor --quiet --versioned-dirs --manifest-path ci/programs/Cargo.toml "$scratch/registry" >/dev/null

# Copies a program's source from the registry and puts our pool in.
ours() {
    local name=$1 version=$2 features=$3 copy="$scratch/$1"
    cp -r "$scratch/registry/$name-$version" "$copy"
    rm -f "$copy/.cargo-checksum.json" "$copy/Cargo.lock"
    find "$copy/src" -name '*.rs' -exec sed -i -f "ci/programs/$name.sed" {} +
    # What its benches need takes long to build.
    sed -i -e '/^\[\[bench\]\]/,/^$/d' -e '/^\[dev-dependencies\.criterion\]/,/^$/d' \
        -e 's/^\[dependencies\.lockfree-object-pool\]/[dependencies.pool-core]\nfeatures = ['"$features"']/' \
        -e '/^\[dependencies\.pool-core\]/,/^$/s|^version = .*|path = "'"$PWD"'/pool-core"|' \
        -e 's/dep:lockfree-object-pool/dep:pool-core/' "$copy/Cargo.toml"
    if grep -rn 'lockfree\|LinearO\|\.pull' "$copy/src" "$copy/Cargo.toml" | grep -v 'fn pull'; then
        fail "$name: the lines above still speak of the other pool"
    fi
    printf '\n[workspace]\n' >>"$copy/Cargo.toml"
}

ours zopfli 0.8.1 '"std"'
ours metrics-tracing-context 0.18.1 '"indexmap", "std"'

# Some text to compress.
cat pool-core/src/central/*.rs >"$scratch/text"

build() {
    cargo build --quiet --release --manifest-path ci/programs/Cargo.toml --target-dir "$target" "$@"
}
build
cp "$target/release/programs" "$scratch/theirs"
build --config "patch.crates-io.zopfli.path='$scratch/zopfli'"
cp "$target/release/programs" "$scratch/with-ours"

for threads in 1 4; do
    theirs=$("$scratch/theirs" "$scratch/text" "$threads" "$scratch/theirs.gz")
    with_ours=$("$scratch/with-ours" "$scratch/text" "$threads" "$scratch/ours.gz")
    cmp "$scratch/theirs.gz" "$scratch/ours.gz" || fail "zopfli's output differs on $threads threads"
    gzip -dc "$scratch/ours.gz" | cmp - "$scratch/text" || fail "zopfli's output is not the text"
    echo "zopfli, $threads threads: output equal; at most $with_ours bytes at a time, $theirs with the other pool"
    ((with_ours <= theirs)) || fail "more memory than with the other pool"
done

cargo test --quiet --manifest-path "$scratch/metrics-tracing-context/Cargo.toml" \
    --target-dir "$target" --test integration

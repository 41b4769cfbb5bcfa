#!/usr/bin/env bash
# The hit as a checked fact: how many instructions an acquire and a drop take together (counted by
# callgrind), that none of them is a call, and that the loop has no atomic read-modify-write, no
# fence and no division (seen by objdump).
set -euo pipefail
cd "$(dirname "$0")/.."

# Counted with rustc 1.95 on x86-64: 26. Two more are granted to other compilers.
most=28

fail() {
    echo "hit.sh: $*" >&2
    exit 1
}

needs() {
    command -v "$1" >/dev/null || fail "$1 is missing; install it: $2"
}

[[ $(uname -sm) == "Linux x86_64" ]] || fail "counts and mnemonics are those of Linux on x86-64, this is $(uname -sm)"
needs valgrind "apt-get install valgrind, or dnf install valgrind"
needs objdump "apt-get install binutils, or dnf install binutils"

cargo build --release -p pool-bench --bin hit
hit="${CARGO_TARGET_DIR:-target}/release/hit"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs a loop under callgrind; leaves the profile in $scratch/<loop>.<turns>.
count() {
    local profile="$scratch/$1.$2"
    valgrind --tool=callgrind --compress-strings=no --callgrind-out-file="$profile" \
        "$hit" "$1" "$2" 2>"$profile.log" || fail "the run under valgrind failed: $(cat "$profile.log")"
}

# Of a profile: all instructions.
instructions() {
    awk '/^(summary|totals):/ { print $2; exit }' "$1"
}

# Of a profile: calls made by the loop itself.
calls() {
    awk '/^fn=/ { inside = /hit_loop/ }
         inside && sub(/^calls=/, "") { sum += $1 }
         END { print sum + 0 }' "$1"
}

# What a turn costs is the difference that more turns make, so that start and end cancel out.
few=10000
many=20000
for loop in pool control; do
    count "$loop" "$few"
    count "$loop" "$many"
done
turn() {
    echo $((($(instructions "$scratch/$1.$many") - $(instructions "$scratch/$1.$few")) / (many - few)))
}
pair=$(($(turn pool) - $(turn control)))
calls=$(($(calls "$scratch/pool.$many") - $(calls "$scratch/pool.$few")))

objdump --disassemble --no-show-raw-insn "$hit" |
    awk '/^[0-9a-f]+ <.*hit_loop.*>:$/ { inside = 1 } /^$/ { inside = 0 } inside' \
        >"$scratch/assembly"
grep -q hit_loop "$scratch/assembly" || fail "objdump does not find hit_loop in $hit"
# `xchg` with memory is locked without saying so; between registers it is a way to do nothing.
forbidden=$(grep -nE '\slock\b|\sxchg.*\(|cmpxchg|xadd|[lms]fence|\si?div' "$scratch/assembly" || true)

echo "an acquire and a drop: $pair instructions (at most $most), beside $(turn control) for touch, reset and loop"
echo "calls in $((many - few)) of them: $calls"
[[ -z $forbidden ]] || fail "the hit has what it must not have:"$'\n'"$forbidden"
((calls == 0)) || fail "the hit calls functions"
((pair > 0)) || fail "nothing was counted"
((pair <= most)) || fail "the hit has grown; if that is meant, say why and raise the bound in this file"

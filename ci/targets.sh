#!/usr/bin/env bash
# The libraries on other processors and systems, with Debian's compiler of the version that Cargo.toml promises: tests
# run for i686, for aarch64 under qemu and for Windows under wine; all else is checked. Some twenty minutes on two cores.
#
# Installs from Debian what is missing (as root): qemu, wine, linkers for aarch64 and Windows, libraries of 32 bits.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/debian_rust.sh

packages=()
command -v qemu-aarch64-static >/dev/null || packages+=(qemu-user-static)
command -v aarch64-linux-gnu-gcc >/dev/null || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
[[ -e /usr/lib32/crt1.o ]] || packages+=(libc6-dev-i386 lib32gcc-12-dev)
command -v x86_64-w64-mingw32-gcc >/dev/null || packages+=(gcc-mingw-w64-x86-64)
command -v wine >/dev/null || packages+=(wine wine64)
((${#packages[@]} == 0)) || apt-get install --yes --quiet=2 --no-install-recommends "${packages[@]}"

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
debian_rust "$version" arm64 i386 armhf ppc64el
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/targets"
mkdir -p "$CARGO_TARGET_DIR"
# -Zbuild-std is unstable. (And less to write.)
export RUSTC_BOOTSTRAP=1 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0
features=async,serde,tracing,metrics

heading() {
    echo "targets.sh: $*" >&2
}

for target in aarch64-unknown-linux-gnu armv7-unknown-linux-gnueabihf i686-unknown-linux-gnu \
    powerpc64le-unknown-linux-gnu; do
    heading "checks $target"
    cargo check --quiet -p pool-core --features "$features" --target "$target"
done
for target in x86_64-pc-windows-msvc aarch64-apple-darwin wasm32-unknown-unknown; do
    heading "checks $target, std from its source"
    cargo check --quiet -Zbuild-std -p pool-core --features "$features" --target "$target"
done
heading "builds the example for thumbv7em-none-eabihf, without std"
cp Cargo.lock ci/bare/Cargo.lock # The versions that the workspace has.
cargo build --quiet -Zbuild-std=core,alloc --manifest-path ci/bare/Cargo.toml --target thumbv7em-none-eabihf

# The `Box` of that compiler forwards fewer methods than a handle.
skip=(--skip like_box::readers --skip like_box::seekers)
# What only tests use asks for a later compiler, and does without.
run() {
    local target=$1
    shift
    heading "tests $target"
    cargo test --quiet --ignore-rust-version -p pool-core --features "$features" --target "$target" "$@"
}

printf '#!/bin/sh\nexec gcc -m32 "$@"\n' >"$CARGO_TARGET_DIR/cc32"
chmod +x "$CARGO_TARGET_DIR/cc32"
CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER=$(realpath "$CARGO_TARGET_DIR/cc32")
export CARGO_TARGET_I686_UNKNOWN_LINUX_GNU_LINKER
run i686-unknown-linux-gnu --lib --tests -- "${skip[@]}"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
# The emulator has no membarrier, so hits have a fence. It locks no memory, counts page faults of its own, starts no
# program that a test starts (what `faults` and `memory` do), and lets threads of a short test run one after another.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="--cfg pool_fence"
skip+=(--skip memory::pages --skip a_warm_thread_takes_no_page_fault --skip more_threads_than_objects_wait_their_turn)
# It is slow enough that a thread has what it waits for before the fork. (And for `alloc`, which takes minutes.)
skip+=(--skip a_process_without_membarrier --skip those_who_wait_are_left_behind)
run aarch64-unknown-linux-gnu --lib --test suite --test tls --test fork -- "${skip[@]}"
# One at a time: threads that are stopped and others that wait for them leave the emulator no turn for more.
run aarch64-unknown-linux-gnu --test faults -- "${skip[@]}" --test-threads=1

# What Debian's package leaves out of a toolchain for mingw, and wine 8 of Windows.
windows=x86_64-pc-windows-gnu
libraries=$("$RUSTC" --print sysroot)/lib/rustlib/$windows/lib
mkdir -p "$libraries"
for part in rsbegin rsend; do
    source=$(echo "$("$RUSTC" --print sysroot)"/src/rustc-*/library/rtstartup/$part.rs)
    "$RUSTC" --target "$windows" --emit obj -o "$libraries/$part.o" "$source"
done
deps=$CARGO_TARGET_DIR/$windows/debug/deps
mkdir -p "$deps"
x86_64-w64-mingw32-gcc -shared -o "$deps/bcryptprimitives.dll" -x c - -ladvapi32 <<'END'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return SystemFunction036(bytes, count); }
END
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine WINEDEBUG=-all
WINEPREFIX=$(realpath "$CARGO_TARGET_DIR")/wine
export WINEPREFIX
# Each thread is some files to wine, so not five thousand at a time.
skip=(--skip like_box::readers --skip like_box::seekers --skip five_thousand_threads)
run "$windows" -Zbuild-std=std,panic_unwind,test --lib --test suite -- "${skip[@]}"

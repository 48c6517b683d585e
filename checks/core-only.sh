#!/usr/bin/env bash
# Checks packages against a sysroot that holds core and compiler_builtins only: whatever names std or
# alloc, even without using it, stops there with E0463. With `--alloc` it holds alloc too.
#
# Usage: core-only.sh [--alloc] CARGO-CHECK-ARGUMENTS, for example `core-only.sh -p perf-abi -p perf-decode`
set -euo pipefail
cd "$(dirname "$0")/.."

crates=(core compiler_builtins)
if [ "${1-}" = --alloc ]; then
    crates+=(alloc)
    shift
fi
target_dir=${CARGO_TARGET_DIR:-$PWD/target}/checks/core-only-${#crates[@]}
host=$(rustc -vV | sed -n 's/^host: //p')
sysroot=$target_dir/sysroot
lib=lib/rustlib/$host/lib

rm -rf "$sysroot"
mkdir -p "$sysroot/$lib"
for crate in "${crates[@]}"; do
    cp "$(rustc --print sysroot)/$lib/lib$crate"-* "$sysroot/$lib"
done

# With --target, derive macros and build scripts keep the real sysroot.
CARGO_ENCODED_RUSTFLAGS=$(printf '%s\x1f%s' --sysroot "$sysroot") \
    cargo check --target "$host" --target-dir "$target_dir" "$@"

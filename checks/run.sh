#!/usr/bin/env bash
# Proves that perf-abi, perf-decode and the fields of perf-tracepoint need neither std nor an allocator and hold no panic path, and that perf-sys
# needs no std, and that a sample of failing system calls of perfkit leaves readable files and true counts. Each proof stands beside a
# control that must fail: a proof whose control passes proves nothing.
set -euo pipefail
cd "$(dirname "$0")"

target_dir=${CARGO_TARGET_DIR:-$PWD/../target}/checks
mkdir -p "$target_dir"
log=$target_dir/run.log
failures=0

# report WORD TITLE
report() {
    printf '%-8s%s\n' "$1" "$2"
}

failed() {
    report failed "$1"
    sed 's/^/        | /' "$log" | tail -n 40
    failures=$((failures + 1))
}

# passes TITLE COMMAND...
passes() {
    local title=$1
    shift
    if "$@" >"$log" 2>&1; then report ok "$title"; else failed "$title"; fi
}

# fails TITLE REASON COMMAND... where REASON must be in what the command prints, so that a control
# which fails for some other cause is no control.
fails() {
    local title=$1 reason=$2
    shift 2
    if "$@" >"$log" 2>&1; then
        echo 'it should have failed' >>"$log"
        failed "$title"
    elif grep -qF -- "$reason" "$log"; then
        report ok "$title"
    else
        echo "it failed, but not with: $reason" >>"$log"
        failed "$title"
    fi
}

# freestanding PROGRAM CARGO-ARGUMENTS...: builds the program without libc and start files and runs it.
freestanding() {
    local program=$1
    shift
    rm -f "$target_dir/release/$program"
    cargo rustc --release --locked --target-dir "$target_dir" --package "$program" "$@" -- \
        -Clink-arg=-nostartfiles -Clink-arg=-nostdlib -Clink-arg=-static -Crelocation-model=static
    "$target_dir/release/$program"
}

# failing_calls ARGUMENTS...: runs perfkit, or the program of the arguments, with failing calls.
failing_calls() {
    cargo run --quiet --locked --target-dir "$target_dir" --package failing-calls -- "$@"
}

# A few calls of each command. All of them take an hour and more: see CONTRIBUTING.md.
some_failing_calls() {
    cargo build --locked --manifest-path ../Cargo.toml --package perfkit
    failing_calls --sample 6 "$target_dir/../debug/perfkit"
}

passes 'core-only: perf-abi and perf-decode' ./core-only.sh -p perf-abi -p perf-decode
passes 'core-only: the fields of perf-tracepoint' ./core-only.sh -p perf-tracepoint --no-default-features
passes 'core and alloc: the print formats of perf-tracepoint' ./core-only.sh --alloc -p perf-tracepoint
passes 'core-only: the reader of perf-file over bytes' ./core-only.sh -p perf-file --no-default-features
passes 'core and alloc: perf-sys' ./core-only.sh --alloc -p perf-sys
fails 'core and alloc, control: std is missed' E0463 ./core-only.sh --alloc --manifest-path checks/Cargo.toml -p uses-std
fails 'core-only, control: std is missed' E0463 ./core-only.sh --manifest-path checks/Cargo.toml -p uses-std
fails 'core-only, control: alloc is missed' E0463 ./core-only.sh --manifest-path checks/Cargo.toml -p uses-alloc

if [ "$(uname -m)" = x86_64 ]; then
    passes 'no-std: a record is decoded without std, allocator and libc' freestanding no-std
    fails 'no-std, control: an allocator is missed' 'no global memory allocator found' \
        freestanding no-std --features alloc
    passes 'no-panic: no panic is left in the decoder' freestanding no-panic
    fails 'no-panic, control: an index is a panic' a_panic_is_left freestanding no-panic --features panics
else
    report skipped "no-std, no-panic: their entry point is written for x86_64, this is $(uname -m)"
fi

if [ "$(uname -m)" != x86_64 ]; then
    report skipped "failing-calls: it changes registers of x86_64, this is $(uname -m)"
elif [ "$(id -u)" != 0 ]; then
    report skipped 'failing-calls: it counts a tracepoint, which needs root'
else
    passes 'failing-calls: files are readable and counts true after a failed call' some_failing_calls
    fails 'failing-calls, control: a program without counts is noticed' 'events are accounted for' \
        failing_calls /bin/true stat
fi

if [ "$failures" -gt 0 ]; then
    echo "$failures checks failed"
    exit 1
fi

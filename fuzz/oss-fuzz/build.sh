#!/bin/bash -eu
# Builds the fuzz targets, and packs the seeds of each.
cargo fuzz build -O
for target in $(cargo fuzz list); do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    if [ -d "fuzz/seeds/$target" ]; then
        (cd "fuzz/seeds/$target" && zip -qr "$OUT/${target}_seed_corpus.zip" .)
    fi
done

//! The tests on files, as one program, which is linked once.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod attrs;
mod bounds;
mod compressed;
mod crafted;
mod damage;
mod directory;
mod foreign;
mod foreign_records;
mod header;
mod malformed;
mod metadata;
mod oracle;
mod perf_tool;
mod places;
mod round_trip;
mod sorted;
#[path = "../support/mod.rs"]
mod support;

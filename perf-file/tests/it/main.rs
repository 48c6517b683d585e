//! The tests on files, as one program, which is linked once.

mod attrs;
mod bounds;
mod compressed;
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

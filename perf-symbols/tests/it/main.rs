//! The tests beside the perf tool, as one program.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

mod perf_script;

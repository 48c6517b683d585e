//! Tests against the perf tool and with real programs, in one binary.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "names")]
mod addr2line;
#[cfg(feature = "names")]
mod damaged;
#[cfg(feature = "debuginfod")]
mod debuginfod;
#[cfg(all(feature = "names", feature = "unwind"))]
mod examples;
#[cfg(feature = "files")]
mod files;
#[cfg(feature = "names")]
mod forms;
#[cfg(feature = "names")]
mod hostile;
#[cfg(feature = "names")]
mod names;
mod perf_script;
mod programs;
#[cfg(feature = "unwind")]
mod unwind;

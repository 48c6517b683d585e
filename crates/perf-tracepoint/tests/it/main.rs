//! The tests of several modules, as one program, which is linked once.

#![allow(clippy::expect_used, reason = "a test's helpers may fail it")]

mod formats;
mod oracle;
mod tracefs;

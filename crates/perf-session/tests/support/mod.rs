//! Functions that the live tests share. A test that is not permitted to open its event prints the
//! reason and passes.

#![allow(dead_code)] // each test program uses a part of it
#![allow(clippy::unwrap_used, clippy::panic)] // a failure here fails the test

pub(crate) mod event;
pub(crate) mod explain;
pub(crate) mod set;

use std::fmt::Display;

/// Prints the reason for a skipped test, or fails it with `PERFKIT_REQUIRE_LIVE=1`. For a missing
/// permission.
#[track_caller]
pub(crate) fn skip(reason: impl Display) {
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    skip_in_any_case(reason);
}

/// Prints the reason for a skipped test. For missing hardware or kernel configuration.
pub(crate) fn skip_in_any_case(reason: impl Display) {
    eprintln!("skipped: {reason}");
}

//! Functions that the live tests share. A test that is not permitted to open its event prints the
//! reason and passes.

#![allow(dead_code)] // each test file uses a part of it
#![allow(clippy::panic)] // a failure here fails the test

use std::fmt::Display;

use perf_session::EventSpec;
use perf_session::sys::{Errno, Event, Target};

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

/// Opens the event. If it is not permitted, or this machine does not have it, prints the reason and
/// returns `None`.
///
/// With `PERFKIT_REQUIRE_LIVE=1` in the environment, a missing permission fails the test.
#[track_caller]
pub(crate) fn open_or_skip(spec: &EventSpec, target: Target<'_>) -> Option<Event> {
    let error = match Event::open(&spec.attr(), target) {
        Ok(event) => return Some(event),
        Err(error) => error,
    };
    match error.errno() {
        Some(Errno::ENOENT | Errno::EOPNOTSUPP | Errno::ENODEV) => skip_in_any_case(error),
        Some(Errno::EACCES | Errno::EPERM | Errno::ENOSYS) => skip(error),
        _ => panic!("{}: {error}", spec.label()),
    }
    None
}

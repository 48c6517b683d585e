//! What tests need of the running kernel.

use std::fmt::Display;

/// The event, or says why not and returns `None`. With `PERFKIT_REQUIRE_LIVE=1` that is a failure: what the
/// tests here need every machine has.
///
/// # Panics
///
/// As told.
#[track_caller]
pub fn open_or_skip<T, E: Display>(opened: Result<T, E>) -> Option<T> {
    let refused = |error: E| {
        let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
        assert!(!required, "{error}");
        eprintln!("skipped: {error}");
    };
    opened.map_err(refused).ok()
}

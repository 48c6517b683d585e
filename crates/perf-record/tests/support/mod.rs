//! Functions that the live tests share. A test that is not permitted to open its event prints the
//! reason and passes.

/// Prints the reason for a skipped test, or fails it with `PERFKIT_REQUIRE_LIVE=1`.
#[track_caller]
pub(crate) fn skip(reason: impl std::fmt::Display) {
    let required = std::env::var_os("PERFKIT_REQUIRE_LIVE").is_some_and(|value| value == "1");
    assert!(!required, "{reason}");
    eprintln!("skipped: {reason}");
}

//! Negative control of `core-only.sh`: a library that uses std.

/// Needs std.
pub fn now() -> std::time::Instant {
    std::time::Instant::now()
}

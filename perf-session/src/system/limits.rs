//! The resource limits of the process.

use crate::system::{FileError, System};

const LIMITS: &str = "/proc/self/limits";

/// Returns the soft limit in a row of `/proc/self/limits`, as printed there.
pub(crate) fn soft_limit(system: &System, name: &str) -> Result<String, FileError> {
    let text = system.read(LIMITS)?;
    let row = text.lines().find_map(|line| line.strip_prefix(name));
    let soft = row.and_then(|row| row.split_ascii_whitespace().next());
    soft.map(str::to_owned)
        .ok_or_else(|| FileError::malformed(system.path(LIMITS), format!("a row `{name}`"), "none"))
}

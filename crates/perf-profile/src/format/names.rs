//! Names of addresses and files.

use crate::profile::{LocationId, Locations, UNKNOWN};

/// Returns the name of an address without a function, as stackcollapse-perf writes it: the name of
/// its file in brackets.
pub(super) fn unnamed(locations: &Locations, location: LocationId) -> String {
    let path = locations.object_path(location);
    match file_name(path) {
        "" => UNKNOWN.to_owned(),
        // The kernel's names have brackets: `[vdso]`.
        name if name.starts_with('[') && name.ends_with(']') => name.to_owned(),
        name => format!("[{name}]"),
    }
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

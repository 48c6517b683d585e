//! Looks a command up as `execvp` does, so that a wrong name is reported before events are opened.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Path that `execvp` searches if `PATH` is not set.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Returns an error if no file of this name can be executed.
pub(super) fn check(name: &OsStr) -> io::Result<()> {
    if name.as_encoded_bytes().contains(&b'/') {
        return check_file(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for folder in std::env::split_paths(&path) {
        match check_file(&folder.join(name)) {
            Ok(()) if !name.is_empty() => return Ok(()),
            Err(found) if found.kind() == io::ErrorKind::PermissionDenied => error = found,
            _ => {}
        }
    }
    Err(error)
}

fn check_file(path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

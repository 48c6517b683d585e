//! The error of a file of the kernel.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use super::Mount;
use crate::std_error::into_std;

/// A file of `/proc`, `/sys` or tracefs that cannot be used: its path, and the error of the system
/// call or the expected and the found text.
#[derive(Clone, Debug)]
pub struct FileError {
    path: PathBuf,
    cause: Cause,
}

#[derive(Clone, Debug)]
enum Cause {
    Io {
        error: Arc<io::Error>,
        /// The file system that is not mounted.
        mount: Option<Mount>,
    },
    Malformed {
        expected: String,
        found: String,
    },
}

impl FileError {
    /// Returns the error of a file that cannot be read. If its file system is not mounted, the text
    /// says so.
    pub fn io(path: PathBuf, error: io::Error) -> Self {
        let mount = if error.kind() == io::ErrorKind::NotFound { Mount::missing_for(&path) } else { None };
        Self { path, cause: Cause::Io { error: Arc::new(error), mount } }
    }

    /// Returns the error of a file with other contents than expected. The beginning of `found` is
    /// quoted.
    pub(crate) fn malformed(path: PathBuf, expected: impl Into<String>, found: impl AsRef<str>) -> Self {
        Self::plain(path, expected, excerpt(found.as_ref().as_bytes()))
    }

    /// Returns the error of a file that is larger than any that is read.
    pub(in crate::system) fn too_large(path: PathBuf, most: u64) -> Self {
        Self::plain(path, format!("at most {most} bytes"), "more".into())
    }

    /// Returns the error of a file that is not UTF-8 from `offset`.
    pub(in crate::system) fn not_text(path: PathBuf, offset: usize) -> Self {
        Self::plain(path, "UTF-8 text", format!("a byte at offset {offset} that is not"))
    }

    /// Returns the error of a directory with a name that is not UTF-8.
    pub(in crate::system) fn not_a_name(path: PathBuf, name: &OsStr) -> Self {
        Self::plain(path, "UTF-8 names", excerpt(name.as_encoded_bytes()))
    }

    fn plain(path: PathBuf, expected: impl Into<String>, found: String) -> Self {
        Self { path, cause: Cause::Malformed { expected: expected.into(), found } }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the error of the system call, or `None` if the contents were malformed.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.cause {
            Cause::Io { error, .. } => Some(error),
            Cause::Malformed { .. } => None,
        }
    }

    /// Returns the file system of the file if there is no such file because it is not mounted.
    pub fn missing_mount(&self) -> Option<Mount> {
        match &self.cause {
            Cause::Io { mount, .. } => *mount,
            Cause::Malformed { .. } => None,
        }
    }

    /// Returns the number of the errno if a system call failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.io_error()?.raw_os_error()
    }

    /// Returns `true` if there is no such file.
    pub fn is_not_found(&self) -> bool {
        self.has_kind(io::ErrorKind::NotFound)
    }

    /// Returns `true` if the file exists and the caller may not use it.
    pub fn is_permission_denied(&self) -> bool {
        self.has_kind(io::ErrorKind::PermissionDenied)
    }

    fn has_kind(&self, kind: io::ErrorKind) -> bool {
        self.io_error().is_some_and(|error| error.kind() == kind)
    }
}

/// Returns the beginning of a text in backquotes, printable, or `nothing`.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const MOST: usize = 60;
    match text.trim_ascii() {
        [] => "nothing".into(),
        text if text.len() > MOST => format!("`{}...`", text.get(..MOST).unwrap_or_default().escape_ascii()),
        text => format!("`{}`", text.escape_ascii()),
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Io { error, mount } => {
                write!(f, "{}: {error}", self.path.display())?;
                mount.map_or(Ok(()), |mount| write!(f, "; {mount}"))
            }
            Cause::Malformed { expected, found } => {
                write!(f, "{}: expected {expected}, found {found}", self.path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

into_std!(FileError, InvalidData);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_text_is_quoted_and_bounded() {
        let error = |found: &str| FileError::malformed("/sys/x".into(), "a number", found).to_string();
        assert_eq!(error(""), "/sys/x: expected a number, found nothing");
        assert_eq!(error("\n"), "/sys/x: expected a number, found nothing");
        assert_eq!(error("a\x1b[2J\n"), r"/sys/x: expected a number, found `a\x1b[2J`");
        assert_eq!(error(&"é".repeat(4000)).len(), "/sys/x: expected a number, found `...`".len() + 4 * 60);
    }

    #[test]
    fn missing_file_of_a_mounted_file_system_has_no_mount_as_remedy() {
        for path in ["/sys/nonexistent", "/proc/nonexistent", "/nonexistent/sys/x"] {
            let text = FileError::io(path.into(), io::ErrorKind::NotFound.into()).to_string();
            assert!(!text.contains("mount"), "{text}");
        }
    }

    #[test]
    fn kinds_of_system_errors_are_distinct() {
        let error = |kind: io::ErrorKind| FileError::io("/sys/x".into(), kind.into());
        assert!(error(io::ErrorKind::NotFound).is_not_found());
        assert!(!error(io::ErrorKind::NotFound).is_permission_denied());
        assert!(error(io::ErrorKind::PermissionDenied).is_permission_denied());
        assert!(!FileError::malformed("/sys/x".into(), "a", "b").is_not_found());
    }
}

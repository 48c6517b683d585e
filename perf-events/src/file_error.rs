use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of `/proc`, `/sys` or tracefs that cannot be used: its path, and what was expected and found.
#[derive(Clone, Debug)]
pub struct FileError {
    path: PathBuf,
    cause: Cause,
}

#[derive(Clone, Debug)]
enum Cause {
    Io(Arc<io::Error>),
    Malformed { expected: String, found: String },
}

impl FileError {
    /// Returns the error of a file that cannot be read.
    pub(crate) fn io(path: PathBuf, error: io::Error) -> Self {
        Self { path, cause: Cause::Io(Arc::new(error)) }
    }

    /// Returns the error of a file with other contents than expected.
    pub(crate) fn malformed(path: PathBuf, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { path, cause: Cause::Malformed { expected: expected.into(), found: found.into() } }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the error of the system call, or `None` if the contents were malformed.
    pub fn io_error(&self) -> Option<&io::Error> {
        match &self.cause {
            Cause::Io(error) => Some(error),
            Cause::Malformed { .. } => None,
        }
    }

    /// Returns `true` if there is no such file.
    pub fn is_not_found(&self) -> bool {
        self.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Io(error) => write!(f, "{}: {error}", self.path.display()),
            Cause::Malformed { expected, found } => {
                write!(f, "{}: expected {expected}, found {found}", self.path.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::FileError;

/// The largest file that is read, in bytes. Files of `/proc` and `/sys` that this crate reads are far smaller.
const MAX_FILE: u64 = 4 << 20;

/// The root below which `/proc` and `/sys` are found.
///
/// Programs use [`System::new`]. Tests build a tree with the files of another machine and use
/// [`System::at`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// Returns the running system.
    #[must_use]
    pub fn new() -> Self {
        Self::at("/")
    }

    /// Returns a system whose `/proc` and `/sys` are below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the path of a file that is at `absolute` on a running system.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// Returns the text of a file that is at `absolute` on a running system.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 4 MiB, or is not UTF-8. The error has its path.
    pub fn read(&self, absolute: impl AsRef<Path>) -> Result<String, FileError> {
        let path = self.path(absolute);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        if let Err(error) = read {
            return Err(FileError::io(path, error));
        }
        if bytes.len() as u64 > MAX_FILE {
            return Err(FileError::malformed(path, "at most 4 MiB", "a larger file"));
        }
        String::from_utf8(bytes).map_err(|_| FileError::malformed(path, "UTF-8 text", "binary bytes"))
    }
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

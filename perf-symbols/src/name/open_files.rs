//! The files that a source of symbols has open.

use std::path::{Path, PathBuf};

/// A list with a limit of files and of bytes: those that were not used for the longest time are closed for others.
pub(super) struct OpenFiles {
    /// The last one was used last.
    files: Vec<OpenFile>,
    max_files: usize,
    max_bytes: u64,
}

struct OpenFile {
    path: PathBuf,
    bytes: u64,
}

impl OpenFiles {
    pub(super) fn new(max_files: usize, max_bytes: u64) -> Self {
        Self { files: Vec::new(), max_files, max_bytes }
    }

    pub(super) fn set_max_files(&mut self, files: usize) {
        self.max_files = files;
    }

    pub(super) fn set_max_bytes(&mut self, bytes: u64) {
        self.max_bytes = bytes;
    }

    /// Adds a file that is used now. Returns those to close before: all others if it alone has too many bytes.
    pub(super) fn add(&mut self, path: &Path, bytes: u64) -> Vec<PathBuf> {
        self.remove(path);
        self.files.push(OpenFile { path: path.to_owned(), bytes });
        let mut sum = 0_u64;
        let fits = |file: &&OpenFile| {
            sum = sum.saturating_add(file.bytes);
            sum <= self.max_bytes
        };
        let kept = self.files.iter().rev().take(self.max_files).take_while(fits).count().max(1);
        let closed = self.files.drain(..self.files.len().saturating_sub(kept));
        closed.map(|file| file.path).collect()
    }

    /// Removes a file that was closed.
    pub(super) fn remove(&mut self, path: &Path) {
        self.files.retain(|file| file.path != path);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn those_used_last_stay_open(uses in prop::collection::vec((0_u64..6, 0_u64..8), 0..60)) {
            const MAX: (usize, u64) = (3, 10);
            let mut files = OpenFiles::new(MAX.0, MAX.1);
            let mut open = Vec::<(PathBuf, u64)>::new();
            for (name, extra) in uses {
                let (path, bytes) = (PathBuf::from(name.to_string()), name + extra);
                let closed = files.add(&path, bytes);
                // One after the other, beginning with the oldest.
                open.retain(|(other, _)| *other != path);
                open.push((path, bytes));
                let mut expected = Vec::new();
                while open.len() > 1
                    && (open.len() > MAX.0 || open.iter().map(|(_, bytes)| bytes).sum::<u64>() > MAX.1)
                {
                    expected.push(open.remove(0).0);
                }
                prop_assert_eq!(closed, expected);
            }
        }
    }
}

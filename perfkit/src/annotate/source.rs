//! The texts of source lines.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use perf_symbols::{FileFinder, SourceLine, SourceText};

/// Source files, each read once.
pub(super) struct Sources<'a> {
    /// `None` if sources are not shown.
    finder: Option<&'a FileFinder>,
    /// `None` for a file that cannot be read.
    files: HashMap<Arc<Path>, Option<File>>,
    /// Bytes of all files.
    len: usize,
}

struct File {
    source: SourceText,
    /// Start of each line in bytes.
    lines: Vec<usize>,
}

/// Maximum number of bytes of source files in memory. Functions of several files are inlined into
/// one.
const MAX_BYTES: usize = 64 << 20;

impl<'a> Sources<'a> {
    pub(super) fn new(finder: Option<&'a FileFinder>) -> Self {
        Self { finder, files: HashMap::new(), len: 0 }
    }

    /// Returns whether source lines are shown.
    pub(super) fn is_shown(&self) -> bool {
        self.finder.is_some()
    }

    /// Returns the text of a line, if its file can be read and has it.
    pub(super) fn text(&mut self, line: &SourceLine) -> Option<&str> {
        let number = line.line?.checked_sub(1)? as usize;
        let file = self.file(&line.file)?;
        let start = *file.lines.get(number)?;
        file.source.text.get(start..)?.lines().next()
    }

    /// Returns the time of the last change of a file, in s since 1970.
    pub(super) fn modified(&mut self, path: &Arc<Path>) -> Option<i64> {
        self.file(path).map(|file| file.source.modified)
    }

    fn file(&mut self, path: &Arc<Path>) -> Option<&File> {
        let finder = self.finder?;
        let is_full = self.len > MAX_BYTES;
        let len = &mut self.len;
        let read = || {
            let source = finder.source(path).ok().filter(|_| !is_full)?;
            *len = len.saturating_add(source.text.len());
            let after = source.text.match_indices('\n').map(|(at, _)| at + 1);
            let lines = std::iter::once(0).chain(after).collect();
            Some(File { source, lines })
        };
        self.files.entry(path.clone()).or_insert_with(read).as_ref()
    }
}

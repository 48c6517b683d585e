//! The file, or another output, of a recording.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use perf_file::writer::{Features, RecordedEvent, WriteError, Writer};

/// An output that is open, and nothing is written yet.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    is_pipe: bool,
}

impl Output {
    /// Returns whether the path is standard output.
    pub(super) fn is_standard(path: &Path) -> bool {
        path == Path::new("-")
    }

    /// Returns the path as messages name it.
    pub(super) fn name(path: &Path) -> impl fmt::Display {
        if Self::is_standard(path) { Path::new("standard output").display() } else { path.display() }
    }

    /// Opens the output. A file that is there becomes `FILE.old`.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if Self::is_standard(path) {
            return Ok(Self { file: File::from(io::stdout().as_fd().try_clone_to_owned()?), is_pipe: true });
        }
        let context = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        if path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let mut old = OsString::from(path);
            old.push(".old");
            fs::rename(path, old).map_err(context)?;
        }
        let file = File::create(path).map_err(context)?;
        let is_pipe = !file.metadata().map_err(context)?.is_file();
        Ok(Self { file, is_pipe })
    }

    /// Starts the recording: in the file form in a regular file, otherwise in the pipe form.
    pub(super) fn start(
        self,
        events: &[RecordedEvent],
        features: &Features,
        compress: bool,
    ) -> Result<Writer<File>, WriteError> {
        let writer = if self.is_pipe {
            Writer::pipe(self.file, events, features)
        } else {
            Writer::file(self.file, events)
        };
        if compress { writer?.compressed() } else { writer }
    }
}

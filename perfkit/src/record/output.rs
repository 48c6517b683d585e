//! The file, or another output, of a recording.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use perf_file::writer::{Features, RecordedEvent, Writer};

use crate::message::{of_file, shown};
use crate::standard_output;

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
    pub(super) fn name(path: &Path) -> String {
        if Self::is_standard(path) { "standard output".to_owned() } else { shown(path) }
    }

    /// Opens the output. A file that is there becomes `FILE.old`. A new one is for its owner only, because a
    /// recording has the addresses, names and paths of everything that ran.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        if Self::is_standard(path) {
            standard_output::expect_open()?;
            return Ok(Self { file: File::from(io::stdout().as_fd().try_clone_to_owned()?), is_pipe: true });
        }
        if path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let mut old = OsString::from(path);
            old.push(".old");
            fs::rename(path, &old).map_err(|error| {
                let text = format!("{}: cannot be renamed to {}: {error}", shown(path), shown(&old));
                io::Error::new(error.kind(), text)
            })?;
        }
        let created = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = created.map_err(|error| of_file(path, &error))?;
        let is_pipe = !file.metadata().map_err(|error| of_file(path, &error))?.is_file();
        Ok(Self { file, is_pipe })
    }

    /// Returns another handle of the output.
    pub(super) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Starts the recording: in the file form in a regular file, otherwise in the pipe form.
    pub(super) fn start(
        self,
        events: &[RecordedEvent],
        features: &Features,
        compress: bool,
    ) -> perf_file::Result<Writer<File>> {
        let writer = if self.is_pipe {
            Writer::pipe(self.file, events, features)
        } else {
            Writer::file(self.file, events)
        };
        if compress { writer?.compressed() } else { writer }
    }
}

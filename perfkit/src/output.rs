//! The file or stream that a measurement prints to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::message::of_file;

/// Opens the output, and returns its name. Without a path it is standard output, or standard error if a command has
/// standard output. With `appends`, the text follows what a file has.
pub(crate) fn open(
    path: Option<&Path>,
    has_command: bool,
    appends: bool,
) -> io::Result<(PathBuf, Box<dyn Write>)> {
    Ok(match path {
        Some(path) if path.as_os_str() == "-" => ("standard output".into(), Box::new(io::stdout())),
        Some(path) => {
            let file = OutputFile::open(path, appends).map_err(|error| of_file(path, &error))?;
            (path.to_owned(), Box::new(file))
        }
        None if !has_command => ("standard output".into(), Box::new(io::stdout())),
        None => ("standard error".into(), Box::new(io::stderr())),
    })
}

/// A file that keeps what it has until the first text, so that a command which cannot be started changes nothing.
#[derive(Debug)]
struct OutputFile {
    file: File,
    path: PathBuf,
    /// Whether the file was not there before.
    is_new: bool,
    /// Whether the text follows what the file has.
    appends: bool,
    has_begun: bool,
}

impl OutputFile {
    fn open(path: &Path, appends: bool) -> io::Result<Self> {
        let is_new = !path.exists();
        let file = OpenOptions::new().write(true).append(appends).create(true).truncate(false).open(path)?;
        Ok(Self { file, path: path.to_owned(), is_new, appends, has_begun: false })
    }

    fn begin(&mut self) -> io::Result<()> {
        // A device or a pipe has no length.
        if !self.has_begun && !self.appends && self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
        }
        self.has_begun = true;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begin()?;
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.is_new && !self.has_begun {
            // The reason why nothing was counted is what the user must know.
            let _ = fs::remove_file(&self.path);
        }
    }
}

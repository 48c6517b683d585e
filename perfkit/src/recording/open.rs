//! Opening of a recording.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;
use std::time::SystemTime;

use perf_file::{Reader, Stream};

use super::records::Records;
use super::{About, InputOptions};
use crate::out::message::shown;

/// A recording that was opened. Its metadata is read, its records are not.
#[derive(Debug)]
pub(crate) struct Recording {
    name: String,
    reader: Reader<Stream<File>>,
    about: About,
    /// Length in bytes; `None` for a pipe and a directory.
    len: Option<u64>,
}

impl InputOptions {
    /// Opens the recording and reads its metadata.
    ///
    /// # Errors
    ///
    /// One line with the name of the file: it does not exist, may not be read, or is no recording.
    pub(crate) fn open(&self) -> io::Result<Recording> {
        let (name, opened) = if self.input.as_os_str() == "-" {
            ("standard input".to_owned(), standard_input())
        } else {
            (shown(&self.input), open(&self.input))
        };
        let (mut reader, len, modified) = opened.map_err(|error| failed(&name, &error))?;
        let about = About::read(&mut reader, modified);
        Ok(Recording { name, reader, about, len })
    }
}

impl Recording {
    /// Returns the name of the file without control characters.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the reader before its first record, to read features.
    pub(crate) fn reader(&mut self) -> &mut Reader<Stream<File>> {
        &mut self.reader
    }

    /// Returns the records in the order of time.
    pub(crate) fn in_time_order(self) -> (About, Records) {
        (self.about, Records::new(self.name, self.reader.sorted(), self.len))
    }

    /// Returns the records in the order of the file: one ring after the other.
    pub(crate) fn in_file_order(self) -> (About, Records) {
        (self.about, Records::new(self.name, self.reader, self.len))
    }
}

/// A reader, the length of its file in bytes, and when that was written last.
type Opened = (Reader<Stream<File>>, Option<u64>, Option<SystemTime>);

fn open(path: &Path) -> io::Result<Opened> {
    if path.is_dir() {
        let modified = path.join("data").metadata().and_then(|data| data.modified()).ok();
        return Ok((Reader::open(path)?, None, modified));
    }
    from_file(File::open(path)?)
}

fn standard_input() -> io::Result<Opened> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let text = "expected the pipe form of a recording, found a terminal";
        return Err(io::Error::other(text));
    }
    from_file(File::from(stdin.as_fd().try_clone_to_owned()?))
}

/// Reads a file of either form, or a FIFO, socket or device, which have the pipe form.
fn from_file(file: File) -> io::Result<Opened> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((Reader::from_file(file)?, Some(metadata.len()), metadata.modified().ok()));
    }
    Ok((Reader::from_pipe(file)?, None, None))
}

/// Returns the error as one line, with the remedy of the commonest.
///
/// The perf tool reads standard input without `-i` if that is a FIFO, which hangs where it is one by chance.
fn failed(name: &str, error: &io::Error) -> io::Error {
    let is_fifo = || {
        let stdin = io::stdin().as_fd().try_clone_to_owned();
        let metadata = stdin.and_then(|stdin| File::from(stdin).metadata());
        metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
    };
    let remedy = match error.kind() {
        ErrorKind::NotFound if is_fifo() => {
            "; `perfkit record` makes a recording, and the name - is standard input"
        }
        ErrorKind::NotFound => "; `perfkit record` makes a recording",
        _ => "",
    };
    io::Error::new(error.kind(), format!("{name}: {error}{remedy}"))
}

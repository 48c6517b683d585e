//! Opens recordings, with errors of one line.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt as _;

use perf_profile::read::Recording;
use perf_session::catalog;

use super::InputOptions;
use crate::out::message::shown;

impl InputOptions {
    /// Opens the recording and reads its metadata.
    ///
    /// # Errors
    ///
    /// The file does not exist, may not be read, or is not a recording. The error is one line with
    /// the name of the file.
    pub(crate) fn open(&self) -> io::Result<Recording> {
        let (name, opened) = if self.path().as_os_str() == "-" {
            ("standard input".to_owned(), standard_input())
        } else {
            (shown(self.path()), Recording::open(self.path()))
        };
        let recording = opened.map_err(|error| failed(&name, &error))?;
        Ok(recording.with_name(name).with_event_names(catalog::name_of))
    }
}

fn standard_input() -> io::Result<Recording> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        let text = "expected the pipe form of a recording, found a terminal";
        return Err(io::Error::other(text));
    }
    Recording::from_file(File::from(stdin.as_fd().try_clone_to_owned()?), "standard input")
}

/// Returns the error as one line, with a remedy for the most common error.
///
/// Without `-i`, the perf tool reads standard input if it is a FIFO, which hangs if that FIFO has
/// no recording. Here only the name `-` reads it.
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

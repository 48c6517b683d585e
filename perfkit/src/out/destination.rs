//! The file or stream that a measurement prints to.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::io::ioctl_fionread;
use rustix::pipe::fcntl_getpipe_size;

use crate::out::interrupt::wait_until_writable;
use crate::out::message::of_file;
use crate::out::output_path::OutputPath;

/// Bytes that a pipe takes without blocking when it is writable. An empty pipe takes its capacity.
const PIPE_BUF: usize = 4096;

/// Opens the output, which is named in its errors. Without a path it is standard output, or
/// standard error if a command has standard output. With `appends`, the text follows what a file
/// has.
pub(crate) fn open(path: Option<&Path>, has_command: bool, appends: bool) -> io::Result<Box<dyn Write>> {
    Ok(match path {
        Some(path) if path.as_os_str() != "-" => {
            Box::new(OutputFile::open(path, appends).map_err(|error| of_file(path, &error))?)
        }
        None if has_command => Box::new(OutputFile::of_stream("standard error", &io::stderr())?),
        _ => Box::new(OutputFile::of_stream("standard output", &io::stdout())?),
    })
}

/// A file that keeps what it has until the first text, so that a command which cannot be started
/// changes nothing.
#[derive(Debug)]
struct OutputFile {
    stream: Stream,
    name: PathBuf,
    /// The place of a file that was not there before.
    new: Option<OutputPath>,
    /// Whether the text follows what the file has.
    appends: bool,
    has_begun: bool,
}

impl OutputFile {
    fn open(path: &Path, appends: bool) -> io::Result<Self> {
        let place = OutputPath::find(path)?;
        let is_new = place.stat()?.is_none();
        let stream = Stream::new(place.open(0o666, appends)?)?;
        let new = is_new.then_some(place);
        Ok(Self { stream, name: path.to_owned(), new, appends, has_begun: false })
    }

    fn of_stream(name: &str, stream: &impl AsFd) -> io::Result<Self> {
        let stream = Stream::of(stream)?;
        Ok(Self { stream, name: name.into(), new: None, appends: true, has_begun: true })
    }

    fn begin(&mut self) -> io::Result<()> {
        // A device or a pipe has no length.
        if !self.has_begun && !self.appends && self.stream.is_regular() {
            self.stream.file.set_len(0)?;
        }
        self.has_begun = true;
        Ok(())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.begin().and_then(|()| self.stream.write(bytes));
        written.map_err(|error| of_file(&self.name, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.begin().map_err(|error| of_file(&self.name, &error))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(new) = self.new.take().filter(|_| !self.has_begun) {
            // The caller reports why nothing was counted, which matters more than this error.
            let _ = new.remove();
        }
    }
}

/// A file or a stream. An interrupt ends a write to a stream whose reader does not read.
#[derive(Debug)]
pub(crate) struct Stream {
    file: File,
    is_regular: bool,
    /// Capacity in bytes; `None` if the stream is not a pipe.
    capacity: Option<usize>,
}

impl Stream {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let is_regular = file.metadata()?.is_file();
        let capacity = fcntl_getpipe_size(&file).ok();
        Ok(Self { file, is_regular, capacity })
    }

    /// Returns another handle of a stream, without its buffer.
    pub(crate) fn of(stream: &impl AsFd) -> io::Result<Self> {
        Self::new(File::from(stream.as_fd().try_clone_to_owned()?))
    }

    /// Returns whether it is a regular file.
    pub(crate) fn is_regular(&self) -> bool {
        self.is_regular
    }

    /// Returns another handle of the file.
    pub(crate) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_regular {
            return self.file.write(bytes);
        }
        if !wait_until_writable(&self.file)? {
            let text = "the rest is not written, because its reader did not read after the signal";
            return Err(io::Error::new(io::ErrorKind::TimedOut, text));
        }
        let is_empty = || ioctl_fionread(&self.file).is_ok_and(|unread| unread == 0);
        let space = self.capacity.filter(|_| bytes.len() > PIPE_BUF && is_empty());
        self.file.write(at_once(bytes, space.unwrap_or(PIPE_BUF)))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Stream {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

/// Returns the first bytes, which fit into the space of a pipe: whole lines, if there is one.
fn at_once(bytes: &[u8], space: usize) -> &[u8] {
    let Some(first) = bytes.get(..space) else { return bytes };
    let lines = first.iter().rposition(|&byte| byte == b'\n').and_then(|last| first.get(..=last));
    lines.unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_fit_are_written_whole() {
        let line = [&[b'x'; 99][..], b"\n"].concat();
        assert_eq!(at_once(&line.repeat(40), 4096).len(), 4000);
        assert_eq!(at_once(&line.repeat(41), 4096).len(), 4000);
        assert_eq!(at_once(&line.repeat(90), 8192).len(), 8100);
        assert_eq!(at_once(&[b'x'; 9000], 4096).len(), 4096);
        assert_eq!(at_once(b"a\nb", 4096), b"a\nb");
    }
}

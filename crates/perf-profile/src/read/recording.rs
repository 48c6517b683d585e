//! Opens recordings.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use perf_abi::Attr;
use perf_decode::Value;
use perf_file::{Reader, Stream};

use super::{Metadata, Records};

/// An opened recording. Its metadata has been read, its records have not.
#[derive(Debug)]
pub struct Recording {
    name: String,
    reader: Reader<Stream<File>>,
    metadata: Metadata,
    /// Length in bytes; `None` for a pipe and a directory.
    len: Option<u64>,
    /// Reopens the recording at its start; `None` for a pipe, which cannot be read twice.
    again: Option<Again>,
}

/// File or directory from which a recording was opened.
#[derive(Clone, Debug)]
enum Again {
    Directory(PathBuf),
    File(PathBuf),
}

/// A reader, the length of its file in bytes, and the time of the last write.
type Opened = (Reader<Stream<File>>, Option<u64>, Option<SystemTime>);

impl Recording {
    /// Opens a `perf.data` file or directory, or a FIFO, socket or device with the pipe form, and
    /// reads its metadata.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the file cannot be opened or is not a recording.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let again = match path {
            _ if path.is_dir() => Some(Again::Directory(path.to_owned())),
            _ if path.is_file() => Some(Again::File(path.to_owned())),
            _ => None,
        };
        let opened = match &again {
            Some(again) => again.open()?,
            None => from_file(File::open(path)?)?,
        };
        let name = Value::Text(path.as_os_str().as_encoded_bytes()).to_string();
        Ok(Self { again, ..Self::new(name, opened) })
    }

    /// Reads the metadata of an open file of either form, such as standard input. `name` is used in
    /// messages.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the file cannot be read or is not a recording.
    pub fn from_file(file: File, name: impl Into<String>) -> io::Result<Self> {
        Ok(Self::new(name.into(), from_file(file)?))
    }

    fn new(name: String, (mut reader, len, modified): Opened) -> Self {
        let metadata = Metadata::read(&mut reader, modified);
        Self { name, reader, metadata, len, again: None }
    }

    /// Sets the name for messages, without control characters. By default, it is the path.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Names the events whose name the file lacks. By default, such a name consists of the event's
    /// numbers.
    #[must_use]
    pub fn with_event_names(mut self, name: impl Fn(&Attr) -> String) -> Self {
        self.metadata.name_events(name);
        self
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length in bytes; `None` if it is unknown, as for a pipe.
    pub fn byte_len(&self) -> Option<u64> {
        self.len
    }

    /// Returns the metadata.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the reader before its first record, for reading features.
    pub fn reader(&mut self) -> &mut Reader<Stream<File>> {
        &mut self.reader
    }

    /// Returns the records in time order.
    pub fn in_time_order(self) -> (Metadata, Records) {
        (self.metadata, Records::new(self.name, self.reader.sorted(), self.len))
    }

    /// Returns the records in file order: one ring after another.
    pub fn in_file_order(self) -> (Metadata, Records) {
        (self.metadata, Records::new(self.name, self.reader, self.len))
    }

    /// Opens the recording again, to read its records twice; `None` if that is impossible.
    pub(super) fn again(&self) -> io::Result<Option<Records>> {
        let Some(again) = &self.again else { return Ok(None) };
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.name));
        let (reader, len, _) = again.open().map_err(named)?;
        Ok(Some(Records::new(self.name.clone(), reader, len)))
    }
}

impl Again {
    fn open(&self) -> io::Result<Opened> {
        match self {
            Self::Directory(path) => {
                let modified = path.join("data").metadata().and_then(|data| data.modified()).ok();
                Ok((Reader::open(path)?, None, modified))
            }
            Self::File(path) => from_file(File::open(path)?),
        }
    }
}

/// Reads a file of either form, or a FIFO, socket or device with the pipe form.
fn from_file(file: File) -> io::Result<Opened> {
    let metadata = file.metadata()?;
    if metadata.is_file() {
        return Ok((Reader::from_file(file)?, Some(metadata.len()), metadata.modified().ok()));
    }
    Ok((Reader::from_pipe(file)?, None, None))
}

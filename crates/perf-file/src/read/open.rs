//! Opening of readers.

use std::boxed::Box;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::vec::Vec;

use perf_decode::Scratch;

use super::record::Context;
use super::source::private::Source as _;
use super::step::Plain;
use super::{FileEvents, Memory, Reader, Source, Stream};
use crate::attr::{FileAttr, read_entry};
use crate::bytes::Bytes;
use crate::error::{Error, Reason, Result};
use crate::format::{Feature, RawFileHeader, RawPipeHeader, Section};
use crate::header::{FileHeader, FileMode};
use crate::list::List;

impl<S: Source> Reader<S> {
    /// Creates a reader whose source is at the first record, which is at `offset` in the file. The
    /// records have `left` bytes, `None` if they extend to the end of the source.
    pub(super) fn new(
        source: S,
        head: FileHeader,
        events: FileEvents,
        offset: u64,
        left: Option<u64>,
    ) -> Self {
        let context =
            Context { order: head.order, events, features: Vec::new(), part: None, decompressed_len: None };
        Self {
            source,
            head,
            context,
            offset,
            left,
            payload: 0,
            pending: 0,
            is_decompressed: false,
            compressed_at: 0,
            decompresses: true,
            decompressor: None,
            scratch: Box::new(Scratch::new()),
            is_ended: false,
            plain: Plain::default(),
            noticed: 0,
            sort: None,
            parts: None,
        }
    }
}

impl<'a> Reader<Memory<'a>> {
    /// Reads a file in memory: mapped, or read as a whole.
    ///
    /// # Errors
    ///
    /// An error of [`Reader::from_file`], but never [`Reason::Io`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        let head = FileHeader::parse(bytes)?;
        let section = head.records(bytes.len() as u64);
        Self::open_source(Memory::new(bytes, section.offset), head, section)
    }
}

impl<R: Read> Reader<Stream<R>> {
    /// Reads a stream in the pipe form, such as standard input.
    ///
    /// # Errors
    ///
    /// An error of [`FileHeader::parse`], [`Reason::Io`], and [`Reason::NotPipe`] if the stream has
    /// the file form, whose sections are read from a file or from memory.
    pub fn from_pipe(stream: R) -> Result<Self> {
        let mut source = Stream::pipe(stream);
        let head = match head(&mut source, RawPipeHeader::SIZE) {
            Ok(head) if head.is_pipe() => head,
            // The header of the file form is longer than the bytes read.
            Err(error) if source.filled().len() < size_of::<RawPipeHeader>() => return Err(error),
            Err(error) if !matches!(error.reason, Reason::Truncated { .. }) => return Err(error),
            Ok(_) | Err(_) => return Err(Error::new(8, Reason::NotPipe)),
        };
        source.consume(size_of::<RawPipeHeader>());
        Ok(Self::new(source, head, FileEvents::default(), RawPipeHeader::SIZE, None))
    }
}

impl Reader<Stream<File>> {
    /// Opens a file of either form, or a directory of `perf record --threads`. In a directory, only
    /// regular files are opened.
    ///
    /// # Errors
    ///
    /// An error of [`Reader::from_file`], [`Reason::Io`]. For a directory [`Reason::NoDataFile`] if
    /// the file with the header is missing, and [`Reason::NotRegularFile`]. A missing numbered file
    /// is not an error here, but after the records of the other files.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if path.is_dir() {
            return Self::open_directory(path);
        }
        Self::from_file(File::open(path).map_err(|error| Error::of_file(Reason::Io(error)))?)
    }
}

impl<R: Read + Seek> Reader<Stream<R>> {
    /// Reads a file of either form with a buffer of 256 KiB.
    ///
    /// A file of the pipe form (`perf record -o - >FILE`) has no events here:
    /// [`read_metadata`](Self::read_metadata) reads them.
    ///
    /// # Errors
    ///
    /// An error of [`FileHeader::parse`], [`Reason::Io`]. For malformed attrs
    /// [`Reason::AttrLength`], [`Reason::Truncated`] if they or their ids are past the end of the
    /// file, and [`Reason::Limit`] for more than [`FileEvents::MAX`] events or
    /// [`FileEvents::MAX_IDS`] ids.
    pub fn from_file(file: R) -> Result<Self> {
        let mut source = Stream::file(file);
        let head = head(&mut source, RawFileHeader::SIZE)?;
        let section = match head.mode {
            FileMode::File(header) => {
                source.seek(header.data.offset)?;
                header.data
            }
            FileMode::Pipe => {
                source.consume(size_of::<RawPipeHeader>());
                Section { offset: RawPipeHeader::SIZE, size: 0 }
            }
        };
        Self::open_source(source, head, section)
    }
}

/// Reads the header at the start of a stream.
fn head<R: Read>(source: &mut Stream<R>, len: u64) -> Result<FileHeader> {
    let len = usize::try_from(len).unwrap_or(0);
    let bytes = source.fill(len).map_err(|error| Error::new(0, Reason::Io(error)))?;
    FileHeader::parse(bytes)
}

impl<S: Source> Reader<S> {
    /// Reads the attrs of the file form, with their ids and names.
    fn open_source(source: S, head: FileHeader, section: Section) -> Result<Self> {
        // An interrupted recording extends to the end of the file, as a pipe does.
        let left = (!head.is_pipe() && !head.is_interrupted()).then_some(section.size);
        let mut reader = Self::new(source, head, FileEvents::default(), section.offset, left);
        let FileMode::File(header) = head.mode else { return Ok(reader) };
        let len = reader.source.file_len()?.unwrap_or(0);
        let attrs = header.attrs;
        let count = attrs.size.checked_div(header.attr_size).unwrap_or(0);
        FileEvents::check_len(attrs.size)?;
        // All at once: the limits of their size and number bound the memory.
        let bytes = reader.source.section(attrs, "attrs", section.offset)?;
        let mut bytes = Bytes::new(&bytes, head.order, attrs.offset);
        for _ in 0..count {
            let (attr, ids) = read_entry(bytes.part(header.attr_size, "attr")?)?;
            reader.context.events.check_ids(ids.size / 8, len)?;
            let ids_bytes = reader.source.section(ids, "ids", section.offset)?;
            let mut ids_bytes = Bytes::new(&ids_bytes, head.order, ids.offset);
            let ids = List::take(&mut ids_bytes, ids.size / 8, "ids")?;
            reader.context.events.add(&FileAttr::new(attr, ids, head.order))?;
        }
        reader.context.events.update();
        // Malformed names do not hide the records: `feature` and `verify_features` return the
        // error.
        if let Ok(Some(found)) = reader.feature(Feature::EVENT_DESC) {
            reader.context.events.set_names(&found.section());
        }
        Ok(reader)
    }
}

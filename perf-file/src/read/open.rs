//! Opening of readers.

use std::boxed::Box;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::vec::Vec;

use perf_decode::Scratch;

use super::plain::Plain;
use super::record::Context;
use super::source::private::Source as _;
use super::{Events, Memory, Reader, Source, Stream};
use crate::bytes::Bytes;
use crate::format::{FileHeader, PipeHeader, Section};
use crate::{Error, FileAttr, Form, Head, List, PerfData, Reason, Result};

impl<S: Source> Reader<S> {
    /// Creates a reader whose source is at the first record.
    pub(super) fn new(source: S, head: Head, events: Events, section: Section, is_bounded: bool) -> Self {
        Self {
            source,
            head,
            context: Context { order: head.order, events, part: None, decompressed_len: None },
            offset: section.offset,
            left: is_bounded.then_some(section.size),
            payload: 0,
            pending: 0,
            is_decompressed: false,
            compressed_at: 0,
            decompresses: true,
            decompressor: None,
            scratch: Box::new(Scratch::new()),
            is_ended: false,
            plain: Plain::default(),
        }
    }
}

impl<'a> Reader<Memory<'a>> {
    /// Reads a file in memory: mapped, or read as a whole.
    ///
    /// # Errors
    ///
    /// Those of [`PerfData::new`], and of [`PerfData::attrs`].
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self> {
        let file = PerfData::new(bytes)?;
        let mut events = Events::default();
        for attr in file.attrs() {
            let attr = attr?;
            check_ids(&events, attr.ids().len(), bytes.len() as u64)?;
            events.add(&attr);
        }
        events.update();
        let section = file.head().records(bytes.len() as u64);
        let from = usize::try_from(section.offset).ok().and_then(|offset| bytes.get(offset..));
        Ok(Self::new(
            Memory::new(from.unwrap_or_default()),
            *file.head(),
            events,
            section,
            !file.head().is_pipe(),
        ))
    }
}

impl<R: Read> Reader<Stream<R>> {
    /// Reads a stream in the pipe form, such as standard input.
    ///
    /// # Errors
    ///
    /// Those of [`Head::parse`], [`Reason::Io`], and [`Reason::NotPipe`] if the stream has the file
    /// form, whose sections are read from a file or from memory.
    pub fn from_pipe(stream: R) -> Result<Self> {
        let mut source = Stream::new(stream);
        let head = match head(&mut source, PipeHeader::SIZE) {
            Ok(head) if head.is_pipe() => head,
            // The header of the file form is longer than what was read.
            Err(error) if source.filled().len() < size_of::<PipeHeader>() => return Err(error),
            Err(error) if !matches!(error.reason(), Reason::Truncated { .. }) => return Err(error),
            Ok(_) | Err(_) => return Err(Error::new(8, Reason::NotPipe)),
        };
        source.consume(size_of::<PipeHeader>());
        let section = Section { offset: PipeHeader::SIZE, size: 0 };
        Ok(Self::new(source, head, Events::default(), section, false))
    }
}

impl Reader<Stream<File>> {
    /// Opens a file of either form.
    ///
    /// # Errors
    ///
    /// Those of [`Reader::from_file`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_file(File::open(path).map_err(|error| Error::new(0, Reason::Io(error)))?)
    }
}

impl<R: Read + Seek> Reader<Stream<R>> {
    /// Reads a file of either form with a buffer of 256 KiB.
    ///
    /// # Errors
    ///
    /// Those of [`Head::parse`], [`Reason::Io`], and an error of the attrs.
    pub fn from_file(file: R) -> Result<Self> {
        let mut source = Stream::new(file);
        let head = head(&mut source, FileHeader::SIZE)?;
        let Form::File(header) = head.form else {
            source.consume(size_of::<PipeHeader>());
            let section = Section { offset: PipeHeader::SIZE, size: 0 };
            return Ok(Self::new(source, head, Events::default(), section, false));
        };
        let len = source.len()?;
        let mut events = Events::default();
        let Section { mut offset, size } = header.attrs;
        let Some(end) = header.attrs.end() else {
            return Err(Error::truncated(offset, "attr", size, len.saturating_sub(offset)));
        };
        while offset < end {
            add_event(&mut source, &head, Section { offset, size: header.attr_size }, len, &mut events)?;
            offset += header.attr_size;
        }
        events.update();
        let section = header.data;
        source.seek(section.offset)?;
        Ok(Self::new(source, head, events, section, !head.is_interrupted()))
    }
}

/// Reads the header at the start of a stream.
fn head<R: Read>(source: &mut Stream<R>, len: u64) -> Result<Head> {
    let len = usize::try_from(len).unwrap_or(0);
    let bytes = source.fill(len).map_err(|error| Error::new(0, Reason::Io(error)))?;
    Head::parse(bytes)
}

/// Checks that the ids of all events fit in the file. The sections of a malformed file
/// can overlap, and then have more.
fn check_ids(events: &Events, more: usize, file_len: u64) -> Result<()> {
    let known = events.as_slice().iter().map(|event| event.ids().len() as u64).sum::<u64>();
    let needed = (known + more as u64).saturating_mul(8);
    if needed > file_len {
        return Err(Error::truncated(0, "ids of all events", needed, file_len));
    }
    Ok(())
}

/// Reads an entry of the section of attrs, and the ids that it refers to.
fn add_event<R: Read + Seek>(
    source: &mut Stream<R>,
    head: &Head,
    entry: Section,
    file_len: u64,
    events: &mut Events,
) -> Result<()> {
    let attr_size = entry.size.checked_sub(size_of::<Section>() as u64).filter(|size| *size >= 64);
    let Some(attr_size) = attr_size else {
        return Err(Error::new(16, Reason::AttrSize { found: entry.size }));
    };
    let bytes = source.section(entry, "attr")?;
    let mut bytes = Bytes::new(&bytes, head.order, entry.offset);
    let attr = bytes.take(attr_size, "attr")?;
    let section = Section { offset: bytes.u64("offset of ids")?, size: bytes.u64("size of ids")? };
    check_ids(events, usize::try_from(section.size / 8).unwrap_or(usize::MAX), file_len)?;
    let ids = source.section(section, "ids")?;
    let mut ids = Bytes::new(&ids, head.order, section.offset);
    let count = section.size / 8;
    events.add(&FileAttr::new(attr, List::take(&mut ids, count, "ids")?, head.order));
    Ok(())
}

impl<R: Read + Seek> Stream<R> {
    /// Continues at an offset of the file.
    pub(super) fn seek(&mut self, offset: u64) -> Result<()> {
        self.clear();
        match self.stream.seek(SeekFrom::Start(offset)) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::new(offset, Reason::Io(error))),
        }
    }

    /// Returns the length of the file.
    fn len(&mut self) -> Result<u64> {
        self.clear();
        self.stream.seek(SeekFrom::End(0)).map_err(|error| Error::new(0, Reason::Io(error)))
    }

    /// Reads a section of the file.
    pub(super) fn section(&mut self, section: Section, what: &'static str) -> Result<Vec<u8>> {
        if section.size == 0 {
            return Ok(Vec::new());
        }
        self.seek(section.offset)?;
        // Grows with what is in the file, so a length of a malformed file costs nothing.
        let mut bytes = Vec::new();
        let read = (&mut self.stream).take(section.size).read_to_end(&mut bytes);
        let len = read.map_err(|error| Error::new(section.offset, Reason::Io(error)))? as u64;
        if len < section.size {
            return Err(Error::truncated(section.offset, what, section.size, len));
        }
        Ok(bytes)
    }
}

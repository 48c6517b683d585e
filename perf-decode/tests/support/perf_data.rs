//! A walker of `perf.data` files, in the form of a file or of a pipe: attrs, ids and framed records.

use perf_abi::{Attr, Misc, RecordType};

use super::reader::{Reader, attr, words};

const HEADER_ATTR: RecordType = RecordType(64);
const HEADER_TRACING_DATA: RecordType = RecordType(66);
const AUXTRACE: RecordType = RecordType(71);

#[derive(Debug, Default)]
pub(crate) struct PerfData {
    /// Whether it was written to a pipe.
    pub(crate) pipe: bool,
    pub(crate) events: Vec<Event>,
    pub(crate) records: Vec<FileRecord>,
}

/// An attr and the ids of the events opened with it, one a CPU or thread.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) attr: Attr,
    /// The attr as it is in the file.
    pub(crate) bytes: Vec<u8>,
    pub(crate) ids: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct FileRecord {
    /// From the start of the file, in bytes.
    pub(crate) offset: u64,
    pub(crate) kind: RecordType,
    pub(crate) misc: Misc,
    pub(crate) size: u16,
    /// The record, copied to where it is aligned; of a tool's record without a last part of a word.
    pub(crate) words: Vec<u64>,
}

impl FileRecord {
    /// Whether a tool wrote it that is not the kernel, in a form of its own.
    pub(crate) fn is_of_tool(&self) -> bool {
        self.kind.0 >= HEADER_ATTR.0
    }
}

impl PerfData {
    pub(crate) fn parse(file: &[u8]) -> Option<Self> {
        let mut header = Reader(file);
        if header.take(8_usize)? != b"PERFILE2" {
            return None;
        }
        let mut data = Self { pipe: header.u64()? == 16, ..Self::default() };
        if data.pipe {
            data.walk(file, header)?;
            return Some(data);
        }
        let attr_size = header.u64()?;
        let mut attrs = section(file, &mut header)?;
        let records = section(file, &mut header)?;
        while !attrs.0.is_empty() {
            let bytes = attrs.take(attr_size - 16)?;
            let ids = words(section(file, &mut attrs)?.0);
            data.events.push(Event::new(bytes, ids)?);
        }
        data.walk(file, records)?;
        Some(data)
    }

    /// Frames the records of `rest`, the data section of `file`.
    fn walk(&mut self, file: &[u8], mut rest: Reader<'_>) -> Option<()> {
        while !rest.0.is_empty() {
            let offset = rest.0.as_ptr().addr() - file.as_ptr().addr();
            let mut header = rest;
            let (kind, misc, size) = (RecordType(header.u32()?), header.u16()?, header.u16()?);
            let record = rest.take(size)?;
            let mut body = Reader(record.get(8..)?);
            match kind {
                HEADER_ATTR => self.events.push(attr_record(body)?),
                // Their payload follows them and is not in their size.
                HEADER_TRACING_DATA => drop(rest.take(body.u32()?)?),
                AUXTRACE => drop(rest.take(body.u64()?)?),
                _ => {}
            }
            let (offset, misc) = (offset as u64, Misc::from_bits_retain(misc));
            self.records.push(FileRecord { offset, kind, misc, size, words: words(record) });
        }
        Some(())
    }
}

impl Event {
    fn new(bytes: &[u8], ids: Vec<u64>) -> Option<Self> {
        Some(Self { attr: attr(bytes)?, bytes: bytes.to_vec(), ids })
    }
}

/// The section that an offset and a size tell of.
fn section<'a>(file: &'a [u8], table: &mut Reader<'_>) -> Option<Reader<'a>> {
    Reader::at(file, table.u64()?, table.u64()?)
}

/// An attr, as long as it says itself, and ids up to the end of the record.
fn attr_record(mut body: Reader<'_>) -> Option<Event> {
    let mut peek = body;
    let (_kind, size) = (peek.u32()?, peek.u32()?);
    let bytes = body.take(if size == 0 { Attr::SIZE_VER0 } else { size })?;
    Event::new(bytes, words(body.0))
}

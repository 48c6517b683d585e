//! A walker of `perf.data` files, in the form of a file or of a pipe: attrs, ids and framed
//! records.

use perf_abi::{Attr, Misc, RecordType};

use super::compressed::Compressed;
use super::reader::{Reader, attr, words};

const HEADER_ATTR: RecordType = RecordType(64);
const HEADER_TRACING_DATA: RecordType = RecordType(66);
const AUXTRACE: RecordType = RecordType(71);
const COMPRESSED: RecordType = RecordType(81);

#[derive(Debug, Default)]
pub(crate) struct PerfData {
    /// Whether the file was written to a pipe.
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
    pub(crate) place: Place,
    pub(crate) kind: RecordType,
    pub(crate) misc: Misc,
    pub(crate) size: u16,
    /// The record, copied to aligned memory. A tool's record loses a partial last word.
    pub(crate) words: Vec<u64>,
}

/// The position of a record, in bytes from the start of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Offset(u64),
    /// In the compressed record at this offset; it may have begun in the preceding one.
    Inside(u64),
}

impl FileRecord {
    /// Takes the first record of `rest`.
    fn take(place: Place, rest: &mut Reader<'_>) -> Option<Self> {
        let mut header = *rest;
        let (kind, misc, size) = (RecordType(header.u32()?), header.u16()?, header.u16()?);
        let words = words(rest.take(size)?);
        Some(Self { place, kind, misc: Misc::from_bits_retain(misc), size, words })
    }

    /// Returns whether a tool wrote the record in its own form, not the kernel.
    pub(crate) fn is_user(&self) -> bool {
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
        let mut compressed = Compressed::default();
        while !rest.0.is_empty() {
            let offset = (rest.0.as_ptr().addr() - file.as_ptr().addr()) as u64;
            let start = rest;
            let record = FileRecord::take(Place::Offset(offset), &mut rest)?;
            let mut body = Reader(start.0.get(8..record.size.into())?);
            let kind = record.kind;
            self.records.push(record);
            match kind {
                HEADER_ATTR => self.events.push(attr_record(body)?),
                // Their payload follows them and is not in their size.
                HEADER_TRACING_DATA => drop(rest.take(body.u32()?)?),
                AUXTRACE => drop(rest.take(body.u64()?)?),
                COMPRESSED => {
                    compressed.add(body.0);
                    while let Some(record) =
                        compressed.take(|rest| FileRecord::take(Place::Inside(offset), rest))
                    {
                        self.records.push(record);
                    }
                }
                _ => {}
            }
        }
        compressed.is_empty().then_some(())
    }
}

impl Event {
    fn new(bytes: &[u8], ids: Vec<u64>) -> Option<Self> {
        Some(Self { attr: attr(bytes)?, bytes: bytes.to_vec(), ids })
    }
}

/// Reads an offset and a size from `table` and returns that section of the file.
fn section<'a>(file: &'a [u8], table: &mut Reader<'_>) -> Option<Reader<'a>> {
    Reader::at(file, table.u64()?, table.u64()?)
}

/// Reads an attr, whose own size field gives its length, and ids up to the end of the record.
fn attr_record(mut body: Reader<'_>) -> Option<Event> {
    let mut peek = body;
    let (_kind, size) = (peek.u32()?, peek.u32()?);
    let bytes = body.take(if size == 0 { Attr::SIZE_VER0 } else { size })?;
    Event::new(bytes, words(body.0))
}

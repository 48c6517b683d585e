//! The file form: header, ids, attrs, records, feature sections.

use std::io::{self, Seek, SeekFrom, Write};

use zerocopy::IntoBytes;

use super::features::attr_size;
use super::output::Output;
use super::{Features, Mode, RecordedEvent, Writer};
use crate::attr::push as push_attr;
use crate::error::{Error, Reason, Result};
use crate::format::{FeatureSet, MAGIC, RawFileHeader, Section};
use crate::order::ByteOrder;

/// Writes bytes at an offset from the start, over those that are there.
pub(super) type Rewrite<W> = fn(&mut W, u64, &[u8]) -> io::Result<()>;

impl<W: Write + Seek> Writer<W> {
    /// Starts a recording in the file form, at the start of an empty file.
    ///
    /// The attrs are written with the smallest published length that holds their fields, because
    /// the perf tool refuses longer ones than it knows.
    pub fn file(out: W, events: &[RecordedEvent]) -> Result<Self> {
        let mut output = Output::new(out);
        let (header, start) = start(events);
        output.write("header", &start)?;
        output.flush("header")?;
        let mode = Mode::File { header, rewrite: rewrite::<W> };
        Ok(Self { output, mode, compressor: None, events: events.to_vec(), has_new_ids: false })
    }
}

fn rewrite<W: Write + Seek>(out: &mut W, offset: u64, bytes: &[u8]) -> io::Result<()> {
    out.seek(SeekFrom::Start(offset))?;
    out.write_all(bytes)?;
    out.seek(SeekFrom::End(0))?;
    out.flush()
}

/// Returns the header without features and with a data size of 0, and the bytes before the data.
fn start(events: &[RecordedEvent]) -> (RawFileHeader, Vec<u8>) {
    let (mut ids, mut attrs) = sections(events, RawFileHeader::SIZE);
    let attrs_section = Section { offset: RawFileHeader::SIZE + ids.len() as u64, size: attrs.len() as u64 };
    let header = RawFileHeader {
        magic: MAGIC,
        size: RawFileHeader::SIZE,
        attr_size: u64::from(attr_size(events)) + size_of::<Section>() as u64,
        attrs: attrs_section,
        data: Section { offset: attrs_section.offset + attrs_section.size, size: 0 },
        event_types: Section::default(),
        features: FeatureSet::default(),
    };
    let mut bytes = header.as_bytes().to_vec();
    bytes.append(&mut ids);
    bytes.append(&mut attrs);
    (header, bytes)
}

/// Returns the ids of all events, which are at `offset`, and the section of attrs that refers to
/// them.
fn sections(events: &[RecordedEvent], offset: u64) -> (Vec<u8>, Vec<u8>) {
    let size = attr_size(events);
    let (mut ids, mut attrs) = (Vec::new(), Vec::new());
    for event in events {
        let section = Section { offset: offset + ids.len() as u64, size: 8 * event.ids.len() as u64 };
        ids.extend_from_slice(event.ids.as_bytes());
        push_attr(&mut attrs, &event.attr, size, ByteOrder::NATIVE);
        attrs.extend_from_slice(section.as_bytes());
    }
    (ids, attrs)
}

/// Writes the size of the data so far to the header.
pub(super) fn update<W: Write>(
    output: &mut Output<W>,
    header: &mut RawFileHeader,
    rewrite: Rewrite<W>,
) -> Result<()> {
    header.data.size = output.position() - header.data.offset;
    // After a flush: a header must not describe records that are not in the file if the writer is
    // killed here.
    rewrite(output.flushed("records")?, 0, header.as_bytes()).map_err(|error| failed("header", 0, error))
}

/// Writes the features, the ids if some were added, and the final header.
pub(super) fn finish<W: Write>(
    mut output: Output<W>,
    mut header: RawFileHeader,
    rewrite: Rewrite<W>,
    features: &Features,
    changed: Option<&[RecordedEvent]>,
) -> Result<W> {
    header.data.size = output.position() - header.data.offset;
    header.features = features.iter().map(|(feature, _)| feature).collect();
    // The offsets in the table, which precedes the sections, follow from their lengths.
    let table_size = features.iter().count() * size_of::<Section>();
    let mut offset = output.position() + table_size as u64;
    for (_, content) in features.iter() {
        let section = Section { offset, size: content.len() as u64 };
        output.write("feature table", section.as_bytes())?;
        offset += section.size;
    }
    for (_, content) in features.iter() {
        output.write("feature sections", content)?;
    }
    // The space before the attrs is full, so all ids are written again, and the attrs refer to the
    // new place.
    let changed = changed.map(|events| sections(events, output.position()));
    if let Some((ids, _)) = &changed {
        output.write("ids", ids)?;
    }
    let mut out = output.into_inner("feature sections")?;
    if let Some((_, attrs)) = &changed {
        let offset = header.attrs.offset;
        rewrite(&mut out, offset, attrs).map_err(|error| failed("attrs", offset, error))?;
    }
    // Last: until then the file is one that was interrupted after its last round.
    rewrite(&mut out, 0, header.as_bytes()).map_err(|error| failed("header", 0, error))?;
    Ok(out)
}

fn failed(part: &'static str, offset: u64, error: io::Error) -> Error {
    Error::new(offset, Reason::Write { part, error })
}

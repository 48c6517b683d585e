//! The pipe form: a short header, then events and features as records.

use std::io::Write;

use perf_abi::{Header, Misc, RecordType};
use zerocopy::IntoBytes;

use super::features::attr_size;
use super::output::Output;
use super::{Features, Mode, RecordedEvent, Writer};
use crate::attr::push as push_attr;
use crate::error::{Error, Reason, Result};
use crate::format::{Feature, FeatureSet, MAGIC, RawPipeHeader, record_type};
use crate::order::ByteOrder;

/// The value of an `EVENT_UPDATE` is the name of the event.
const UPDATE_NAME: u64 = 2;

impl<W: Write> Writer<W> {
    /// Starts a recording in the pipe form with the features that are known now. [`Writer::finish`]
    /// writes the others.
    ///
    /// # Errors
    ///
    /// [`Reason::RecordTooLong`] if an event has more than some 8000 ids, or if a feature is longer
    /// than a record.
    pub fn pipe(out: W, events: &[RecordedEvent], features: &Features) -> Result<Self> {
        let mut output = Output::new(out);
        output.write("header", RawPipeHeader { magic: MAGIC, size: RawPipeHeader::SIZE }.as_bytes())?;
        let size = attr_size(events);
        for event in events {
            write_event(&mut output, event, size)?;
        }
        // After all events, because the perf tool takes an id of the only event so far for that
        // event.
        for (index, event) in events.iter().enumerate() {
            // The name of a later event without ids is in the feature only.
            if index == 0 || !event.ids.is_empty() {
                write_name(&mut output, event)?;
            }
        }
        let mut written = FeatureSet::default();
        write_features(&mut output, &mut written, features)?;
        output.flush("features")?;
        let mode = Mode::Pipe { written };
        Ok(Self { output, mode, compressor: None, events: events.to_vec(), has_new_ids: false })
    }
}

fn write_event<W: Write>(output: &mut Output<W>, event: &RecordedEvent, size: u32) -> Result<()> {
    let mut body = Vec::new();
    push_attr(&mut body, &event.attr, size, ByteOrder::NATIVE);
    body.extend_from_slice(event.ids.as_bytes());
    write_record(output, "event", record_type::HEADER_ATTR, &body)
}

/// Writes an event again, because the format has no record that adds ids to an event.
pub(super) fn write_again<W: Write>(output: &mut Output<W>, event: &RecordedEvent, size: u32) -> Result<()> {
    write_event(output, event, size)?;
    write_name(output, event)
}

/// Writes the name of an event. Without it, the perf tool makes a name from the attr, with
/// modifiers such as `:HG`, before it reads the feature `EVENT_DESC`.
fn write_name<W: Write>(output: &mut Output<W>, event: &RecordedEvent) -> Result<()> {
    // The tool takes the id 0 for the first event.
    let id = event.ids.first().unwrap_or(&0);
    // The kind of the value, an id of the event, the value.
    let mut body = [UPDATE_NAME, *id].as_bytes().to_vec();
    body.extend_from_slice(event.name.as_bytes());
    body.resize((body.len() + 1).next_multiple_of(8), 0);
    write_record(output, "event", record_type::EVENT_UPDATE, &body)
}

/// Writes the features that are not in `written`, and adds them to it.
pub(super) fn write_features<W: Write>(
    output: &mut Output<W>,
    written: &mut FeatureSet,
    features: &Features,
) -> Result<()> {
    for (feature, content) in features.iter() {
        match feature {
            _ if written.contains(feature) => {}
            Feature::TRACING_DATA => write_tracing_data(output, content)?,
            // It is a sequence of records whose kind is 0 in the file form.
            Feature::BUILD_ID => {
                output.write("build ids", &features.build_id_records(record_type::HEADER_BUILD_ID))?;
            }
            _ => {
                let body = [u64::from(feature.0).as_bytes(), content].concat();
                write_record(output, "features", record_type::HEADER_FEATURE, &body)?;
            }
        }
        written.insert(feature);
    }
    Ok(())
}

/// Writes the record whose content follows it outside its length, padded to 8 bytes.
fn write_tracing_data<W: Write>(output: &mut Output<W>, content: &[u8]) -> Result<()> {
    let padded = content.len().next_multiple_of(8);
    let Ok(size) = u32::try_from(padded) else {
        return Err(Error::of_file(Reason::RecordTooLong { part: "tracing data", size: padded }));
    };
    write_record(output, "tracing data", record_type::HEADER_TRACING_DATA, [size, 0].as_bytes())?;
    output.write("tracing data", content)?;
    output.write("tracing data", [0_u8; 8].get(..padded - content.len()).unwrap_or_default())
}

fn write_record<W: Write>(
    output: &mut Output<W>,
    part: &'static str,
    kind: RecordType,
    body: &[u8],
) -> Result<()> {
    let size = size_of::<Header>() + body.len();
    let Ok(short) = u16::try_from(size) else {
        return Err(Error::of_file(Reason::RecordTooLong { part, size }));
    };
    output.write(part, Header { kind, misc: Misc::empty(), size: short }.as_bytes())?;
    output.write(part, body)
}

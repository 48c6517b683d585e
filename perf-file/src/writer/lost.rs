use std::io::Write;

use perf_abi::{AttrFlags, Header, Misc, RecordType, SampleType};
use perf_decode::schema::TRAILER;
use zerocopy::IntoBytes;

use super::{WriteError, Writer};

impl<W: Write> Writer<W> {
    /// Writes how many records an event descriptor lost, as the perf tool does at the end of a recording: a
    /// `LOST_SAMPLES` record with the id of the descriptor.
    ///
    /// The kernel writes a `LOST` record only before the next record that fits into the ring, so a recording
    /// lacks what was lost after the last one. Call this for each descriptor after the events were disabled and
    /// the rings were drained, before [`finish`](Self::finish). `event` is the index in the list with which the
    /// recording was started, `id` the id of the descriptor, and `lost` its whole count since it was opened, as
    /// a read with [`ReadFormat::LOST`](perf_abi::ReadFormat::LOST) returns it, or what was added since the last
    /// call. A count of 0 writes nothing. `time` is a time until which the records were lost, in ns of the clock of
    /// the events. A reader that sorts returns a record with time 0, as the perf tool writes it, at once.
    ///
    /// The count includes what `LOST` records reported, so a reader does not add the two. A recording without its
    /// `LOST` records is not ambiguous. Kernels before Linux 6.0 lack `ReadFormat::LOST` and have no such count.
    ///
    /// ```
    /// use perf_abi::{Attr, Software};
    /// use perf_file::writer::{Features, RecordedEvent, Writer};
    ///
    /// # fn main() -> Result<(), perf_file::writer::WriteError> {
    /// let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock").with_ids([17, 18]);
    /// let mut writer = Writer::pipe(Vec::new(), &[event], &Features::new())?;
    /// // The rings were drained. Then, for each descriptor that was opened:
    /// writer.write_lost_samples(0, 17, 1993, 0)?;
    /// writer.write_lost_samples(0, 18, 0, 0)?;
    /// writer.finish(&Features::new())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`WriteError::NoEvent`] if the recording has no such event, [`WriteError::Io`].
    pub fn write_lost_samples(
        &mut self,
        event: usize,
        id: u64,
        lost: u64,
        time: u64,
    ) -> Result<(), WriteError> {
        let events = self.events.len();
        let Some(found) = self.events.get(event) else {
            return Err(WriteError::NoEvent { event, events });
        };
        if lost == 0 {
            return Ok(());
        }
        let mut words = vec![lost];
        if found.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
            // The trailer of the kernel's records, so that a reader finds the event by the id as in those.
            let fields =
                TRAILER.iter().map(|row| row.bit).filter(|&bit| found.attr.sample_type.contains(bit));
            words.extend(fields.map(|field| match field {
                SampleType::ID | SampleType::IDENTIFIER => id,
                SampleType::TIME => time,
                _ => 0,
            }));
        }
        let size = (size_of::<Header>() + 8 * words.len()) as u16;
        let header = Header { kind: RecordType::LOST_SAMPLES, misc: Misc::empty(), size };
        self.write_plain(header.as_bytes())?;
        self.write_plain(words.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use perf_abi::{Attr, Software};
    use perf_decode::Record;

    use super::*;
    use crate::Reader;
    use crate::writer::{Features, RecordedEvent};

    /// Two events with ids at different offsets of the trailer, the second one without `IDENTIFIER`.
    fn events(fields: SampleType) -> [RecordedEvent; 2] {
        let event = |event, name| {
            let attr = Attr { sample_type: fields, ..Attr::software(event) };
            RecordedEvent::new(attr.with_flags(AttrFlags::SAMPLE_ID_ALL), name)
        };
        [
            event(Software::CPU_CLOCK, "cpu-clock").with_ids([7, 8]),
            event(Software::PAGE_FAULTS, "faults").with_ids([9]),
        ]
    }

    /// Returns the index of the event, the id and the count of each record, all of time 77.
    fn losses(bytes: &[u8]) -> Vec<(usize, Option<u64>, u64)> {
        let mut reader = Reader::from_bytes(bytes).unwrap();
        let mut losses = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            if record.kernel().is_none() {
                continue;
            }
            assert!(matches!(record.time(), Some(77) | None), "{record:?}");
            let (index, event) = record.event().unwrap();
            match record.decode().unwrap() {
                Record::LostSamples(lost) => {
                    losses.push((index, record.kernel().unwrap().id(event.layout()), lost.lost()));
                }
                other => panic!("{other:?}"),
            }
        }
        losses
    }

    fn write<W: Write>(mut writer: Writer<W>) -> W {
        writer.write_lost_samples(0, 8, 5, 77).unwrap();
        writer.write_lost_samples(0, 7, 0, 77).unwrap();
        writer.write_lost_samples(1, 9, u64::MAX, 77).unwrap();
        writer.finish(&Features::new()).unwrap()
    }

    #[test]
    fn losses_are_read_with_their_event_and_id() {
        let expected = [(0, Some(8), 5), (1, Some(9), u64::MAX)];
        for fields in [
            SampleType::IDENTIFIER | SampleType::TID | SampleType::TIME | SampleType::CPU,
            SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::STREAM_ID | SampleType::CPU,
            SampleType::ID,
        ] {
            let file = write(Writer::file(Cursor::new(Vec::new()), &events(fields)).unwrap());
            assert_eq!(losses(&file.into_inner()), expected, "{fields:?}");
            let pipe = write(Writer::pipe(Vec::new(), &events(fields), &Features::new()).unwrap());
            assert_eq!(losses(&pipe), expected, "{fields:?}");
        }
    }

    #[test]
    #[cfg(feature = "zstd")]
    fn losses_of_a_compressed_recording_are_read_with_their_event_and_id() {
        let events = events(SampleType::IDENTIFIER | SampleType::TIME);
        let writer = Writer::file(Cursor::new(Vec::new()), &events).unwrap().compressed().unwrap();
        assert_eq!(losses(&write(writer).into_inner()), [(0, Some(8), 5), (1, Some(9), u64::MAX)]);
    }

    #[test]
    fn losses_of_an_event_without_a_trailer_have_no_id() {
        let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock");
        let mut writer = Writer::pipe(Vec::new(), &[event], &Features::new()).unwrap();
        writer.write_lost_samples(0, 3, 5, 77).unwrap();
        assert_eq!(losses(&writer.finish(&Features::new()).unwrap()), [(0, None, 5)]);
    }

    #[test]
    fn losses_of_an_unknown_event_are_refused() {
        let mut writer = Writer::pipe(Vec::new(), &events(SampleType::IDENTIFIER), &Features::new()).unwrap();
        let refused = writer.write_lost_samples(2, 3, 5, 77);
        assert!(matches!(refused, Err(WriteError::NoEvent { event: 2, events: 2 })), "{refused:?}");
    }
}

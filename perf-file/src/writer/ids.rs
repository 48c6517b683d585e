use std::io::Write;

use super::event::attr_size;
use super::{Mode, WriteError, Writer, pipe};

impl<W: Write> Writer<W> {
    /// Adds ids of file descriptors that were opened during the recording to an event, such as for a CPU that came
    /// online. `event` is its index in the list with which the recording was started.
    ///
    /// Call it after a round and before the first record with one of these ids.
    ///
    /// [`Writer::finish`] of the file form writes all ids; a recording that was interrupted before lacks those that
    /// were added. Give it the events with all ids too ([`Features::set_events`](super::Features::set_events)). The
    /// pipe form has the ids at once, in a further event with the same attr and name.
    ///
    /// # Errors
    ///
    /// [`WriteError::NoEvent`] if the recording has no such event, and in the pipe form
    /// [`WriteError::RecordTooLong`] for more than some 8000 ids.
    pub fn add_ids(&mut self, event: usize, ids: &[u64]) -> Result<(), WriteError> {
        let (size, events) = (attr_size(&self.events), self.events.len());
        let Some(found) = self.events.get_mut(event) else {
            return Err(WriteError::NoEvent { event, events });
        };
        if ids.is_empty() {
            return Ok(());
        }
        if let Mode::Pipe { .. } = self.mode {
            return pipe::write_ids(&mut self.output, found, size, ids);
        }
        found.ids.extend_from_slice(ids);
        self.has_new_ids = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use perf_abi::{Attr, Header, Misc, Software};
    use zerocopy::IntoBytes;

    use super::*;
    use crate::feature::FeatureData;
    use crate::format::{Feature, record_type};
    use crate::writer::{Features, RecordedEvent};
    use crate::{PerfData, Reader, UserRecord};

    const RECORD: [u64; 2] = [
        zerocopy::transmute!(Header { kind: record_type::FINISHED_ROUND, misc: Misc::empty(), size: 16 }),
        0,
    ];

    fn events() -> [RecordedEvent; 2] {
        let event = |event, name| RecordedEvent::new(Attr::software(event), name);
        [
            event(Software::CPU_CLOCK, "cpu-clock").with_ids([7, 8]),
            event(Software::PAGE_FAULTS, "faults").with_ids([9]),
        ]
    }

    #[test]
    fn file_has_the_added_ids_after_its_features() {
        let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
        writer.write_records(RECORD.as_bytes()).unwrap();
        writer.add_ids(0, &[10]).unwrap();
        writer.add_ids(1, &[11, 12]).unwrap();
        let mut features = Features::new();
        features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(99));
        let bytes = writer.finish(&features).unwrap().into_inner();
        let file = PerfData::new(&bytes).unwrap();
        let ids: Vec<Vec<u64>> = file.attrs().map(|attr| attr.unwrap().ids().iter().collect()).collect();
        assert_eq!(ids, [vec![7, 8, 10], vec![9, 11, 12]]);
        assert_eq!(file.features().count(), 1);
        assert_eq!(file.frames().count(), 1);
        // The ids are the last part of the file.
        assert!(bytes.ends_with([7_u64, 8, 10, 9, 11, 12].as_bytes()));
    }

    #[test]
    fn file_without_added_ids_has_them_before_its_records_only() {
        let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
        writer.add_ids(0, &[]).unwrap();
        let bytes = writer.finish(&Features::new()).unwrap().into_inner();
        assert_eq!(bytes.len(), 104 + 3 * 8 + 2 * 128);
    }

    #[test]
    fn pipe_has_the_added_ids_in_a_further_event_of_the_same_name() {
        let mut writer = Writer::pipe(Vec::new(), &events(), &Features::new()).unwrap();
        writer.add_ids(1, &[11]).unwrap();
        let bytes = writer.finish(&Features::new()).unwrap();
        let mut reader = Reader::from_bytes(&bytes).unwrap();
        let mut names = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            if let UserRecord::EventUpdate(update) = record.user().unwrap() {
                names.push(format!("{} {:?}", update.id, update.update));
            }
        }
        let name = |id: u64, name: &[u8]| format!("{id} Name({name:?})");
        assert_eq!(names, [name(7, b"cpu-clock"), name(9, b"faults"), name(11, b"faults")]);
        let events = reader.events().as_slice();
        assert_eq!(events.len(), 3);
        assert!(events.iter().map(|event| event.name().unwrap()).eq([
            &b"cpu-clock"[..],
            b"faults",
            b"faults"
        ]));
        assert_eq!((events[2].ids(), events[2].attr()), (&[11][..], events[1].attr()));
    }

    #[test]
    fn unknown_event_is_an_error() {
        let mut writer = Writer::file(Cursor::new(Vec::new()), &events()).unwrap();
        let error = writer.add_ids(2, &[1]).unwrap_err();
        assert_eq!(error.to_string(), "expected the index of one of 2 events, found 2");
    }
}

//! The built-in recording, which is replayed if live sampling is not possible.

use std::io;

use perf_decode::{Record, Value};
use perf_file::{Memory, Reader};
use perf_profile::{Event, Profile};
use perf_symbols::FileFinder;

use super::functions;
use super::stopwatch::Stopwatch;
use super::tally::Tally;
use crate::recording::event_name;

/// A recording of the workload: all threads on two CPUs, with the mappings of each process.
const RECORDING: &[u8] = include_bytes!("../../data/demo.data");

/// The built-in recording, opened.
pub(crate) struct Recording(Reader<Memory<'static>>);

/// Opens the recording.
pub(crate) fn open() -> io::Result<Recording> {
    Reader::from_bytes(RECORDING).map(Recording).map_err(io::Error::other)
}

impl Recording {
    /// The recording as a file.
    pub(crate) const BYTES: &[u8] = RECORDING;

    /// Its size in bytes.
    pub(crate) const SIZE: u64 = RECORDING.len() as u64;

    /// Iterates over the names of its events.
    pub(crate) fn events(&self) -> impl Iterator<Item = String> {
        self.0
            .events()
            .as_slice()
            .iter()
            .filter_map(|event| event.name().map(|name| Value::Text(name).to_string()))
    }

    /// Names the addresses of the samples: by the files that this machine has in the same version, and by no others.
    pub(crate) fn profile() -> io::Result<Profile> {
        let reader = open()?.0;
        let mut collector = functions::collector(FileFinder::remote())?;
        let events = reader.events().as_slice().iter();
        let events: Vec<_> =
            events.map(|event| collector.event(Event::new(event_name(event), event.attr()))).collect();
        let mut records = reader.sorted();
        while let Some(record) = records.next().map_err(io::Error::other)? {
            let Some(raw) = record.kernel() else { continue };
            let (index, event) = record.event().map_err(io::Error::other)?;
            let decoded = raw.decode(event.layout()).map_err(io::Error::other)?;
            collector.update(&decoded);
            if let (Record::Sample(sample), Some(&event)) = (&decoded, events.get(index)) {
                collector.add(event, sample);
            }
        }
        Ok(collector.finish())
    }

    /// Counts all kernel records in the order of time.
    pub(crate) fn replay(self, tally: &mut Tally) -> io::Result<()> {
        let start = Stopwatch::start();
        let mut records = self.0.sorted();
        while let Some(record) = records.next().map_err(io::Error::other)? {
            if let Some(raw) = record.kernel() {
                let (_, event) = record.event().map_err(io::Error::other)?;
                tally.record(raw, raw.decode(event.layout()));
            }
        }
        tally.late = records.late();
        tally.spent += start.elapsed();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::RecordType;

    use super::super::tally::Spot;
    use super::*;

    #[test]
    fn every_record_of_the_recording_decodes() {
        let mut tally = Tally::default();
        open().unwrap().replay(&mut tally).unwrap();
        assert_eq!((tally.damaged, tally.lost, tally.late), (0, 0, 0), "{:?}", tally.first_damage);
        let kinds =
            [RecordType::SAMPLE, RecordType::MMAP2, RecordType::COMM, RecordType::FORK, RecordType::EXIT];
        assert_eq!(kinds.map(|kind| tally.records(kind)), [562, 30, 14, 8, 9]);
        assert_eq!(tally.total().records, 624);
    }

    #[test]
    fn every_sample_of_user_space_is_in_a_mapped_file() {
        let mut tally = Tally::default();
        open().unwrap().replay(&mut tally).unwrap();
        assert!(!tally.hot.keys().any(|spot| matches!(spot, Spot::Unmapped(_))));
        let mapped = tally.hot.keys().filter(|spot| matches!(spot, Spot::Mapped(_))).count();
        assert!(mapped > 50, "{mapped}");
    }
}

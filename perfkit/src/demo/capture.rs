//! The built-in recording, which is replayed if live sampling is not possible.

use std::io;

use perf_decode::Value;
use perf_file::{Memory, Reader};

use super::stopwatch::Stopwatch;
use super::tally::Tally;

/// A recording of the workload: all threads on two CPUs, with the mappings of each process.
const RECORDING: &[u8] = include_bytes!("../../data/demo.data");

/// The built-in recording, opened.
pub(crate) struct Recording(Reader<Memory<'static>>);

/// Opens the recording.
pub(crate) fn open() -> io::Result<Recording> {
    Reader::from_bytes(RECORDING).map(Recording).map_err(io::Error::other)
}

impl Recording {
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

//! The built-in capture, which is replayed if live sampling is not possible.

use std::io;

use perf_decode::testing::capture::{Capture, Event, Mode};
use perf_decode::{Layouts, SampleLayout, Scratch, Window};

use super::stopwatch::Stopwatch;
use super::tally::Tally;

/// Four events with different fields in one small ring, saved at five moments.
const CAPTURE: &[u8] = include_bytes!("../../data/ring-multi-0.bin");

/// Parses the capture.
pub(crate) fn load() -> io::Result<Capture> {
    let file = Capture::parse(CAPTURE).map_err(io::Error::other)?;
    if file.mode == Mode::Forward {
        Ok(file)
    } else {
        Err(io::Error::other(format!("capture: expected a consumed ring, found {:?}", file.mode)))
    }
}

/// Reads all records of all snapshots, in the order in which they were written.
pub(crate) fn decode(file: &Capture, tally: &mut Tally) -> io::Result<()> {
    let layout = |event: &Event| (event.id, SampleLayout::new(&event.attr));
    let mut table: Vec<_> = file.events.iter().map(layout).collect();
    let layouts = Layouts::new(&mut table).map_err(io::Error::other)?;
    let mut scratch = Scratch::new();
    let start = Stopwatch::start();
    for snapshot in &file.snapshots {
        let window = Window::new(&snapshot.data, snapshot.tail, snapshot.head).map_err(io::Error::other)?;
        for record in window.records(&mut scratch) {
            match record {
                Ok(raw) => tally.record(raw, layouts.find(raw).and_then(|layout| raw.decode(layout))),
                Err(error) => tally.damage(error),
            }
        }
    }
    tally.spent += start.elapsed();
    Ok(())
}

#[cfg(test)]
mod tests {
    use perf_abi::RecordType;

    use super::*;

    #[test]
    fn every_record_of_the_capture_decodes() {
        let mut tally = Tally::default();
        decode(&load().unwrap(), &mut tally).unwrap();
        assert_eq!((tally.damaged, tally.lost), (0, 0), "{:?}", tally.first_damage);
        let kinds =
            [RecordType::COMM, RecordType::FORK, RecordType::SAMPLE, RecordType::MMAP2, RecordType::SWITCH];
        assert_eq!(kinds.map(|kind| tally.records(kind)), [5, 5, 87, 20, 20]);
        assert_eq!(tally.total().records, 137);
    }
}

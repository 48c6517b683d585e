//! The records of a captured ring, and the event of each.

use perf_abi::SampleType;
use perf_decode::testing::capture::{Capture, Mode, Snapshot};
use perf_decode::{BackwardRecords, Error, Layouts, RawRecord, SampleLayout, Scratch, Window};

/// Returns the index of the event that wrote `record`, by its id.
pub(crate) fn event_of(capture: &Capture, record: RawRecord<'_>) -> usize {
    if capture.events.len() == 1 {
        return 0;
    }
    // A sibling that only counts does not write into the ring.
    let writers =
        capture.events.iter().filter(|event| event.attr.sample_type.contains(SampleType::IDENTIFIER));
    let mut table: Vec<_> = writers.map(|event| (event.id, SampleLayout::new(&event.attr))).collect();
    let layouts = Layouts::new(&mut table).expect("events of a ring that agree on their ids");
    let layout = layouts.find(record).expect("an id of the ring");
    let id = record.id(layout).unwrap();
    let index = capture.events.iter().position(|event| event.id == id).unwrap();
    assert_eq!(*layout, SampleLayout::new(&capture.events[index].attr));
    index
}

/// The records of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct Framed<'a> {
    /// Each with its position.
    pub(crate) records: Vec<(u64, RawRecord<'a>)>,
    /// Bytes from the first record to the end of the last.
    pub(crate) len: u64,
    /// Remaining bytes after the last complete record.
    pub(crate) cut: u64,
}

/// Frames the records, which must all be well-formed.
pub(crate) fn framed<'a>(snapshot: &'a Snapshot, mode: Mode, scratch: &'a mut Scratch) -> Framed<'a> {
    let Snapshot { head, tail, ref data, .. } = *snapshot;
    let size = snapshot.size as u64;
    let mut framed = Framed::default();
    match mode {
        Mode::Forward => {
            let mut records = Window::new(data, tail, head).unwrap().records(scratch);
            while let Some(record) = records.next() {
                framed.records.push((tail + framed.len, record.unwrap()));
                framed.len = records.position();
            }
            assert_eq!(tail + framed.len, head);
        }
        Mode::Backward => {
            let mut records = BackwardRecords::new(data, head, scratch).unwrap();
            while let Some(record) = records.next() {
                framed.records.push((head.wrapping_add(framed.len), record.unwrap()));
                framed.len = records.position();
            }
            framed.cut = records.truncated_len();
            let written = head.wrapping_neg();
            assert_eq!(framed.len + framed.cut, written.min(size));
        }
        Mode::Overwritten => {
            let overrun = Error::Overrun { tail, head, size };
            assert_eq!(Window::new(data, tail, head), Err(overrun));
        }
    }
    framed
}

//! Saved rings: snapshots of a mapping, with the attrs of the events that wrote into it.
//!
//! All little-endian:
//!
//! | part | content |
//! |---|---|
//! | header | `"PERFRNG1"`; `u32`: version 1, page size, data pages, flags, events, snapshots, 0, 0 |
//! | each event | `u64` id; `i32` pid, cpu, group; `u32` open flags, attr length, name length; attr; name |
//! | each snapshot | `u32` kind, control length; `u64` head, tail, data offset, data size; control page; data |
//! | each event | `u32` length, event index; the words of read(2) |

use perf_abi::{Attr, SampleType};
use perf_decode::{BackwardRecords, Error, Layouts, RawRecord, SampleLayout, Scratch, Window};

use super::reader::{Reader, attr, words};

/// How the ring was mapped and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Forward; the reader moved the tail.
    Forward,
    /// `write_backward`.
    Backward,
    /// Forward, without a reader's tail, so the first record is unknown once the ring has wrapped.
    ForwardOverwritten,
}

#[derive(Debug)]
pub(crate) struct RingFile {
    pub(crate) mode: Mode,
    pub(crate) events: Vec<Event>,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) reads: Vec<Read>,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: u64,
    pub(crate) attr: Attr,
}

#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) head: u64,
    pub(crate) tail: u64,
    pub(crate) data: Vec<u64>,
}

/// The words that read(2) on an event returned.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) event: usize,
    pub(crate) words: Vec<u64>,
}

impl RingFile {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut file = Reader(bytes);
        let magic = file.take(8_usize)?;
        let [version, _page_size, _data_pages, flags, events, snapshots, _, _] = u32s(&mut file)?;
        if magic != b"PERFRNG1" || version != 1 {
            return None;
        }
        let mode = *[Mode::Forward, Mode::Backward, Mode::ForwardOverwritten].get(flags as usize)?;
        Some(Self {
            mode,
            events: (0..events).map(|_| event(&mut file)).collect::<Option<_>>()?,
            snapshots: (0..snapshots).map(|_| snapshot(&mut file)).collect::<Option<_>>()?,
            reads: (0..events).map(|_| read(&mut file)).collect::<Option<_>>()?,
        })
    }

    /// Returns the index of the event that wrote `record`, by its id.
    pub(crate) fn event_of(&self, record: RawRecord<'_>) -> usize {
        if self.events.len() == 1 {
            return 0;
        }
        // A sibling that only counts does not write into the ring.
        let writers =
            self.events.iter().filter(|event| event.attr.sample_type.contains(SampleType::IDENTIFIER));
        let mut table: Vec<_> = writers.map(|event| (event.id, SampleLayout::new(&event.attr))).collect();
        let layouts = Layouts::new(&mut table).expect("events of a ring that agree on their ids");
        let layout = layouts.find(record).expect("an id of the ring");
        let id = record.id(layout).unwrap();
        let index = self.events.iter().position(|event| event.id == id).unwrap();
        assert_eq!(*layout, SampleLayout::new(&self.events[index].attr));
        index
    }
}

/// The records of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct Framed<'a> {
    /// Each with its position.
    pub(crate) records: Vec<(u64, RawRecord<'a>)>,
    /// Bytes from the first record to the end of the last.
    pub(crate) len: u64,
    /// Bytes that remain of the record after the last whole one.
    pub(crate) cut: u64,
}

impl Snapshot {
    /// Returns the length of the data area in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.data.len() as u64 * 8
    }

    /// Frames the records, all of which must be sound.
    pub(crate) fn framed<'a>(&'a self, mode: Mode, scratch: &'a mut Scratch) -> Framed<'a> {
        let Self { head, tail, ref data } = *self;
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
                assert_eq!(framed.len + framed.cut, written.min(self.size()));
            }
            Mode::ForwardOverwritten => {
                let overrun = Error::Overrun { tail, head, size: self.size() };
                assert_eq!(Window::new(data, tail, head), Err(overrun));
            }
        }
        framed
    }
}

fn u32s<const N: usize>(file: &mut Reader<'_>) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = file.u32()?;
    }
    Some(numbers)
}

fn event(file: &mut Reader<'_>) -> Option<Event> {
    let id = file.u64()?;
    let [_pid, _cpu, _group, _open_flags, attr_len, name_len] = u32s(file)?;
    let attr = attr(file.take(attr_len)?)?;
    file.take(name_len)?;
    Some(Event { id, attr })
}

fn snapshot(file: &mut Reader<'_>) -> Option<Snapshot> {
    let [_kind, control_len] = u32s(file)?;
    let [head, tail, _data_offset, data_size] = [file.u64()?, file.u64()?, file.u64()?, file.u64()?];
    file.take(control_len)?;
    Some(Snapshot { head, tail, data: words(file.take(data_size)?) })
}

fn read(file: &mut Reader<'_>) -> Option<Read> {
    let [len, event] = u32s(file)?;
    Some(Read { event: event as usize, words: words(file.take(len)?) })
}

//! All records of the kernel in the captures of `tests/data`.

use perf_abi::Attr;
use perf_decode::testing::capture::Capture;
use perf_decode::{RawRecord, Scratch};

use super::data;
use super::file_layouts::FileLayouts;
use super::framed::{event_of, framed};
use super::perf_data::PerfData;

/// A record, and the attr of its event.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) attr: Attr,
    pub(crate) words: Vec<u64>,
}

/// Returns the records of all rings and all files.
pub(crate) fn captured() -> Vec<Captured> {
    let rings = data::stems(".bin").into_iter().flat_map(|name| in_ring(&name));
    let files = data::stems(".data").into_iter().flat_map(|name| in_file(&name));
    rings.chain(files).collect()
}

fn in_ring(name: &str) -> Vec<Captured> {
    let file = Capture::parse(&data::bytes(&format!("{name}.bin"))).expect(name);
    let mut scratch = Scratch::new();
    let mut found = Vec::new();
    for snapshot in &file.snapshots {
        for (_, record) in framed(snapshot, file.mode, &mut scratch).records {
            let attr = file.events[event_of(&file, record)].attr;
            found.push(Captured { attr, words: record.words().to_vec() });
        }
    }
    found
}

fn in_file(name: &str) -> Vec<Captured> {
    let file = PerfData::parse(&data::bytes(&format!("{name}.data"))).expect(name);
    let layouts = FileLayouts::new(&file.events);
    let of_kernel = file.records.into_iter().filter(|record| !record.is_user());
    of_kernel
        .map(|record| {
            let event = layouts.find(RawRecord::from_words(&record.words).unwrap());
            Captured { attr: file.events[event].attr, words: record.words }
        })
        .collect()
}

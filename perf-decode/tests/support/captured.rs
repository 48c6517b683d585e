//! All records of the kernel in the captures of `tests/data`.

use perf_abi::Attr;
use perf_decode::Scratch;
use perf_decode::testing::capture::Capture;
use perf_file::Reader;

use super::data;
use super::framed::{event_of, framed};

/// A record, and the attr of its event.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) attr: Attr,
    pub(crate) words: Vec<u64>,
}

/// Returns the records of all rings, and of all files but the compressed one.
pub(crate) fn captured() -> Vec<Captured> {
    let rings = data::stems(".bin").into_iter().flat_map(|name| in_ring(&name));
    let files =
        data::stems(".data").into_iter().filter(|name| name != "zstd").flat_map(|name| in_file(&name));
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

/// Returns the records of a file that `perf-file`, whose tests compare it with the oracle, reads.
/// It is built without the feature `zstd`, which needs a C compiler for the target.
fn in_file(name: &str) -> Vec<Captured> {
    let file = data::bytes(&format!("{name}.data"));
    let mut reader = Reader::from_bytes(&file).expect(name);
    let mut found = Vec::new();
    while let Some(record) = reader.next().expect(name) {
        if let Some(raw) = record.kernel() {
            let (_, event) = record.event().expect(name);
            found.push(Captured { attr: event.attr, words: raw.words().to_vec() });
        }
    }
    found
}

//! Ring files built by tests, in the format that `perf_decode::testing::capture` describes.

use perf_abi::Attr;
use perf_decode::testing::builder::{self, STALE};
use zerocopy::IntoBytes;

/// A file under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingFile {
    mode: u32,
    events: Parts,
    snapshots: Parts,
}

#[derive(Clone, Debug, Default)]
struct Parts {
    count: u32,
    bytes: Vec<u8>,
}

impl RingFile {
    /// A forward ring that was consumed.
    pub(crate) fn forward() -> Self {
        Self::default()
    }

    /// A ring of events with `write_backward`.
    pub(crate) fn backward() -> Self {
        Self { mode: 1, ..Self::default() }
    }

    /// A forward ring that was not consumed, so that the kernel overwrote it.
    pub(crate) fn overwritten() -> Self {
        Self { mode: 2, ..Self::default() }
    }

    /// Adds an event.
    pub(crate) fn event(self, id: u64, attr: &Attr) -> Self {
        self.event_of_bytes(id, attr.as_bytes())
    }

    /// Adds an event with these bytes as its attr.
    pub(crate) fn event_of_bytes(mut self, id: u64, attr: &[u8]) -> Self {
        let Parts { count, bytes } = &mut self.events;
        *count += 1;
        u64s(bytes, &[id]);
        // pid, cpu, group, open flags, length of the attr, length of the name.
        u32s(bytes, &[1, u32::MAX, u32::MAX, 0, attr.len() as u32, 8]);
        bytes.extend(attr);
        bytes.extend(b"made\0\0\0\0");
        self
    }

    /// Adds a snapshot of a data area of `words` words with these records, the first at position
    /// `tail`.
    pub(crate) fn records(self, records: &[Vec<u64>], words: usize, tail: u64) -> Self {
        let (data, tail, head) = builder::ring(records, words, tail);
        self.snapshot(tail, head, &data)
    }

    /// Adds a snapshot of a data area.
    pub(crate) fn snapshot(mut self, tail: u64, head: u64, data: &[u64]) -> Self {
        let Parts { count, bytes } = &mut self.snapshots;
        *count += 1;
        // Kind, length of the control page.
        u32s(bytes, &[self.mode & 1, 1088]);
        u64s(bytes, &[head, tail, 4096, data.len() as u64 * 8]);
        bytes.extend([0; 1088]);
        u64s(bytes, data);
        self
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        let mut file = b"PERFRNG1".to_vec();
        // Version, page size, data pages, mode, events, snapshots, two reserved words.
        u32s(&mut file, &[1, 4096, 1, self.mode, self.events.count, self.snapshots.count, 0, 0]);
        file.extend(self.events.bytes);
        file.extend(self.snapshots.bytes);
        for event in 0..self.events.count {
            // Length, event, a count of 0.
            u32s(&mut file, &[8, event, 0, 0]);
        }
        file
    }
}

/// A ring with `write_backward`.
#[derive(Debug)]
pub(crate) struct BackwardRing {
    pub(crate) data: Vec<u64>,
    pub(crate) head: u64,
}

impl BackwardRing {
    pub(crate) fn new(words: usize) -> Self {
        Self { data: vec![STALE; words], head: 0 }
    }

    /// Builds a ring of `words` words and writes these records, oldest first.
    pub(crate) fn from_records(records: &[Vec<u64>], words: usize) -> Self {
        let mut ring = Self::new(words);
        for record in records {
            ring.write(record);
        }
        ring
    }

    /// Writes a record before the previous one.
    pub(crate) fn write(&mut self, record: &[u64]) {
        self.head = self.head.wrapping_sub(record.len() as u64 * 8);
        let (start, words) = ((self.head / 8) as usize, self.data.len());
        for (index, word) in record.iter().enumerate() {
            *self.data.get_mut(start.wrapping_add(index) % words).unwrap() = *word;
        }
    }
}

fn u32s(file: &mut Vec<u8>, numbers: &[u32]) {
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn u64s(file: &mut Vec<u8>, numbers: &[u64]) {
    file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

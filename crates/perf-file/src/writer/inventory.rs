//! Counts of what is written.

use std::collections::BTreeMap;

use perf_abi::{Attr, RecordType};
use perf_decode::{LostCounts, MappedFile, RawRecord, Record, SampleLayout, Window};

/// Words of the longest record.
const MAX_RECORD: usize = 65536 / 8;

/// A count of what was written: records by kind, losses, the time of the samples and the mapped
/// files.
///
/// All records are framed, and only losses and mappings are decoded.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_decode::Window;
/// use perf_file::writer::Inventory;
///
/// let mut inventory = Inventory::new(&Attr::software(Software::CPU_CLOCK));
/// # let unread = Window::from_slices(&[], &[]);
/// inventory.note(unread); // beside Writer::write_window
/// println!("{} samples, {}", inventory.samples, inventory.lost);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Inventory {
    /// Number of samples.
    pub samples: u64,
    /// Number of other records by kind.
    pub kinds: BTreeMap<RecordType, u64>,
    /// Number of bytes of all windows.
    pub bytes: u64,
    /// Number of malformed bytes: from the first malformed record of a window to its end. They are
    /// copied through unchanged.
    pub malformed: u64,
    /// Records and samples that were lost, by the `LOST` and `LOST_SAMPLES` records.
    pub lost: LostCounts,
    /// Times of the first and the last sample, in ns of the events' clock. These are the least and
    /// the greatest time: rings are read one after the other, so samples are not in order.
    pub sample_times: Option<(u64, u64)>,
    /// The mapped files by path, with the build ids that records had.
    pub files: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    layout: SampleLayout,
    /// For the record that wraps at the end of a ring.
    scratch: Vec<u64>,
}

impl Inventory {
    /// Starts with nothing. `attr` is the attr of any of the events. All events must have the time
    /// at the same place in their records, as with [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER)
    /// and the same fields up to `TIME`.
    pub fn new(attr: &Attr) -> Self {
        Self {
            samples: 0,
            kinds: BTreeMap::new(),
            bytes: 0,
            malformed: 0,
            lost: LostCounts::default(),
            sample_times: None,
            files: BTreeMap::new(),
            layout: SampleLayout::new(attr),
            scratch: vec![0; MAX_RECORD],
        }
    }

    /// Counts the unread part of a ring, which was written.
    pub fn note(&mut self, window: Window<'_>) {
        self.note_with(window, |_| {});
    }

    /// Counts as [`note`](Self::note) does, and calls `f` with each record, not decoded: for
    /// further counts without a second pass over the records.
    pub fn note_with(&mut self, window: Window<'_>, mut f: impl FnMut(RawRecord<'_>)) {
        self.bytes += window.len() as u64;
        // Moved out, because its records borrow it while they are counted.
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut records = window.records(&mut scratch);
        for record in &mut records {
            match record {
                Ok(record) => {
                    self.note_record(record);
                    f(record);
                }
                // Nobody knows where the next record starts.
                Err(_) => break,
            }
        }
        self.malformed += window.len() as u64 - records.position();
        self.scratch = scratch;
    }

    fn note_record(&mut self, record: RawRecord<'_>) {
        if record.kind() == RecordType::SAMPLE {
            self.samples += 1;
            if let Some(time) = record.time(&self.layout) {
                let (first, last) = self.sample_times.unwrap_or((time, time));
                self.sample_times = Some((first.min(time), last.max(time)));
            }
        } else {
            self.note_side_band(record);
        }
    }

    fn note_side_band(&mut self, record: RawRecord<'_>) {
        *self.kinds.entry(record.kind()).or_default() += 1;
        // Only these have something to add, and decoding costs more than counting.
        let kinds = [RecordType::LOST, RecordType::LOST_SAMPLES, RecordType::MMAP, RecordType::MMAP2];
        if !kinds.contains(&record.kind()) {
            return;
        }
        // A record that cannot be decoded is counted above, and is in the recording.
        let Ok(record) = record.decode(&self.layout) else { return };
        self.lost.note(&record);
        match record {
            Record::Mmap(mmap) => self.note_file(mmap.filename(), None),
            Record::Mmap2(mmap) => match mmap.file() {
                MappedFile::BuildId(id) => self.note_file(mmap.filename(), Some(id)),
                MappedFile::Inode { .. } => self.note_file(mmap.filename(), None),
            },
            _ => {}
        }
    }

    fn note_file(&mut self, path: &[u8], build_id: Option<&[u8]>) {
        // Most paths are known, because each process maps the same libraries. `entry` would copy
        // them first.
        if !self.files.contains_key(path) {
            self.files.insert(path.to_vec(), build_id.map(<[u8]>::to_vec));
        }
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{AttrFlags, Header, Misc, SampleType, Software};
    use perf_decode::testing::builder::{RecordBuilder, SampleBuilder, SampleIdValues};

    use super::*;

    fn attr() -> Attr {
        Attr::software(Software::CPU_CLOCK)
            .with_sample_type(SampleType::IP | SampleType::TIME)
            .with_flags(AttrFlags::SAMPLE_ID_ALL | AttrFlags::BUILD_ID)
    }

    fn sample(time: u64) -> Vec<u64> {
        SampleBuilder::new(&attr()).ip(1).time(time).finish()
    }

    #[test]
    fn samples_and_their_times_are_counted_over_the_seam() {
        let words = [sample(7), sample(3), sample(5)].concat();
        let mut inventory = Inventory::new(&attr());
        let (first, second) = words.split_at(4);
        inventory.note(Window::from_slices(first, second));
        assert_eq!((inventory.samples, inventory.kinds.len()), (3, 0));
        assert_eq!(inventory.sample_times, Some((3, 7)));
        assert_eq!((inventory.bytes, inventory.malformed), (words.len() as u64 * 8, 0));
    }

    #[test]
    fn losses_are_summed() {
        let header =
            |kind, words: u16| zerocopy::transmute!(Header { kind, misc: Misc::empty(), size: words * 8 });
        let lost: [u64; 4] = [header(RecordType::LOST, 4), 0, 9, 0]; // id, lost, time
        let samples: [u64; 3] = [header(RecordType::LOST_SAMPLES, 3), 4, 0]; // lost, time
        let mut inventory = Inventory::new(&attr());
        for _ in 0..2 {
            inventory.note(Window::from_slices(&lost, &samples));
        }
        assert_eq!(inventory.lost, LostCounts::new(18, 8));
        let kinds = [(RecordType::LOST, 2), (RecordType::LOST_SAMPLES, 2)];
        assert_eq!((inventory.kinds, inventory.sample_times), (kinds.into(), None));
    }

    #[test]
    fn mapped_files_have_the_build_ids_of_their_records() {
        let mmap2 = |misc, file: [u64; 3], path| {
            // pid and tid, addr, len, pgoff; build id, or device and inode; prot and flags;
            // filename
            let start = RecordBuilder::new(RecordType::MMAP2, misc).words(&[0; 4]).words(&file);
            start.pair(5, 2).string(path).with_trailer(&attr(), &SampleIdValues::default()).finish()
        };
        let mut build_id = [1_u8; 24];
        build_id[..4].copy_from_slice(&[20, 0, 0, 0]);
        let words = [
            mmap2(Misc::MMAP_BUILD_ID, zerocopy::transmute!(build_id), b"/a"),
            mmap2(Misc::empty(), [0; 3], b"/b"),
        ]
        .concat();
        let mut inventory = Inventory::new(&attr());
        inventory.note(Window::from_slices(&words, &[]));
        assert_eq!(inventory.files, [(b"/a".to_vec(), Some(vec![1; 20])), (b"/b".to_vec(), None)].into());
    }

    #[test]
    fn bytes_that_are_no_records_are_counted() {
        let words = [sample(1), vec![0, 0]].concat();
        let mut inventory = Inventory::new(&attr());
        inventory.note(Window::from_slices(&words, &[]));
        assert_eq!((inventory.samples, inventory.malformed), (1, 16));
    }

    #[test]
    fn each_record_is_passed_on_in_order() {
        let words = [sample(7), sample(3)].concat();
        let layout = SampleLayout::new(&attr());
        let mut times = Vec::new();
        Inventory::new(&attr())
            .note_with(Window::from_slices(&words, &[]), |record| times.extend(record.time(&layout)));
        assert_eq!(times, [7, 3]);
    }
}

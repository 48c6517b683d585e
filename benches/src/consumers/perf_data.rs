//! Readers of a `perf.data` file, in file order and in time order, from memory and from a file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use perf_decode::{Record, SampleLayout, Window};
use perf_file::{FileRecord, PerfData, Reader, Source};
use zerocopy::IntoBytes;

use crate::Result;
use crate::workloads::perf_data::attr;

/// Reads all samples, from the words of a file or from the file itself.
pub type Read = fn(&[u64], &Path) -> Result<Sum>;

/// The readers. The first only decodes the records.
pub const READERS: [(&str, Read); 7] = [
    ("decoder", |words, _| decoder(words)),
    ("frames", |words, _| frames(words.as_bytes())),
    ("memory", |words, _| sum(Reader::from_bytes(words.as_bytes())?)),
    ("file", |_, path| sum(Reader::open(path)?)),
    ("sorted-memory", |words, _| sum(Reader::from_bytes(words.as_bytes())?.sorted())),
    ("sorted-file", |_, path| sum(Reader::open(path)?.sorted())),
    ("linux-perf-data", |_, path| linux_perf_data(path)),
];

/// Number of samples, and the sum of their addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub value: u64,
}

impl Sum {
    fn add(&mut self, ip: Option<u64>, frames: impl Iterator<Item = u64>) {
        self.count += 1;
        self.value = frames.fold(self.value.wrapping_add(ip.unwrap_or(0)), u64::wrapping_add);
    }

    fn add_decoded(&mut self, record: &Record<'_>) {
        if let Record::Sample(sample) = record {
            let frames = sample.callchain().map_or(&[][..], |chain| chain.words());
            self.add(sample.ip(), frames.iter().copied());
        }
    }

    fn add_record(&mut self, record: &FileRecord<'_>) -> Result<()> {
        if record.kernel().is_some() {
            self.add_decoded(&record.decode()?);
        }
        Ok(())
    }
}

fn decoder(words: &[u64]) -> Result<Sum> {
    let layout = SampleLayout::new(&attr());
    let mut sum = Sum::default();
    // The file's header has the offset and the length of the records.
    let (start, len) = (words[5] as usize / 8, words[6] as usize / 8);
    for record in Window::from_slices(&words[start..start + len], &[]).records(&mut []) {
        let record = record?;
        if record.kind().0 < 64 {
            sum.add_decoded(&record.decode(&layout)?);
        }
    }
    Ok(sum)
}

fn frames(bytes: &[u8]) -> Result<Sum> {
    let layout = SampleLayout::new(&attr());
    let mut sum = Sum::default();
    for frame in PerfData::new(bytes)?.frames() {
        if let Some(raw) = frame?.raw() {
            sum.add_decoded(&raw.decode(&layout)?);
        }
    }
    Ok(sum)
}

fn sum<S: Source>(mut reader: Reader<S>) -> Result<Sum> {
    let mut sum = Sum::default();
    while let Some(record) = reader.next()? {
        sum.add_record(&record)?;
    }
    Ok(sum)
}

fn linux_perf_data(path: &Path) -> Result<Sum> {
    use linux_perf_data::linux_perf_event_reader::EventRecord;
    use linux_perf_data::{PerfFileReader, PerfFileRecord};
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(BufReader::new(File::open(path)?))?;
    let mut sum = Sum::default();
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        if let PerfFileRecord::EventRecord { record, .. } = record
            && let EventRecord::Sample(sample) = record.parse()?
        {
            let chain = sample.callchain;
            let frames = (0..chain.map_or(0, |chain| chain.len()))
                .filter_map(|index| chain.and_then(|chain| chain.get(index)));
            sum.add(sample.ip, frames);
        }
    }
    Ok(sum)
}

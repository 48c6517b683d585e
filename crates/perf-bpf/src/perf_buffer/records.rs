//! The unread records of one CPU.

use core::iter::FusedIterator;

use perf_ring::abi::RecordType;
use perf_ring::decode::Error;
use perf_ring::{Batch, BatchRecords, RawRecord, Record, Sample, SampleLayout, SampleType};

use super::counts::{CpuRing, PerfBufferCounts};

/// The unread records of the ring of one CPU. Dropping it releases those that were consumed.
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct PerfBufferBatch<'r> {
    batch: Batch<'r>,
    cpu: u32,
    counts: &'r mut PerfBufferCounts,
    format: &'r Format,
}

impl<'r> PerfBufferBatch<'r> {
    pub(super) fn new(batch: Batch<'r>, cpu: &'r mut CpuRing, format: &'r Format) -> Self {
        Self { batch, cpu: cpu.cpu, counts: &mut cpu.counts, format }
    }

    /// Returns the CPU on which the programs ran.
    pub const fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Iterates over the records that were not consumed yet, oldest first, and counts them. All of
    /// them may be held at the same time.
    #[inline]
    pub fn outputs(&mut self) -> PerfBufferRecords<'_> {
        PerfBufferRecords {
            records: self.batch.records(),
            samples: 0,
            counts: self.counts,
            format: self.format,
        }
    }

    /// Returns the batch, for reading by the functions of perf-ring. Its records are not counted.
    pub const fn records(&mut self) -> &mut Batch<'r> {
        &mut self.batch
    }
}

/// The records of an [`PerfBufferBatch`], oldest first. The iterator consumes each record that it
/// returns.
///
/// A malformed record is an `Err` and is counted as damaged.
#[derive(Debug)]
pub struct PerfBufferRecords<'b> {
    records: BatchRecords<'b>,
    /// Samples that are not in `counts` yet, so that a loop keeps their number in a register.
    samples: u64,
    counts: &'b mut PerfBufferCounts,
    format: &'b Format,
}

impl<'b> Iterator for PerfBufferRecords<'b> {
    type Item = Result<PerfBufferRecord<'b>, Error>;

    #[inline(always)] // the loop over samples then has no call and keeps them in registers; benches `bpf`
    fn next(&mut self) -> Option<Self::Item> {
        // No call below gets a reference to `self`, which would keep the iterator in memory.
        let format = self.format;
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(damaged(self.counts, error))),
        };
        if let Some(bytes) = format.raw_only(record) {
            self.samples += 1;
            return Some(Ok(PerfBufferRecord::Sample(format.sample(record, bytes))));
        }
        // Pass fields, because the value itself is returned in memory.
        Some(match format.decode(self.counts, record.words()) {
            Ok(PerfBufferRecord::Sample(PerfBufferSample { bytes, record, layout })) => {
                Ok(PerfBufferRecord::Sample(PerfBufferSample { bytes, record, layout }))
            }
            Ok(PerfBufferRecord::Lost(records)) => Ok(PerfBufferRecord::Lost(records)),
            Ok(PerfBufferRecord::Other(record)) => Ok(PerfBufferRecord::Other(record)),
            Err(error) => Err(error),
        })
    }
}

impl FusedIterator for PerfBufferRecords<'_> {}

impl Drop for PerfBufferRecords<'_> {
    #[inline]
    fn drop(&mut self) {
        self.counts.samples += self.samples;
    }
}

/// One record of a ring.
#[derive(Clone, Copy, Debug)]
pub enum PerfBufferRecord<'b> {
    /// A sample: the bytes that a program has written.
    Sample(PerfBufferSample<'b>),
    /// The number of records that were lost before this one because the ring was full.
    Lost(u64),
    /// A record of another kind, which is counted as unknown.
    Other(RawRecord<'b>),
}

/// The bytes that a program has written, borrowed from the ring, with the fields that the kernel
/// added.
#[derive(Clone, Copy, Debug)]
pub struct PerfBufferSample<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) record: RawRecord<'b>,
    pub(super) layout: &'b SampleLayout,
}

impl<'b> PerfBufferSample<'b> {
    /// Returns the bytes, in one piece, aligned to 4.
    ///
    /// The kernel pads them: after the program's bytes there are up to 7 bytes of an older record,
    /// so that the length plus 4 is a multiple of 8. With
    /// [`payload_size`](super::PerfBufferOptions::payload_size) they are removed.
    #[inline]
    pub const fn bytes(&self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the record, also with the padding.
    pub const fn record(&self) -> RawRecord<'b> {
        self.record
    }

    /// Decodes the fields that were added by
    /// [`sample_type`](super::PerfBufferOptions::sample_type), such as the time.
    ///
    /// # Errors
    ///
    /// The record is malformed.
    pub fn decode(&self) -> Result<Sample<'b>, Error> {
        Sample::parse(self.record, self.layout)
    }
}

/// How the records of a reader are decoded.
#[derive(Debug)]
pub(super) struct Format {
    layout: SampleLayout,
    /// Length of the payload in bytes; the maximum if it is unknown.
    at_most: usize,
    /// Length of the payload in bytes; 0 if it is unknown.
    at_least: usize,
    /// The same; the maximum if samples have other fields than the raw data. One comparison answers
    /// both questions.
    raw_only_at_least: usize,
}

impl Format {
    pub(super) fn new(layout: SampleLayout, sample_type: SampleType, payload_size: Option<usize>) -> Self {
        let at_least = payload_size.unwrap_or(0);
        let raw_only_at_least = if sample_type == SampleType::RAW { at_least } else { usize::MAX };
        Self { layout, at_most: payload_size.unwrap_or(usize::MAX), at_least, raw_only_at_least }
    }

    /// Returns the payload of a sample that has the raw data only and is not shorter than the
    /// payload.
    ///
    /// The raw data then fill the record, so that their length needs a comparison only, and the CPU
    /// predicts it. Samples of any other form are left to [`decode`](Self::decode).
    #[inline(always)]
    pub(super) fn raw_only<'b>(&self, record: RawRecord<'b>) -> Option<&'b [u8]> {
        let (_header, body) = record.bytes().split_first_chunk::<8>()?;
        let (size, bytes) = body.split_first_chunk::<4>()?;
        let is_whole = u32::from_ne_bytes(*size) as usize == bytes.len();
        let is_wanted = record.kind() == RecordType::SAMPLE && bytes.len() >= self.raw_only_at_least;
        (is_whole && is_wanted).then(|| self.trim(bytes))
    }

    /// Decodes and counts a record of any form.
    ///
    /// Takes the words and not the record, because a value of three words would be passed in
    /// memory, which a loop would write for each record. Benches `bpf`.
    #[inline(never)]
    pub(super) fn decode<'b>(
        &'b self,
        counts: &mut PerfBufferCounts,
        words: &'b [u64],
    ) -> Result<PerfBufferRecord<'b>, Error> {
        let record = RawRecord::from_words(words).map_err(|error| damaged(counts, error))?;
        Ok(match record.decode(&self.layout) {
            Ok(Record::Sample(sample)) => {
                let bytes = sample.raw().unwrap_or_default();
                counts.samples += 1;
                counts.truncated += u64::from(bytes.len() < self.at_least);
                PerfBufferRecord::Sample(self.sample(record, self.trim(bytes)))
            }
            Ok(Record::Lost(lost)) => {
                counts.reported_lost += lost.lost();
                PerfBufferRecord::Lost(lost.lost())
            }
            Ok(_) => {
                counts.unknown += 1;
                PerfBufferRecord::Other(record)
            }
            Err(error) => return Err(damaged(counts, error)),
        })
    }

    #[inline(always)]
    pub(super) const fn sample<'b>(&'b self, record: RawRecord<'b>, bytes: &'b [u8]) -> PerfBufferSample<'b> {
        PerfBufferSample { bytes, record, layout: &self.layout }
    }

    /// Returns the bytes without their padding.
    #[inline(always)]
    fn trim<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(..self.at_most).unwrap_or(bytes)
    }
}

/// Counts a malformed record.
#[cold]
pub(super) fn damaged(counts: &mut PerfBufferCounts, error: Error) -> Error {
    counts.damaged += 1;
    error
}

use perf_sys::abi::RecordType;
use perf_sys::decode::Error;
use perf_sys::{RawRecord, Record, SampleLayout, SampleType};

use super::{PerfBufferCounts, PerfBufferRecord, PerfBufferSample};

/// How the records of a reader are decoded.
#[derive(Debug)]
pub(super) struct Format {
    layout: SampleLayout,
    /// Length of the payload in bytes; the maximum if it is unknown.
    at_most: usize,
    /// Length of the payload in bytes; 0 if it is unknown.
    at_least: usize,
    /// The same; the maximum if samples have other fields than the raw data. One comparison answers both
    /// questions.
    raw_only_at_least: usize,
}

impl Format {
    pub(super) fn new(layout: SampleLayout, sample_type: SampleType, payload_size: Option<usize>) -> Self {
        let at_least = payload_size.unwrap_or(0);
        let raw_only_at_least = if sample_type == SampleType::RAW { at_least } else { usize::MAX };
        Self { layout, at_most: payload_size.unwrap_or(usize::MAX), at_least, raw_only_at_least }
    }

    /// Returns the payload of a sample that has the raw data only and is not shorter than the payload.
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
    /// Takes the words and not the record, because a value of three words would be passed in memory, which a
    /// loop would write for each record. Benches `bpf`.
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

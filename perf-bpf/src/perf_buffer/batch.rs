use core::iter::FusedIterator;

use perf_sys::abi::RecordType;
use perf_sys::{
    Attr, Batch, BatchRecords, Layout, RawRecord, Record, Sample, SampleLayout, SampleType, Software,
};

use super::cpu_ring::CpuRing;
use super::options::Payload;
use super::{Output, OutputCounts, OutputSample};
use crate::Error;

/// The unread records of the ring of one CPU. Dropping it releases those that were consumed.
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct OutputBatch<'r> {
    batch: Batch<'r>,
    cpu: u32,
    counts: &'r mut OutputCounts,
    layout: &'r SampleLayout,
    payload: Payload,
}

impl<'r> OutputBatch<'r> {
    pub(super) fn new(
        batch: Batch<'r>,
        cpu: &'r mut CpuRing,
        layout: &'r SampleLayout,
        payload: Payload,
    ) -> Self {
        Self { batch, cpu: cpu.cpu, counts: &mut cpu.counts, layout, payload }
    }

    /// Returns the CPU on which the programs ran.
    pub const fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Iterates over the records that were not consumed yet, oldest first, and counts them. All of them may
    /// be held at the same time.
    #[inline]
    pub fn outputs(&mut self) -> Outputs<'_> {
        Outputs {
            records: self.batch.records(),
            counts: self.counts,
            layout: self.layout,
            payload: self.payload,
        }
    }

    /// Returns the batch, for reading by the functions of perf-sys. Its records are not counted.
    pub const fn records(&mut self) -> &mut Batch<'r> {
        &mut self.batch
    }
}

/// The records of an [`OutputBatch`], oldest first. The iterator consumes each record that it returns.
///
/// A malformed record is an `Err` and is counted as damaged.
#[derive(Debug)]
pub struct Outputs<'b> {
    records: BatchRecords<'b>,
    counts: &'b mut OutputCounts,
    layout: &'b SampleLayout,
    payload: Payload,
}

impl<'b> Iterator for Outputs<'b> {
    type Item = Result<Output<'b>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(self.damaged(error))),
        };
        if record.kind() != RecordType::SAMPLE {
            return Some(self.other(record));
        }
        let raw = if self.payload.is_raw_only { raw(record, RawOnly) } else { raw(record, self.layout) };
        let bytes = match raw {
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(self.damaged(error))),
        };
        self.counts.samples += 1;
        let bytes = if let Some(payload) = bytes.get(..self.payload.size) {
            payload
        } else {
            self.counts.truncated += u64::from(self.payload.is_exact);
            bytes
        };
        Some(Ok(Output::Sample(OutputSample { bytes, record, layout: self.layout })))
    }
}

impl FusedIterator for Outputs<'_> {}

impl<'b> Outputs<'b> {
    #[cold]
    fn other(&mut self, record: RawRecord<'b>) -> Result<Output<'b>, Error> {
        match record.decode(self.layout) {
            Ok(Record::Lost(lost)) => {
                self.counts.reported_lost += lost.lost();
                Ok(Output::Lost(lost.lost()))
            }
            Ok(_) => {
                self.counts.unknown += 1;
                Ok(Output::Other(record))
            }
            Err(error) => Err(self.damaged(error)),
        }
    }

    #[cold]
    fn damaged(&mut self, error: perf_sys::decode::Error) -> Error {
        self.counts.damaged += 1;
        Error::Decode(error)
    }
}

/// The layout of an event that samples the raw data only: constant, so that no field before them is
/// looked for.
#[derive(Clone, Copy)]
struct RawOnly;

impl Layout for RawOnly {
    #[inline(always)]
    fn sample_layout(&self) -> &SampleLayout {
        const { &SampleLayout::new(&Attr::software(Software::BPF_OUTPUT).with_sample_type(SampleType::RAW)) }
    }
}

#[inline(always)]
fn raw<L: Layout>(record: RawRecord<'_>, layout: L) -> Result<&[u8], perf_sys::decode::Error> {
    Sample::parse(record, layout).map(|sample| sample.raw().unwrap_or_default())
}

use core::iter::FusedIterator;

use perf_sys::abi::RecordType;
use perf_sys::decode::Error;
use perf_sys::{
    Attr, Batch, BatchRecords, Layout, RawRecord, Record, Sample, SampleLayout, SampleType, Software,
};

use super::cpu_ring::CpuRing;
use super::options::Payload;
use super::{Output, OutputCounts, OutputSample};

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
        let (layout, payload) = (self.layout, self.payload);
        Outputs { records: self.batch.records(), samples: 0, counts: self.counts, layout, payload }
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
    /// Samples that are not in `counts` yet, so that a loop keeps their number in a register.
    samples: u64,
    counts: &'b mut OutputCounts,
    layout: &'b SampleLayout,
    payload: Payload,
}

impl<'b> Iterator for Outputs<'b> {
    type Item = Result<Output<'b>, Error>;

    #[inline(always)] // the loop over samples then has no call and keeps them in registers; benches/bpf
    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(self.damaged(error))),
        };
        if record.kind() == RecordType::SAMPLE && self.payload.is_raw_only {
            if let Ok(sample) = Sample::parse(record, RawOnly) {
                let bytes = sample.raw().unwrap_or_default();
                if bytes.len() >= self.payload.at_least {
                    return Some(Ok(self.sample(record, bytes)));
                }
            }
        }
        // By fields, because the value itself is returned in memory.
        Some(match self.other(record) {
            Ok(Output::Sample(OutputSample { bytes, record, layout })) => {
                Ok(Output::Sample(OutputSample { bytes, record, layout }))
            }
            Ok(Output::Lost(records)) => Ok(Output::Lost(records)),
            Ok(Output::Other(record)) => Ok(Output::Other(record)),
            Err(error) => Err(error),
        })
    }
}

impl FusedIterator for Outputs<'_> {}

impl Drop for Outputs<'_> {
    #[inline]
    fn drop(&mut self) {
        self.counts.samples += self.samples;
    }
}

impl<'b> Outputs<'b> {
    #[inline(always)]
    fn sample(&mut self, record: RawRecord<'b>, bytes: &'b [u8]) -> Output<'b> {
        self.samples += 1;
        let bytes = bytes.get(..self.payload.at_most).unwrap_or(bytes);
        Output::Sample(OutputSample { bytes, record, layout: self.layout })
    }

    /// Returns a record that is not a sample of raw data only, or is shorter than the payload.
    #[inline(never)]
    fn other(&mut self, record: RawRecord<'b>) -> Result<Output<'b>, Error> {
        match record.decode(self.layout) {
            Ok(Record::Sample(sample)) => {
                let bytes = sample.raw().unwrap_or_default();
                self.counts.truncated += u64::from(bytes.len() < self.payload.at_least);
                Ok(self.sample(record, bytes))
            }
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
    fn damaged(&mut self, error: Error) -> Error {
        self.counts.damaged += 1;
        error
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

use core::iter::FusedIterator;

use perf_sys::decode::Error;
use perf_sys::{Batch, BatchRecords};

use super::cpu_ring::CpuRing;
use super::format::{Format, damaged};
use super::{Output, OutputCounts, OutputSample};

/// The unread records of the ring of one CPU. Dropping it releases those that were consumed.
#[derive(Debug)]
#[must_use = "its records are not read yet"]
pub struct OutputBatch<'r> {
    batch: Batch<'r>,
    cpu: u32,
    counts: &'r mut OutputCounts,
    format: &'r Format,
}

impl<'r> OutputBatch<'r> {
    pub(super) fn new(batch: Batch<'r>, cpu: &'r mut CpuRing, format: &'r Format) -> Self {
        Self { batch, cpu: cpu.cpu, counts: &mut cpu.counts, format }
    }

    /// Returns the CPU on which the programs ran.
    pub const fn cpu(&self) -> u32 {
        self.cpu
    }

    /// Iterates over the records that were not consumed yet, oldest first, and counts them. All of them may
    /// be held at the same time.
    #[inline]
    pub fn outputs(&mut self) -> Outputs<'_> {
        Outputs { records: self.batch.records(), samples: 0, counts: self.counts, format: self.format }
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
    format: &'b Format,
}

impl<'b> Iterator for Outputs<'b> {
    type Item = Result<Output<'b>, Error>;

    #[inline(always)] // the loop over samples then has no call and keeps them in registers; benches/bpf
    fn next(&mut self) -> Option<Self::Item> {
        // No call below gets a reference to `self`, which would keep the iterator in memory.
        let format = self.format;
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(damaged(self.counts, error))),
        };
        if let Some(bytes) = format.raw_only(record) {
            self.samples += 1;
            return Some(Ok(Output::Sample(format.sample(record, bytes))));
        }
        // By fields, because the value itself is returned in memory.
        Some(match format.decode(self.counts, record.words()) {
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

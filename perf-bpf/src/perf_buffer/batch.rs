use core::iter::FusedIterator;

use perf_sys::decode::Error;
use perf_sys::{Batch, BatchRecords};

use super::cpu_ring::CpuRing;
use super::format::{Format, damaged};
use super::{PerfBufferCounts, PerfBufferRecord, PerfBufferSample};

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

    /// Iterates over the records that were not consumed yet, oldest first, and counts them. All of them may
    /// be held at the same time.
    #[inline]
    pub fn outputs(&mut self) -> PerfBufferRecords<'_> {
        PerfBufferRecords {
            records: self.batch.records(),
            samples: 0,
            counts: self.counts,
            format: self.format,
        }
    }

    /// Returns the batch, for reading by the functions of perf-sys. Its records are not counted.
    pub const fn records(&mut self) -> &mut Batch<'r> {
        &mut self.batch
    }
}

/// The records of an [`PerfBufferBatch`], oldest first. The iterator consumes each record that it returns.
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
        // By fields, because the value itself is returned in memory.
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

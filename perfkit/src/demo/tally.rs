//! Numbers about a stream of records, live or from the capture.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use perf_abi::{CpuMode, RecordType};
use perf_decode::{Error, RawRecord, Record, Sample};
use perf_sys::Count;

use super::mappings::{Mappings, Place};
use super::threads::Threads;

/// The content of the summary.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Records of each kind.
    pub(crate) kinds: BTreeMap<RecordType, Kind>,
    /// Samples by CPU; `None` counts samples without this field.
    pub(crate) cpus: BTreeMap<Option<u32>, u64>,
    pub(crate) threads: Threads,
    pub(crate) mappings: Mappings,
    /// Addresses in callchains.
    pub(crate) frames: u64,
    /// Records that the kernel dropped because a ring was full, as LOST records report them.
    pub(crate) lost: u64,
    /// Count of the sampling event, summed over the CPUs.
    pub(crate) count: Option<Count>,
    /// Records that the kernel dropped, by the counts of all events; `None` before Linux 6.0. Also
    /// those after the last record, which no LOST record reports.
    pub(crate) lost_by_count: Option<u64>,
    /// Records that were read after one with a later time.
    pub(crate) late: u64,
    /// Bytes of the rings that were skipped because they are no records.
    pub(crate) skipped_bytes: u64,
    /// Records that could not be decoded, and the error of the first.
    pub(crate) damaged: u64,
    pub(crate) first_damage: Option<Error>,
    /// CPU time of reading, decoding and counting together.
    pub(crate) spent: Duration,
    /// Samples by instruction.
    pub(crate) hot: HashMap<Spot, u64>,
}

/// The records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

/// The instruction of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spot {
    /// In a mapped file.
    Mapped(Place),
    /// In user space, in no mapping of an earlier record.
    Unmapped(u64),
    /// Outside user space.
    Other(CpuMode, u64),
}

impl Tally {
    /// Counts one record, and its content if it decodes. The records must come in order of time.
    pub(crate) fn record<'r>(&mut self, raw: RawRecord<'r>, decoded: Result<Record<'r>, Error>) {
        let kind = self.kinds.entry(raw.kind()).or_default();
        kind.records += 1;
        kind.bytes += raw.size() as u64;
        match decoded {
            Ok(record) => self.decoded(&record),
            Err(error) => self.damage(error),
        }
    }

    /// Counts a record that could not be decoded.
    pub(crate) fn damage(&mut self, error: Error) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    fn decoded(&mut self, record: &Record<'_>) {
        match record {
            Record::Sample(sample) => self.sample(record.misc().cpu_mode(), sample),
            Record::Comm(comm) => {
                self.threads.rename(comm.tid(), &String::from_utf8_lossy(comm.comm()));
                if comm.exec() {
                    self.mappings.exec(comm.pid());
                }
            }
            Record::Fork(fork) => {
                self.threads.fork(fork.tid(), fork.ptid());
                self.mappings.fork(fork.pid(), fork.ppid());
            }
            Record::Mmap2(map) => {
                let place =
                    Place { file: String::from_utf8_lossy(map.filename()).into(), offset: map.pgoff() };
                self.mappings.map(map.pid(), map.addr(), map.len(), place);
            }
            Record::Lost(lost) => self.lost = self.lost.wrapping_add(lost.lost()),
            Record::LostSamples(lost) => self.lost = self.lost.wrapping_add(lost.lost()),
            _ => {}
        }
    }

    fn sample(&mut self, mode: CpuMode, sample: &Sample<'_>) {
        *self.cpus.entry(sample.cpu()).or_default() += 1;
        self.threads.sample(sample.pid().zip(sample.tid()));
        if let Some(chain) = sample.callchain() {
            self.frames += chain.frames().count() as u64;
        }
        if let Some(ip) = sample.ip() {
            *self.hot.entry(self.spot(sample.pid(), ip, mode)).or_default() += 1;
        }
    }

    /// Returns the number and size of all records.
    pub(crate) fn total(&self) -> Kind {
        self.kinds.values().fold(Kind::default(), |sum, kind| Kind {
            records: sum.records + kind.records,
            bytes: sum.bytes + kind.bytes,
        })
    }

    /// Returns the number of records of one kind.
    pub(crate) fn records(&self, kind: RecordType) -> u64 {
        self.kinds.get(&kind).map_or(0, |kind| kind.records)
    }

    /// Returns the instructions of all samples, most samples first. Processes that execute the same
    /// file share its instructions.
    pub(crate) fn spots(&self) -> Vec<(&Spot, u64)> {
        let mut spots: Vec<_> = self.hot.iter().map(|(spot, &samples)| (spot, samples)).collect();
        spots.sort_by(|(a, left), (b, right)| right.cmp(left).then_with(|| a.order().cmp(&b.order())));
        spots
    }

    fn spot(&self, pid: Option<u32>, ip: u64, mode: CpuMode) -> Spot {
        if mode != CpuMode::USER {
            return Spot::Other(mode, ip);
        }
        let place = pid.and_then(|pid| self.mappings.find(pid, ip));
        place.map_or(Spot::Unmapped(ip), Spot::Mapped)
    }
}

impl Spot {
    /// Returns the key that keeps rows with equal counts in one order from run to run.
    fn order(&self) -> (&str, u64) {
        match self {
            Self::Mapped(place) => (&place.file, place.offset),
            Self::Unmapped(ip) | Self::Other(_, ip) => ("", *ip),
        }
    }
}

#[cfg(test)]
mod tests;

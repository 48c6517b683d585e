//! What is counted while records pass by, whatever ring they come from.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use perf_abi::{CpuMode, RecordType};
use perf_decode::{Error, RawRecord, Record, Sample, SampleLayout};

use super::mappings::{Mappings, Place};
use super::threads::Threads;

/// Everything the summary is made of.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Records of each kind.
    pub(crate) kinds: BTreeMap<RecordType, Kind>,
    /// Samples of each CPU; `None` where samples do not say it.
    pub(crate) cpus: BTreeMap<Option<u32>, u64>,
    pub(crate) threads: Threads,
    pub(crate) mappings: Mappings,
    /// Addresses in callchains.
    pub(crate) frames: u64,
    /// Records that the kernel says, in LOST records, it had no room for.
    pub(crate) lost: u64,
    /// What the kernel itself counted as lost, if it was asked.
    pub(crate) lost_by_count: Option<u64>,
    /// Records that were read and could not be decoded, and what was wrong with the first.
    pub(crate) damaged: u64,
    pub(crate) first_damage: Option<Error>,
    /// CPU time spent in the walk, the decoding and this tally together.
    pub(crate) spent: Duration,
    hot: HashMap<Address, Hits>,
}

/// The records of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) records: u64,
    pub(crate) bytes: u64,
}

/// An instruction pointer in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Address {
    pid: Option<u32>,
    ip: u64,
    mode: CpuMode,
}

#[derive(Clone, Copy, Debug)]
struct Hits {
    samples: u64,
    /// Of the first sample: what was mapped is looked up for this moment.
    time: u64,
}

/// Where samples were taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Spot {
    /// In a mapped file.
    Mapped(Place),
    /// In user space, in no mapping that a record spoke of.
    Unmapped(u64),
    /// Outside user space.
    Other(CpuMode, u64),
}

impl Tally {
    /// Counts one record of an event with this layout.
    pub(crate) fn record(&mut self, raw: RawRecord<'_>, layout: &SampleLayout) {
        let kind = self.kinds.entry(raw.kind()).or_default();
        kind.records += 1;
        kind.bytes += raw.size() as u64;
        match raw.decode(layout) {
            Ok(record) => self.decoded(&record),
            Err(error) => self.damage(error),
        }
    }

    /// Counts bytes or a record that could not be read.
    pub(crate) fn damage(&mut self, error: Error) {
        self.damaged += 1;
        self.first_damage.get_or_insert(error);
    }

    fn decoded(&mut self, record: &Record<'_>) {
        let time = record.time().unwrap_or(0);
        match record {
            Record::Sample(sample) => self.sample(record.misc().cpu_mode(), sample),
            Record::Comm(comm) => {
                self.threads.rename(comm.tid(), &String::from_utf8_lossy(comm.comm()));
                if comm.exec() {
                    self.mappings.exec(comm.pid(), time);
                }
            }
            Record::Fork(fork) => {
                self.threads.fork(fork.tid(), fork.ptid());
                self.mappings.fork(fork.pid(), time, fork.ppid());
            }
            Record::Mmap2(map) => {
                let place =
                    Place { file: String::from_utf8_lossy(map.filename()).into(), offset: map.pgoff() };
                self.mappings.map(map.pid(), time, map.addr(), map.len(), place);
            }
            Record::Lost(lost) => self.lost += lost.lost(),
            Record::LostSamples(lost) => self.lost += lost.lost(),
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
            // A sample without a time sees every mapping.
            let hits = Hits { samples: 0, time: sample.time().unwrap_or(u64::MAX) };
            self.hot.entry(Address { pid: sample.pid(), ip, mode }).or_insert(hits).samples += 1;
        }
    }

    /// All records.
    pub(crate) fn total(&self) -> Kind {
        self.kinds.values().fold(Kind::default(), |sum, kind| Kind {
            records: sum.records + kind.records,
            bytes: sum.bytes + kind.bytes,
        })
    }

    /// Records of one kind.
    pub(crate) fn records(&self, kind: RecordType) -> u64 {
        self.kinds.get(&kind).map_or(0, |kind| kind.records)
    }

    /// Where samples were taken, most first. Processes that run the same file share its rows.
    pub(crate) fn spots(&self) -> Vec<(Spot, u64)> {
        let mut spots: HashMap<Spot, u64> = HashMap::new();
        for (address, hits) in &self.hot {
            *spots.entry(self.spot(*address, hits.time)).or_default() += hits.samples;
        }
        let mut spots: Vec<_> = spots.into_iter().collect();
        spots.sort_by(|(a, left), (b, right)| right.cmp(left).then_with(|| a.order().cmp(&b.order())));
        spots
    }

    fn spot(&self, Address { pid, ip, mode }: Address, time: u64) -> Spot {
        if mode != CpuMode::USER {
            return Spot::Other(mode, ip);
        }
        let place = pid.and_then(|pid| self.mappings.find(pid, time, ip));
        place.map_or(Spot::Unmapped(ip), Spot::Mapped)
    }
}

impl Spot {
    /// Keeps rows with equal counts in one order from run to run.
    fn order(&self) -> (&str, u64) {
        match self {
            Self::Mapped(place) => (&place.file, place.offset),
            Self::Unmapped(ip) | Self::Other(_, ip) => ("", *ip),
        }
    }
}

#[cfg(test)]
mod tests;

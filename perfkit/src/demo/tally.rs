//! Numbers about a stream of records, live or from the capture.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use perf_abi::{CpuMode, RecordType};
use perf_decode::{Error, RawRecord, Record, Sample};
use perf_ring::Count;

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
    /// Count of the sampling event, summed over the CPUs, and its unit.
    pub(crate) count: Option<(Count, &'static str)>,
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
mod tests {
    use perf_abi::{Attr, AttrFlags, Header, Misc, SampleType, Software};
    use perf_decode::SampleLayout;
    use zerocopy::{FromBytes, IntoBytes};

    use super::*;

    const USER: Misc = Misc::from_bits_retain(2);
    const KERNEL: Misc = Misc::from_bits_retain(1);
    const EXEC: Misc = Misc::from_bits_retain(0x2000);

    fn layout() -> SampleLayout {
        let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields);
        SampleLayout::new(&attr.with_flags(AttrFlags::SAMPLE_ID_ALL))
    }

    /// Returns a word of two halves, in memory order.
    fn pair(first: u32, second: u32) -> u64 {
        u64::read_from_bytes([first, second].as_bytes()).unwrap()
    }

    /// Returns text as words, with at least one NUL.
    fn text(text: &str) -> Vec<u64> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(bytes.len() / 8 * 8 + 8, 0);
        bytes.chunks(8).map(|word| u64::read_from_bytes(word).unwrap()).collect()
    }

    fn record(tally: &mut Tally, kind: RecordType, misc: Misc, body: &[u64]) {
        let header = Header { kind, misc, size: body.len() as u16 * 8 + 8 };
        let mut words = vec![u64::read_from_bytes(header.as_bytes()).unwrap()];
        words.extend(body);
        let (raw, layout) = (RawRecord::from_words(&words).unwrap(), layout());
        tally.record(raw, raw.decode(&layout));
    }

    /// Counts a side-band record with its trailer: pid and tid 1, the time, CPU 0.
    fn event(tally: &mut Tally, kind: RecordType, misc: Misc, time: u64, body: &[u64]) {
        record(tally, kind, misc, &[body, &[pair(1, 1), time, pair(0, 0)]].concat());
    }

    fn sample(tally: &mut Tally, misc: Misc, ip: u64, (pid, tid): (u32, u32), time: u64, cpu: u32) {
        record(tally, RecordType::SAMPLE, misc, &[ip, pair(pid, tid), time, pair(cpu, 0)]);
    }

    fn map(tally: &mut Tally, pid: u32, time: u64, start: u64, file: &str) {
        // pid, tid; start; length; file offset; major, minor; inode; generation; prot, flags; name.
        let body = [pair(pid, pid), start, 0x1000, 0, 0, 0, 0, pair(5, 2)];
        event(tally, RecordType::MMAP2, USER, time, &[&body, text(file).as_slice()].concat());
    }

    #[test]
    fn samples_are_counted_by_cpu_and_thread() {
        let mut tally = Tally::default();
        sample(&mut tally, USER, 0x10, (1, 1), 5, 0);
        sample(&mut tally, USER, 0x10, (1, 2), 6, 3);
        sample(&mut tally, USER, 0x20, (1, 2), 7, 3);
        assert_eq!(tally.cpus, BTreeMap::from([(Some(0), 1), (Some(3), 2)]));
        let rows: Vec<_> = tally.threads.rows().into_iter().map(|row| (row.id, row.samples)).collect();
        assert_eq!(rows, [(Some((1, 2)), 2), (Some((1, 1)), 1)]);
        assert_eq!(tally.total(), Kind { records: 3, bytes: 120 });
        assert_eq!(tally.records(RecordType::SAMPLE), 3);
    }

    #[test]
    fn file_mapped_at_two_addresses_is_one_spot() {
        let mut tally = Tally::default();
        map(&mut tally, 1, 10, 0x5000, "/bin/a");
        map(&mut tally, 2, 10, 0x9000, "/bin/a");
        sample(&mut tally, USER, 0x5010, (1, 1), 20, 0);
        sample(&mut tally, USER, 0x9010, (2, 2), 20, 0);
        let place = Place { file: "/bin/a".into(), offset: 0x10 };
        assert_eq!(tally.spots(), [(&Spot::Mapped(place), 2)]);
    }

    #[test]
    fn kernel_addresses_are_not_looked_up() {
        let mut tally = Tally::default();
        map(&mut tally, 1, 10, 0x5000, "/bin/a");
        sample(&mut tally, KERNEL, 0x5010, (1, 1), 20, 0);
        assert_eq!(tally.spots(), [(&Spot::Other(CpuMode::KERNEL, 0x5010), 1)]);
    }

    #[test]
    fn exec_removes_the_mappings_and_changes_the_name() {
        let mut tally = Tally::default();
        map(&mut tally, 1, 10, 0x5000, "/bin/a");
        let body = [&[pair(1, 1)], text("b").as_slice()].concat();
        event(&mut tally, RecordType::COMM, EXEC, 15, &body);
        sample(&mut tally, USER, 0x5010, (1, 1), 20, 0);
        assert_eq!(tally.spots(), [(&Spot::Unmapped(0x5010), 1)]);
        assert_eq!(tally.threads.rows()[0].name, "b");
    }

    #[test]
    fn child_has_name_and_mappings_of_its_parent() {
        let mut tally = Tally::default();
        event(
            &mut tally,
            RecordType::COMM,
            Misc::empty(),
            5,
            &[&[pair(1, 1)], text("a").as_slice()].concat(),
        );
        map(&mut tally, 1, 10, 0x5000, "/bin/a");
        // pid, ppid; tid, ptid; time.
        event(&mut tally, RecordType::FORK, Misc::empty(), 15, &[pair(2, 1), pair(2, 1), 15]);
        sample(&mut tally, USER, 0x5000, (2, 2), 20, 0);
        assert_eq!(tally.threads.rows()[0].name, "a");
        assert_eq!(tally.spots(), [(&Spot::Mapped(Place { file: "/bin/a".into(), offset: 0 }), 1)]);
    }

    #[test]
    fn losses_are_summed() {
        let mut tally = Tally::default();
        event(&mut tally, RecordType::LOST, Misc::empty(), 5, &[77, 3]);
        event(&mut tally, RecordType::LOST, Misc::empty(), 6, &[77, 4]);
        assert_eq!((tally.lost, tally.records(RecordType::LOST)), (7, 2));
    }

    #[test]
    fn damaged_records_are_counted_and_the_first_error_is_kept() {
        let mut tally = Tally::default();
        record(&mut tally, RecordType::SAMPLE, USER, &[1]);
        record(&mut tally, RecordType::FORK, USER, &[1]);
        assert_eq!((tally.damaged, tally.total().records), (2, 2));
        assert!(tally.first_damage.unwrap().to_string().contains("SAMPLE"));
    }

    #[test]
    fn unknown_kind_is_counted() {
        let mut tally = Tally::default();
        record(&mut tally, RecordType(60), Misc::empty(), &[1, 2, 3]);
        assert_eq!((tally.kinds[&RecordType(60)].records, tally.damaged), (1, 0));
    }
}

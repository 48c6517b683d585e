//! Recordings that tests build record by record.

use std::fs::File;
use std::path::Path;

use perf_abi::{
    Attr, AttrFlags, CallchainContext, CpuMode, Misc, ReadFormat, RecordType, SampleType, Software,
};
use perf_decode::testing::builder::{ReadValue, ReadValues, RecordBuilder, SampleBuilder, SampleIdValues};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{FeatureData, feature, format::Feature};
use zerocopy::IntoBytes;

/// Address of the kernel's text.
pub(crate) const KERNEL: u64 = 0xffff_ffff_8100_0000;
/// Bytes of each mapping.
const LEN: u64 = 0x1000;

/// A recording in the order of its records, which are a microsecond apart.
pub(crate) struct Made {
    attr: Attr,
    events: Vec<RecordedEvent>,
    words: Vec<u64>,
    time: u64,
    build_ids: Vec<(Vec<u8>, Vec<u8>, CpuMode)>,
}

impl Made {
    pub(crate) fn new() -> Self {
        Self::with_event("cpu-clock")
    }

    /// Makes an empty recording of an event with this name.
    pub(crate) fn with_event(name: &str) -> Self {
        Self::with_fields(name, SampleType::empty())
    }

    /// Makes an empty recording of an event with more fields in its samples. There is one user
    /// register.
    pub(crate) fn with_fields(name: &str, more: SampleType) -> Self {
        let fields = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
        let attr = Attr::software(Software::CPU_CLOCK).with_sample_type(fields | SampleType::PERIOD | more);
        let attr = attr.with_period(1000).with_flags(AttrFlags::SAMPLE_ID_ALL);
        let mut attr = attr;
        attr.sample_regs_user = 1;
        Self::of_events(attr, vec![RecordedEvent::new(attr, name).with_ids([1])])
    }

    /// Makes an empty recording whose samples have their control group.
    pub(crate) fn with_cgroups() -> Self {
        Self::with_fields("cpu-clock", SampleType::CGROUP)
    }

    /// Makes an empty recording whose samples have callchains.
    pub(crate) fn with_callchains() -> Self {
        Self::with_fields("cycles", SampleType::CALLCHAIN)
    }

    /// Makes an empty recording of a group whose first event samples with the counts of all
    /// members. The ids are the members' numbers, from 1.
    pub(crate) fn with_group(events: &[(&str, Software)]) -> Self {
        let made = Self::with_event("");
        let attr = made.attr.with_sample_type(SampleType::IDENTIFIER | SampleType::READ);
        let attr = attr.with_read_format(ReadFormat::GROUP | ReadFormat::ID);
        let event = |(id, &(name, software)): (u64, &(&str, Software))| {
            let period = if id == 1 { 1000 } else { 0 };
            let mut attr = attr.with_period(period);
            attr.config = software.0;
            RecordedEvent::new(attr, name).with_ids([id])
        };
        Self::of_events(attr, (1..).zip(events).map(event).collect())
    }

    fn of_events(attr: Attr, events: Vec<RecordedEvent>) -> Self {
        Self { attr, events, words: Vec::new(), time: 1_000_000_000, build_ids: Vec::new() }
    }

    /// Adds a sample in user space with the addresses of its callchain, the innermost first.
    pub(crate) fn callchain(&mut self, pid: u32, addresses: &[u64]) {
        self.time += 1000;
        let chain = [&[CallchainContext::USER.0][..], addresses].concat();
        let sample = SampleBuilder::new(&self.attr).misc(Misc::empty().with_cpu_mode(CpuMode::USER));
        let sample = sample.tid(pid, pid).ip(addresses.first().copied().unwrap_or(0)).time(self.time);
        self.words.extend(sample.cpu(0).period(1000).callchain(&chain).finish());
    }

    fn add(&mut self, builder: RecordBuilder, pid: u32) {
        self.time += 1000;
        let values = SampleIdValues { pid, tid: pid, time: self.time, ..SampleIdValues::default() };
        self.words.extend(builder.with_trailer(&self.attr, &values).finish());
    }

    /// Adds the name of a process.
    pub(crate) fn comm(&mut self, pid: u32, name: &[u8]) {
        let comm = RecordBuilder::new(RecordType::COMM, Misc::COMM_EXEC).pair(pid, pid);
        self.add(comm.string(name), pid);
    }

    /// Adds an executable mapping of one page, with a build id in the feature section or without
    /// one.
    pub(crate) fn map(&mut self, pid: u32, start: u64, path: &[u8], build_id: Option<&[u8]>) {
        let mode = if start >> 63 == 0 { CpuMode::USER } else { CpuMode::KERNEL };
        let map = RecordBuilder::new(RecordType::MMAP, Misc::empty().with_cpu_mode(mode));
        self.add(map.pair(pid, pid).words(&[start, LEN, 0]).string(path), pid);
        if let Some(id) = build_id {
            // Without the symbol after the name of the kernel.
            let len = path.iter().position(|&byte| byte == b']').filter(|_| path.starts_with(b"["));
            let path = path.get(..len.map_or(path.len(), |len| len + 1)).unwrap();
            self.build_ids.push((path.to_vec(), id.to_vec(), mode));
        }
    }

    /// Adds a sample.
    pub(crate) fn sample(&mut self, pid: u32, ip: u64) {
        self.time += 1000;
        self.sample_of(pid, ip, self.time, 1000);
    }

    /// Adds a sample with a time and a period.
    pub(crate) fn sample_of(&mut self, pid: u32, ip: u64, time: u64, period: u64) {
        let mode = if ip >> 63 == 0 { CpuMode::USER } else { CpuMode::KERNEL };
        let sample = SampleBuilder::new(&self.attr).misc(Misc::empty().with_cpu_mode(mode));
        self.words.extend(sample.tid(pid, pid).ip(ip).time(time).cpu(0).period(period).finish());
    }

    /// Adds the path of a control group.
    pub(crate) fn cgroup(&mut self, id: u64, path: &[u8]) {
        self.add(RecordBuilder::new(RecordType::CGROUP, Misc::empty()).u64(id).string(path), 0);
    }

    /// Adds a function that the kernel loaded, which has its name in the recording.
    pub(crate) fn kernel_function(&mut self, start: u64, name: &[u8]) {
        let symbol = RecordBuilder::new(RecordType::KSYMBOL, Misc::empty()).u64(start).u32s(&[LEN as u32]);
        self.add(symbol.u16s(&[1, 0]).string(name), 0);
    }

    /// Adds a sample in a control group.
    pub(crate) fn sample_in(&mut self, pid: u32, ip: u64, cgroup: u64) {
        self.time += 1000;
        let sample = SampleBuilder::new(&self.attr).misc(Misc::empty().with_cpu_mode(CpuMode::USER));
        let sample = sample.tid(pid, pid).ip(ip).time(self.time).cpu(0).period(1000).cgroup(cgroup);
        self.words.extend(sample.finish());
    }

    /// Adds a precise sample in user space, whose callchain begins where the interrupt came.
    pub(crate) fn precise_sample(&mut self, pid: u32, ip: u64, callchain: &[u64]) {
        self.time += 1000;
        let sample = SampleBuilder::new(&self.attr).misc(Misc::EXACT_IP.with_cpu_mode(CpuMode::USER));
        let sample = sample.tid(pid, pid).ip(ip).time(self.time).cpu(0).period(1000).callchain(callchain);
        self.words.extend(sample.finish());
    }

    /// Adds a sample of the first event of a group, with the counts of all.
    pub(crate) fn sample_with_counts(&mut self, pid: u32, ip: u64, counts: &[u64]) {
        self.time += 1000;
        let value = |(id, &value)| ReadValue { value, id, lost: 0 };
        let read = ReadValues { values: (1..).zip(counts).map(value).collect(), ..ReadValues::default() };
        let sample = SampleBuilder::new(&self.attr).misc(Misc::empty().with_cpu_mode(CpuMode::USER));
        let sample = sample.identifier(1).tid(pid, pid).ip(ip).time(self.time).cpu(0).period(1).read(read);
        self.words.extend(sample.finish());
    }

    /// Adds a record of lost records, and one of lost samples.
    pub(crate) fn lost(&mut self, records: u64, samples: u64) {
        self.add(RecordBuilder::new(RecordType::LOST, Misc::empty()).words(&[1, records]), 0);
        self.add(RecordBuilder::new(RecordType::LOST_SAMPLES, Misc::empty()).words(&[samples]), 0);
    }

    /// Adds a sample with these words after the words of [`sample`](Self::sample).
    pub(crate) fn sample_with(&mut self, pid: u32, ip: u64, rest: &[u64]) {
        self.time += 1000;
        let sample = RecordBuilder::new(RecordType::SAMPLE, Misc::empty().with_cpu_mode(CpuMode::USER));
        let sample = sample.u64(ip).pair(pid, pid).words(&[self.time]).pair(0, 0).words(&[1000]);
        self.words.extend(sample.words(rest).finish());
    }

    /// Writes the recording.
    pub(crate) fn write(&self, path: &Path) {
        let mut writer = Writer::file(File::create(path).unwrap(), &self.events).unwrap();
        writer.write_records(self.words.as_bytes()).unwrap();
        writer.finish_round().unwrap();
        let mut features = Features::new();
        features.set_events(&self.events);
        let ids = self.build_ids.iter().map(|(path, id, mode)| feature::BuildId::new(path, id, *mode));
        let ids: Vec<_> = ids.collect();
        features.set(Feature::BUILD_ID, &FeatureData::BuildIds(ids.as_slice().into()));
        writer.finish(&features).unwrap();
    }
}

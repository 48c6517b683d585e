//! linux-perf-event-reader 0.10.2.
//!
//! It cannot decode the counts of a group, which it mistakes for the counts of single events.

use linux_perf_event_reader::{
    ContextSwitchRecord, Endianness, EventRecord, Mmap2FileId, PerfEventAttr, RawData, RawEventRecord,
    RecordParseInfo, RecordType, SampleRecord, TaskWasPreempted,
};
use perf_abi::{Attr, SampleType};
use zerocopy::IntoBytes;

use super::decoder::{Decoder, Frames};
use super::{Input, Sum, Touch};
use crate::workloads::Workload;

#[derive(Clone)]
pub struct Config(RecordParseInfo);

impl Decoder for Config {
    const NAME: &'static str = "linux-perf-event-reader";
    type Raw<'a> = &'a [u8];
    type Record<'a> = (RawEventRecord<'a>, EventRecord<'a>);
    type Error = ();
    type Records<'a> = Frames<'a>;

    #[inline(always)]
    fn open(input: &mut Input) -> (Frames<'_>, &Self) {
        (Frames(input.bytes()), &input.reader)
    }

    #[inline(always)]
    fn decode<'a>(&'a self, frame: &'a [u8]) -> Result<Self::Record<'a>, ()> {
        let (header, body) = frame.split_first_chunk().ok_or(())?;
        let header = u64::from_ne_bytes(*header);
        let (kind, misc) = (RecordType(header as u32), (header >> 32) as u16);
        let raw = RawEventRecord::new(kind, misc, RawData::Single(body), self.0);
        let record = raw.parse().map_err(|_| ())?;
        Ok((raw, record))
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, (raw, record): &Self::Record<'_>) {
        match record {
            EventRecord::Sample(sample) => read_sample::<W, T>(sum, sample),
            _ if !W::SIDE_BAND => sum.refused(),
            _ if !T::ALL => sum.add_some(raw.timestamp()),
            other => read_other(sum, raw, other),
        }
    }
}

impl Config {
    pub fn new(attr: &Attr) -> Self {
        let bytes = attr.as_bytes();
        let (attr, _) =
            PerfEventAttr::parse::<_, byteorder::NativeEndian>(bytes).expect("an attr that it knows");
        Self(RecordParseInfo::new(&attr, Endianness::NATIVE))
    }
}

#[inline(always)]
fn read_sample<W: Workload, T: Touch>(sum: &mut Sum, sample: &SampleRecord<'_>) {
    sum.add_some(sample.ip);
    sum.add_some(sample.timestamp);
    if !T::ALL {
        return;
    }
    sum.add_some(sample.pid.map(|pid| pid as u32));
    sum.add_some(sample.tid.map(|tid| tid as u32));
    if W::FIELDS.contains(SampleType::CPU) {
        sum.add_some(sample.cpu);
    }
    if W::FIELDS.contains(SampleType::PERIOD) {
        sum.add_some(sample.period);
    }
    if let Some(chain) = &sample.callchain {
        (0..chain.len()).for_each(|index| sum.add_some(chain.get(index)));
    }
    if let Some(RawData::Single(raw)) = sample.raw {
        T::content(sum, raw);
    }
    if let Some(regs) = &sample.user_regs {
        // The API returns a value only by the register's number.
        let mut mask = W::ATTR.sample_regs_user;
        while mask != 0 {
            sum.add_some(regs.get(u64::from(mask.trailing_zeros())));
            mask &= mask - 1;
        }
    }
    if let Some((RawData::Single(stack), valid)) = sample.user_stack {
        T::content(sum, &stack[..valid as usize]);
    }
}

#[inline(always)]
fn read_other(sum: &mut Sum, record: &RawEventRecord<'_>, other: &EventRecord<'_>) {
    match record.common_data() {
        Ok(id) => {
            sum.add_some(id.pid.map(|pid| pid as u32));
            sum.add_some(id.tid.map(|tid| tid as u32));
            sum.add_some(id.timestamp);
            sum.add_some(id.cpu);
        }
        Err(_) => sum.refused(),
    }
    match other {
        EventRecord::Mmap2(mmap) => {
            sum.add(mmap.pid as u32);
            sum.add(mmap.tid as u32);
            sum.add(mmap.address);
            sum.add(mmap.length);
            sum.add(mmap.page_offset);
            if let Mmap2FileId::InodeAndVersion(file) = &mmap.file_id {
                sum.add(file.major);
                sum.add(file.minor);
                sum.add(file.inode);
                sum.add(file.inode_generation);
            }
            sum.add(mmap.protection);
            sum.add(mmap.flags);
            sum.text(&mmap.path.as_slice());
        }
        EventRecord::Comm(comm) => {
            sum.add(comm.pid as u32);
            sum.add(comm.tid as u32);
            sum.add(comm.is_execve);
            sum.text(&comm.name.as_slice());
        }
        EventRecord::Fork(task) | EventRecord::Exit(task) => {
            [task.pid, task.ppid, task.tid, task.ptid].into_iter().for_each(|task| sum.add(task as u32));
            sum.add(task.timestamp);
        }
        EventRecord::ContextSwitch(ContextSwitchRecord::Out { preempted, .. }) => {
            sum.add(true);
            sum.add(*preempted == TaskWasPreempted::Yes);
        }
        EventRecord::ContextSwitch(ContextSwitchRecord::In { .. }) => {}
        EventRecord::Lost(lost) => {
            sum.add(lost.id);
            sum.add(lost.count);
        }
        _ => sum.refused(),
    }
}

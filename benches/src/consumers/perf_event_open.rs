//! perf-event-open 0.7.0: the parser of its sampler, on the bytes of a workload.

use std::mem::size_of;

use perf_abi::{Attr, AttrFlags, CallchainContext};
use perf_event_open::sample::record::ctx::Switch;
use perf_event_open::sample::record::mmap::Info;
use perf_event_open::sample::record::sample::{CallChain, Sample};
use perf_event_open::sample::record::task::{Exit, Fork};
use perf_event_open::sample::record::{Parser, Record, RecordId, Task};

use super::decoder::{Decoder, Frames};
use super::{Input, Sum, Touch};
use crate::workloads::Workload;

#[derive(Clone)]
pub struct Config(Parser);

impl Config {
    pub fn new(attr: &Attr) -> Self {
        Self(Parser {
            sample_id_all: attr.flags.contains(AttrFlags::SAMPLE_ID_ALL),
            sample_type: attr.sample_type.bits(),
            read_format: attr.read_format.bits(),
            user_regs: attr.sample_regs_user.count_ones() as usize,
            intr_regs: attr.sample_regs_intr.count_ones() as usize,
            branch_sample_type: attr.branch_sample_type.bits(),
        })
    }
}

impl Decoder for Config {
    const NAME: &'static str = "perf-event-open";
    type Raw<'a> = &'a [u8];
    type Record<'a> = Record;
    type Error = ();
    type Records<'a> = Frames<'a>;

    #[inline(always)]
    fn open(input: &mut Input) -> (Frames<'_>, &Self) {
        (Frames(input.bytes()), &input.parser)
    }

    #[inline(always)]
    fn decode<'a>(&'a self, frame: &'a [u8]) -> Result<Record, ()> {
        const { assert!(size_of::<usize>() == 8, "it takes the sizes in records for those of memory") };
        // SAFETY: `frame` is a whole record of the workload for whose attr the parser was created,
        // and records start at words.
        let (_, record, _) = unsafe { self.0.parse(frame) };
        Ok(record)
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, record: &Record) {
        match record {
            Record::Sample(sample) => read_sample::<T>(sum, sample),
            _ if !W::SIDE_BAND => sum.refused(),
            other => read_other::<T>(sum, other),
        }
    }
}

#[inline(always)]
fn read_sample<T: Touch>(sum: &mut Sum, sample: &Sample) {
    sum.add_some(sample.code_addr.map(|(ip, _)| ip));
    sum.add_some(sample.record_id.time);
    if !T::ALL {
        return;
    }
    task(sum, sample.record_id.task.as_ref());
    sum.add_some(sample.record_id.cpu);
    sum.add_some(sample.period);
    if let Some(stat) = &sample.stat {
        sum.add_some(stat.time_enabled);
        sum.add_some(stat.time_running);
        sum.add(stat.count);
        sum.add_some(stat.id);
        for sibling in &stat.siblings {
            sum.add(sibling.count);
            sum.add_some(sibling.id);
        }
    }
    for part in sample.call_chain.iter().flatten() {
        let (context, addresses) = match part {
            CallChain::User(addresses) => (CallchainContext::USER, addresses),
            CallChain::Kernel(addresses) => (CallchainContext::KERNEL, addresses),
            _ => return sum.refused(),
        };
        sum.add(context.0);
        sum.words(addresses);
    }
    if let Some(raw) = &sample.raw {
        T::content(sum, raw);
    }
    if let Some((regs, _)) = &sample.user_regs {
        sum.words(regs);
    }
    if let Some(stack) = &sample.user_stack {
        T::content(sum, stack);
    }
}

#[inline(always)]
fn read_other<T: Touch>(sum: &mut Sum, record: &Record) {
    let Some(id) = record_id(record) else { return sum.refused() };
    sum.add_some(id.time);
    if !T::ALL {
        return;
    }
    task(sum, id.task.as_ref());
    sum.add_some(id.cpu);
    match record {
        Record::Mmap(mmap) => {
            task(sum, Some(&mmap.task));
            sum.add(mmap.addr);
            sum.add(mmap.len);
            sum.add(mmap.page_offset);
            let Some(ext) = &mmap.ext else { return sum.refused() };
            if let Info::Device { major, minor, inode, inode_gen } = ext.info {
                sum.add(major);
                sum.add(minor);
                sum.add(inode);
                sum.add(inode_gen);
            }
            sum.add(ext.prot);
            sum.add(ext.flags);
            sum.text(mmap.file.as_bytes());
        }
        Record::Comm(comm) => {
            task(sum, Some(&comm.task));
            sum.add(comm.by_execve);
            sum.text(comm.comm.as_bytes());
        }
        Record::Fork(fork) => {
            let Fork { task: own, parent_task, time, .. } = &**fork;
            tasks(sum, [own, parent_task], *time);
        }
        Record::Exit(exit) => {
            let Exit { task: own, parent_task, time, .. } = &**exit;
            tasks(sum, [own, parent_task], *time);
        }
        Record::CtxSwitch(switch) => {
            if let Switch::OutTo { preempt, .. } = switch.info {
                sum.add(true);
                sum.add(preempt);
            }
        }
        Record::LostRecords(lost) => {
            sum.add(lost.id);
            sum.add(lost.lost_records);
        }
        _ => sum.refused(),
    }
}

#[inline(always)]
fn record_id(record: &Record) -> Option<&RecordId> {
    match record {
        Record::Mmap(mmap) => mmap.record_id.as_ref(),
        Record::Comm(comm) => comm.record_id.as_ref(),
        Record::Fork(fork) => fork.record_id.as_ref(),
        Record::Exit(exit) => exit.record_id.as_ref(),
        Record::CtxSwitch(switch) => switch.record_id.as_ref(),
        Record::LostRecords(lost) => lost.record_id.as_ref(),
        _ => None,
    }
}

#[inline(always)]
fn task(sum: &mut Sum, task: Option<&Task>) {
    sum.add_some(task.map(|task| task.pid));
    sum.add_some(task.map(|task| task.tid));
}

#[inline(always)]
fn tasks(sum: &mut Sum, tasks: [&Task; 2], time: u64) {
    tasks.into_iter().for_each(|one| task(sum, Some(one)));
    sum.add(time);
}

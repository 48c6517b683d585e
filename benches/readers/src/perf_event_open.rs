//! perf-event-open 0.7.0, by the `Parser` of its records, whose fields are public and whose `parse` is `unsafe`:
//! it trusts every length.

use perf_abi::{Attr, AttrFlags, CallchainContext, SampleType};
use perf_event_open::sample::record::ctx::Switch;
use perf_event_open::sample::record::mmap::Info;
use perf_event_open::sample::record::sample::{CallChain, Sample};
use perf_event_open::sample::record::{Parser, Record, RecordId, Task};

use crate::workload::Workload;
use crate::{Peer, Sum, Touch};

/// The crate.
#[derive(Clone, Copy, Debug)]
pub struct PerfEventOpen;

impl Peer for PerfEventOpen {
    const NAME: &'static str = "perf-event-open";
    type Config = Parser;
    type Record<'a> = Record;

    fn config(attr: &Attr) -> Parser {
        Parser {
            sample_id_all: attr.flags.contains(AttrFlags::SAMPLE_ID_ALL),
            sample_type: attr.sample_type.bits(),
            read_format: attr.read_format.bits(),
            user_regs: attr.sample_regs_user.count_ones() as usize,
            intr_regs: 0,
            branch_sample_type: 0,
        }
    }

    #[inline(always)]
    fn decode(frame: &[u8], parser: &Parser) -> Option<Record> {
        // SAFETY: the benches frame whole records as the kernel writes them for the attr of the parser.
        let (_, record, _) = unsafe { parser.parse(frame) };
        Some(record)
    }

    #[inline(always)]
    fn read<W: Workload, T: Touch>(sum: &mut Sum, record: &Record) {
        match record {
            Record::Sample(sample) => read_sample::<W, T>(sum, sample),
            other if W::SIDE_BAND => read_other::<T>(sum, other),
            _ => sum.refused(),
        }
    }
}

#[inline(always)]
fn read_sample<W: Workload, T: Touch>(sum: &mut Sum, sample: &Sample) {
    sum.add_some(sample.code_addr.map(|(ip, _)| ip));
    let id = &sample.record_id;
    sum.add_some(id.time);
    if !T::ALL {
        return;
    }
    add_task(sum, id.task.as_ref());
    if W::FIELDS.contains(SampleType::CPU) {
        sum.add_some(id.cpu);
    }
    if W::FIELDS.contains(SampleType::PERIOD) {
        sum.add_some(sample.period);
    }
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
        match part {
            CallChain::Kernel(ips) => {
                sum.add(CallchainContext::KERNEL.0);
                sum.words(ips);
            }
            CallChain::User(ips) => {
                sum.add(CallchainContext::USER.0);
                sum.words(ips);
            }
            _ => sum.refused(),
        }
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
fn read_other<T: Touch>(sum: &mut Sum, other: &Record) {
    if !T::ALL {
        let id = match other {
            Record::Mmap(mmap) => &mmap.record_id,
            Record::Comm(comm) => &comm.record_id,
            Record::Fork(fork) => &fork.record_id,
            Record::Exit(exit) => &exit.record_id,
            Record::CtxSwitch(switch) => &switch.record_id,
            Record::LostRecords(lost) => &lost.record_id,
            _ => return sum.refused(),
        };
        sum.add_some(id.as_ref().and_then(|id| id.time));
        return;
    }
    match other {
        Record::Mmap(mmap) => {
            trailer(sum, mmap.record_id.as_ref());
            add_task(sum, Some(&mmap.task));
            sum.add(mmap.addr);
            sum.add(mmap.len);
            sum.add(mmap.page_offset);
            if let Some(ext) = &mmap.ext {
                if let Info::Device { major, minor, inode, inode_gen } = ext.info {
                    sum.add(major);
                    sum.add(minor);
                    sum.add(inode);
                    sum.add(inode_gen);
                }
                sum.add(ext.prot);
                sum.add(ext.flags);
            }
            sum.text(mmap.file.to_bytes());
        }
        Record::Comm(comm) => {
            trailer(sum, comm.record_id.as_ref());
            add_task(sum, Some(&comm.task));
            sum.add(comm.by_execve);
            sum.text(comm.comm.to_bytes());
        }
        Record::Fork(fork) => {
            trailer(sum, fork.record_id.as_ref());
            add_task(sum, Some(&fork.task));
            add_task(sum, Some(&fork.parent_task));
            sum.add(fork.time);
        }
        Record::Exit(exit) => {
            trailer(sum, exit.record_id.as_ref());
            add_task(sum, Some(&exit.task));
            add_task(sum, Some(&exit.parent_task));
            sum.add(exit.time);
        }
        Record::CtxSwitch(switch) => {
            trailer(sum, switch.record_id.as_ref());
            if let Switch::OutTo { preempt, .. } = switch.info {
                sum.add(true);
                sum.add(preempt);
            }
        }
        Record::LostRecords(lost) => {
            trailer(sum, lost.record_id.as_ref());
            sum.add(lost.id);
            sum.add(lost.lost_records);
        }
        _ => sum.refused(),
    }
}

#[inline(always)]
fn trailer(sum: &mut Sum, id: Option<&RecordId>) {
    if let Some(id) = id {
        add_task(sum, id.task.as_ref());
        sum.add_some(id.time);
        sum.add_some(id.cpu);
    }
}

#[inline(always)]
fn add_task(sum: &mut Sum, task: Option<&Task>) {
    if let Some(task) = task {
        sum.add(task.pid);
        sum.add(task.tid);
    }
}

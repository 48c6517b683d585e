//! perf-decode, with a layout made at run time and with one that is a constant.

use perf_abi::{RecordType, SampleType};
use perf_decode::{
    MappedFile, Record, Sample, SampleHead, SampleId, SampleLayout, Scratch, SwitchDirection, Window,
};

use crate::workload::Workload;
use crate::{Input, Sum, Touch};

/// Fully checked samples, the layout made at run time.
#[inline(never)]
pub fn dynamic<W: Workload, T: Touch>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    records::<W, T>(window, layout, scratch)
}

/// Fully checked samples, the layout a constant.
#[inline(never)]
pub fn constant<W: Workload, T: Touch>(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    records::<W, T>(window, const { &SampleLayout::new(&W::ATTR) }, scratch)
}

/// The head view of samples and the time of others, the layout made at run time: for those who want no more.
#[inline(never)]
pub fn dynamic_head<W: Workload>(input: &mut Input) -> u64 {
    let (window, layout, scratch) = input.window();
    heads::<W>(window, layout, scratch)
}

/// The head view of samples and the time of others, the layout a constant.
#[inline(never)]
pub fn constant_head<W: Workload>(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    heads::<W>(window, const { &SampleLayout::new(&W::ATTR) }, scratch)
}

/// Framing alone: sizes and kinds.
#[inline(never)]
pub fn walk(input: &mut Input) -> u64 {
    let (window, _, scratch) = input.window();
    let mut sum = Sum::default();
    for record in window.records(scratch) {
        match record {
            Ok(record) => {
                sum.add(record.kind().0);
                sum.add(record.size() as u64);
            }
            Err(_) => sum.refused(),
        }
    }
    sum.0
}

#[inline(always)]
fn records<'a, W: Workload, T: Touch>(
    window: Window<'a>,
    layout: &'a SampleLayout,
    scratch: &'a mut Scratch,
) -> u64 {
    let mut sum = Sum::default();
    for record in window.records(scratch) {
        let Ok(record) = record else {
            sum.refused();
            break;
        };
        if !(W::SIDE_BAND && T::ALL) {
            match record.decode(layout) {
                Ok(Record::Sample(sample)) => read_sample::<W, T>(&mut sum, &sample),
                Ok(_) if W::SIDE_BAND => sum.add_some(record.time(layout)),
                _ => sum.refused(),
            }
            continue;
        }
        match record.decode_with_id(layout) {
            Ok((Record::Sample(sample), _)) => read_sample::<W, T>(&mut sum, &sample),
            Ok((other, id)) => read_other(&mut sum, &other, &id),
            Err(_) => sum.refused(),
        }
    }
    sum.0
}

#[inline(always)]
fn heads<'a, W: Workload>(window: Window<'a>, layout: &'a SampleLayout, scratch: &'a mut Scratch) -> u64 {
    let mut sum = Sum::default();
    for record in window.records(scratch) {
        let Ok(record) = record else {
            sum.refused();
            break;
        };
        if record.kind() == RecordType::SAMPLE {
            match SampleHead::parse(record, layout) {
                Ok(head) => {
                    sum.add_some(head.ip());
                    sum.add_some(head.time());
                }
                Err(_) => sum.refused(),
            }
        } else if W::SIDE_BAND {
            sum.add_some(record.time(layout));
        }
    }
    sum.0
}

#[inline(always)]
fn read_sample<W: Workload, T: Touch>(sum: &mut Sum, sample: &Sample<'_>) {
    sum.add_some(sample.ip());
    sum.add_some(sample.time());
    if !T::ALL {
        return;
    }
    sum.add_some(sample.pid());
    sum.add_some(sample.tid());
    if W::FIELDS.contains(SampleType::CPU) {
        sum.add_some(sample.cpu());
    }
    if W::FIELDS.contains(SampleType::PERIOD) {
        sum.add_some(sample.period());
    }
    if W::FIELDS.contains(SampleType::READ)
        && let Some(read) = sample.read()
    {
        sum.add_some(read.time_enabled());
        sum.add_some(read.time_running());
        for count in &read {
            sum.add(count.value);
            sum.add_some(count.id);
        }
    }
    if W::FIELDS.contains(SampleType::CALLCHAIN)
        && let Some(chain) = sample.callchain()
    {
        sum.words(chain.words());
    }
    if W::FIELDS.contains(SampleType::RAW)
        && let Some(raw) = sample.raw()
    {
        T::content(sum, raw);
    }
    if W::FIELDS.contains(SampleType::REGS_USER)
        && let Some(regs) = sample.regs_user()
    {
        sum.words(regs.values());
    }
    if W::FIELDS.contains(SampleType::STACK_USER)
        && let Some(stack) = sample.stack_user()
    {
        T::content(sum, stack.bytes());
    }
}

#[inline(always)]
fn read_other(sum: &mut Sum, other: &Record<'_>, id: &SampleId<'_>) {
    match other {
        Record::Mmap2(mmap) => {
            sum.add(mmap.pid);
            sum.add(mmap.tid);
            sum.add(mmap.addr);
            sum.add(mmap.len);
            sum.add(mmap.pgoff);
            if let MappedFile::Inode { major, minor, inode, generation } = mmap.file {
                sum.add(major);
                sum.add(minor);
                sum.add(inode);
                sum.add(generation);
            }
            sum.add(mmap.prot);
            sum.add(mmap.flags);
            sum.text(mmap.filename);
        }
        Record::Comm(comm) => {
            sum.add(comm.pid);
            sum.add(comm.tid);
            sum.add(comm.exec);
            sum.text(comm.comm);
        }
        Record::Fork(fork) => task(sum, [fork.pid, fork.ppid, fork.tid, fork.ptid], fork.time),
        Record::Exit(exit) => task(sum, [exit.pid, exit.ppid, exit.tid, exit.ptid], exit.time),
        Record::Switch(switch) => {
            let SwitchDirection { out, preempted } = switch.direction;
            sum.add(out);
            sum.add(preempted);
        }
        Record::Lost(lost) => {
            sum.add(lost.id);
            sum.add(lost.lost);
        }
        _ => sum.refused(),
    }
    sum.add_some(id.pid());
    sum.add_some(id.tid());
    sum.add_some(id.time());
    sum.add_some(id.cpu());
}

#[inline(always)]
fn task(sum: &mut Sum, tasks: [u32; 4], time: u64) {
    tasks.into_iter().for_each(|task| sum.add(task));
    sum.add(time);
}

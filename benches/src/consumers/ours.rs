//! perf-decode, with a layout made at run time from an attr that the compiler cannot see, and with
//! a constant layout.

use std::marker::PhantomData;

use perf_abi::SampleType;
use perf_decode::{
    ConstantLayout, Error, Layout, MappedFile, RawRecord, Record, Records, Sample, SampleLayout,
    SwitchDirection,
};

use super::decoder::Decoder;
use super::{Input, Sum, Touch};
use crate::workloads::Workload;

/// Layout of a workload's attr as a type.
pub struct Constant<W>(PhantomData<W>);

impl<W> Constant<W> {
    /// The only value of this type.
    pub const LAYOUT: Self = Self(PhantomData);
}

impl<W> Clone for Constant<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Constant<W> {}

impl<W: Workload> ConstantLayout for Constant<W> {
    const LAYOUT: SampleLayout = SampleLayout::new(&W::ATTR);
}

macro_rules! decoder {
    ($name:literal, $Decoder:ty, $Layout:ty, |$this:ident| $layout:expr $(, $W:ident)?) => {
        impl$(<$W: Workload>)? Decoder for $Decoder {
            const NAME: &'static str = $name;
            type Raw<'a> = RawRecord<'a>;
            type Record<'a> = Record<'a, $Layout>;
            type Error = Error;
            type Records<'a> = Records<'a>;

            #[inline(always)]
            fn open(input: &mut Input) -> (Records<'_>, &Self) {
                let (window, _layout, scratch) = input.window();
                (window.records(scratch), decoder!(_layout $($W)?))
            }

            #[inline(always)]
            fn decode<'a>(&'a self, raw: RawRecord<'a>) -> Result<Self::Record<'a>, Error> {
                let $this = self;
                raw.decode($layout)
            }

            #[inline(always)]
            fn read<R: Workload, T: Touch>(sum: &mut Sum, record: &Self::Record<'_>) {
                read::<R, T, _>(sum, record);
            }
        }
    };
    ($layout:ident) => {
        $layout
    };
    ($layout:ident $W:ident) => {
        &Self::LAYOUT
    };
}

decoder!("run-time", SampleLayout, &'a SampleLayout, |layout| layout);
decoder!("constant", Constant<W>, Constant<W>, |layout| *layout, W);

/// Adds up a record's fields.
#[inline(always)]
pub fn read<W: Workload, T: Touch, L: Layout>(sum: &mut Sum, record: &Record<'_, L>) {
    match record {
        Record::Sample(record) => sample::<W, T, L>(sum, record),
        record => other::<W, T, L>(sum, record),
    }
}

/// Adds up a sample's fields.
// In a separate sum: the caller's is in memory if it is a field of `self` or of a `dyn`, and one
// addition per field would wait for the store of the one before. By hand there is one addition too,
// because none depends on whether the field is there.
#[inline(always)]
fn sample<W: Workload, T: Touch, L: Layout>(total: &mut Sum, sample: &Sample<'_, L>) {
    let mut sum = Sum::default();
    read_sample::<W, T, L>(&mut sum, sample);
    total.add(sum.0);
}

#[inline(always)]
fn read_sample<W: Workload, T: Touch, L: Layout>(sum: &mut Sum, sample: &Sample<'_, L>) {
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

/// Adds up the fields of a side-band record.
#[inline(always)]
fn other<W: Workload, T: Touch, L: Layout>(sum: &mut Sum, record: &Record<'_, L>) {
    if !W::SIDE_BAND {
        return sum.refused();
    }
    if !T::ALL {
        return sum.add_some(record.time());
    }
    if let Some(id) = record.sample_id() {
        sum.add_some(id.pid());
        sum.add_some(id.tid());
        sum.add_some(id.time());
        sum.add_some(id.cpu());
    }
    match record {
        Record::Mmap2(mmap) => {
            sum.add(mmap.pid());
            sum.add(mmap.tid());
            sum.add(mmap.addr());
            sum.add(mmap.len());
            sum.add(mmap.pgoff());
            if let MappedFile::Inode { major, minor, inode, generation } = mmap.file() {
                sum.add(major);
                sum.add(minor);
                sum.add(inode);
                sum.add(generation);
            }
            sum.add(mmap.prot());
            sum.add(mmap.flags());
            sum.text(mmap.filename());
        }
        Record::Comm(comm) => {
            sum.add(comm.pid());
            sum.add(comm.tid());
            sum.add(comm.exec());
            sum.text(comm.comm());
        }
        Record::Fork(fork) => {
            task(sum, [fork.pid(), fork.ppid(), fork.tid(), fork.ptid()], fork.own_time());
        }
        Record::Exit(exit) => {
            task(sum, [exit.pid(), exit.ppid(), exit.tid(), exit.ptid()], exit.own_time());
        }
        Record::Switch(switch) => {
            let direction = switch.direction();
            sum.add(direction != SwitchDirection::In);
            sum.add(direction == SwitchDirection::Out { preempted: true });
        }
        Record::Lost(lost) => {
            sum.add(lost.id());
            sum.add(lost.lost());
        }
        _ => sum.refused(),
    }
}

#[inline(always)]
fn task(sum: &mut Sum, tasks: [u32; 4], time: u64) {
    tasks.into_iter().for_each(|task| sum.add(task));
    sum.add(time);
}

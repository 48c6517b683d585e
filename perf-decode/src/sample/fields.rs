use perf_abi::mem::DataSource;
use perf_abi::{Transaction, Weight};

use super::{Branches, Callchain, Regs, Sample, UserStack};
use crate::ReadValues;

/// One field of a sample, with its value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Field<'a> {
    /// [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER).
    Identifier(u64),
    /// [`IP`](perf_abi::SampleType::IP).
    Ip(u64),
    /// [`TID`](perf_abi::SampleType::TID).
    Tid {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
    },
    /// [`TIME`](perf_abi::SampleType::TIME), in ns.
    Time(u64),
    /// [`ADDR`](perf_abi::SampleType::ADDR).
    Addr(u64),
    /// [`ID`](perf_abi::SampleType::ID).
    Id(u64),
    /// [`STREAM_ID`](perf_abi::SampleType::STREAM_ID).
    StreamId(u64),
    /// [`CPU`](perf_abi::SampleType::CPU).
    Cpu(u32),
    /// [`PERIOD`](perf_abi::SampleType::PERIOD).
    Period(u64),
    /// [`READ`](perf_abi::SampleType::READ).
    Read(ReadValues<'a>),
    /// [`CALLCHAIN`](perf_abi::SampleType::CALLCHAIN).
    Callchain(Callchain<'a>),
    /// [`RAW`](perf_abi::SampleType::RAW).
    Raw(&'a [u8]),
    /// [`BRANCH_STACK`](perf_abi::SampleType::BRANCH_STACK).
    Branches(Branches<'a>),
    /// [`REGS_USER`](perf_abi::SampleType::REGS_USER).
    RegsUser(Regs<'a>),
    /// [`STACK_USER`](perf_abi::SampleType::STACK_USER).
    StackUser(UserStack<'a>),
    /// [`WEIGHT`](perf_abi::SampleType::WEIGHT) or [`WEIGHT_STRUCT`](perf_abi::SampleType::WEIGHT_STRUCT).
    Weight(Weight),
    /// [`DATA_SRC`](perf_abi::SampleType::DATA_SRC).
    DataSrc(DataSource),
    /// [`TRANSACTION`](perf_abi::SampleType::TRANSACTION).
    Transaction(Transaction),
    /// [`REGS_INTR`](perf_abi::SampleType::REGS_INTR).
    RegsIntr(Regs<'a>),
    /// [`PHYS_ADDR`](perf_abi::SampleType::PHYS_ADDR).
    PhysAddr(u64),
    /// [`CGROUP`](perf_abi::SampleType::CGROUP).
    Cgroup(u64),
    /// [`DATA_PAGE_SIZE`](perf_abi::SampleType::DATA_PAGE_SIZE), in bytes.
    DataPageSize(u64),
    /// [`CODE_PAGE_SIZE`](perf_abi::SampleType::CODE_PAGE_SIZE), in bytes.
    CodePageSize(u64),
    /// [`AUX`](perf_abi::SampleType::AUX).
    Aux(&'a [u8]),
}

/// The fields of a [`Sample`] in the order in which they lie in the record.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    sample: Sample<'a>,
    next: u8,
}

impl<'a> Fields<'a> {
    pub(super) fn new(sample: Sample<'a>) -> Self {
        Self { sample, next: 0 }
    }
}

/// How the field of each position is got from a sample: the wire order, for printing.
const GETTERS: [for<'a> fn(&Sample<'a>) -> Option<Field<'a>>; 24] = [
    |sample| sample.identifier().map(Field::Identifier),
    |sample| sample.ip().map(Field::Ip),
    |sample| Some(Field::Tid { pid: sample.pid()?, tid: sample.tid()? }),
    |sample| sample.time().map(Field::Time),
    |sample| sample.addr().map(Field::Addr),
    |sample| sample.id().map(Field::Id),
    |sample| sample.stream_id().map(Field::StreamId),
    |sample| sample.cpu().map(Field::Cpu),
    |sample| sample.period().map(Field::Period),
    |sample| sample.read().map(Field::Read),
    |sample| sample.callchain().map(Field::Callchain),
    |sample| sample.raw().map(Field::Raw),
    |sample| sample.branches().map(Field::Branches),
    |sample| sample.regs_user().map(Field::RegsUser),
    |sample| sample.stack_user().map(Field::StackUser),
    |sample| sample.weight().map(Field::Weight),
    |sample| sample.data_src().map(Field::DataSrc),
    |sample| sample.transaction().map(Field::Transaction),
    |sample| sample.regs_intr().map(Field::RegsIntr),
    |sample| sample.phys_addr().map(Field::PhysAddr),
    |sample| sample.cgroup().map(Field::Cgroup),
    |sample| sample.data_page_size().map(Field::DataPageSize),
    |sample| sample.code_page_size().map(Field::CodePageSize),
    |sample| sample.aux().map(Field::Aux),
];

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        loop {
            let getter = GETTERS.get(usize::from(self.next))?;
            self.next += 1;
            if let Some(field) = getter(&self.sample) {
                return Some(field);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::SampleType;

    use super::*;

    #[test]
    fn every_bit_of_a_sample_type_has_its_getter() {
        // WEIGHT and WEIGHT_STRUCT are one field.
        let known = SampleType::all().bits() & ((1 << 25) - 1);
        assert_eq!(known.count_ones() as usize, GETTERS.len() + 1);
    }
}

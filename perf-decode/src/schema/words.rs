//! The words of fixed size in samples and trailers, in the kernel's order.
//!
//! It is the order of `perf_output_sample()` and `perf_event__output_id_sample()` in
//! `kernel/events/core.c`, not the order of the bits of `sample_type`.

#![expect(clippy::indexing_slicing, reason = "const fn: an index out of bounds does not compile")]

use perf_abi::SampleType;

use super::FieldType::{DataSource, Hex, Reserved, Task, Transaction, U32, U64, Weight};
use super::{FieldType, Fields, fixed_end};
use crate::word_index::WordIndex;

/// One word of fixed size in a sample or a trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Word {
    /// The bits of `sample_type` that record it.
    pub bit: SampleType,
    /// Its fields: one of 8 bytes, or two of 4.
    pub fields: Fields,
}

const fn word(bit: SampleType, fields: Fields) -> Word {
    Word { bit, fields }
}

pub(crate) const HEAD: [Word; 9] = [
    word(SampleType::IDENTIFIER, &[("identifier", U64)]),
    word(SampleType::IP, &[("ip", Hex)]),
    word(SampleType::TID, &[("pid", Task), ("tid", Task)]),
    word(SampleType::TIME, &[("time", U64)]),
    word(SampleType::ADDR, &[("addr", Hex)]),
    word(SampleType::ID, &[("id", U64)]),
    word(SampleType::STREAM_ID, &[("stream_id", U64)]),
    word(SampleType::CPU, &[("cpu", U32), ("reserved", Reserved)]),
    word(SampleType::PERIOD, &[("period", U64)]),
];

pub(crate) const MEM: [Word; 3] = [
    word(SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), &[("weight", Weight)]),
    word(SampleType::DATA_SRC, &[("data_src", DataSource)]),
    word(SampleType::TRANSACTION, &[("transaction", Transaction)]),
];

pub(crate) const ADDR: [Word; 4] = [
    word(SampleType::PHYS_ADDR, &[("phys_addr", Hex)]),
    word(SampleType::CGROUP, &[("cgroup", U64)]),
    word(SampleType::DATA_PAGE_SIZE, &[("data_page_size", U64)]),
    word(SampleType::CODE_PAGE_SIZE, &[("code_page_size", U64)]),
];

pub(crate) const TRAILER: [Word; 6] = [
    word(SampleType::TID, &[("pid", Task), ("tid", Task)]),
    word(SampleType::TIME, &[("time", U64)]),
    word(SampleType::ID, &[("id", U64)]),
    word(SampleType::STREAM_ID, &[("stream_id", U64)]),
    word(SampleType::CPU, &[("cpu", U32), ("reserved", Reserved)]),
    word(SampleType::IDENTIFIER, &[("identifier", U64)]),
];

// The words after the variable parts are found by decoding, so that code that swaps the byte order
// does not know which of them are halves.
const _: () = {
    check_sizes(&HEAD, 2);
    check_sizes(&MEM, 1);
    check_sizes(&ADDR, 1);
    check_sizes(&TRAILER, 2);
};

#[allow(dead_code, reason = "Rust 1.85 does not see uses in `const _`")]
const fn check_sizes(mut table: &[Word], most: usize) {
    while let [row, rest @ ..] = table {
        assert!(fixed_end(row.fields, 0) == 8, "schema: the fields of a row are not one word");
        assert!(row.fields.len() <= most, "schema: only words of `HEAD` and `TRAILER` can have two fields");
        table = rest;
    }
}

impl Word {
    /// Returns the names and types of the fields that views show: all but reserved ones.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = (&'static str, FieldType)> + use<> {
        self.fields.iter().copied().filter(|(_, field)| *field != Reserved)
    }

    /// Returns the name of the last field that views show, by which errors name the word.
    pub(crate) fn name(&self) -> &'static str {
        self.shown().next_back().map_or("", |(name, _)| name)
    }
}

/// Returns the rows of a table whose words are in the records of an event with this `sample_type`,
/// in order.
pub fn recorded(table: &[Word], sample_type: SampleType) -> impl Iterator<Item = &Word> {
    table.iter().filter(move |row| row.bit.intersects(sample_type))
}

/// Returns the bits of all words of `order`.
pub(crate) const fn all<const N: usize>(order: &[Word; N]) -> SampleType {
    let (mut index, mut bits) = (0, SampleType::empty());
    while index < N {
        bits = bits.union(order[index].bit);
        index += 1;
    }
    bits
}

/// Returns the word indices of the `wanted` words of `order`, the first one at `start`.
pub(crate) const fn word_indices<const N: usize>(
    order: &[Word; N],
    wanted: SampleType,
    start: usize,
) -> [WordIndex; N] {
    let mut indices = [WordIndex::ABSENT; N];
    let (mut index, mut next) = (0, start);
    while index < N {
        if order[index].bit.intersects(wanted) {
            indices[index] = WordIndex::new(next);
            next += 1;
        }
        index += 1;
    }
    indices
}

/// Returns the number of words of `order` that are in `wanted`.
pub(crate) const fn count<const N: usize>(order: &[Word; N], wanted: SampleType) -> usize {
    let (mut index, mut count) = (0, 0);
    while index < N {
        count += order[index].bit.intersects(wanted) as usize;
        index += 1;
    }
    count
}

/// Returns the row of `order` that `bit` records. For constants only: a missing row does not
/// compile.
pub(crate) const fn row<const N: usize>(order: &[Word; N], bit: SampleType) -> usize {
    let mut index = 0;
    while !order[index].bit.contains(bit) {
        index += 1;
    }
    index
}

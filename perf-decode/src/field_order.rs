//! The kernel's order of fields in a sample and in a trailer, defined only here.
//!
//! It is the order of `perf_output_sample()` and `perf_event__output_id_sample()` in
//! `kernel/events/core.c`, not the order of the bits of `sample_type`.

#![expect(clippy::indexing_slicing, reason = "const fn: an index out of bounds does not compile")]

use perf_abi::SampleType;

use crate::word_index::WordIndex;

/// One word of fixed size in a sample or a trailer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedField {
    /// The bits of `sample_type` that record it.
    pub(crate) bit: SampleType,
    pub(crate) name: &'static str,
    pub(crate) form: Form,
}

/// The content of a fixed field's word, for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Number,
    Hex,
    /// `u32 pid, u32 tid`.
    Task,
    /// `u32 cpu, u32 reserved`.
    Cpu,
    Weight,
    DataSource,
    Transaction,
}

const fn field(bit: SampleType, name: &'static str, form: Form) -> FixedField {
    FixedField { bit, name, form }
}

/// The fixed words at the start of a sample.
pub(crate) const HEAD: [FixedField; 9] = [
    field(SampleType::IDENTIFIER, "identifier", Form::Number),
    field(SampleType::IP, "ip", Form::Hex),
    field(SampleType::TID, "tid", Form::Task),
    field(SampleType::TIME, "time", Form::Number),
    field(SampleType::ADDR, "addr", Form::Hex),
    field(SampleType::ID, "id", Form::Number),
    field(SampleType::STREAM_ID, "stream_id", Form::Number),
    field(SampleType::CPU, "cpu", Form::Cpu),
    field(SampleType::PERIOD, "period", Form::Number),
];

/// The fixed words between the user stack and the interrupt registers.
pub(crate) const MEM: [FixedField; 3] = [
    field(SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), "weight", Form::Weight),
    field(SampleType::DATA_SRC, "data_src", Form::DataSource),
    field(SampleType::TRANSACTION, "transaction", Form::Transaction),
];

/// The fixed words between the interrupt registers and the AUX data.
pub(crate) const ADDR: [FixedField; 4] = [
    field(SampleType::PHYS_ADDR, "phys_addr", Form::Hex),
    field(SampleType::CGROUP, "cgroup", Form::Number),
    field(SampleType::DATA_PAGE_SIZE, "data_page_size", Form::Number),
    field(SampleType::CODE_PAGE_SIZE, "code_page_size", Form::Number),
];

/// The words of the trailer that every record but a sample has.
pub(crate) const TRAILER: [FixedField; 6] = [
    field(SampleType::TID, "tid", Form::Task),
    field(SampleType::TIME, "time", Form::Number),
    field(SampleType::ID, "id", Form::Number),
    field(SampleType::STREAM_ID, "stream_id", Form::Number),
    field(SampleType::CPU, "cpu", Form::Cpu),
    field(SampleType::IDENTIFIER, "identifier", Form::Number),
];

/// A part of a sample after its head: one field of variable size, or a run of fixed words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::upper_case_acronyms,
    non_camel_case_types,
    reason = "the names of the bits of `sample_type`"
)]
pub(crate) enum Part {
    READ,
    CALLCHAIN,
    RAW,
    BRANCH_STACK,
    REGS_USER,
    STACK_USER,
    /// The run of [`MEM`].
    MEM,
    REGS_INTR,
    /// The run of [`ADDR`].
    ADDR,
    AUX,
}

/// Expands `$part!(NAME)` for each part that most events with variable parts record, in order.
macro_rules! common_parts {
    ($part:ident) => {
        $part!(READ);
        $part!(CALLCHAIN);
        $part!(RAW);
    };
}

/// Expands `$part!(NAME)` for each part after the [`common_parts`] that profilers of user code record,
/// in order.
macro_rules! user_parts {
    ($part:ident) => {
        $part!(BRANCH_STACK);
        $part!(REGS_USER);
        $part!(STACK_USER);
    };
}

/// Expands `$part!(NAME)` for each part after the [`user_parts`], in order.
macro_rules! last_parts {
    ($part:ident) => {
        $part!(MEM);
        $part!(REGS_INTR);
        $part!(ADDR);
        $part!(AUX);
    };
}

pub(crate) use {common_parts, last_parts, user_parts};

/// All parts of a sample after its head, in order.
pub(crate) const PARTS: [Part; 10] = {
    let (mut parts, mut len) = ([Part::READ; 10], 0);
    macro_rules! push {
        ($NAME:ident) => {
            parts[len] = Part::$NAME;
            len += 1;
        };
    }
    common_parts!(push);
    user_parts!(push);
    last_parts!(push);
    assert!(len == parts.len());
    parts
};

/// Returns the union of the bits of the parts that a macro above lists.
macro_rules! bits_of {
    ($parts:ident) => {{
        let mut bits = SampleType::empty();
        macro_rules! add {
            ($NAME:ident) => {
                bits = bits.union(Part::$NAME.bits());
            };
        }
        $parts!(add);
        bits
    }};
}

/// The bits of `sample_type` that record one of the last parts.
pub(crate) const LAST: SampleType = bits_of!(last_parts);

/// The bits of `sample_type` that record a part after the raw data.
pub(crate) const LATE: SampleType = bits_of!(user_parts).union(LAST);

/// The bits of `sample_type` whose position in a sample is known.
pub(crate) const KNOWN: SampleType = all(&HEAD).union(bits_of!(common_parts)).union(LATE);

impl Part {
    /// Returns the bits of `sample_type` that record this part.
    pub(crate) const fn bits(self) -> SampleType {
        match self {
            Self::READ => SampleType::READ,
            Self::CALLCHAIN => SampleType::CALLCHAIN,
            Self::RAW => SampleType::RAW,
            Self::BRANCH_STACK => SampleType::BRANCH_STACK,
            Self::REGS_USER => SampleType::REGS_USER,
            Self::STACK_USER => SampleType::STACK_USER,
            Self::MEM => all(&MEM),
            Self::REGS_INTR => SampleType::REGS_INTR,
            Self::ADDR => all(&ADDR),
            Self::AUX => SampleType::AUX,
        }
    }
}

/// Returns the bits of all fields of `order`.
const fn all<const N: usize>(order: &[FixedField; N]) -> SampleType {
    let (mut index, mut bits) = (0, SampleType::empty());
    while index < N {
        bits = bits.union(order[index].bit);
        index += 1;
    }
    bits
}

/// Returns the word indices of the fields of `order` that are in `wanted`, the first one at
/// `start`.
pub(crate) const fn word_indices<const N: usize>(
    order: &[FixedField; N],
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

/// Returns the number of fields of `order` that are in `wanted`.
pub(crate) const fn count<const N: usize>(order: &[FixedField; N], wanted: SampleType) -> usize {
    let (mut index, mut count) = (0, 0);
    while index < N {
        count += order[index].bit.intersects(wanted) as usize;
        index += 1;
    }
    count
}

/// Returns the row of `order` that `bit` records. For constants only: a missing row does not
/// compile.
pub(crate) const fn row<const N: usize>(order: &[FixedField; N], bit: SampleType) -> usize {
    let mut index = 0;
    while !order[index].bit.contains(bit) {
        index += 1;
    }
    index
}

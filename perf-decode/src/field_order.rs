//! The kernel's order of the parts of a sample after its head, defined only here.
//!
//! It is the order of `perf_output_sample()` in `kernel/events/core.c`, not the order of the bits
//! of `sample_type`. The order of the words of fixed size is in [`schema`](crate::schema).

#![expect(clippy::indexing_slicing, reason = "const fn: an index out of bounds does not compile")]

use perf_abi::SampleType;

use crate::schema::words::{ADDR, HEAD, MEM, all};

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

/// Expands `$part!(NAME)` for each part after the [`common_parts`] that profilers of user code
/// record, in order.
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

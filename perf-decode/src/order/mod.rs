//! The kernel's order of fields, in a sample and in a trailer: nothing else knows it.
//!
//! It is the order of `perf_output_sample()` and `perf_event__output_id_sample()` in
//! `kernel/events/core.c`, which is not the order of the bits of `sample_type`.

use perf_abi::SampleType;

use crate::slot::Slot;

mod cursor;
mod fault;
mod walk;

pub(crate) use fault::{Fault, NotWhole};
pub(crate) use walk::{Assume, BranchParts, Starts, walk};

/// The fixed words that begin a sample.
pub(crate) const HEAD: [(SampleType, &str); 9] = [
    (SampleType::IDENTIFIER, "identifier"),
    (SampleType::IP, "ip"),
    (SampleType::TID, "tid"),
    (SampleType::TIME, "time"),
    (SampleType::ADDR, "addr"),
    (SampleType::ID, "id"),
    (SampleType::STREAM_ID, "stream_id"),
    (SampleType::CPU, "cpu"),
    (SampleType::PERIOD, "period"),
];

/// The parts of variable length behind the head that most events with any have.
pub(crate) const EARLY: SampleType = SampleType::READ.union(SampleType::CALLCHAIN).union(SampleType::RAW);

/// The fixed words between the user stack and the interrupt registers.
pub(crate) const COST: [(SampleType, &str); 3] = [
    (SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT), "weight"),
    (SampleType::DATA_SRC, "data_src"),
    (SampleType::TRANSACTION, "transaction"),
];

/// The fixed words between the interrupt registers and the AUX data.
pub(crate) const PLACE: [(SampleType, &str); 4] = [
    (SampleType::PHYS_ADDR, "phys_addr"),
    (SampleType::CGROUP, "cgroup"),
    (SampleType::DATA_PAGE_SIZE, "data_page_size"),
    (SampleType::CODE_PAGE_SIZE, "code_page_size"),
];

/// The words of the trailer that every other record ends with.
pub(crate) const TRAILER: [(SampleType, &str); 6] = [
    (SampleType::TID, "tid"),
    (SampleType::TIME, "time"),
    (SampleType::ID, "id"),
    (SampleType::STREAM_ID, "stream_id"),
    (SampleType::CPU, "cpu"),
    (SampleType::IDENTIFIER, "identifier"),
];

/// Gives the fields of `order` that are in `wanted` their slots, the first one `start`.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
pub(crate) const fn slots<const N: usize>(
    order: &[(SampleType, &str); N],
    wanted: SampleType,
    start: usize,
) -> [Slot; N] {
    let mut slots = [Slot::ABSENT; N];
    let (mut index, mut next) = (0, start);
    while index < N {
        if order[index].0.intersects(wanted) {
            slots[index] = Slot::at(next);
            next += 1;
        }
        index += 1;
    }
    slots
}

/// How many fields of `order` are in `wanted`.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
pub(crate) const fn count<const N: usize>(order: &[(SampleType, &str); N], wanted: SampleType) -> u8 {
    let (mut index, mut count) = (0, 0);
    while index < N {
        count += order[index].0.intersects(wanted) as u8;
        index += 1;
    }
    count
}

//! The kernel's order of fields, in a sample and in a trailer: nothing else knows it.
//!
//! It is the order of `perf_output_sample()` and `perf_event__output_id_sample()` in
//! `kernel/events/core.c`, which is not the order of the bits of `sample_type`.

use perf_abi::{RecordType, SampleType};

use crate::Error;

mod cursor;
mod walk;

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

/// Counts the fields of `order` up to and including each one; 0 for those that `wanted` lacks.
#[expect(clippy::indexing_slicing, reason = "const fn: the loop bounds the index")]
pub(crate) const fn places<const N: usize>(order: &[(SampleType, &str); N], wanted: SampleType) -> [u8; N] {
    let mut places = [0; N];
    let (mut index, mut count) = (0, 0);
    while index < N {
        if order[index].0.intersects(wanted) {
            count += 1;
            places[index] = count;
        }
        index += 1;
    }
    places
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

/// The error of a sample whose fixed words in `order` end after `present` of them.
#[cold]
pub(crate) fn missing<const N: usize>(
    order: &[(SampleType, &'static str); N],
    wanted: SampleType,
    present: usize,
) -> Error {
    let mut fields = order.iter().filter(|(bit, _)| bit.intersects(wanted));
    truncated(fields.nth(present).map_or("head", |(_, name)| name), 1, 0)
}

#[cold]
fn truncated(field: &'static str, needed: u64, found: u64) -> Error {
    Error::Truncated { kind: RecordType::SAMPLE, field, needed: needed.saturating_mul(8), found: found * 8 }
}

#[cold]
fn invalid(field: &'static str, value: u64) -> Error {
    Error::Invalid { kind: RecordType::SAMPLE, field, value }
}

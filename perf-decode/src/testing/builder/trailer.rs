//! The `sample_id` trailer.

use alloc::vec::Vec;
use perf_abi::{Attr, AttrFlags, SampleType};

use crate::schema::{TRAILER, recorded};

/// The values of a trailer. The kernel writes the same number as `id` and `identifier`; they are
/// separate here, so that a test shows which one was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "sample_id")]
pub struct SampleIdValues {
    /// Process of the context that wrote the record.
    pub pid: u32,
    /// Thread of that context.
    pub tid: u32,
    /// Time of writing, in ns of the event's clock.
    pub time: u64,
    /// Id of the opened event.
    pub id: u64,
    /// Id of the event or of its inherited copy.
    pub stream_id: u64,
    /// CPU that wrote the record.
    pub cpu: u32,
    /// Id of the opened event, always the last word.
    pub identifier: u64,
}

/// Returns the words of the trailer for events opened with `attr`; empty without `sample_id_all`.
///
/// ```
/// use perf_abi::{Attr, AttrFlags, EventType, SampleType};
/// use perf_decode::testing::builder::{SampleIdValues, trailer};
///
/// let values = SampleIdValues { time: 5, identifier: 9, ..Default::default() };
/// let attr = Attr::new(EventType::SOFTWARE, 0)
///     .with_sample_type(SampleType::IP.union(SampleType::IDENTIFIER).union(SampleType::TIME));
/// assert_eq!(trailer(&attr, &values), []);
/// assert_eq!(trailer(&attr.with_flags(AttrFlags::SAMPLE_ID_ALL), &values), [5, 9]);
/// ```
pub fn trailer(attr: &Attr, values: &SampleIdValues) -> Vec<u64> {
    if !attr.flags.contains(AttrFlags::SAMPLE_ID_ALL) {
        return Vec::new();
    }
    let present = recorded(TRAILER, attr.sample_type).map(|row| row.bit);
    present
        .map(|bit| match bit {
            SampleType::TID => word(values.pid, values.tid),
            SampleType::TIME => values.time,
            SampleType::ID => values.id,
            SampleType::STREAM_ID => values.stream_id,
            SampleType::CPU => word(values.cpu, 0),
            _ => values.identifier,
        })
        .collect()
}

/// Returns the word of two halves in memory order.
pub(super) fn word(first: u32, second: u32) -> u64 {
    let (first, second) = (u64::from(first), u64::from(second));
    if cfg!(target_endian = "little") { first | second << 32 } else { first << 32 | second }
}

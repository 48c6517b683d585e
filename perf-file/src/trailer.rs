//! The trailer of records that are not samples.

use perf_abi::SampleType;

/// The words of a trailer, in order.
const ORDER: [SampleType; 6] = [
    SampleType::TID,
    SampleType::TIME,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::IDENTIFIER,
];

/// Iterates over the words of the trailer in the records of an event with `sample_type`, if the attr has
/// [`SAMPLE_ID_ALL`](perf_abi::AttrFlags::SAMPLE_ID_ALL).
pub(crate) fn fields(sample_type: SampleType) -> impl Iterator<Item = SampleType> + Clone {
    ORDER.into_iter().filter(move |field| sample_type.contains(*field))
}

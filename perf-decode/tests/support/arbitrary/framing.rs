//! Rings, and streams of times.

use std::ops::RangeInclusive;

use perf_abi::{Misc, RecordType};
use perf_decode::testing::builder::RecordBuilder;
use proptest::collection::vec;
use proptest::prelude::*;

/// A record of any content, this many words long with its header.
fn framed(words: RangeInclusive<usize>) -> impl Strategy<Value = Vec<u64>> {
    (any::<u32>(), any::<u16>(), any::<u64>(), words).prop_map(|(kind, misc, body, len)| {
        let body: Vec<u64> = (1..len as u64).map(|number| body.wrapping_mul(number)).collect();
        RecordBuilder::new(RecordType(kind), Misc::from_bits_retain(misc)).words(&body).finish()
    })
}

/// Records to fill a ring with: mostly short, some of the greatest length.
pub(crate) fn records() -> impl Strategy<Value = Vec<Vec<u64>>> {
    prop_oneof![
        8 => vec(framed(1..=12), 0..40),
        1 => vec(framed(8000..=8191), 1..4),
    ]
}

/// A free-running position: near 0, anywhere, or close to the end of `u64`.
pub(crate) fn position() -> impl Strategy<Value = u64> {
    prop_oneof![0..64_u64, any::<u64>(), u64::MAX - 500..=u64::MAX].prop_map(|position| position & !7)
}

/// The data area of a ring with words that are not records, or only look like one.
pub(crate) fn random_ring() -> impl Strategy<Value = Vec<u64>> {
    let len = prop_oneof![9 => (0..8_u32).prop_map(|power| 1 << power), 1 => 0..40_usize];
    len.prop_flat_map(|len| vec(perhaps_a_header(), len))
}

fn perhaps_a_header() -> impl Strategy<Value = u64> {
    let sized = |size: u16| {
        let mut header = [0; 8];
        header[6..].copy_from_slice(&size.to_ne_bytes());
        u64::from_ne_bytes(header)
    };
    prop_oneof![
        12 => (1..12_u16).prop_map(move |words| sized(words * 8)),
        1 => any::<u16>().prop_map(sized),
        1 => any::<u64>(),
    ]
}

/// Streams of times, mostly in order. The times are close together, from 0, from the end of `u64`
/// or from anywhere.
pub(crate) fn streams() -> impl Strategy<Value = Vec<Vec<u64>>> {
    let start = prop_oneof![Just(0), Just(u64::MAX - 200), any::<u64>()];
    let stream = (0..100_u64, vec((0..20_u64, 0..60_u64), 0..30));
    (start, vec(stream, 0..8)).prop_map(|(start, streams)| {
        streams.iter().map(|(behind, steps)| disordered(start.saturating_add(*behind), steps)).collect()
    })
}

/// Each time is a step after the one before, and some are then moved back.
fn disordered(start: u64, steps: &[(u64, u64)]) -> Vec<u64> {
    let mut time = start;
    let moved_back = steps.iter().map(|&(step, back)| {
        time = time.saturating_add(step);
        if back % 3 == 0 { time.saturating_sub(back) } else { time }
    });
    moved_back.collect()
}

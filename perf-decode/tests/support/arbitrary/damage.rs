//! Malformed records.

use perf_abi::{Misc, RecordType};
use perf_decode::testing::builder::RecordBuilder;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A valid header with a random body. Its small numbers are counts and lengths that nearly fit.
pub(crate) fn plausible_record() -> impl Strategy<Value = Vec<u64>> {
    let kind = prop_oneof![Just(RecordType::SAMPLE), (0..=RecordType::LAST.0 + 2).prop_map(RecordType)];
    (kind, any::<u16>(), vec(plausible_word(), 0..60)).prop_map(|(kind, misc, body)| {
        RecordBuilder::new(kind, Misc::from_bits_retain(misc)).words(&body).finish()
    })
}

fn plausible_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => 0..4_u64,
        1 => 0..80_u64,
        // Sizes in bytes; the size of RAW follows half a word.
        2 => (0..12_u64).prop_map(|words| words * 8),
        1 => (0..12_u64).prop_map(|words| words * 8 + 4),
        1 => any::<u64>(),
        1 => any::<u32>().prop_map(u64::from),
        1 => overflowing_count(),
    ]
}

/// Counts that wrap to a small number of words or bytes when they are multiplied by the length of
/// an element.
fn overflowing_count() -> impl Strategy<Value = u64> {
    let lengths = prop::sample::select(&[1_u64, 2, 3, 4, 8, 16, 24, 32][..]);
    (lengths, 0..3_u64).prop_map(|(length, more)| (u64::MAX / length).wrapping_add(more))
}

/// One way to damage a record.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    /// A bit is flipped.
    Flip(Index, u32),
    /// A byte is another.
    Replace(Index, usize, u8),
    /// A word is so large that adding or multiplying it overflows, or that it does not fit by one.
    Enlarge(Index, u64),
    /// The record ends earlier, and its header says so.
    Cut(Index),
    /// Words follow, and the header says so.
    Extend(Vec<u64>),
    /// A word is missing, and the header says so.
    Remove(Index),
    /// The header's size is wrong.
    Missize(u16),
}

/// Any damage.
pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<Index>;
    let large = prop_oneof![
        3 => overflowing_count(),
        1 => Just(u64::MAX - 7),
        1 => Just(u64::from(u32::MAX) - 3),
        2 => 1..70_000_u64,
    ];
    prop_oneof![
        4 => (place(), 0..64_u32).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        2 => (place(), 0..8_usize, any::<u8>()).prop_map(|(at, byte, value)| Damage::Replace(at, byte, value)),
        4 => (place(), large).prop_map(|(at, value)| Damage::Enlarge(at, value)),
        3 => place().prop_map(Damage::Cut),
        1 => vec(plausible_word(), 1..4).prop_map(Damage::Extend),
        2 => place().prop_map(Damage::Remove),
        1 => any::<u16>().prop_map(Damage::Missize),
    ]
}

impl Damage {
    /// Damages `record`, which has at least its header; the result has that too.
    pub(crate) fn apply(&self, record: &mut Vec<u64>) {
        let len = record.len();
        match self {
            Self::Flip(at, bit) => record[at.index(len)] ^= 1 << bit,
            Self::Replace(at, byte, value) => {
                let word = &mut record[at.index(len)];
                let mut bytes = word.to_ne_bytes();
                bytes[*byte] = *value;
                *word = u64::from_ne_bytes(bytes);
            }
            Self::Enlarge(at, value) => {
                if let Some(word) = at.index(len).checked_sub(1).and_then(|at| record.get_mut(at + 1)) {
                    *word = *value;
                }
            }
            Self::Cut(at) => record.truncate(1 + at.index(len)),
            Self::Extend(more) => record.extend(more),
            Self::Remove(at) => {
                if let Some(at) = at.index(len).checked_sub(1) {
                    record.remove(at + 1);
                }
            }
            Self::Missize(_) => {}
        }
        match self {
            Self::Cut(_) | Self::Extend(_) | Self::Remove(_) => {
                let size = record.len() as u16 * 8;
                resize(record, size);
            }
            Self::Missize(size) => resize(record, *size),
            _ => {}
        }
    }
}

/// Writes `size` into the header.
fn resize(record: &mut [u64], size: u16) {
    let mut header = record[0].to_ne_bytes();
    header[6..].copy_from_slice(&size.to_ne_bytes());
    record[0] = u64::from_ne_bytes(header);
}

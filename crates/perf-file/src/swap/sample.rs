//! The fields of samples that are not 64-bit numbers.

use core::ops::Range;

use perf_abi::SampleType;
use perf_decode::schema::HEAD;
use perf_decode::{RawRecord, Record, Sample, SampleLayout};

use super::{Fields, swap_pairs};

/// The fields before the raw data.
pub(super) const BEFORE_RAW: SampleType = {
    let mut fields = SampleType::READ.union(SampleType::CALLCHAIN);
    let mut head = HEAD;
    while let [word, rest @ ..] = head {
        fields = fields.union(word.bit);
        head = rest;
    }
    fields
};

impl Fields {
    pub(super) fn swap_sample(&self, words: &mut [u64]) {
        swap_pairs(words.get_mut(1..).unwrap_or_default(), HEAD, self.sample_type);
        if self.sample_type.contains(SampleType::RAW) {
            self.swap_raw(words);
        }
        let parts = SampleType::BRANCH_STACK | SampleType::STACK_USER | SampleType::AUX;
        if !self.sample_type.intersects(parts) {
            return;
        }
        // The other sizes are 64-bit numbers, so that the decoder finds the parts.
        let Some((branches, bytes)) = decode(words, &self.layout, parts_of) else { return };
        for entry in words.get_mut(branches).unwrap_or_default().chunks_exact_mut(3) {
            if let [_, _, info] = entry {
                *info = swapped_branch(*info);
            }
        }
        for range in bytes {
            for word in words.get_mut(range).unwrap_or_default() {
                *word = word.swap_bytes();
            }
        }
    }

    /// Swaps the size of the raw data, a 32-bit number, and restores the data.
    fn swap_raw(&self, words: &mut [u64]) {
        let Some(start) =
            decode(words, &self.before_raw, |sample| sample.words().len() - sample.trailing().len() / 8)
        else {
            return;
        };
        let Some(raw) = words.get_mut(start..) else { return };
        let Some(first) = raw.first_mut() else { return };
        let [size, data]: [u32; 2] = zerocopy::transmute!(first.swap_bytes());
        let len = size.swap_bytes();
        // The loop below swaps it to the two numbers.
        *first = u64::swap_bytes(zerocopy::transmute!([len, data]));
        let len = usize::try_from((u64::from(len) + 4) / 8).unwrap_or(usize::MAX);
        for word in raw.iter_mut().take(len.max(1)) {
            *word = word.swap_bytes();
        }
    }
}

/// Decodes a sample and returns what `read` reads; `None` if it is malformed.
fn decode<T>(words: &[u64], layout: &SampleLayout, read: impl FnOnce(&Sample<'_>) -> T) -> Option<T> {
    match RawRecord::from_words(words).ok()?.decode(layout).ok()? {
        Record::Sample(sample) => Some(read(&sample)),
        _ => None,
    }
}

/// Returns the words of the branch entries, and the words of parts that are bytes.
fn parts_of(sample: &Sample<'_>) -> (Range<usize>, [Range<usize>; 2]) {
    let start = sample.words().as_ptr().addr();
    // An empty part can be elsewhere.
    let range = |address: usize, len: usize| match address.checked_sub(start) {
        Some(first) if len > 0 => first / 8..first / 8 + len,
        _ => 0..0,
    };
    let branches = sample.branches().map_or(0..0, |stack| {
        let entries = stack.entries().words();
        range(entries.as_ptr().addr(), entries.len() * 3)
    });
    let stack = sample.stack_user().map_or(0..0, |stack| {
        range(stack.bytes().as_ptr().addr(), usize::try_from(stack.size() / 8).unwrap_or(0))
    });
    let aux = sample.aux().map_or(0..0, |aux| range(aux.as_ptr().addr(), aux.len() / 8));
    (branches, [stack, aux])
}

/// Moves the bit fields of a branch, which C lays out from the lowest bit on little-endian
/// machines, from the highest one on big-endian ones.
fn swapped_branch(info: u64) -> u64 {
    // mispred, predicted, in_tx, abort, cycles, type, spec, new_type, priv, reserved
    const WIDTHS: [u32; 10] = [1, 1, 1, 1, 16, 4, 2, 4, 3, 31];
    let (mut first, mut swapped) = (0, 0);
    for width in WIDTHS {
        let last = 64 - first - width;
        let (from, to) = if cfg!(target_endian = "little") { (last, first) } else { (first, last) };
        swapped |= (info >> from & (u64::MAX >> (64 - width))) << to;
        first += width;
    }
    swapped
}

//! Records of the other byte order, swapped in place for the decoder.
//!
//! There are two steps, because the layout of a record depends on its event, and the event is found
//! by an id in the record. [`numbers`] swaps the header, the body and all ids; after it
//! [`Layouts`](perf_decode::Layouts) finds the event. [`Fields::swap`] then swaps what depends on
//! the event.
//!
//! Raw data, user stacks and AUX data keep the byte order of the file, because their content is
//! unknown. So does the body of a record of unknown kind.

mod body;
mod sample;

use perf_abi::{Attr, AttrFlags, Misc, RecordType, SampleType};
use perf_decode::SampleLayout;

use body::swap_parts;

use crate::trailer;

/// Swaps the numbers of a kernel record, which is exactly `words`.
///
/// Words of samples and of trailers are swapped as 64-bit numbers: ids are valid then.
pub fn numbers(words: &mut [u64]) {
    let Some((header, rest)) = words.split_first_mut() else { return };
    *header = swap_parts(*header, &[4, 2, 2]);
    let (kind, misc) = kind_and_misc(*header);
    let Some(body) = body::of(kind, misc) else { return };
    let end = body::swap(body, rest);
    for word in rest.iter_mut().skip(end) {
        *word = word.swap_bytes();
    }
}

/// The fields of an event's records that are not 64-bit numbers.
#[derive(Clone, Copy, Debug)]
pub struct Fields {
    sample_type: SampleType,
    has_trailer: bool,
    has_build_id: bool,
    layout: SampleLayout,
    /// The layout of samples up to their raw data.
    before_raw: SampleLayout,
}

impl Fields {
    /// Returns those of an event that was opened with `attr`.
    #[must_use]
    pub const fn new(attr: &Attr) -> Self {
        let before_raw = Attr { sample_type: attr.sample_type.intersection(sample::BEFORE_RAW), ..*attr };
        Self {
            sample_type: attr.sample_type,
            has_trailer: attr.flags.contains(AttrFlags::SAMPLE_ID_ALL),
            has_build_id: attr.flags.contains(AttrFlags::BUILD_ID),
            layout: SampleLayout::new(attr),
            before_raw: SampleLayout::new(&before_raw),
        }
    }

    /// Swaps the fields of a record after [`numbers`].
    pub fn swap(&self, words: &mut [u64]) {
        let Some(&header) = words.first() else { return };
        match kind_and_misc(header) {
            (RecordType::SAMPLE, _) => self.swap_sample(words),
            (kind, misc) => {
                let is_inode = kind == RecordType::MMAP2 && misc.contains(Misc::MMAP_BUILD_ID);
                // Some kernels set the bit in records without a build id.
                if is_inode && !self.has_build_id {
                    body::swap_inode(words);
                }
                self.swap_trailer(kind, words);
            }
        }
    }

    /// Swaps the pairs of 32-bit numbers in the trailer of a side-band record.
    fn swap_trailer(&self, kind: RecordType, words: &mut [u64]) {
        if !self.has_trailer {
            return;
        }
        let fields = trailer::fields(self.sample_type);
        let start = match body::end_before_stale_words(kind, words) {
            Some(end) => end,
            None => words.len().saturating_sub(fields.clone().count()).max(1),
        };
        swap_pairs(words.get_mut(start..).unwrap_or_default(), fields);
    }
}

/// Swaps the words of `fields` that are pairs of 32-bit numbers.
fn swap_pairs(words: &mut [u64], fields: impl Iterator<Item = SampleType>) {
    for (word, field) in words.iter_mut().zip(fields) {
        if field == SampleType::TID || field == SampleType::CPU {
            // The halves were exchanged when the word was swapped as one number.
            *word = word.rotate_left(32);
        }
    }
}

fn kind_and_misc(header: u64) -> (RecordType, Misc) {
    let header: perf_abi::Header = zerocopy::transmute!(header);
    (header.kind, header.misc)
}

#[cfg(test)]
mod tests;

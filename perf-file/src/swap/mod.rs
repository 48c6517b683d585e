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

use perf_abi::{Attr, AttrFlags, Header, Misc, RecordType, SampleType};
use perf_decode::SampleLayout;
use perf_decode::schema::{Body, TRAILER, TrailerPosition, Word};

/// Swaps the numbers of a kernel record, which is exactly `words`.
///
/// Words of samples and of trailers are swapped as 64-bit numbers: ids are valid then.
pub fn numbers(words: &mut [u64]) {
    let Some(header) = words.first_mut() else { return };
    *header = swap_header(*header);
    let Header { kind, misc, .. } = Header::from_word(*header);
    let Some(end) = body::swap(kind, misc, words) else { return };
    for word in words.iter_mut().skip(end) {
        *word = word.swap_bytes();
    }
}

fn swap_header(word: u64) -> u64 {
    let Header { kind, misc, size } = Header::from_word(word);
    let kind = RecordType(kind.0.swap_bytes());
    let misc = Misc::from_bits_retain(misc.bits().swap_bytes());
    Header { kind, misc, size: size.swap_bytes() }.to_word()
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
        let Header { kind, misc, .. } = Header::from_word(header);
        if kind == RecordType::SAMPLE {
            return self.swap_sample(words);
        }
        let Some(body) = Body::of(kind) else { return };
        if !self.has_build_id {
            body::swap_inode(body, misc, words);
        }
        self.swap_trailer(body, words);
    }

    /// Swaps the pairs of 32-bit numbers in the trailer of a side-band record.
    fn swap_trailer(&self, body: &Body, words: &mut [u64]) {
        if !self.has_trailer {
            return;
        }
        let start = match body.trailer {
            TrailerPosition::AfterBody => body.end(words, &self.layout).unwrap_or(words.len()),
            _ => words.len().saturating_sub(present(TRAILER, self.sample_type).count()).max(1),
        };
        swap_pairs(words.get_mut(start..).unwrap_or_default(), TRAILER, self.sample_type);
    }
}

/// Returns the rows of a table whose words are in records with `sample_type`.
fn present(table: &'static [Word], sample_type: SampleType) -> impl Iterator<Item = &'static Word> {
    table.iter().filter(move |row| row.bit.intersects(sample_type))
}

/// Swaps the words of a table that are pairs of 32-bit numbers.
fn swap_pairs(words: &mut [u64], table: &'static [Word], sample_type: SampleType) {
    for (word, row) in words.iter_mut().zip(present(table, sample_type)) {
        if let [_, _] = row.fields {
            // The halves were exchanged when the word was swapped as one number.
            *word = word.rotate_left(32);
        }
    }
}

#[cfg(test)]
mod tests;

//! Records of the other byte order, swapped in place for the decoder.
//!
//! There are two steps, because the layout of a record depends on its event, and the event is found
//! by an id in the record. [`numbers`] swaps the header, the body and all ids; after it
//! [`Layouts`](perf_decode::Layouts) finds the event. [`Fields::swap`] then swaps what depends on
//! the event.
//!
//! Raw data, user stacks and AUX data keep the byte order of the file, because their content is
//! unknown. So does the body of a record of unknown kind.

mod sample;

use perf_abi::{Attr, AttrFlags, EventType, Header, Misc, RecordType, SampleType};
use perf_decode::SampleLayout;
use perf_decode::schema::{self, Body, TRAILER, TrailerPosition, Word, recorded};
use zerocopy::IntoBytes as _;

/// Swaps the numbers of a kernel record, which is exactly `words`.
///
/// Words of samples and of trailers are swapped as 64-bit numbers: ids are valid then.
pub fn numbers(words: &mut [u64]) {
    let Some(header) = words.first_mut() else { return };
    *header = swap_header(*header);
    let Header { kind, misc, .. } = Header::from_word(*header);
    let Some(end) = swap_body(kind, misc, words) else { return };
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
    /// Returns the fields of an event that was opened with `attr`.
    #[must_use]
    pub const fn new(attr: &Attr) -> Self {
        let mut before_raw = *attr;
        before_raw.sample_type = attr.sample_type.intersection(sample::BEFORE_RAW);
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
            swap_inode(body, misc, words);
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
            _ => words.len().saturating_sub(recorded(TRAILER, self.sample_type).count()).max(1),
        };
        swap_pairs(words.get_mut(start..).unwrap_or_default(), TRAILER, self.sample_type);
    }
}

/// A layout for bodies whose event is not known.
const NO_EVENT: SampleLayout = SampleLayout::new(&Attr::new(EventType::SOFTWARE, 0));

/// Swaps the body of a record, except 64-bit numbers at its end. Returns the number of words before
/// these numbers, the header included; `None` if the kind is unknown.
fn swap_body(kind: RecordType, misc: Misc, words: &mut [u64]) -> Option<usize> {
    if kind == RecordType::SAMPLE {
        return Some(1);
    }
    let body = Body::of(kind)?;
    // It is not known yet whether the attr asks for build ids, because the event is found by an id
    // after the body.
    let fields = body.fields_of(misc, Misc::MMAP_BUILD_ID);
    swap_fields(fields, words);
    Some(match fields.last() {
        Some((_, last)) if last.is_bytes() => body.end(words, &NO_EVENT).unwrap_or(words.len()),
        _ => 1 + fields.iter().map(|(_, field)| field.size()).sum::<usize>() / 8,
    })
}

/// Swaps an inode that [`swap_body`] took for a build id, because some kernels set the bit in
/// records without one.
fn swap_inode(body: &Body, misc: Misc, words: &mut [u64]) {
    swap_fields(body.fields_of(misc, Misc::MMAP_BUILD_ID), words);
    swap_fields(body.fields_of(misc, Misc::empty()), words);
}

/// Swaps the fields of fixed size, and the count before a list.
fn swap_fields(fields: schema::Fields, words: &mut [u64]) {
    let mut rest = words.as_mut_bytes().get_mut(8..).unwrap_or_default();
    for (_, field) in fields {
        let Some((bytes, after)) = rest.split_at_mut_checked(field.size()) else { return };
        if !field.is_bytes() {
            bytes.reverse();
        }
        rest = after;
    }
}

/// Swaps the words of a table that are pairs of 32-bit numbers.
fn swap_pairs(words: &mut [u64], table: &'static [Word], sample_type: SampleType) {
    for (word, row) in words.iter_mut().zip(recorded(table, sample_type)) {
        if let [_, _] = row.fields {
            // The halves were exchanged when the word was swapped as one number.
            *word = word.rotate_left(32);
        }
    }
}

#[cfg(test)]
mod tests;

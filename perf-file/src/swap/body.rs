//! The bodies of side-band records, by the rows of [`perf_decode::schema`].

use perf_abi::{Attr, EventType, Misc, RecordType};
use perf_decode::SampleLayout;
use perf_decode::schema::{Body, Fields};
use zerocopy::IntoBytes as _;

/// A layout for bodies whose event is not known.
const NO_EVENT: SampleLayout = SampleLayout::new(&Attr::new(EventType::SOFTWARE, 0));

/// Swaps the body of a record, except 64-bit numbers at its end. Returns the number of words before
/// these numbers, the header included; `None` if the kind is unknown.
pub(super) fn swap(kind: RecordType, misc: Misc, words: &mut [u64]) -> Option<usize> {
    if kind == RecordType::SAMPLE {
        return Some(1);
    }
    let body = Body::of(kind)?;
    // It is not known yet whether the attr asks for build ids.
    let fields = body.fields_of(misc, true);
    swap_fields(fields, words);
    Some(match fields.last() {
        Some((_, last)) if last.is_bytes() => body.end(words, &NO_EVENT).unwrap_or(words.len()),
        _ => 1 + fields.iter().map(|(_, field)| field.size()).sum::<usize>() / 8,
    })
}

/// Swaps an inode that [`swap`] took for a build id, because some kernels set the bit in records
/// without one.
pub(super) fn swap_inode(body: &Body, misc: Misc, words: &mut [u64]) {
    swap_fields(body.fields_of(misc, true), words);
    swap_fields(body.fields_of(misc, false), words);
}

/// Swaps the fields of fixed size, and the count before a list.
fn swap_fields(fields: Fields, words: &mut [u64]) {
    let mut rest = words.as_mut_bytes().get_mut(8..).unwrap_or_default();
    for (_, field) in fields {
        let Some((bytes, after)) = rest.split_at_mut_checked(field.size()) else { return };
        if !field.is_bytes() {
            bytes.reverse();
        }
        rest = after;
    }
}

//! Records other than samples.

use perf_abi::{Attr, Misc, RecordType};
use perf_decode::schema::{BODIES, Body, FieldType, TrailerPosition};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::sample::counts;
use super::{bytes, text, trailing, words};

/// A record of any kind but SAMPLE as the kernel writes it for events opened with `attr`, or with
/// trailing words as a newer kernel or a faulty one writes it.
pub(super) fn record_of_another_kind(attr: Attr) -> BoxedStrategy<Vec<u64>> {
    let body = prop_oneof![20 => body_of_a_row(attr), 1 => body_of_an_unknown_kind()];
    (body, any::<u16>(), trailer(), trailing())
        .prop_map(move |((kind, body), misc, trailer, trailing)| {
            let record = RecordBuilder::new(kind, Misc::from_bits_retain(misc)).bytes_padded(&body);
            if Body::of(kind).is_some_and(|body| body.trailer == TrailerPosition::AfterBody) {
                record.with_trailer(&attr, &trailer).words(&trailing).finish()
            } else {
                record.words(&trailing).with_trailer(&attr, &trailer).finish()
            }
        })
        .boxed()
}

fn trailer() -> impl Strategy<Value = SampleIdValues> {
    any::<([u32; 3], [u64; 4])>().prop_map(|([pid, tid, cpu], [time, id, stream_id, identifier])| {
        SampleIdValues { pid, tid, time, id, stream_id, cpu, identifier }
    })
}

/// A kind of the rows, and random bytes for its body.
fn body_of_a_row(attr: Attr) -> impl Strategy<Value = (RecordType, Vec<u8>)> {
    let rest = (0..=20_u8, text(), [bytes(20), bytes(20)], vec(any::<u64>(), 0..16), counts(attr));
    (select(BODIES), vec(any::<u8>(), 128), rest).prop_map(
        move |(row, mut body, (build_id_size, text, [old, new], words, counts))| {
            let mut at = 0;
            // Its build id has a possible length if it is read as one.
            for (_, field) in row.fields_with_build_id.unwrap_or_default() {
                if *field == FieldType::BuildId {
                    body[at] = build_id_size;
                }
                at += field.size();
            }
            body.truncate(row.fields.iter().map(|(_, field)| field.size()).sum());
            let end = body.len();
            match row.fields.last().map(|(_, field)| *field) {
                Some(FieldType::Name) => body.extend([text, vec![0]].concat()),
                Some(FieldType::Words) => {
                    body[end - 8..].copy_from_slice(&(words.len() as u64).to_ne_bytes());
                    body.extend(in_memory(&words));
                }
                Some(FieldType::Namespaces) => {
                    body[end - 8..].copy_from_slice(&(words.len() as u64 / 2).to_ne_bytes());
                    body.extend(in_memory(&words[..words.len() / 2 * 2]));
                }
                Some(FieldType::Summed) => {
                    let lens = [&old, &new].map(|code| (code.len() as u16).to_ne_bytes());
                    body[end - 4..].copy_from_slice(&lens.concat());
                    body.extend([old, new].concat());
                }
                Some(FieldType::Counts) => body.extend(in_memory(&counts.words(attr.read_format))),
                Some(other) => assert!(!other.is_variable(), "write {other:?} here"),
                None => {}
            }
            (row.kind, body)
        },
    )
}

fn in_memory(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn body_of_an_unknown_kind() -> impl Strategy<Value = (RecordType, Vec<u8>)> {
    let unknown = RecordType::LAST.0 + 1;
    let kind = prop_oneof![Just(0), unknown..=unknown + 70, unknown..=u32::MAX];
    (kind, words()).prop_map(|(kind, words)| (RecordType(kind), in_memory(&words)))
}

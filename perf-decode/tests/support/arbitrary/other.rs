//! Records other than samples.

use perf_abi::{Attr, Misc, RecordType};
use perf_decode::testing::builder::{RecordBuilder, SampleIdValues};
use proptest::collection::vec;
use proptest::prelude::*;

use super::sample::counts;
use super::{bytes, text, trailing, words};

/// A record of any kind but SAMPLE as the kernel writes it for events opened with `attr`, or with
/// trailing words as a newer kernel or a faulty one writes it.
pub(super) fn record_of_another_kind(attr: Attr) -> BoxedStrategy<Vec<u64>> {
    let body = prop_oneof![
        5 => body_of_numbers(),
        4 => body_with_a_string(),
        1 => body_of_mmap2(),
        1 => body_of_read(attr),
        2 => body_with_a_list(),
        1 => body_of_text_poke(),
        1 => body_of_an_unknown_kind(),
    ];
    (body, any::<u16>(), trailer(), trailing())
        .prop_map(move |((kind, body), misc, trailer, trailing)| {
            let record = RecordBuilder::new(kind, Misc::from_bits_retain(misc)).bytes_padded(&body);
            if matches!(kind, RecordType::KSYMBOL | RecordType::BPF_EVENT | RecordType::TEXT_POKE) {
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

/// The kind of a record, and its body's bytes.
type Body = (RecordType, Vec<u8>);

fn in_memory(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Kinds whose body is always of the same length, with their words.
const OF_NUMBERS: [(RecordType, usize); 12] = [
    (RecordType::LOST, 2),
    (RecordType::EXIT, 3),
    (RecordType::THROTTLE, 3),
    (RecordType::UNTHROTTLE, 3),
    (RecordType::FORK, 3),
    (RecordType::AUX, 3),
    (RecordType::ITRACE_START, 1),
    (RecordType::LOST_SAMPLES, 1),
    (RecordType::SWITCH, 0),
    (RecordType::SWITCH_CPU_WIDE, 1),
    (RecordType::BPF_EVENT, 2),
    (RecordType::AUX_OUTPUT_HW_ID, 1),
];

fn body_of_numbers() -> impl Strategy<Value = Body> {
    (prop::sample::select(&OF_NUMBERS[..]), any::<[u64; 3]>())
        .prop_map(|((kind, len), words)| (kind, in_memory(&words[..len])))
}

/// Kinds that end with a string, with the words before it.
const WITH_A_STRING: [(RecordType, usize); 4] =
    [(RecordType::MMAP, 4), (RecordType::COMM, 1), (RecordType::KSYMBOL, 2), (RecordType::CGROUP, 1)];

fn body_with_a_string() -> impl Strategy<Value = Body> {
    (prop::sample::select(&WITH_A_STRING[..]), any::<[u64; 4]>(), text())
        .prop_map(|((kind, len), words, text)| (kind, [in_memory(&words[..len]), text, vec![0]].concat()))
}

/// Returns a body whose build id has a possible length if it is read as one.
fn body_of_mmap2() -> impl Strategy<Value = Body> {
    (any::<[u64; 8]>(), 0..=20_u8, text()).prop_map(|(words, build_id_size, text)| {
        let mut body = in_memory(&words);
        body[32] = build_id_size;
        (RecordType::MMAP2, [body, text, vec![0]].concat())
    })
}

fn body_of_read(attr: Attr) -> impl Strategy<Value = Body> {
    (any::<u64>(), counts(attr)).prop_map(move |(task, counts)| {
        (RecordType::READ, in_memory(&[vec![task], counts.words(attr.read_format)].concat()))
    })
}

/// Kinds of one word, a count, and as many elements, with the words of each.
const WITH_A_LIST: [(RecordType, usize); 2] =
    [(RecordType::NAMESPACES, 2), (RecordType::CALLCHAIN_DEFERRED, 1)];

fn body_with_a_list() -> impl Strategy<Value = Body> {
    (prop::sample::select(&WITH_A_LIST[..]), any::<u64>(), vec(any::<[u64; 2]>(), 0..8)).prop_map(
        |((kind, each), first, list)| {
            let elements = list.iter().flat_map(|element| &element[..each]).copied();
            let body: Vec<u64> = [first, list.len() as u64].into_iter().chain(elements).collect();
            (kind, in_memory(&body))
        },
    )
}

fn body_of_text_poke() -> impl Strategy<Value = Body> {
    (any::<u64>(), bytes(20), bytes(20)).prop_map(|(addr, old, new)| {
        let lens = [old.len() as u16, new.len() as u16].map(u16::to_ne_bytes).concat();
        (RecordType::TEXT_POKE, [in_memory(&[addr]), lens, old, new].concat())
    })
}

fn body_of_an_unknown_kind() -> impl Strategy<Value = Body> {
    let unknown = RecordType::LAST.0 + 1;
    let kind = prop_oneof![Just(0), unknown..=unknown + 70, unknown..=u32::MAX];
    (kind, words()).prop_map(|(kind, words)| (RecordType(kind), in_memory(&words)))
}

//! Bytes and words that the builders write.

use super::*;
use perf_abi::{AttrFlags, EventType, SampleType};
use std::vec;

fn attr(sample_type: SampleType) -> Attr {
    Attr::new(EventType::SOFTWARE, 0).with_sample_type(sample_type)
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[test]
fn header_holds_kind_misc_and_size() {
    let record =
        RecordBuilder::new(RecordType::MMAP2, Misc::from_bits_retain(0x4002)).words(&[0; 3]).finish();
    let bytes = bytes(&record);
    assert_eq!(bytes[..4], 10_u32.to_ne_bytes());
    assert_eq!(bytes[4..6], 0x4002_u16.to_ne_bytes());
    assert_eq!(bytes[6..8], 32_u16.to_ne_bytes());
}

#[test]
fn strings_end_with_1_to_8_zeros() {
    for (length, zeros) in [(0, 8), (7, 1), (8, 8), (15, 1)] {
        let text = vec![1; length];
        let record = RecordBuilder::new(RecordType::COMM, Misc::empty()).string(&text).finish();
        assert_eq!(bytes(&record)[8..], [text, vec![0; zeros]].concat(), "length {length}");
    }
}

#[test]
fn record_too_long_for_its_header_has_an_invalid_size() {
    let longest = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).bytes(&vec![0; 65520]).finish();
    assert_eq!(bytes(&longest)[6..8], 65528_u16.to_ne_bytes());
    let longer = RecordBuilder::new(RecordType::SAMPLE, Misc::empty()).bytes(&vec![0; 65528]).finish();
    assert_eq!(bytes(&longer)[6..8], u16::MAX.to_ne_bytes());
}

#[test]
fn trailer_words_are_chosen_by_sample_type() {
    let values = SampleIdValues { pid: 1, tid: 2, time: 3, id: 4, stream_id: 5, cpu: 6, identifier: 7 };
    let all = attr(SampleType::KNOWN).with_flags(AttrFlags::SAMPLE_ID_ALL);
    let first = trailer::word(1, 2);
    assert_eq!(trailer(&all, &values), [first, 3, 4, 5, trailer::word(6, 0), 7]);
    let some = attr(SampleType::ID | SampleType::IP).with_flags(AttrFlags::SAMPLE_ID_ALL);
    assert_eq!(trailer(&some, &values), [4]);
}

#[test]
fn halves_of_a_word_are_in_memory_order() {
    assert_eq!(trailer::word(1, 2).to_ne_bytes()[..4], 1_u32.to_ne_bytes());
}

#[test]
fn sample_without_values_has_all_its_counts() {
    let counts = SampleType::CALLCHAIN | SampleType::RAW | SampleType::BRANCH_STACK | SampleType::REGS_USER;
    let attr = attr(counts | SampleType::STACK_USER | SampleType::AUX);
    let record = SampleBuilder::new(&attr).finish();
    assert_eq!(record[1..], [0, u64::from_ne_bytes(trailer::word(4, 0).to_ne_bytes()), 0, 0, 0, 0]);
}

#[test]
fn registers_are_as_many_as_the_mask_has_bits() {
    let attr = attr(SampleType::REGS_USER).with_regs_user(0b1011);
    assert_eq!(SampleBuilder::new(&attr).regs_user(2, &[1, 2, 3, 4]).finish()[1..], [2, 1, 2, 3]);
    assert_eq!(SampleBuilder::new(&attr).regs_user(1, &[1]).finish()[1..], [1, 1, 0, 0]);
    assert_eq!(SampleBuilder::new(&attr).regs_user(0, &[1]).finish()[1..], [0]);
}

#[test]
fn records_in_a_ring_wrap_at_its_end() {
    let records = [vec![1, 2], vec![3, 4, 5]];
    for start in [0, 8, 56, 64, u64::MAX - 15] {
        let (data, tail, head) = ring(&records, 8, start);
        let mut position = tail;
        for word in 1..=5 {
            assert_eq!(data[(position / 8 % 8) as usize], word);
            position = position.wrapping_add(8);
        }
        assert_eq!(position, head);
        assert_eq!(data.iter().filter(|word| **word == STALE).count(), 3);
    }
}

#[test]
fn empty_ring_and_no_records_do_not_panic() {
    assert_eq!(ring(&[vec![1]], 0, 0), (vec![], 0, 8));
    assert_eq!(ring(&[], 2, 16), (vec![STALE, STALE], 16, 16));
}

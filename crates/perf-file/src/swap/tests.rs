//! Records of the other byte order, field by field.

use super::*;
use std::vec::Vec;

use perf_abi::{EventType, RecordType};

/// Writes a record of the other byte order: the header, then numbers of the given lengths.
fn foreign(kind: RecordType, misc: u16, body: &[(usize, u64)]) -> Vec<u64> {
    let len: usize = body.iter().map(|(len, _)| len).sum();
    let fields = [(4, u64::from(kind.0)), (2, misc.into()), (2, 8 + len as u64)];
    let mut bytes = Vec::new();
    for (len, number) in fields.iter().chain(body) {
        let number = if cfg!(target_endian = "little") {
            number.to_be_bytes()[8 - len..].to_vec()
        } else {
            number.to_le_bytes()[..*len].to_vec()
        };
        bytes.extend(number);
    }
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

/// Swaps a record and returns its words after the header.
fn swapped(mut words: Vec<u64>, attr: &Attr) -> Vec<u64> {
    numbers(&mut words);
    Fields::new(attr).swap(&mut words);
    words.split_off(1)
}

const NO_TRAILER: Attr = Attr::new(EventType::SOFTWARE, 0);

#[test]
fn header_is_swapped_by_its_fields() {
    let mut words = foreign(RecordType::SWITCH, 0x2000, &[]);
    numbers(&mut words);
    let header: Header = zerocopy::transmute!(words[0]);
    assert_eq!((header.kind, header.misc.bits(), header.size), (RecordType::SWITCH, 0x2000, 8));
}

#[test]
fn branch_fields_are_moved() {
    use perf_abi::branch::BranchInfo;
    let mut attr = NO_TRAILER;
    attr.sample_type = SampleType::BRANCH_STACK;
    // Fields in the order of C: mispred 1, cycles 1000, type 3; on the machine of the file.
    let place = |first: u32, width: u32, value: u64| {
        if cfg!(target_endian = "little") { value << (64 - first - width) } else { value << first }
    };
    let info = place(0, 1, 1) | place(4, 16, 1000) | place(20, 4, 3);
    let words = swapped(foreign(RecordType::SAMPLE, 0, &[(8, 1), (8, 10), (8, 11), (8, info)]), &attr);
    let info = BranchInfo::from_bits_retain(words[3]);
    assert_eq!(words[..3], [1, 10, 11]);
    assert!(info.contains(BranchInfo::MISPREDICTED));
    assert_eq!((info.cycles(), info.kind().0), (1000, 3));
}

#[test]
fn malformed_records_do_not_panic() {
    for kind in 0..RecordType::LAST.0 + 2 {
        for len in 0..12 {
            for word in [0, 1, u64::MAX, 0x0102_0304_0506_0708] {
                let body = std::vec![(8, word); len];
                let attr = NO_TRAILER.with(|attr| {
                    attr.sample_type = SampleType::KNOWN;
                    attr.flags = AttrFlags::SAMPLE_ID_ALL;
                });
                let mut words = foreign(RecordType(kind), 0xffff, &body);
                numbers(&mut words);
                Fields::new(&attr).swap(&mut words);
                assert_eq!(words.len(), len + 1);
            }
        }
    }
}

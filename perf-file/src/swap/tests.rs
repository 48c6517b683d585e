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

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

const NO_TRAILER: Attr = Attr::new(EventType::SOFTWARE, 0);

#[test]
fn header_is_swapped_by_its_fields() {
    let mut words = foreign(RecordType::SWITCH, 0x2000, &[]);
    numbers(&mut words);
    let header: perf_abi::Header = zerocopy::transmute!(words[0]);
    assert_eq!((header.kind, header.misc.bits(), header.size), (RecordType::SWITCH, 0x2000, 8));
}

#[test]
fn trailer_is_swapped_by_its_fields() {
    let attr = Attr {
        sample_type: SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::IDENTIFIER,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..NO_TRAILER
    };
    // LOST: id, lost; pid, tid, time, cpu, reserved, identifier
    let body = [(8, 7), (8, 8), (4, 10), (4, 11), (8, 12), (4, 13), (4, 0), (8, 7)];
    let words = swapped(foreign(RecordType::LOST, 0, &body), &attr);
    let pair = |first: u32, second: u32| -> u64 { zerocopy::transmute!([first, second]) };
    assert_eq!(words, [7, 8, pair(10, 11), 12, pair(13, 0), 7]);
}

#[test]
fn names_keep_their_bytes() {
    // COMM: pid, tid, 16 bytes of which the last is NUL
    let name: Vec<(usize, u64)> = b"a name of 15 by\0".iter().map(|byte| (1, (*byte).into())).collect();
    let body = [&[(4, 3), (4, 4)], &name[..]].concat();
    let words = swapped(foreign(RecordType::COMM, 0, &body), &NO_TRAILER);
    assert_eq!(&bytes(&words)[8..], b"a name of 15 by\0");
}

#[test]
fn trailer_of_a_ksymbol_is_before_its_stale_words() {
    let attr = Attr { sample_type: SampleType::TID, flags: AttrFlags::SAMPLE_ID_ALL, ..NO_TRAILER };
    // addr, len, ksym_type, flags, name; pid, tid; a stale word
    let body = [(8, 1), (4, 2), (2, 3), (2, 4), (8, 0), (4, 5), (4, 6), (8, 99)];
    let words = swapped(foreign(RecordType::KSYMBOL, 0, &body), &attr);
    let pair: u64 = zerocopy::transmute!([5_u32, 6]);
    assert_eq!(words[3..], [pair, 99]);
}

#[test]
fn trailers_of_bpf_event_and_text_poke_are_before_their_stale_words() {
    let attr = Attr { sample_type: SampleType::TID, flags: AttrFlags::SAMPLE_ID_ALL, ..NO_TRAILER };
    let end = [(4, 5), (4, 6), (8, 99)]; // pid, tid; a stale word
    let pair: u64 = zerocopy::transmute!([5_u32, 6]);
    let byte = |byte| (1, byte);
    // type, flags, id, 8 bytes of tag
    let body = [&[(2, 1), (2, 2), (4, 3)][..], &[byte(7); 8], &end].concat();
    let words = swapped(foreign(RecordType::BPF_EVENT, 0, &body), &attr);
    assert_eq!(words[2..], [pair, 99]);
    // addr, old_len, new_len, 17 bytes of code, padding
    let body = [&[(8, 1), (2, 2), (2, 15)][..], &[byte(7); 17], &[byte(0); 3], &end].concat();
    let words = swapped(foreign(RecordType::TEXT_POKE, 0, &body), &attr);
    assert_eq!(words[4..], [pair, 99]);
}

#[test]
fn code_of_a_text_poke_keeps_its_bytes() {
    // addr, old_len, new_len, 2 bytes of old code, 5 of new, padding
    let code = [1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0].map(|byte| (1, byte));
    let body = [&[(8, 1), (2, 2), (2, 5)], &code[..]].concat();
    let words = swapped(foreign(RecordType::TEXT_POKE, 0, &body), &NO_TRAILER);
    assert_eq!(words[0], 1);
    let expected: Vec<u8> =
        [&2_u16.to_ne_bytes()[..], &5_u16.to_ne_bytes(), &[1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0]].concat();
    assert_eq!(bytes(&words)[8..], expected);
}

#[test]
fn mmap2_has_an_inode_unless_the_attr_asks_for_build_ids() {
    // pid, tid, addr, len, pgoff, maj, min, ino, generation, prot, flags, name
    let body =
        [(4, 1), (4, 2), (8, 3), (8, 4), (8, 5), (4, 6), (4, 7), (8, 8), (8, 9), (4, 10), (4, 11), (8, 0)];
    let pair = |first: u32, second: u32| -> u64 { zerocopy::transmute!([first, second]) };
    for misc in [0, 1 << 14] {
        let words = swapped(foreign(RecordType::MMAP2, misc, &body), &NO_TRAILER);
        assert_eq!(words, [pair(1, 2), 3, 4, 5, pair(6, 7), 8, 9, pair(10, 11), 0], "{misc:#x}");
    }
    let attr = Attr { flags: AttrFlags::BUILD_ID, ..NO_TRAILER };
    let mut file = foreign(RecordType::MMAP2, 1 << 14, &body);
    let build_id = file[5..8].to_vec();
    file = swapped(file, &attr);
    assert_eq!(file[4..7], build_id);
}

#[test]
fn raw_data_and_stack_keep_their_bytes() {
    let attr = Attr {
        sample_type: SampleType::TID | SampleType::CALLCHAIN | SampleType::RAW | SampleType::STACK_USER,
        ..NO_TRAILER
    };
    let data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(|byte| (1, byte));
    // pid, tid; one address; 12 bytes of raw data; 8 bytes of stack, of which 3 are valid
    let mut body = std::vec![(4, 1), (4, 2), (8, 1), (8, 77), (4, 12)];
    body.extend(data);
    body.extend([(8, 8)]);
    body.extend(&data[..8]);
    body.extend([(8, 3)]);
    let words = swapped(foreign(RecordType::SAMPLE, 0, &body), &attr);
    let raw = [&12_u32.to_ne_bytes()[..], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]].concat();
    assert_eq!(words[1..3], [1, 77]);
    assert_eq!(bytes(&words)[24..40], raw);
    assert_eq!((words[5], words[7]), (8, 3));
    assert_eq!(bytes(&words)[48..56], [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn branch_fields_are_moved() {
    use perf_abi::branch::BranchInfo;
    let attr = Attr { sample_type: SampleType::BRANCH_STACK, ..NO_TRAILER };
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
    for kind in 0..24 {
        for len in 0..12 {
            for word in [0, 1, u64::MAX, 0x0102_0304_0506_0708] {
                let body = std::vec![(8, word); len];
                let attr =
                    Attr { sample_type: SampleType::KNOWN, flags: AttrFlags::SAMPLE_ID_ALL, ..NO_TRAILER };
                let mut words = foreign(RecordType(kind), 0xffff, &body);
                numbers(&mut words);
                Fields::new(&attr).swap(&mut words);
                assert_eq!(words.len(), len + 1);
            }
        }
    }
}
